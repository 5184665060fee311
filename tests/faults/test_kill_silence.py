"""A silence on its way to a real Alertmanager: the answer is lost, or the server is killed."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.faults.server import CHANNEL, Bot, alert, until
from tests.faults.test_people import (
    begun,
    is_filled,
    manager,
    modal,
    serving,
    shows,
    silences,
    slack,
)
from tests.lab.alertmanager import Alertmanager
from tests.standins.slack import SlackStandin

__all__ = ["manager", "slack"]

pytestmark = [
    pytest.mark.xdist_group("faults-people"),
    pytest.mark.timeout(180),  # each start of the server takes seconds on a busy machine
]


class Between:
    """A proxy before Alertmanager. It hands every request on; answers to POST can get lost."""

    def __init__(self, behind: int) -> None:
        self.behind = behind
        self.loses = 0
        self.holds = 0
        self.over = threading.Event()
        self.port = 0

    def asked(self, method: str, path: str, content: bytes) -> tuple[int, bytes] | None:
        """The answer; None = none comes."""
        onward = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=10)
        onward.request(method, path, content, {"Content-Type": "application/json"})
        answer = onward.getresponse()
        found = answer.status, answer.read()
        onward.close()
        if method == "POST" and self.loses > 0:
            self.loses -= 1
            return None
        if method == "POST" and self.holds > 0:
            self.holds -= 1
            self.over.wait(60)
            return None
        return found


@contextmanager
def between(behind: int) -> Iterator[Between]:
    proxy = Between(behind)

    class Handler(BaseHTTPRequestHandler):
        def _pass(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = proxy.asked(self.command, self.path, content)
            if answer is None:
                self.close_connection = True
                return
            self.send_response(answer[0])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer[1])))
            self.end_headers()
            self.wfile.write(answer[1])

        do_GET = do_POST = do_DELETE = _pass

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, name="between", daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def asked(bot: Bot, slack: SlackStandin) -> str:
    """Somebody has sent the form for a silence; the incident."""
    id, ts = begun(bot, slack, alert(deployment="w", severity="warning"))
    slack.click("silence", channel=CHANNEL, ts=ts)
    modal(slack, is_filled)
    slack.submit({"silence_why": "Planned work"})
    return id


def test_a_silence_whose_answer_is_lost_stands_once_and_is_shown(
    tmp_path: Path, slack: SlackStandin, manager: Alertmanager
) -> None:
    with between(manager.port) as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        with serving(tmp_path, slack, alertmanager={"url": url}) as bot:
            proxy.loses = 1
            id = asked(bot, slack)
            shows(slack, bot, id, "ilenced until")
            assert proxy.loses == 0
            assert len(silences(manager)) == 1


def test_a_kill_between_a_silence_and_its_answer_leaves_one_that_is_shown(
    tmp_path: Path, slack: SlackStandin, manager: Alertmanager
) -> None:
    with between(manager.port) as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        with serving(tmp_path, slack, alertmanager={"url": url}) as bot:
            proxy.holds = 1
            id = asked(bot, slack)
            until(lambda: len(silences(manager)) == 1, "the silence", 30, bot.said)
            bot.kill()
            bot.start()
            shows(slack, bot, id, "ilenced until")
            assert len(silences(manager)) == 1
