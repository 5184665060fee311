"""The posts in a thread, delivered to a strict stand-in of Slack on a real port."""

import asyncio
import base64
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from tailhound.charts.painter import Painter
from tailhound.model import Incident
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tailhound.slack.calls import client
from tailhound.slack.notifier import SlackNotifier
from tests.samples.incidents import CONFIRMED, RESOLVED, REVISED
from tests.samples.story import NOW
from tests.standins.slack import SlackStandin
from tests.unit.charts.samples import DIAGNOSIS

CHANNEL = "C0ALERTS"
SCOPES = frozenset({"chat:write", "commands", "files:read", "files:write"})
WITH_HISTORY = SCOPES | {"channels:history"}
FILES = frozenset({"files.completeUploadExternal"})
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 40).decode()
DRAWS = f"import sys, json; print(json.dumps(['{PNG}'] * len(json.load(sys.stdin))))"
T = TypeVar("T")


def throttled() -> Incident:
    """The incident with series to draw."""
    return replace(CONFIRMED, diagnosis=DIAGNOSIS)


def painter(code: str = DRAWS) -> Painter:
    """Draws fast: what an image shows is another test's business."""
    return Painter(program=(sys.executable, "-S", "-c", code))


class Thread:
    """A channel with an incident's own message, a notifier, and a clock that always moves on."""

    def __init__(self, slack: SlackStandin, draws: str = DRAWS) -> None:
        self.slack, self.draws, self.clock = slack, draws, 1000.0
        slack.add_channel(CHANNEL)
        self.written: list[str] = []
        self.restart()
        self.root = ""

    def restart(self) -> None:
        """A notifier of a new process: it remembers nothing."""
        self.notifier = SlackNotifier(
            client("xoxb-local", self.slack.api_url, 5),
            public_url="https://tailhound.example",
            written=self._write,
            painter=painter(self.draws),
            timeout_seconds=5.0,
            clock=self._tick,
            now=lambda: NOW,
        )

    def _tick(self) -> float:
        self.clock += 3.0
        return self.clock

    def _write(self, incident: Incident) -> str:
        self.written.append(incident.id)
        return f"# {incident.id}\n"

    async def own(self, incident: Incident = CONFIRMED) -> str:
        """Post the incident's own message; its ts."""
        self.root = (await self.posted("", incident)).message
        return self.root

    async def once(self, part: str, incident: Incident = CONFIRMED, **more: Any) -> object:
        """Deliver until something comes of it, not just "it is being made"."""
        thread = self.root if part else ""
        given = {"id": 1, "incident": incident, "place": CHANNEL, "thread": thread, **more}
        delivery = Delivery(part=part, **given)
        for _ in range(200):
            result = await self.notifier.deliver(delivery)
            if not isinstance(result, Later) or result.why or not result.only_this:
                return result
        raise AssertionError("it is being made for ever")

    async def posted(self, part: str, incident: Incident = CONFIRMED, **more: Any) -> Posted:
        """Deliver, and it works."""
        result = await self.once(part, incident, **more)
        assert isinstance(result, Posted), result
        return result

    def replies(self) -> list[dict[str, Any]]:
        """What hangs in the thread."""
        return self.slack.thread(CHANNEL, self.root)[1:]


def run(slack: SlackStandin, act: Callable[[Thread], Awaitable[T]], draws: str = DRAWS) -> T:
    """Act in a thread, on one event loop."""

    async def acted() -> T:
        thread = Thread(slack, draws)
        await thread.own()
        try:
            return await act(thread)
        finally:
            thread.notifier.close()
            left = asyncio.all_tasks() - {asyncio.current_task()}
            if left:
                await asyncio.wait(left, timeout=5)  # a program that draws ends with its task

    return asyncio.run(acted())


@pytest.fixture
def slack() -> Iterator[SlackStandin]:
    with SlackStandin(scopes=SCOPES) as slack:
        yield slack
        assert slack.unknown_calls == []


@pytest.fixture
def with_history() -> Iterator[SlackStandin]:
    with SlackStandin(scopes=WITH_HISTORY) as slack:
        yield slack
        assert slack.unknown_calls == []


def test_the_parts_hang_below_the_message_in_their_order(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        for part in ("timeline", "evidence", "charts", "file"):
            await thread.posted(part, throttled())
        slack.wait_for(lambda: len(thread.replies()) == 4)
        timeline, evidence, charts, file = thread.replies()
        assert timeline["text"].startswith("Verdict: the CPU limit")
        assert evidence["blocks"][1]["type"] == "table"
        assert {block["type"] for block in charts["blocks"][1:]} == {"image"}
        assert [one["name"] for one in file["files"]] == ["8R5W-evidence.md"]
        assert len(slack.messages(CHANNEL)) == 1

    run(slack, act)


def test_what_has_not_changed_is_not_sent_again(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        for part in ("", "timeline", "evidence"):
            first = await thread.posted(part, message=thread.root if not part else "")
            calls = len(slack.done)
            newer = replace(CONFIRMED, revision=99)
            again = await thread.posted(part, newer, message=first.message, seen=first.seen)
            assert again == replace(first, called=False)
            assert len(slack.done) == calls

    run(slack, act)


def test_an_edit_that_nobody_answered_is_made_again_although_nothing_changed(
    slack: SlackStandin,
) -> None:
    async def act(thread: Thread) -> None:
        first = await thread.posted("timeline")
        slack.faults.lose_answers = 1
        lost = await thread.once("timeline", REVISED, message=first.message, seen="other")
        assert isinstance(lost, Later)
        assert lost.unsure
        again = await thread.posted(
            "timeline", message=first.message, seen=first.seen, unsure=lost.unsure
        )
        assert again.message == first.message
        assert slack.done[-1].method == "chat.update"

    run(slack, act)


def test_a_table_that_slack_refuses_becomes_lines_and_those_become_text(
    slack: SlackStandin,
) -> None:
    async def act(thread: Thread) -> None:
        slack.faults.errors = ["invalid_blocks"]
        listed = await thread.posted("evidence")
        (reply,) = thread.replies()
        assert [block["type"] for block in reply["blocks"]] == ["section", "rich_text"]
        slack.faults.errors = ["invalid_blocks"]
        await thread.posted("evidence", message=listed.message)
        (reply,) = thread.replies()
        assert reply["blocks"] == []
        assert "✓ Stopped in more than a tenth of its periods: 100" in reply["text"]

    run(slack, act)


def test_charts_are_posted_once_and_never_edited(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        first = await thread.posted("charts", throttled())
        again = await thread.posted("charts", throttled(), message=first.message)
        assert again.message == first.message
        assert len(thread.replies()) == 1

    run(slack, act)


def test_an_incident_without_any_series_gets_no_post_about_charts(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        assert (await thread.posted("charts", CONFIRMED)).message == ""
        assert thread.replies() == []
        assert (await thread.posted("file", CONFIRMED)).message

    run(slack, act)


@pytest.mark.parametrize(
    ("draws", "error"),
    [("raise SystemExit(3)", ""), (DRAWS, "missing_scope"), (DRAWS, "storage_limit_reached")],
)
def test_charts_that_do_not_get_there_are_left_to_the_page(
    slack: SlackStandin, draws: str, error: str
) -> None:
    async def act(thread: Thread) -> None:
        slack.faults.methods = frozenset({"files.getUploadURLExternal"})
        slack.faults.errors = [error] if error else []
        await thread.posted("charts", throttled())
        (reply,) = thread.replies()
        assert reply["text"].startswith("Charts follow on the page")
        assert "of its CPU periods" in reply["blocks"][0]["text"]["text"]

    run(slack, act, draws)


def test_images_that_slack_does_not_take_yet_are_left_out_and_the_text_stands(
    slack: SlackStandin,
) -> None:
    async def act(thread: Thread) -> None:
        slack.faults.errors = ["invalid_blocks"]
        await thread.posted("charts", throttled())
        (reply,) = thread.replies()
        assert [block["type"] for block in reply["blocks"]] == ["section"]

    run(slack, act)


def test_while_charts_are_made_other_messages_go_out(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        given = {"id": 1, "incident": throttled(), "place": CHANNEL, "thread": thread.root}
        waits = await thread.notifier.deliver(Delivery(part="charts", **given))  # type: ignore[arg-type]
        assert isinstance(waits, Later)
        assert (waits.only_this, waits.why) == (True, "")
        assert waits.seconds < 1

    run(slack, act, "import time; time.sleep(2)")


def test_the_file_comes_behind_the_charts_although_those_take_longer(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        given = {"id": 1, "incident": throttled(), "place": CHANNEL, "thread": thread.root}
        assert isinstance(
            await thread.notifier.deliver(Delivery(part="charts", **given)),  # type: ignore[arg-type]
            Later,
        )
        waits = await thread.notifier.deliver(Delivery(part="file", **given))  # type: ignore[arg-type]
        assert isinstance(waits, Later)
        await thread.posted("charts", throttled())
        await thread.posted("file", throttled())
        slack.wait_for(lambda: len(thread.replies()) == 2)
        assert "files" in thread.replies()[1]

    run(slack, act)


def test_the_file_is_sent_once_and_once_more_when_it_is_over(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        first = await thread.posted("file")
        again = await thread.posted("file", message=first.message, seen=first.seen)
        assert again == replace(first, called=False)
        await thread.posted("file:resolved:1", RESOLVED)
        await thread.posted("file:resolved:2", RESOLVED)
        slack.wait_for(lambda: len(thread.replies()) == 3)
        names = [reply["files"][0]["name"] for reply in thread.replies()]
        assert names == [
            "8R5W-evidence.md",
            "8R5W-evidence-resolved.md",
            "8R5W-evidence-resolved-2.md",
        ]

    run(slack, act)


def test_a_file_whose_answer_is_lost_is_known_by_its_id(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        slack.faults.methods = FILES
        slack.faults.lose_answers = 1
        lost = await thread.once("file")
        assert isinstance(lost, Later)
        assert lost.unsure
        await thread.posted("file", unsure=True, lost_posts=lost.lost_posts)
        slack.wait_for(lambda: len(thread.replies()) == 1)
        assert thread.written == ["8R5W"]

    run(slack, act)


def test_a_file_whose_call_was_lost_is_shared_after_all(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        slack.faults.methods = FILES
        slack.faults.lose_calls = 1
        assert isinstance(await thread.once("file"), Later)
        await thread.posted("file", unsure=True, lost_posts=1)
        slack.wait_for(lambda: len(thread.replies()) == 1)

    run(slack, act)


def test_a_limit_on_sharing_files_holds_no_message(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        slack.faults.methods = FILES
        slack.faults.statuses = [429]
        slack.faults.retry_after = 3_000
        limited = await thread.once("file")
        assert isinstance(limited, Later)
        assert limited.only_this
        assert "files.completeUploadExternal" in limited.why
        assert limited.seconds == 3_000
        thread.root = await thread.own(replace(CONFIRMED, id="7F3K"))
        given = {"id": 1, "incident": CONFIRMED, "place": CHANNEL, "thread": thread.root}
        delivery = Delivery(part="file", **given)  # type: ignore[arg-type]
        waits = await thread.notifier.deliver(delivery)
        assert isinstance(waits, Later)
        assert waits.seconds > 100
        assert (waits.why, waits.only_this) == ("", True)

    run(slack, act)


def test_an_upload_without_an_answer_is_no_lost_post(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        slack.faults.methods = frozenset({"files.getUploadURLExternal"})
        slack.faults.lose_answers = 1
        lost = await thread.once("file")
        assert isinstance(lost, Later)
        assert (lost.unsure, lost.lost_posts) == (False, 0)
        slack.faults.methods = FILES
        slack.faults.lose_answers = 1
        really = await thread.once("file")
        assert isinstance(really, Later)
        assert (really.unsure, really.lost_posts) == (True, 1)
        assert isinstance(await thread.once("file", unsure=True, lost_posts=1), Posted)
        slack.wait_for(lambda: len(thread.replies()) == 1)

    run(slack, act)


def test_after_a_restart_a_file_is_found_in_the_thread_by_its_name(
    with_history: SlackStandin,
) -> None:
    async def act(thread: Thread) -> None:
        await thread.posted("file")
        with_history.wait_for(lambda: len(thread.replies()) == 1)
        thread.restart()
        again = await thread.posted("file", unsure=True, lost_posts=1)
        assert again.message == thread.replies()[0]["ts"]
        assert len(thread.replies()) == 1

    run(with_history, act)


def test_without_a_look_back_a_file_is_shared_twice_at_most(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        for lost in (0, 1):
            slack.faults.methods = FILES
            slack.faults.lose_answers = 1
            assert isinstance(await thread.once("file", unsure=lost > 0, lost_posts=lost), Later)
            thread.restart()
        third = await thread.once("file", unsure=True, lost_posts=2)
        assert isinstance(third, Refusal)
        assert third.only_this
        slack.wait_for(lambda: len(thread.replies()) == 2)

    run(slack, act)


@pytest.mark.parametrize("part", ["timeline", "charts", "event:reopened:2"])
def test_a_lost_post_is_found_in_the_thread(with_history: SlackStandin, part: str) -> None:
    async def act(thread: Thread) -> None:
        with_history.faults.lose_answers = 1
        assert isinstance(await thread.once(part, throttled()), Later)
        thread.restart()
        again = await thread.posted(part, throttled(), unsure=True, lost_posts=1)
        assert [reply["ts"] for reply in thread.replies()] == [again.message]

    run(with_history, act)


@pytest.mark.parametrize(
    ("event", "loud"),
    [
        ("verdict:1", 1),
        ("revised:1.2", 0),
        ("overturned:1.2", 1),
        ("reopened:2", 1),
        ("paged:1", 1),
    ],
)
def test_an_event_is_told_in_the_channel_where_people_must_notice(
    slack: SlackStandin, event: str, loud: int
) -> None:
    async def act(thread: Thread) -> None:
        posted = await thread.posted(f"event:{event}", urgent=True, mention="S0ONCALL")
        assert len(slack.messages(CHANNEL)) == 1 + loud
        (reply,) = thread.replies()
        assert reply["text"].endswith("Act in the message above.") == bool(loud)
        assert reply["blocks"][0]["text"]["text"].startswith("<!subteam^S0ONCALL> ")
        assert {block["type"] for block in reply["blocks"]} == {"section"}
        calls = len(slack.done)
        await thread.posted(f"event:{event}", RESOLVED, message=posted.message)
        assert len(slack.done) == calls

    run(slack, act)


def test_a_group_that_is_no_id_is_not_mentioned(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        await thread.posted("event:paged:1", mention="!channel")
        assert "<!" not in json.dumps(thread.replies()[0]["blocks"])

    run(slack, act)


def test_a_reply_whose_message_is_gone_does_not_stay_in_the_channel(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        slack.core.delete(CHANNEL, thread.root)
        assert (await thread.posted("timeline")).message == ""
        assert slack.messages(CHANNEL) == []
        await thread.own()
        assert (await thread.posted("timeline")).message
        assert len(slack.messages(CHANNEL)) == 1

    run(slack, act)


def test_a_message_whose_thread_is_nowhere_is_told_to_stand_alone(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        loose = await thread.posted("", thread="1600000000.000100")
        assert loose.loose
        hung = await thread.posted("", replace(CONFIRMED, id="7F3K"), thread=loose.message)
        assert not hung.loose
        assert not (await thread.posted("", replace(CONFIRMED, id="2B2B"))).loose

    run(slack, act)


@pytest.mark.parametrize(("severity", "seen"), [("critical", True), ("warning", False)])
def test_a_page_that_joins_a_thread_is_seen_in_the_channel(
    slack: SlackStandin, severity: str, seen: bool
) -> None:
    async def act(thread: Thread) -> None:
        await thread.own()
        alerts = tuple(replace(one, severity=severity) for one in CONFIRMED.alerts)
        other = replace(CONFIRMED, id="7F3K", alerts=alerts)
        ts = (await thread.posted("", other, thread=thread.root)).message
        assert [reply["ts"] for reply in thread.replies()] == [ts]
        assert (ts in [message["ts"] for message in slack.messages(CHANNEL)]) is seen

    run(slack, act)


def test_what_only_a_post_in_a_thread_lacks_stops_no_other_message(slack: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        slack.faults.methods = frozenset({"files.getUploadURLExternal"})
        slack.faults.errors = ["missing_scope"]
        refused = await thread.once("file")
        assert isinstance(refused, Refusal)
        assert refused.only_this
        slack.core.channels[CHANNEL].is_archived = True
        archived = await thread.once("timeline")
        assert isinstance(archived, Refusal)
        assert not archived.only_this

    run(slack, act)


def test_an_incident_that_joins_a_thread_is_looked_up_there(with_history: SlackStandin) -> None:
    async def act(thread: Thread) -> None:
        with_history.faults.lose_answers = 1
        other = replace(CONFIRMED, id="7F3K", received_at=NOW - timedelta(days=1))
        lost = await thread.once("", other, thread=thread.root)
        assert isinstance(lost, Later)
        thread.restart()
        found = await thread.posted("", other, thread=thread.root, unsure=True)
        assert [reply["ts"] for reply in thread.replies()] == [found.message]

    run(with_history, act)
