"""People in Slack, on the real thing: server, sockets, Alertmanager; killed, cut off, twice."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests

from tailhound.slack.local import View
from tailhound.slack.socket import CONNECTIONS
from tests.databases import the_server
from tests.faults.server import CHANNEL, WITH_HISTORY, Bot, alert, body, until, with_slack
from tests.lab.alertmanager import Alertmanager
from tests.lab.bot import merged
from tests.lab.conftest import Needs
from tests.standins.slack import SlackStandin
from tests.unit.slack.floor import texts

pytestmark = [
    pytest.mark.xdist_group("faults-people"),
    pytest.mark.timeout(180),  # each start of the server takes seconds on a busy machine
]
ANA = "U0ANA"


@pytest.fixture
def slack() -> Iterator[SlackStandin]:
    with SlackStandin(scopes=WITH_HISTORY) as started:
        started.add_channel(CHANNEL)
        yield started
        assert started.core.invalid == []
        assert started.unknown_calls == []


@pytest.fixture
def manager(tmp_path: Path, needs: Needs) -> Iterator[Alertmanager]:
    needs("prometheus-alertmanager")
    started = Alertmanager(tmp_path / "am")
    started.start("http://127.0.0.1:9/nowhere", "t")
    yield started
    started.stop()


@contextmanager
def serving(folder: Path, slack: SlackStandin, **values: Any) -> Iterator[Bot]:
    approvers = {"approvals": {"sre-oncall": {"users": [ANA]}}}
    shared = merged({**with_slack(folder, slack, socket=True), **approvers}, values)
    with Bot(folder / "bot", shared) as bot:
        bot.start()
        slack.wait_connected(timeout=20)
        yield bot
        assert bot.stop() < 5


@contextmanager
def two_that_hear(folder: Path, slack: SlackStandin) -> Iterator[tuple[Bot, Bot]]:
    """Two replicas on one PostgreSQL, each with all its connections for clicks."""
    server = the_server()
    url = server.empty()
    shared = merged(with_slack(folder, slack, socket=True), {"store": {"url": url}})
    try:
        with Bot(folder / "one", shared) as one, Bot(folder / "two", shared) as other:
            for bot in (one, other):
                bot.start(wait=False)
            for bot in (one, other):
                bot.wait_up()
            slack.wait_connected(2 * CONNECTIONS, timeout=20)
            yield one, other
    finally:
        server.drop(url)


def begun(bot: Bot, slack: SlackStandin, sent: Mapping[str, Any]) -> tuple[str, str]:
    """An incident with its verdict in the channel: its id, and the ts of its message."""
    (id,) = bot.post(body(sent)).json["incidents"]
    bot.diagnosed(id)
    until(lambda: message(slack, id, "recheck") is not None, "the verdict in Slack", 30, bot.said)
    found = message(slack, id, "recheck")
    assert found is not None
    return id, str(found["ts"])


def resolved(bot: Bot, slack: SlackStandin, id: str, sent: Mapping[str, Any]) -> None:
    """The incident's alert ends; its message asks what it was."""
    over = {**sent, "status": "resolved", "endsAt": datetime.now(UTC).isoformat()}
    bot.post(body(over))
    shows(slack, bot, id, "Tell us the cause")


def page(bot: Bot, id: str) -> str:
    """The incident's page as it stands."""
    return bot.get(f"/incidents/{id}").body.decode()


def message(slack: SlackStandin, id: str, holds: str) -> dict[str, Any] | None:
    """The incident's own message, if it says or carries something."""
    own = (
        one for one in slack.messages(CHANNEL) if f"Incident {id}" in str(one) and holds in str(one)
    )
    return next(own, None)


def shows(slack: SlackStandin, bot: Bot, id: str, what: str) -> None:
    until(lambda: message(slack, id, what) is not None, f"{what!r} in Slack", 30, bot.said)


def modal(slack: SlackStandin, holds: Callable[[View], object]) -> View:
    slack.wait_for(lambda: (v := slack.modal(ANA)) is not None and holds(v), 15)
    view = slack.modal(ANA)
    assert view is not None
    return view


def is_filled(view: View) -> bool:
    return "submit" in view.body


def fire(manager: Alertmanager, **labels: str) -> None:
    body = [{"labels": {"alertname": "InferenceSlow", "namespace": "prod", **labels}}]
    requests.post(f"{manager.url}/api/v2/alerts", json=body, timeout=5).raise_for_status()


def silences(manager: Alertmanager) -> list[dict[str, Any]]:
    found = requests.get(f"{manager.url}/api/v2/silences", timeout=5).json()
    return [one for one in found if one["status"]["state"] == "active"]


def test_a_silence_is_previewed_set_shown_and_ended(
    tmp_path: Path, slack: SlackStandin, manager: Alertmanager
) -> None:
    with serving(tmp_path, slack, alertmanager={"url": manager.url}) as bot:
        fire(manager, deployment="w", severity="warning")
        id, ts = begun(bot, slack, alert(deployment="w", severity="warning"))
        slack.click("silence", channel=CHANNEL, ts=ts)
        counted = "1 firing alert (1 warning)."
        view = modal(slack, lambda view: is_filled(view) and counted in texts(view))
        assert "matched* nothing else." in texts(view)
        slack.submit({"silence_why": "Planned work", "note": "rollout", "silence_hours": "1"})
        until(lambda: len(silences(manager)) == 1, "the silence", 30, bot.said)
        (stands,) = silences(manager)
        assert stands["createdBy"] == "u0ana"
        assert stands["comment"].startswith("Planned work: rollout (tailhound ")
        shows(slack, bot, id, "ilenced until")
        slack.click("silence", channel=CHANNEL, ts=ts)
        modal(slack, lambda view: "Silenced by u0ana until" in texts(view))
        slack.use("end_silence")
        until(lambda: silences(manager) == [], "the end of the silence", 30, bot.said)


def test_a_form_whose_acknowledgement_was_lost_sets_one_silence(
    tmp_path: Path, slack: SlackStandin, manager: Alertmanager
) -> None:
    with serving(tmp_path, slack, alertmanager={"url": manager.url}) as bot:
        _, ts = begun(bot, slack, alert(deployment="w", severity="warning"))
        slack.click("silence", channel=CHANNEL, ts=ts)
        modal(slack, is_filled)
        before = slack.opened
        slack.faults.cut_clicks = 1
        with pytest.raises(TimeoutError):
            slack.submit({"silence_why": "Planned work"})
        slack.late_acks.clear()
        slack.wait_for(lambda: slack.opened > before, 15)
        slack.wait_connected(timeout=15)
        slack.submit()
        until(lambda: len(silences(manager)) == 1, "the silence", 30, bot.said)
        time.sleep(1.0)  # nothing to wait for: a second one would come within this time
        assert len(silences(manager)) == 1


def test_what_people_say_and_stop_survives_a_kill(tmp_path: Path, slack: SlackStandin) -> None:
    with serving(tmp_path, slack) as bot:
        sent = alert(deployment="w")
        id, ts = begun(bot, slack, sent)
        assert slack.click("on_it", channel=CHANNEL, ts=ts).seconds < 1
        resolved(bot, slack, id, sent)
        slack.click("wrong", channel=CHANNEL, ts=ts)
        modal(slack, is_filled)
        slack.submit({"cause": "cpu-throttling", "note": "the drain was first"})
        assert "stopped all changes" in slack.command("stop game day", channel=CHANNEL).payload[
            "text"
        ]  # fmt: skip
        bot.kill()
        bot.start()
        slack.wait_connected(timeout=20)
        shows(slack, bot, id, "the drain was first")
        assert "u0ana is on it" in page(bot, id)
        told = slack.command("status", channel=CHANNEL).payload["text"]
        assert "changes stopped by u0ana" in told
        slack.open_home()
        slack.wait_for(lambda: (home := slack.core.home(ANA)) is not None and id in texts(home), 15)
        home = slack.core.home(ANA)
        assert home is not None
        assert "1 has feedback: 0 right, 0 incomplete, 0 wrong, 1 where no" in texts(home)
        slack.command("resume", channel=CHANNEL)
        slack.wait_for(
            lambda: any("Changes are no longer stopped" in m["text"]
                        for m in slack.messages(CHANNEL)), 15)  # fmt: skip


def test_a_check_that_is_asked_for_appears_in_the_channel(
    tmp_path: Path, slack: SlackStandin
) -> None:
    with serving(tmp_path, slack) as bot:
        told = slack.command("diagnose prod/llm-70b", channel=CHANNEL).payload
        assert told["response_type"] == "in_channel"
        (id,) = [one["incident"] for one in bot.incidents()]
        assert id in told["text"]
        shows(slack, bot, id, "recheck")
        joined = slack.command("diagnose prod/llm-70b", channel=CHANNEL).payload["text"]
        assert f"is incident {id} already" in joined
        slack.command("run cpu-throttling prod/llm-70b", channel=CHANNEL)
        slack.wait_for(
            lambda: any("Nothing was stored." in one["text"] for one in slack.messages(CHANNEL)), 40
        )
        assert len(bot.incidents()) == 1


@pytest.mark.postgres
def test_each_replica_takes_any_click_once(tmp_path: Path, slack: SlackStandin) -> None:
    with two_that_hear(tmp_path, slack) as (one, other):
        sent = alert(deployment="w")
        id, ts = begun(one, slack, sent)
        users = [f"U0P{n}" for n in range(8)]
        for user in users:
            slack.click("on_it", channel=CHANNEL, ts=ts, user=user)
        for _ in range(2 * CONNECTIONS):  # the same envelope, once over each socket
            slack.click("recheck", channel=CHANNEL, ts=ts, envelope="twice")
        assert len(set(slack.turns)) == 2 * CONNECTIONS
        shows(slack, one, id, f"{users[-1].lower()} is on it since")
        asked = "Re-check asked for by u0ana"
        until(lambda: asked in page(one, id), "the second look", 40, one.said)
        assert page(other, id).count(asked) == 1
        resolved(one, slack, id, sent)
        slack.click("wrong", channel=CHANNEL, ts=ts)  # opened by one replica, sent to the other
        modal(slack, is_filled)
        slack.submit({"cause": "cpu-throttling"})
        shows(slack, other, id, "it was CPU throttling")
        for bot in (one, other):
            assert bot.stop() < 5


def test_sockets_that_close_mid_click_lose_nothing_that_was_acknowledged(
    tmp_path: Path, slack: SlackStandin
) -> None:
    with serving(tmp_path, slack) as bot:
        sent = alert(deployment="w")
        id, ts = begun(bot, slack, sent)
        acked: list[str] = []

        def press(serial: int) -> None:
            try:
                slack.click("on_it", channel=CHANNEL, ts=ts, user=f"U0P{serial}")
            except (TimeoutError, RuntimeError, ConnectionError):
                return
            acked.append(f"u0p{serial}")

        for serial in range(6):
            if serial == 3:
                slack.drop_sockets(politely=True)
                slack.wait_connected(timeout=15)
            thread = threading.Thread(target=press, args=(serial,))
            thread.start()
            thread.join()
        slack.late_acks.clear()
        assert acked
        shows(slack, bot, id, f"{acked[-1]} is on it since")
        for name in acked:
            assert f"{name} is on it" in page(bot, id)
