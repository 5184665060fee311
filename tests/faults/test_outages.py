"""Slack's bad days: nothing is lost, nothing is shown twice, and one can see what is wrong."""

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.faults.server import (
    CHANNEL,
    WITH_HISTORY,
    Bot,
    alert,
    body,
    own_posts,
    payload_of,
    thread_posts,
    until,
    with_slack,
)
from tests.lab.bot import merged
from tests.lab.process import free_port
from tests.standins.slack import SlackStandin
from tests.unit.transports.servers import Scripted, reply, scripted

pytestmark = pytest.mark.timeout(180)  # each start of the server takes seconds on a busy machine


def send(bot: Bot, workload: str) -> str:
    """Post one alert; the id of its incident."""
    answer = bot.post(body(alert(deployment=workload)))
    assert answer.status == 200
    (id,) = answer.json["incidents"]
    return str(id)


def messages_of(slack: SlackStandin, id: str) -> list[str]:
    """What the messages of an incident say now."""
    return [
        str(message["text"])
        for message in slack.messages(CHANNEL)
        if (told := payload_of(message)).get("incident") == id and "part" not in told
    ]


def shows_the_verdict(slack: SlackStandin, id: str) -> bool:
    """Whether there is a message, and none that still says "Investigating"."""
    found = messages_of(slack, id)
    return bool(found) and not any(text.startswith("Investigating") for text in found)


def until_settled(bot: Bot, slack: SlackStandin, ids: list[str], seconds: float = 30) -> None:
    """Until every incident shows its verdict in one message, and nothing waits to be sent."""
    for id in ids:
        until(lambda: shows_the_verdict(slack, id), f"the verdict of {id}", seconds, bot.said)  # noqa: B023
    until(lambda: bot.metric("tailhound_outbox_waiting") == 0, "an empty outbox", seconds)
    assert [len(own_posts(slack, id)) for id in ids] == [1] * len(ids)


def test_a_rate_limit_on_every_second_call_delays_and_loses_nothing(tmp_path: Path) -> None:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        slack.faults.every_second_call = True
        with Bot(tmp_path / "bot", with_slack(tmp_path, slack)) as bot:
            bot.start()
            ids = [send(bot, f"w{number}") for number in range(3)]
            until_settled(bot, slack, ids)
            assert set(slack.refused) == {"ratelimited"}


def test_an_edit_whose_answer_is_lost_is_made_again_and_nothing_is_posted_twice(
    tmp_path: Path,
) -> None:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        slack.faults.methods = frozenset({"chat.update"})
        slack.faults.lose_answers = 2
        with Bot(tmp_path / "bot", with_slack(tmp_path, slack)) as bot:
            id = send(bot.start(), "w")
            until_settled(bot, slack, [id])
            assert slack.faults.lose_answers == 0
            until(lambda: f"{id}-evidence.md" in thread_posts(slack, id), "the file", 5)
            once = {"timeline": 1, "evidence": 1, f"{id}-evidence.md": 1}
            assert thread_posts(slack, id) == once


def test_what_slack_missed_while_it_was_down_is_posted_when_it_is_back(tmp_path: Path) -> None:
    port = free_port()
    slack = SlackStandin(port=port, scopes=WITH_HISTORY)
    slack.add_channel(CHANNEL)
    with Bot(tmp_path / "bot", with_slack(tmp_path, slack)) as bot:
        id = send(bot.start(), "w")
        bot.diagnosed(id)
        until(lambda: b"does not take messages now" in bot.get("/health").body, "a line of health")
        page = bot.get("/health").body.decode()
        assert f"Slack {CHANNEL}" in page
        assert "ConnectionRefusedError" in page
        assert bot.metric("tailhound_outbox_waiting") == 1
        assert bot.get("/readyz").status == 200
        with slack:
            until_settled(bot, slack, [id])
            assert thread_posts(slack, id)["timeline"] == 1
            until(lambda: b"takes messages" in bot.get("/health").body, "a good line of health")


def test_what_slack_refused_is_told_and_posted_once_it_is_mended(tmp_path: Path) -> None:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        slack.faults.errors = ["token_revoked"] * 100
        with Bot(tmp_path / "bot", with_slack(tmp_path, slack)) as bot:
            ids = [send(bot.start(), "w1"), send(bot, "w2")]
            for id in ids:
                bot.diagnosed(id)
            until(lambda: bot.metric("tailhound_outbox_refused") == 2, "two refusals", 20, bot.said)
            page = bot.get("/health").body.decode()
            assert "refuses" in page
            assert "token_revoked" in page
            assert "Fix:" in page
            assert slack.posts() == 0
            slack.faults.errors = []
            bot.kill()
            bot.start()
            until_settled(bot, slack, ids)
            assert bot.metric("tailhound_outbox_refused") == 0


def test_the_next_message_that_gets_through_brings_the_refused_ones_along(tmp_path: Path) -> None:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        slack.core.channels[CHANNEL].is_archived = True
        with Bot(tmp_path / "bot", with_slack(tmp_path, slack)) as bot:
            first = send(bot.start(), "w1")
            bot.diagnosed(first)
            until(lambda: bot.metric("tailhound_outbox_refused") == 1, "a refusal", 20, bot.said)
            slack.core.channels[CHANNEL].is_archived = False
            second = send(bot, "w2")
            until_settled(bot, slack, [first, second])


def test_a_channel_that_refuses_has_its_incidents_told_in_the_fallback_channel(
    tmp_path: Path,
) -> None:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        slack.add_channel("C0OPS", "ops")
        slack.core.channels[CHANNEL].is_member = False
        fallback = {"slack": {"fallback_channel": "C0OPS"}}
        values = merged(with_slack(tmp_path, slack), fallback)
        with Bot(tmp_path / "bot", values) as bot:
            id = send(bot.start(), "w")
            bot.diagnosed(id)
            until(lambda: len(slack.messages("C0OPS")) == 1, "a message in the other", 20, bot.said)
            until(
                lambda: b"/invite @tailhound" in bot.get("/health").body,
                "a line of health",
                10,
                lambda: str(slack.refused) + bot.get("/health").body.decode()[-3000:],
            )
            own = str(slack.messages("C0OPS")[0]["ts"])
            until(lambda: len(slack.thread("C0OPS", own)) == 4, "its thread", 30, bot.said)
            assert slack.messages(CHANNEL) == []


def test_a_channel_that_dies_after_the_first_post_has_its_verdict_in_the_fallback_channel(
    tmp_path: Path,
) -> None:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        slack.add_channel("C0OPS", "ops")
        values = merged(with_slack(tmp_path, slack), {"slack": {"fallback_channel": "C0OPS"}})
        with Bot(tmp_path / "bot", values) as bot:
            id = send(bot.start(), "w")
            until(lambda: bool(messages_of(slack, id)), "the first post", 20, bot.said)
            slack.core.channels[CHANNEL].is_archived = True
            bot.diagnosed(id)
            until(lambda: len(slack.messages("C0OPS")) == 1, "a message in the other", 20, bot.said)
            (told,) = slack.messages("C0OPS")
            assert not told["text"].startswith("Investigating")
            assert f"<#{CHANNEL}>" in str(told["blocks"][1])


def told_of(hook: Scripted) -> set[str]:
    """The incidents of the bodies that came."""
    return {json.loads(one)["incident"] for one in hook.bodies}


def test_a_dead_token_has_every_outcome_told_the_second_way(tmp_path: Path) -> None:
    def take(_script: Scripted, handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        reply(handler, 200, "")

    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack, scripted(take) as hook:
        slack.add_channel(CHANNEL)
        slack.add_channel("C0OPS", "ops")
        slack.faults.errors = ["token_revoked"] * 100
        more = {
            "slack": {"fallback_channel": "C0OPS"},
            "fallback": {"webhook": {"url": f"http://127.0.0.1:{hook.port}/hook"}},
        }
        with Bot(tmp_path / "bot", merged(with_slack(tmp_path, slack), more)) as bot:
            ids = {send(bot.start(), "w1"), send(bot, "w2")}
            until(lambda: told_of(hook) == ids, "a body for each", 40, bot.said)
            assert len({json.loads(one)["id"] for one in hook.bodies}) == len(hook.bodies)
            assert bot.metric("tailhound_second_way_out_in_use") == 1
            page = bot.get("/health").body.decode()
            assert "Second way out" in page
            assert "in use" in page
            slack.faults.errors = []


def test_while_slack_is_down_outcomes_are_told_the_second_way(tmp_path: Path) -> None:
    def take(_script: Scripted, handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        reply(handler, 503 if len(hook.bodies) == 1 else 200, "")

    port = free_port()
    slack = SlackStandin(port=port, scopes=WITH_HISTORY)
    slack.add_channel(CHANNEL)
    with scripted(take) as hook:
        address = f"http://127.0.0.1:{hook.port}/hook"
        more = {"fallback": {"webhook": {"url": address, "after_seconds": 2}}}
        with Bot(tmp_path / "bot", merged(with_slack(tmp_path, slack), more)) as bot:
            id = send(bot.start(), "w")
            until(lambda: len(hook.bodies) >= 2, "a body that was taken", 40, bot.said)
            first, again = (json.loads(one) for one in hook.bodies[:2])
            assert first == again
            assert first["incident"] == id
            with slack:
                until_settled(bot, slack, [id], 90)
                until(lambda: bot.metric("tailhound_second_way_out_in_use") == 0, "no use", 20)
