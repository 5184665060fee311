"""`kill -9` of the real server at any moment: one incident, one message, one complete diagnosis."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.faults.kept import CAUSE, alert_body, kept_lab
from tests.faults.server import (
    CHANNEL,
    WITH_HISTORY,
    Answer,
    Bot,
    own_posts,
    payload_of,
    thread_posts,
    until,
    with_slack,
)
from tests.lab.bot import merged
from tests.lab.lab import Lab
from tests.standins.slack import Done, SlackStandin

pytestmark = [
    pytest.mark.lab,
    pytest.mark.xdist_group("faults-kill"),
    pytest.mark.timeout(180),  # each start of the server takes seconds on a busy machine
]


@pytest.fixture(scope="module")
def lab(needs: Callable[..., None]) -> Iterator[Lab]:
    needs("prometheus")
    with kept_lab() as kept:
        yield kept


class Site:
    """A bot on the lab, and the channel that it posts to."""

    def __init__(self, folder: Path, lab: Lab, slack: SlackStandin) -> None:
        self.lab, self.slack = lab, slack
        slack.add_channel(CHANNEL)
        values = merged(lab.settings, {"deadlines": {"verdict": 30}})
        self.bot = Bot(folder / "bot", merged(values, with_slack(folder, slack)))
        self.whole: set[tuple[str, str]] = set()  # the evidence of an undisturbed incident

    def posts_of(self, id: str) -> list[str]:
        """The ts of every message that was ever posted for an incident."""
        return own_posts(self.slack, id)

    def shown(self, id: str) -> list[str]:
        """What the messages of an incident say now."""
        messages = self.slack.messages(CHANNEL)
        return [
            str(m["text"])
            for m in messages
            if (told := payload_of(m)).get("incident") == id and "part" not in told
        ]

    def until_shown(self, id: str, *, or_left: bool = False) -> None:
        """Until a message shows the verdict; `or_left`: or it is left to a person."""
        until(
            lambda: (
                any(text.startswith("Cause found") for text in self.shown(id))
                or (or_left and self.is_left(id))
            ),
            f"the verdict of {id} in the channel",
            40,
            self.bot.said,
        )

    def is_left(self, id: str) -> bool:
        """Whether the page on health says that a person has to look for an incident's message."""
        return f"two posts about incident {id}" in self.bot.get("/health").body.decode()

    def until_quiet(self) -> None:
        """Until nothing more is to be sent. A channel takes one message a second, so that hundreds
        of threads take minutes; but each minute less is left.
        """
        while left := self._waiting():
            fewer = partial(self._has_fewer_than, left)
            until(fewer, f"fewer than {left:.0f} in the outbox", 60, self.bot.said)

    def _has_fewer_than(self, left: float) -> bool:
        return self._waiting() < left

    def _waiting(self) -> float:
        return self.bot.metric("tailhound_outbox_waiting")

    def check(self, id: str, posts_at_most: int = 1) -> None:
        """A complete diagnosis, on the page, in the channel and in the thread."""
        self.until_quiet()
        found = self.bot.incident(id)
        assert found["state"] == "diagnosed"
        assert found["primary"] == CAUSE
        assert found["confidence"] == "high"
        evidence = {(item["name"], item["status"]) for item in found["evidence"]}
        self.whole = self.whole or evidence
        assert evidence == self.whole
        assert len(self.posts_of(id)) <= posts_at_most, self.posts_of(id)
        if posts_at_most > 1 and self.is_left(id):
            return  # killed twice as it posted, and nothing can be looked up
        assert self.posts_of(id)
        until(lambda: f"{id}-evidence.md" in thread_posts(self.slack, id), "the file", 5)
        thread = thread_posts(self.slack, id)
        assert set(thread) == {"timeline", "evidence", "charts", f"{id}-evidence.md"}
        assert max(thread.values()) <= posts_at_most, thread
        assert self.slack.unknown_calls == []


class Sending:
    """A webhook on its way while the server may die."""

    def __init__(self, bot: Bot, body: bytes) -> None:
        self.answer = Answer(0)
        self._thread = threading.Thread(target=self._send, args=(bot, body))
        self._thread.start()

    def _send(self, bot: Bot, body: bytes) -> None:
        self.answer = bot.post(body)

    def ended(self) -> Answer:
        """The answer, or none: the connection is closed by now, one way or the other."""
        self._thread.join(timeout=20)
        assert not self._thread.is_alive()
        return self.answer


def usual_seconds(site: Site) -> float:
    """How long it takes here from the alert to its verdict in the channel."""
    began = time.monotonic()
    answer = site.bot.post(alert_body(site.lab, "undisturbed"))
    (id,) = answer.json["incidents"]
    site.until_shown(id)
    site.check(id)
    return time.monotonic() - began


def kill_once(site: Site, cluster: str, after: float, *, again: bool) -> str:
    """Send an alert, kill the server so long after, start it again; the incident's id.

    `again` kills the next life too, in the middle of taking up what the first one left.
    """
    body = alert_body(site.lab, cluster)
    sending = Sending(site.bot, body)
    time.sleep(after)  # the moment is what is tested
    site.bot.kill()
    answer = sending.ended()
    site.bot.start()
    if again:
        time.sleep(after / 2)
        site.bot.kill()
        site.bot.start()
    if answer.status != 200:
        answer = site.bot.post(body)  # as Alertmanager would
    assert answer.status == 200
    (id,) = answer.json["incidents"]
    return str(id)


def rounds(site: Site, count: int, seed: int, *, posts_at_most: int = 1) -> dict[str, int]:
    """Kill `count` times, spread from before the answer to after the verdict; posts by incident."""
    moments = random.Random(seed)  # noqa: S311 (repeatable, no secret)
    site.bot.start()
    span = 1.3 * usual_seconds(site)
    order = list(range(count))
    moments.shuffle(order)
    ids = []
    for number in order:
        after = (number + moments.random()) / count * span
        again = moments.random() < 0.2
        ids.append(kill_once(site, f"round-{number}", after, again=again))
        site.until_shown(ids[-1], or_left=posts_at_most > 1)
    site.until_quiet()
    for id in ids:
        site.check(id, posts_at_most)
    assert len(set(ids)) == count
    assert len(site.bot.incidents()) == count + 1
    return {id: len(site.posts_of(id)) for id in ids}


@pytest.mark.timeout(400)
def test_kills_at_any_moment_leave_one_message_and_a_whole_diagnosis(
    tmp_path: Path, lab: Lab
) -> None:
    with SlackStandin(scopes=WITH_HISTORY) as slack:
        site = Site(tmp_path, lab, slack)
        with site.bot:
            assert set(rounds(site, 8, seed=1).values()) == {1}


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_twenty_kills_leave_one_message_each(tmp_path: Path, lab: Lab) -> None:
    with SlackStandin(scopes=WITH_HISTORY) as slack:
        site = Site(tmp_path, lab, slack)
        with site.bot:
            assert set(rounds(site, 20, seed=2).values()) == {1}


@pytest.mark.nightly
@pytest.mark.timeout(3000)
def test_two_hundred_kills_leave_one_message_each(tmp_path: Path, lab: Lab) -> None:
    with SlackStandin(scopes=WITH_HISTORY) as slack:
        site = Site(tmp_path, lab, slack)
        with site.bot:
            assert set(rounds(site, 200, seed=3).values()) == {1}


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_twenty_kills_without_a_look_back_leave_two_messages_at_most(
    tmp_path: Path, lab: Lab
) -> None:
    with SlackStandin() as slack:
        site = Site(tmp_path, lab, slack)
        with site.bot:
            rounds(site, 20, seed=4, posts_at_most=2)


def is_seen(call: Done, method: str) -> bool:
    """Whether this call did something that people see, by this method."""
    return call.method == method and bool(call.arguments.get("channel_id", "") or "chat" in method)


@pytest.mark.parametrize(
    ("method", "held"),
    [("chat.postMessage", 1), ("chat.update", 1), ("files.completeUploadExternal", 2)],
)
def test_a_kill_between_a_call_and_its_answer_leaves_one_message(
    tmp_path: Path, lab: Lab, method: str, held: int
) -> None:
    with SlackStandin(scopes=WITH_HISTORY) as slack:
        site = Site(tmp_path, lab, slack)
        slack.faults.methods = frozenset({method})
        slack.faults.hold_answers = held
        with site.bot:
            site.bot.start()
            answer = site.bot.post(alert_body(lab, "held"))
            (id,) = answer.json["incidents"]
            slack.wait_for(lambda: any(is_seen(call, method) for call in slack.done), 40)
            slack.faults.hold_answers = 0
            site.bot.kill()
            site.bot.start()
            site.until_shown(id)
            site.until_quiet()
            site.check(id)


def test_a_kill_between_an_upload_and_its_post_leaves_one_post(tmp_path: Path, lab: Lab) -> None:
    with SlackStandin(scopes=WITH_HISTORY) as slack:
        site = Site(tmp_path, lab, slack)
        slack.faults.methods = frozenset({"files.completeUploadExternal"})
        slack.faults.hang = 1
        with site.bot:
            site.bot.start()
            answer = site.bot.post(alert_body(lab, "uploaded"))
            (id,) = answer.json["incidents"]
            until(lambda: slack.faults.hang == 0, "the upload", 40, site.bot.said)
            site.bot.kill()
            site.bot.start()
            site.until_shown(id)
            site.until_quiet()
            site.check(id)


def lost_post(site: Site) -> str:
    """Start, and send an alert whose first post is done while its answer is lost."""
    site.slack.faults.lose_answers = 1
    answer = site.bot.start().post(alert_body(site.lab, "lost"))
    (id,) = answer.json["incidents"]
    return str(id)


def test_a_post_whose_answer_is_lost_is_found_again(tmp_path: Path, lab: Lab) -> None:
    with SlackStandin(scopes=WITH_HISTORY) as slack:
        site = Site(tmp_path, lab, slack)
        with site.bot:
            id = lost_post(site)
            site.until_shown(id)
            site.check(id)


def test_a_post_whose_answer_is_lost_where_nobody_can_look_is_sent_once_more(
    tmp_path: Path, lab: Lab
) -> None:
    with SlackStandin() as slack:
        site = Site(tmp_path, lab, slack)
        with site.bot:
            id = lost_post(site)
            site.until_shown(id)
            site.check(id, posts_at_most=2)
            assert len(site.posts_of(id)) == 2


def test_when_every_answer_is_lost_there_is_no_third_post_in_any_life(
    tmp_path: Path, lab: Lab
) -> None:
    with SlackStandin() as slack:
        site = Site(tmp_path, lab, slack)
        slack.faults.methods = frozenset({"chat.postMessage"})
        slack.faults.lose_answers = 100
        with site.bot:
            answer = site.bot.start().post(alert_body(lab, "lost"))
            (id,) = answer.json["incidents"]
            slack.wait_for(lambda: len(site.posts_of(id)) == 1, 20)
            site.bot.kill()
            site.bot.start()
            slack.wait_for(lambda: len(site.posts_of(id)) == 2, 20)
            site.bot.kill()
            site.bot.start()
            site.bot.diagnosed(id)
            until(
                lambda: site.bot.metric("tailhound_outbox_refused") == 1,
                "the sender to leave the message to a person",
                20,
                site.bot.said,
            )
            page = site.bot.get("/health").body.decode()
            assert "look whether one stands there" in page
            assert len(site.posts_of(id)) == 2
