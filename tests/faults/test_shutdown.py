"""SIGTERM ends the process in five seconds, whatever hangs, and loses nothing that was answered."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.faults.hanging import ASKED_IN, hung_hosts
from tests.faults.server import CHANNEL, Bot, alert, body, until, with_slack
from tests.lab.bot import merged
from tests.lab.process import BlackHole
from tests.standins.slack import SlackStandin

pytestmark = pytest.mark.timeout(180)  # each start of the server takes seconds on a busy machine

STOP_SECONDS = 5.0


@contextmanager
def black_holes(folder: Path) -> Iterator[dict[str, Any]]:
    """The settings of a Prometheus, an API server and a Slack that take calls and never answer."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        holes = [BlackHole() for _ in range(3)]
        for hole in holes:
            stack.callback(hole.stop)
        prometheus, kubernetes, slack = (f"127.0.0.1:{hole.port}" for hole in holes)
        tokens = {name: folder / name for name in ("bot", "app", "kubernetes")}
        for path in tokens.values():
            path.write_text("not-a-real-token", encoding="utf-8")
        yield {
            "prometheus": {"url": f"http://{prometheus}"},
            "kubernetes": {
                "server": f"https://{kubernetes}",
                "token": {"file": str(tokens["kubernetes"])},
            },
            "slack": {
                "bot_token": {"file": str(tokens["bot"])},
                "app_token": {"file": str(tokens["app"])},
                "channel": CHANNEL,
                "api_url": f"http://{slack}/api/",
            },
        }


def hang_everything(bot: Bot) -> list[str]:
    """Sixty incidents whose questions hang; their ids."""
    ids = []
    for number in range(60):
        found = bot.post(body(alert(namespace=ASKED_IN, deployment=f"w{number}")))
        assert found.status == 200
        ids += found.json["incidents"]
    until(
        lambda: bot.metric("tailhound_incidents", state="investigating") >= 50,
        "the investigations to run",
    )
    return ids


def test_it_ends_while_hosts_prometheus_kubernetes_and_slack_hang(tmp_path: Path) -> None:
    with black_holes(tmp_path / "holes") as holes, hung_hosts(tmp_path / "hosts") as hosts:
        values = merged(holes, hosts)
        with Bot(tmp_path / "bot", values) as bot:
            ids = hang_everything(bot.start())
            assert bot.stop() < STOP_SECONDS
            bot.start()
            assert {line["incident"] for line in bot.incidents()} == set(ids)
            assert bot.stop() < STOP_SECONDS


def test_it_ends_in_the_middle_of_a_webhook_and_of_a_stream(tmp_path: Path) -> None:
    with Bot(tmp_path, {}) as bot, ExitStack() as stack:
        bot.start()
        half = _raw(
            bot, b"POST /webhook/alertmanager HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n"
        )
        stack.callback(half.close)
        stream = _raw(bot, b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        stack.callback(stream.close)
        assert stream.recv(12) == b"HTTP/1.1 200"
        assert bot.stop() < STOP_SECONDS


class Storm:
    """Several senders that post one alert after the other until the server is gone."""

    def __init__(self, bot: Bot, senders: int) -> None:
        self.answered: list[str] = []
        self.refused: list[int] = []
        self._bot = bot
        self._threads = [
            threading.Thread(target=self._send, args=(number,)) for number in range(senders)
        ]
        for thread in self._threads:
            thread.start()

    def _send(self, sender: int) -> None:
        for number in range(100_000):
            name = f"s{sender}-{number}"
            answer = self._bot.post(body(alert(deployment=name)), timeout=10)
            if answer.status == 200:
                self.answered.append(name)
            elif answer.status:
                self.refused.append(answer.status)
            else:
                return

    def over(self) -> None:
        """Until all senders have noticed that nobody answers."""
        for thread in self._threads:
            thread.join(timeout=30)
            assert not thread.is_alive()


def test_a_storm_of_webhooks_at_the_end_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    with SlackStandin() as slack:
        slack.add_channel(CHANNEL)
        with Bot(tmp_path / "bot", with_slack(tmp_path, slack, socket=True)) as bot:
            bot.start()
            slack.wait_connected()
            storm = Storm(bot, senders=6)
            until(lambda: len(storm.answered) >= 200, "two hundred answers")
            took = bot.stop()
            storm.over()
            bot.start()
            known = {line["subject"] for line in bot.incidents()}
    assert took < STOP_SECONDS
    missing = [name for name in storm.answered if not any(name in where for where in known)]
    assert not missing
    assert set(storm.refused) <= {503}


def _raw(bot: Bot, head: bytes) -> socket.socket:
    connection = socket.create_connection(bot.where, timeout=10)
    connection.sendall(head)
    return connection
