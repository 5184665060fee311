"""The notifier against a strict stand-in of Slack on a real port."""

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from tailhound.errors import SettingsError
from tailhound.model import Incident
from tailhound.notifiers import Delivery, Later, Posted, Refusal, Storm
from tailhound.slack.buttons import Offers
from tailhound.slack.calls import client
from tailhound.slack.draft import Draft
from tailhound.slack.local.world import BOT_USER
from tailhound.slack.notifier import SlackNotifier
from tailhound.slack.pace import Rank
from tests.samples.incidents import COLLECTING, CONFIRMED, FIRST, RESOLVED
from tests.samples.story import NOW
from tests.standins.slack import SlackStandin

CHANNEL = "C0ALERTS"
TOKEN = "xoxb-local"
SCOPES = frozenset({"chat:write", "commands"})


class Clock:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


class World:
    """A stand-in, a notifier, and a clock between them."""

    def __init__(self, slack: SlackStandin) -> None:
        self.slack, self.clock = slack, Clock()
        self.notifier = self.restarted()

    def restarted(self, token: str = TOKEN, timeout: float = 5.0) -> SlackNotifier:
        """A notifier of a new process: it remembers nothing."""
        self.notifier = SlackNotifier(
            client(token, self.slack.api_url, timeout),
            public_url="https://tailhound.example",
            timeout_seconds=timeout,
            clock=self.clock,
            now=self.now,
        )
        return self.notifier

    def now(self) -> datetime:
        return NOW

    def deliver(self, incident: Incident = FIRST, **more: Any) -> Posted | Later | Refusal:
        """Deliver, ten seconds after the last time."""
        self.clock.at += 10.0
        return self.at_once(incident, **more)

    def at_once(self, incident: Incident = FIRST, **more: Any) -> Posted | Later | Refusal:
        """Deliver without waiting."""
        delivery = Delivery(**{"id": 1, "incident": incident, "place": CHANNEL, **more})
        return asyncio.run(self.notifier.deliver(delivery))

    def posted(self, incident: Incident = FIRST, **more: Any) -> str:
        """Deliver, and it works."""
        result = self.deliver(incident, **more)
        assert isinstance(result, Posted), result
        return result.message


def looks(slack: SlackStandin) -> int:
    """How often a channel's messages were told."""
    return sum(call.method == "conversations.history" for call in slack.done)


@pytest.fixture
def world() -> Iterator[World]:
    with SlackStandin() as slack:
        slack.add_channel(CHANNEL)
        yield World(slack)
        assert slack.unknown_calls == []
        assert slack.core.invalid == []


def test_one_incident_is_one_message_that_is_edited(world: World) -> None:
    ts = world.posted(FIRST)
    for incident in (COLLECTING, CONFIRMED, RESOLVED):
        assert world.posted(incident, message=ts) == ts
    (message,) = world.slack.messages(CHANNEL)
    assert message["text"].startswith("Resolved after 38")
    assert message["metadata"]["event_payload"] == {"incident": "8R5W", "revision": 9}


def test_neither_links_nor_names_are_expanded_by_slack(world: World) -> None:
    world.posted(FIRST, message=world.posted(FIRST))
    for call in world.slack.done:
        assert call.arguments["unfurl_links"] is False
        assert call.arguments["unfurl_media"] is False
        assert call.arguments["link_names"] is False
        assert call.arguments["parse"] == "none"


def test_a_third_message_at_once_waits_until_slack_takes_it(world: World) -> None:
    world.posted(FIRST)
    assert isinstance(world.at_once(replace(FIRST, id="2B2B")), Posted)
    later = world.at_once(replace(FIRST, id="7F3K"))
    assert isinstance(later, Later)
    assert 0 < later.seconds <= 1
    assert (later.unsure, later.only_this) == (False, False)
    world.clock.at += later.seconds
    assert isinstance(world.at_once(replace(FIRST, id="7F3K")), Posted)


def test_progress_leaves_edits_over_for_verdicts(world: World) -> None:
    messages = [world.posted(replace(FIRST, id=f"I{n}")) for n in range(12)]
    edited = [world.at_once(COLLECTING, message=ts) for ts in messages]
    assert any(isinstance(result, Later) for result in edited)
    refused = next(ts for ts, r in zip(messages, edited, strict=True) if isinstance(r, Later))
    assert isinstance(world.at_once(CONFIRMED, message=refused, urgent=True), Posted)


def test_one_message_is_edited_once_in_two_seconds(world: World) -> None:
    ts = world.posted(FIRST)
    assert isinstance(world.at_once(COLLECTING, message=ts), Posted)
    later = world.at_once(CONFIRMED, message=ts)
    assert isinstance(later, Later)
    assert later.seconds == pytest.approx(2.0)
    assert later.only_this is True


def test_a_minute_holds_at_most_fifty_edits(world: World) -> None:
    count = 0
    for second in range(60):
        world.clock.at += 1.0
        for message in range(3):
            wait = world.notifier._pace.before_update(f"{second}.{message}")
            count += wait == 0.0
    assert 40 <= count <= 50


def test_slacks_own_limit_is_honoured_to_the_second(world: World) -> None:
    world.slack.faults.statuses = []
    world.slack.faults.every_second_call = True
    world.slack.faults.retry_after = 7
    world.posted(FIRST)
    later = world.deliver(replace(FIRST, id="7F3K"))
    assert isinstance(later, Later)
    assert (later.seconds, later.unsure) == (7.0, False)
    world.clock.at += 5.0
    early = world.at_once(replace(FIRST, id="7F3K"))
    assert isinstance(early, Later)
    assert early.seconds == pytest.approx(2.0)
    assert world.slack.posts() == 1


def test_a_lost_answer_is_unsure_and_one_more_post_is_the_last(world: World) -> None:
    world.slack.faults.lose_answers = 2
    first = world.deliver()
    assert isinstance(first, Later)
    assert first.unsure is True
    world.restarted()
    second = world.deliver(unsure=True, attempt=2)
    assert isinstance(second, Later)
    assert second.unsure is True
    assert (first.lost_posts, second.lost_posts) == (1, 2)
    third = world.deliver(unsure=True, attempt=3)
    assert isinstance(third, Refusal)
    assert "channels:history" in third.why
    assert world.slack.posts() == 2


def test_after_a_restart_the_count_of_lost_posts_is_the_outboxs(world: World) -> None:
    result = world.deliver(unsure=True, lost_posts=2, attempt=3)
    assert isinstance(result, Refusal)
    assert world.slack.posts() == 0


def test_with_the_history_scope_a_lost_post_is_found_and_edited() -> None:
    with SlackStandin(scopes=SCOPES | {"channels:history"}) as slack:
        slack.add_channel(CHANNEL)
        world = World(slack)
        incident = replace(FIRST, received_at=NOW)
        slack.faults.lose_answers = 1
        assert isinstance(world.deliver(incident), Later)
        world.restarted()
        confirmed = replace(CONFIRMED, received_at=NOW)
        ts = world.posted(confirmed, unsure=True, attempt=2)
        (message,) = slack.messages(CHANNEL)
        assert message["ts"] == ts
        assert message["text"].startswith("Cause found")


def test_with_the_history_scope_what_is_not_there_is_posted() -> None:
    with SlackStandin(scopes=SCOPES | {"channels:history"}) as slack:
        slack.add_channel(CHANNEL)
        world = World(slack)
        incident = replace(FIRST, received_at=NOW)
        for n in range(3):
            world.posted(replace(incident, id=f"OTHER{n}"))
        slack.faults.lose_calls = 1
        assert isinstance(world.deliver(incident), Later)
        world.posted(incident, unsure=True, attempt=2)
        assert slack.posts() == 4


def test_a_missing_history_scope_is_asked_for_once(world: World) -> None:
    world.posted(unsure=True)
    world.posted(replace(FIRST, id="7F3K"), unsure=True)
    assert world.slack.refused == ["missing_scope"]


@pytest.mark.parametrize("error", ["not_in_channel", "is_archived", "channel_not_found"])
def test_a_channel_that_is_not_told_now_is_looked_at_again(error: str) -> None:
    with SlackStandin(scopes=SCOPES | {"channels:history"}) as slack:
        slack.add_channel(CHANNEL)
        world, incident = World(slack), replace(FIRST, received_at=NOW)
        slack.faults.methods = frozenset({"conversations.history"})
        slack.faults.errors = [error]
        world.posted(replace(incident, id="7F3K"), unsure=True)
        slack.faults.methods = frozenset({"chat.postMessage"})
        slack.faults.lose_answers = 1
        assert isinstance(world.deliver(incident), Later)
        world.posted(incident, unsure=True, attempt=2)
        assert slack.posts() == 2


def test_a_scope_that_is_missing_for_one_channel_leaves_the_others_to_be_looked_at() -> None:
    with SlackStandin(scopes=SCOPES | {"channels:history"}) as slack:
        slack.add_channel(CHANNEL)
        slack.add_channel("C0PRIVATE")
        world = World(slack)
        slack.faults.methods = frozenset({"conversations.history"})
        slack.faults.errors = ["missing_scope"]
        world.posted(unsure=True, place="C0PRIVATE")
        world.posted(replace(FIRST, id="7F3K"), unsure=True, place="C0PRIVATE")
        assert looks(slack) == 0
        world.posted(replace(FIRST, id="9Q1X"), unsure=True)
        assert looks(slack) == 1


def test_a_new_token_may_see_what_the_old_one_did_not() -> None:
    with SlackStandin(scopes=SCOPES | {"channels:history"}) as slack:
        slack.add_channel(CHANNEL)
        world, tokens = World(slack), [TOKEN]
        world.notifier = SlackNotifier(
            client(lambda: tokens[-1], slack.api_url, 5.0), clock=world.clock, now=world.now
        )
        slack.faults.methods = frozenset({"conversations.history"})
        slack.faults.errors = ["missing_scope"]
        world.posted(unsure=True)
        tokens.append("xoxb-revoked")
        assert isinstance(world.deliver(replace(FIRST, id="7F3K")), Refusal)
        tokens.append(TOKEN)
        world.posted(replace(FIRST, id="9Q1X"), unsure=True)
        assert looks(slack) == 1


def test_a_look_that_slack_limits_is_not_asked_again_before_its_time() -> None:
    with SlackStandin(scopes=SCOPES | {"channels:history"}) as slack:
        slack.add_channel(CHANNEL)
        world = World(slack)
        slack.faults.methods = frozenset({"conversations.history"})
        slack.faults.statuses = [429]
        slack.faults.retry_after = 45
        for id in ("8R5W", "7F3K"):
            later = world.at_once(replace(FIRST, id=id), unsure=True)
            assert isinstance(later, Later)
            assert later.only_this
            assert "conversations.history" in later.why
        assert looks(slack) == 0
        assert slack.faults.statuses == []
        world.posted(replace(FIRST, id="9Q1X"))


def test_a_dead_token_is_named_although_two_posts_were_lost() -> None:
    with SlackStandin(scopes=SCOPES | {"channels:history"}) as slack:
        slack.add_channel(CHANNEL)
        world = World(slack)
        slack.faults.methods = frozenset({"conversations.history"})
        slack.faults.errors = ["token_revoked"]
        refused = world.deliver(unsure=True, lost_posts=2)
        assert isinstance(refused, Refusal)
        assert "token_revoked" in refused.why
        assert not refused.only_this


def test_an_error_about_one_message_does_not_hold_the_others(world: World) -> None:
    world.slack.faults.errors = ["brand_new_error"]
    later = world.deliver()
    assert isinstance(later, Later)
    assert later.only_this
    world.posted(replace(FIRST, id="7F3K"))


def test_a_storms_message_comes_before_what_is_only_progress(world: World) -> None:
    storm = Storm(since=NOW, incidents=40, held=28, worst=(FIRST,))
    ts = world.posted(part="storm", storm=storm)
    for number in range(40):
        edited = world.deliver(
            part="storm", storm=replace(storm, held=28 + number), message=ts, seen="other"
        )
        if number < 9:
            assert isinstance(edited, Posted)
    late = world.deliver(part="storm", storm=storm, message=ts, urgent=True)
    assert isinstance(late, Posted)
    first = Draft(Delivery(id=1, incident=FIRST, place=CHANNEL, part="storm", storm=storm), ())
    assert first.rank is Rank.PRESSING
    assert replace(first, delivery=replace(first.delivery, message="1.1")).rank is Rank.PROGRESS


def test_the_second_post_is_kept_until_slack_answers_again(world: World) -> None:
    world.slack.faults.methods = frozenset({"auth.test"})
    world.slack.faults.lose_calls = 1
    later = world.deliver(unsure=True, attempt=2)
    assert isinstance(later, Later)
    assert later.unsure is True
    assert world.slack.posts() == 0
    world.posted(unsure=True, attempt=3)
    assert world.slack.posts() == 1


@pytest.mark.parametrize("lies", [False, True])
def test_what_another_app_posts_under_our_metadata_is_not_our_message(
    world: World, lies: bool
) -> None:
    """`lies`: it is signed as ours, and still can't be edited."""
    world.slack.core.scopes = SCOPES | {"channels:history"}
    ts = world.slack.core.world.next_ts()
    payload = {"incident": FIRST.id, "revision": 1}
    world.slack.core.channels[CHANNEL].messages[ts] = {
        "type": "message",
        "ts": ts,
        "text": "lunch?",
        "user": BOT_USER if lies else "U0MAL",
        "bot_id": "B0EVIL",
        "metadata": {"event_type": "tailhound_incident", "event_payload": payload},
    }
    ours = world.posted(unsure=True)
    assert ours != ts
    tried = [call.arguments["ts"] for call in world.slack.done if call.method == "chat.update"]
    assert ts not in tried
    assert world.slack.refused == (["cant_update_message"] if lies else [])
    world.slack.refused.clear()
    world.restarted()
    assert world.posted(CONFIRMED, unsure=True) == ours
    assert world.slack.posts() == 1
    world.slack.refused.clear()


def test_a_hanging_slack_costs_the_timeout_and_is_unsure(world: World) -> None:
    world.restarted(timeout=1.0)
    world.slack.faults.hang = 1
    begun = time.monotonic()
    later = world.deliver()
    assert time.monotonic() - begun < 4
    assert isinstance(later, Later)
    assert later.unsure is True


def test_calls_leave_no_thread_behind(world: World) -> None:
    ts = world.posted()
    world.posted(CONFIRMED, message=ts)
    left = [t for t in threading.enumerate() if t.name == "slack-call"]
    for thread in left:
        thread.join(2)
    assert not any(thread.is_alive() for thread in left)


def test_an_unreachable_slack_is_later_and_sure(world: World) -> None:
    port = world.slack.bound_port
    world.notifier = SlackNotifier(
        client("xoxb-local", f"http://127.0.0.1:{port + 1 if port < 65535 else 1}/api/", 2)
    )
    with SlackStandin() as gone:
        free = gone.api_url
    world.notifier = SlackNotifier(client("xoxb-local", free, 2), clock=world.clock)
    later = world.deliver(attempt=4)
    assert isinstance(later, Later)
    assert (later.seconds, later.unsure) == (8.0, False)


@pytest.mark.parametrize(("status", "unsure"), [(500, False), (503, False), (502, True)])
def test_trouble_of_slack_is_later(world: World, status: int, unsure: bool) -> None:
    world.slack.faults.statuses = [status]
    later = world.deliver()
    assert isinstance(later, Later)
    assert later.unsure is unsure


@pytest.mark.parametrize("error", ["internal_error", "service_unavailable", "brand_new_error"])
def test_trouble_in_words_is_later(world: World, error: str) -> None:
    world.slack.faults.errors = [error]
    assert isinstance(world.deliver(), Later)


def test_an_error_that_nobody_knows_is_given_up_in_the_end(world: World) -> None:
    world.slack.faults.errors = ["brand_new_error"]
    result = world.deliver(attempt=5)
    assert isinstance(result, Refusal)
    assert "brand_new_error" in result.why


@pytest.mark.parametrize(
    ("error", "todo"),
    [
        ("not_in_channel", "/invite @tailhound"),
        ("channel_not_found", "slack.channel"),
        ("is_archived", "unarchive"),
        ("token_revoked", "install it again"),
        ("token_expired", "slack.bot_token"),
        ("account_inactive", "install it again"),
        ("invalid_auth", "slack.bot_token"),
        ("restricted_action_thread_only_channel", "administrators"),
        ("not_allowed_token_type", "xoxb"),
    ],
)
def test_a_refusal_names_what_a_person_must_do(world: World, error: str, todo: str) -> None:
    world.slack.faults.errors = [error]
    result = world.deliver()
    assert isinstance(result, Refusal)
    assert todo in result.why
    assert CHANNEL in result.why
    assert error in result.why


def test_the_stand_in_refuses_for_the_same_reasons_as_slack(world: World) -> None:
    channel = world.slack.core.channels[CHANNEL]
    channel.is_archived = True
    assert "is_archived" in _why(world.deliver())
    channel.is_archived, channel.is_member = False, False
    assert "not_in_channel" in _why(world.deliver())
    assert "channel_not_found" in _why(world.deliver(place="C0NOWHERE"))


def test_a_missing_scope_is_named(world: World) -> None:
    world.slack.core.scopes = frozenset()
    assert "add the scope chat:write" in _why(world.deliver())


def test_a_dead_token_stops_all_calls_for_a_minute(world: World) -> None:
    world.restarted(token="xoxb-wrong")
    assert "invalid_auth" in _why(world.deliver())
    assert "invalid_auth" in _why(world.deliver(replace(FIRST, id="7F3K")))
    assert world.slack.refused == ["invalid_auth"]
    world.clock.at += 61.0
    world.deliver()
    assert world.slack.refused == ["invalid_auth", "invalid_auth"]


@pytest.mark.parametrize("error", ["invalid_blocks", "msg_blocks_too_long"])
def test_refused_blocks_become_text_and_nothing_is_dropped(world: World, error: str) -> None:
    world.slack.faults.errors = [error]
    ts = world.posted(CONFIRMED)
    (message,) = world.slack.messages(CHANNEL)
    assert message["blocks"] == []
    assert message["text"].startswith("Cause found")
    assert "What led to what" in message["text"]
    assert world.posted(RESOLVED, message=ts) == ts
    (message,) = world.slack.messages(CHANNEL)
    assert message["blocks"] == []


def test_an_edit_whose_blocks_are_refused_becomes_text(world: World) -> None:
    ts = world.posted(FIRST)
    world.slack.faults.errors = ["invalid_blocks"]
    assert world.posted(CONFIRMED, message=ts) == ts
    (message,) = world.slack.messages(CHANNEL)
    assert message["blocks"] == []


@pytest.mark.parametrize(
    "error", ["message_not_found", "cant_update_message", "edit_window_closed"]
)
def test_a_message_that_is_gone_is_posted_anew(world: World, error: str) -> None:
    ts = world.posted(FIRST)
    world.slack.faults.errors = [error]
    new = world.posted(CONFIRMED, message=ts)
    assert new != ts
    assert world.posted(RESOLVED, message=new) == new


def test_a_deleted_message_is_posted_anew(world: World) -> None:
    ts = world.posted(FIRST)
    del world.slack.core.channels[CHANNEL].messages[ts]
    assert world.posted(CONFIRMED, message=ts) != ts


def test_a_closed_notifier_starts_no_call(world: World) -> None:
    world.notifier.close()
    later = world.deliver()
    assert isinstance(later, Later)
    assert later.unsure is False
    assert world.slack.done == []


def _why(result: Posted | Later | Refusal) -> str:
    assert isinstance(result, Refusal), result
    return result.why


def test_a_new_token_works_without_a_restart(world: World) -> None:
    tokens = ["xoxb-old"]
    world.notifier = SlackNotifier(
        client(lambda: tokens[-1], world.slack.api_url, 5.0), clock=world.clock
    )
    assert isinstance(world.deliver(), Refusal)
    world.clock.at += 60.0
    assert isinstance(world.deliver(), Refusal)
    tokens.append(TOKEN)
    assert isinstance(world.deliver(), Posted)


def test_a_token_that_cant_be_read_leaves_the_old_one(world: World) -> None:
    tokens = [TOKEN]

    def read() -> str:
        if not tokens:
            raise SettingsError("can't read the secret file /run/slack: No such file")
        return tokens[-1]

    world.notifier = SlackNotifier(client(read, world.slack.api_url, 5.0), clock=world.clock)
    world.posted()
    tokens.clear()
    world.slack.faults.errors = ["token_revoked"]
    assert isinstance(world.deliver(), Refusal)
    world.clock.at += 60.0
    assert isinstance(world.deliver(), Posted)


def test_a_message_that_says_the_same_as_before_is_not_edited(world: World) -> None:
    posted = world.deliver(CONFIRMED)
    assert isinstance(posted, Posted)
    newer = replace(CONFIRMED, revision=99, repeats=7)
    stands = {"message": posted.message, "seen": posted.seen, "posted_at": NOW.timestamp()}
    assert world.deliver(newer, **stands) == replace(posted, called=False)
    assert [call.method for call in world.slack.done] == ["chat.postMessage"]
    edited = world.deliver(RESOLVED, **stands)
    assert isinstance(edited, Posted)
    assert edited.seen not in ("", posted.seen)


def test_the_first_message_calls_the_group_and_one_that_takes_its_place_does_not(
    world: World,
) -> None:
    ts = world.posted(FIRST, mention="S0ONCALL")
    (message,) = world.slack.messages(CHANNEL)
    assert "<!subteam^S0ONCALL>" in str(message["blocks"])
    world.slack.core.delete(CHANNEL, ts)
    world.posted(CONFIRMED, message=ts, mention="S0ONCALL")
    (message,) = world.slack.messages(CHANNEL)
    assert "subteam" not in str(message["blocks"])


def test_a_message_that_comes_late_says_so_and_goes_on_saying_it(world: World) -> None:
    early = replace(CONFIRMED, received_at=NOW - timedelta(minutes=4, seconds=10))
    ts = world.posted(early)
    late = "posted 4 min late".replace("4 min", "4\u00a0min")
    (message,) = world.slack.messages(CHANNEL)
    assert late in str(message["blocks"][-1]["elements"][0]["text"])
    world.posted(replace(early, revision=9), message=ts, posted_at=NOW.timestamp())
    (message,) = world.slack.messages(CHANNEL)
    assert late in str(message["blocks"][-1]["elements"][0]["text"])


def test_without_a_way_for_clicks_no_button_is_drawn(world: World) -> None:
    world.notifier = SlackNotifier(
        client(TOKEN, world.slack.api_url, 5.0),
        public_url="https://tailhound.example",
        offers=lambda: Offers(interactive=False),
        clock=world.clock,
        now=world.now,
    )
    world.posted(CONFIRMED)
    (message,) = world.slack.messages(CHANNEL)
    buttons = [b for block in message["blocks"] for b in block.get("elements", ()) if "url" in b]
    assert buttons
    assert all(
        "url" in element
        for block in message["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
    )


def test_ten_minutes_without_slack_are_waited_out_in_steps_of_a_minute_at_most(
    world: World,
) -> None:
    world.slack.faults.statuses = [503] * 100
    waited, attempt = 0.0, 0
    while waited < 600.0:
        attempt += 1
        later = world.deliver(attempt=attempt)
        assert isinstance(later, Later)
        waited += later.seconds
        world.clock.at += later.seconds
    assert waited <= 660.0
    assert attempt < 20
    world.slack.faults.statuses = []
    assert isinstance(world.deliver(attempt=attempt + 1), Posted)
    assert world.slack.posts() == 1
