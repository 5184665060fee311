"""The channel as a page: the real client posts to it, a browser's click comes back."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

import pytest
import uvicorn

from tailhound.notifiers import Delivery, Posted
from tailhound.slack.calls import client
from tailhound.slack.listeners import SlackListeners
from tailhound.slack.local import LocalSlack
from tailhound.slack.local_app import LocalApp
from tailhound.slack.notifier import SlackNotifier
from tailhound.slack.tools import answer
from tests.samples.incidents import CONFIRMED
from tests.samples.story import NOW
from tests.unit.slack.floor import Desk

CHANNEL = "C0ALERTS"


class Stay(HTTPRedirectHandler):
    """Redirects are looked at, not followed."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Site:
    """The application on a real port, with tailhound's listeners behind its buttons."""

    def __init__(self, listening: socket.socket) -> None:
        self.base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self.slack = LocalSlack(NOW.timestamp)
        self.slack.add_channel(CHANNEL, "alerts")
        self.whispered = threading.Event()
        self.app = LocalApp(self.slack, self._deliver, base=self.base)
        self.web = client(self.slack.bot_token, self.app.api_url, 5)
        self.desk = Desk()
        self.listeners = SlackListeners(self.web, self.desk, reply=self._whisper, now=lambda: NOW)

    def _deliver(self, envelope: str, payload: Mapping[str, Any]) -> object:
        return self.listeners.receive(envelope, payload)

    @property
    def clicks(self) -> list[tuple[str, str, str]]:
        """Which incident, who, which envelope, of each click that was stored."""
        return [(one.incident, one.person.id, one.envelope) for _, one in self.desk.stored]

    def _whisper(self, url: str, said: dict[str, Any]) -> None:
        answer(url, said)
        self.whispered.set()

    def post_incident(self) -> str:
        notifier = SlackNotifier(self.web, now=lambda: NOW)
        delivery = Delivery(id=1, incident=CONFIRMED, place=CHANNEL)
        result = asyncio.run(notifier.deliver(delivery))
        assert isinstance(result, Posted)
        return result.message

    def get(self, path: str, **headers: str) -> tuple[int, Mapping[str, str], str]:
        return self._ask(Request(self.base + path, headers=headers))  # noqa: S310  our own

    def send(self, path: str, body: bytes, **headers: str) -> tuple[int, Mapping[str, str], str]:
        return self._ask(Request(self.base + path, data=body, headers=headers))  # noqa: S310  our own

    def _ask(self, request: Request) -> tuple[int, Mapping[str, str], str]:
        try:
            with build_opener(Stay()).open(request, timeout=5) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, dict(error.headers), error.read().decode()

    def click(self, message: str, *, origin: str = "", **form: str) -> int:
        """Press *Re-check* as the page does."""
        _, _, page = self.get(f"/channel/{CHANNEL}")
        found = re.search(r'name="key" value="([^"]+)"', page)
        assert found is not None
        fields = {"ts": message, "key": found[1], "action_id": "recheck", **form}
        headers = {"Origin": origin or self.base}
        return self.send(f"/channel/{CHANNEL}", urlencode(fields).encode(), **headers)[0]


@pytest.fixture(scope="module")
def served() -> Iterator[Site]:
    listening = socket.create_server(("127.0.0.1", 0))
    made = Site(listening)
    server = uvicorn.Server(uvicorn.Config(made.app.asgi, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield made
    finally:
        server.should_exit = True
        thread.join(10)
        made.listeners.close()
        listening.close()
    assert not thread.is_alive()


@pytest.fixture
def site(served: Site) -> Site:
    """The one server, with nothing in its channel."""
    served.slack.channels[CHANNEL].messages.clear()
    served.slack.channels[CHANNEL].whispers.clear()
    served.desk.stored.clear()
    served.whispered.clear()
    return served


def test_a_posted_incident_is_on_the_page(site: Site) -> None:
    ts = site.post_incident()
    status, headers, page = site.get(f"/channel/{CHANNEL}")
    assert status == 200
    assert f'id="m{ts}"' in page
    assert "<h2>🎯 Cause found: the CPU limit stops the engine</h2>" in page
    assert "default-src 'none'" in headers["content-security-policy"]


def test_the_front_page_leads_to_the_channel(site: Site) -> None:
    status, headers, _ = site.get("/")
    assert (status, headers["location"]) == (303, f"/channel/{CHANNEL}")


def test_a_click_on_the_page_reaches_tailhound_and_is_answered(site: Site) -> None:
    ts = site.post_incident()
    assert site.click(ts) == 303
    assert [(incident, user) for incident, user, _ in site.clicks] == [("8R5W", "U0YOU")]
    assert site.whispered.wait(5)
    assert "Recorded: 8R5W is checked again" in site.get(f"/channel/{CHANNEL}")[2]


@pytest.mark.parametrize(
    ("origin", "form", "status"),
    [
        ("https://evil.example", {}, 403),
        ("http://127.0.0.1:1", {}, 403),
        ("null", {}, 403),
        ("", {"key": "guessed"}, 403),
        ("", {"key": ""}, 403),
        ("", {"ts": "1.1"}, 404),
        ("", {"action_id": "nothing"}, 404),
    ],
)
def test_a_click_from_anywhere_else_does_nothing(
    site: Site, origin: str, form: dict[str, str], status: int
) -> None:
    assert site.click(site.post_incident(), origin=origin, **form) == status
    assert site.clicks == []


def test_another_host_name_for_this_machine_takes_no_click(site: Site) -> None:
    headers = {"Host": "rebound.example", "Origin": "http://rebound.example"}
    assert site.send(f"/channel/{CHANNEL}", b"", **headers)[0] == 403


def test_the_page_asks_for_new_messages_only_when_there_are_some(site: Site) -> None:
    site.post_incident()
    path = f"/channel/{CHANNEL}/messages"
    status, headers, text = site.get(path)
    assert status == 200
    assert text.startswith("<article")
    assert site.get(path, **{"If-None-Match": headers["etag"]})[0] == 304


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/channel.css", "text/css"),
        ("/channel.js", "text/javascript"),
        ("/icon.svg", "image/svg+xml"),
    ],
)
def test_its_files_are_served(site: Site, path: str, kind: str) -> None:
    status, headers, _ = site.get(path)
    assert status == 200
    assert headers["content-type"].startswith(kind)


@pytest.mark.parametrize("path", ["/channel/C0NOWHERE", "/verdict.j2", "/..%2f..%2fetc%2fpasswd"])
def test_what_is_not_there_is_not_found(site: Site, path: str) -> None:
    assert site.get(path)[0] == 404


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff\xfe"])
def test_a_call_that_is_no_json_is_refused(site: Site, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = site.send("/api/auth.test", body, **headers)
    assert json.loads(answer[2]) == {"ok": False, "error": "invalid_json"}


def test_a_body_of_two_megabytes_is_refused(site: Site) -> None:
    assert site.send("/api/auth.test", b"x" * 2_000_000)[0] == 413
