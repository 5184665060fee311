"""Trouble of the bot's own: a message for each kind, once an hour, edited until it is over."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tailhound.durable.ops import Notice, OwnTrouble, OwnTroubles, is_new
from tailhound.store.database import Database
from tailhound.store.tables import meta
from tests.unit.durable import kit

pytestmark = pytest.mark.usefixtures("each_database")


class Scene:
    """The rows, a clock, and a channel that counts its messages."""

    def __init__(self, database: Database) -> None:
        self.rows, self.clock = OwnTroubles(database), kit.Clock()
        self.database = database
        self.begun = self.clock.now
        self.posts: list[str] = []
        self.edits: list[str] = []

    def down(self, what: str = "Prometheus is silent", kind: str = "prometheus") -> OwnTrouble:
        return OwnTrouble(kind=kind, what=what, since=self.begun)

    def look(self, *standing: OwnTrouble, lost: bool = False, sent: bool = True) -> None:
        """One look; each message is sent, unless its answer is lost or it never went out."""
        for due in self.rows.watch(self.clock.now, standing):
            if not is_new(due, self.clock.now):
                self.edits.append(_said(due))
                self.rows.told(due, due.message)
                continue
            assert self.rows.posting(due, self.clock.now)
            if lost:
                continue
            if not sent:
                self.rows.not_posted(due)
                continue
            self.posts.append(_said(due))
            self.rows.told(due, f"m{len(self.posts)}")


def _said(due: Notice) -> str:
    return f"{due.trouble.what}, over" if due.over else due.trouble.what


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    database = kit.fresh_database(tmp_path)
    yield Scene(database)
    database.close()


def test_a_trouble_is_told_once_and_its_end_is_an_edit(scene: Scene) -> None:
    for _ in range(5):
        scene.look(scene.down())
        scene.clock.advance(30)
    scene.look()
    scene.look()
    assert scene.posts == ["Prometheus is silent"]
    assert scene.edits == ["Prometheus is silent, over"]


def test_within_the_hour_the_same_message_says_that_it_is_back(scene: Scene) -> None:
    for _ in range(6):
        scene.look(scene.down())
        scene.clock.advance(240)
        scene.begun = scene.clock.now
        scene.look()
        scene.clock.advance(240)
        scene.begun = scene.clock.now
    assert len(scene.posts) == 1
    assert len(scene.edits) == 11


def test_after_an_hour_a_trouble_that_stands_or_is_back_has_a_new_message(scene: Scene) -> None:
    scene.look(scene.down())
    scene.clock.advance(3601)
    scene.look()
    assert (len(scene.posts), scene.edits) == (1, ["Prometheus is silent, over"])
    scene.begun = scene.clock.now
    scene.look(scene.down())
    assert len(scene.posts) == 2


def test_each_kind_has_its_message(scene: Scene) -> None:
    scene.look(scene.down(), scene.down("Kubernetes is silent", "kubernetes"))
    scene.look(scene.down())
    assert scene.posts == ["Prometheus is silent", "Kubernetes is silent"]
    assert scene.edits == ["Kubernetes is silent, over"]


def test_what_changes_about_it_is_an_edit(scene: Scene) -> None:
    scene.look(scene.down())
    scene.look(scene.down("Prometheus refuses"))
    assert (scene.posts, scene.edits) == (["Prometheus is silent"], ["Prometheus refuses"])


def test_a_message_whose_answer_was_lost_is_not_sent_twice_within_the_hour(scene: Scene) -> None:
    scene.look(scene.down(), lost=True)
    scene.clock.advance(1800)
    scene.look(scene.down())
    scene.look()
    assert (scene.posts, scene.edits) == ([], [])
    scene.clock.advance(1801)
    scene.look()
    assert scene.posts == []


def test_a_message_that_did_not_go_out_is_tried_again_and_told_when_it_is_over(
    scene: Scene,
) -> None:
    scene.look(scene.down(), sent=False)
    scene.clock.advance(30)
    scene.look(sent=False)
    scene.clock.advance(30)
    scene.look()
    scene.look()
    assert scene.posts == ["Prometheus is silent, over"]


def test_of_two_that_want_to_post_one_does(scene: Scene) -> None:
    (due,) = scene.rows.watch(scene.clock.now, [scene.down()])
    assert scene.rows.posting(due, scene.clock.now)
    scene.clock.advance(1)
    assert not scene.rows.posting(due, scene.clock.now)


def test_the_last_look_of_any_process_at_the_dead_mans_switch_counts(scene: Scene) -> None:
    early, late = scene.clock.now, scene.clock.now + timedelta(minutes=5)
    assert scene.rows.seen(None) is None
    assert scene.rows.seen(early) == early
    assert scene.rows.seen(late) == late
    assert scene.rows.seen(early) == late
    assert scene.rows.seen(None) == late


def test_a_time_that_can_not_be_read_is_none(scene: Scene) -> None:
    with scene.database.writing() as connection:
        connection.execute(meta.insert().values(name="watchdog", value="soon"))
    assert scene.rows.seen(None) is None
