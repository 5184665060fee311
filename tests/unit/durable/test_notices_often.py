"""How often people are told: until somebody acts, and not more than once of the same."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable.asking import Destination
from tailhound.model import Incident
from tailhound.notifiers import PARTS
from tailhound.store import records
from tailhound.store.tables import outbox
from tests.unit.durable.kit import CHANNEL, alert
from tests.unit.durable.notices_kit import GROUP, Scene, diagnosis, play

pytestmark = pytest.mark.usefixtures("each_database")


UNTOLD = "That it is back is not told in the channel: nobody has acted on the notifications before"


def test_an_incident_that_flaps_notifies_twice_until_somebody_acts_and_says_so(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.all_posted()
        await at.flaps(5)
        assert list(at.asked()) == ["event:reopened:2"]
        assert at.timeline().count(UNTOLD) == 4
        at.is_on_it("ana")
        await at.flaps(4)
        assert sorted(at.asked()) == ["event:reopened:2", "event:reopened:7", "event:reopened:8"]
        assert at.timeline().count(UNTOLD) == 6

    play(tmp_path, act)


def test_a_post_that_a_storm_holds_is_no_notification(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        with at.desk.database.writing() as connection:
            own = sa.update(outbox).where(outbox.c.part == "")
            connection.execute(own.values(state="held"))
        for _ in range(2):
            at.desk.clock.advance(300)
            await at.ends()
            at.desk.clock.advance(300)
            await at.fires()
        assert list(at.asked()) == ["event:reopened:2", "event:reopened:3"]
        assert UNTOLD not in at.timeline()

    play(tmp_path, act)


def test_a_click_on_an_incident_that_has_joined_counts_too(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.all_posted()
        await at.flaps(1)
        home = at.id
        (other,) = (await at.desk.accept(alert("other", fingerprint="o"))).incidents
        with at.desk.database.writing() as connection:
            records.change(
                connection, other, lambda r: r.edited(joined_into=home), at.desk.clock.now
            )
        at.id = other
        at.desk.clock.advance(1)
        at.is_on_it("ana")
        at.id = home
        await at.flaps(1)
        assert sorted(at.asked()) == ["event:reopened:2", "event:reopened:3"]

    play(tmp_path, act)


def test_that_it_pages_is_told_however_often_it_was_told_before_it_did_but_once(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires(severity="warning")
        at.all_posted()
        for _ in range(2):
            at.desk.clock.advance(300)
            await at.ends(severity="warning")
            at.desk.clock.advance(300)
            await at.fires(severity="warning")
            at.all_posted()
        await at.fires(severity="critical")
        at.all_posted()
        assert at.asked() == {"event:reopened:2": "", "event:paged:3": GROUP}
        at.desk.clock.advance(300)
        await at.ends(severity="critical")
        await at.ends(severity="warning")
        at.desk.clock.advance(300)
        await at.fires(severity="warning")
        await at.fires(severity="critical")
        assert len(at.asked()) == 2
        assert any(line.startswith("That it pages is not told") for line in at.timeline())

    def destinations(incident: Incident) -> list[Destination]:
        return [Destination(place=CHANNEL, mention=GROUP if incident.is_page else "")]

    play(tmp_path, act, parts={"chat": PARTS}, destinations=destinations)


def test_another_cause_that_nobody_is_notified_of_gets_its_charts_all_the_same(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.all_posted()
        await at.flaps(1)
        at.decided(diagnosis("cpu-throttling"))
        at.posted("", *PARTS)
        at.decided(diagnosis("kv-preemption"))
        assert {part.partition(":")[0] for part in at.asked()} == {"event", "charts"}
        assert any(line.startswith("The other verdict is not told") for line in at.timeline())

    play(tmp_path, act)
