"""Silences in a real Alertmanager, and in the stand-in that the demo brings: the same tests."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
import requests
import uvicorn

from tailhound.actions.silence import Matcher, Muted, Silence, muted
from tailhound.app.demo_alertmanager import DemoAlertmanager
from tailhound.model import Missing, Reason
from tailhound.settings import Alertmanager as Settings
from tailhound.transports.alertmanager import AlertmanagerClient
from tests.lab.alertmanager import Alertmanager
from tests.lab.process import wait_until

NASTY = 'a "quoted" {value}\\ \u00e9'


@dataclass(frozen=True, slots=True)
class Held:
    """An Alertmanager at an address, and how an alert gets into it."""

    url: str
    post: Callable[[dict[str, str]], None]


@pytest.fixture(scope="module", params=["real", "of the demo"])
def server(request: pytest.FixtureRequest) -> Iterator[Held]:
    if request.param == "real":
        request.getfixturevalue("needs")("prometheus-alertmanager")
        yield from _real(request.getfixturevalue("tmp_path_factory"))
    else:
        yield from _of_the_demo()


def _real(folders: pytest.TempPathFactory) -> Iterator[Held]:
    started = Alertmanager(folders.mktemp("am"))
    started.start("http://127.0.0.1:9/nowhere", "t")

    def post(labels: dict[str, str]) -> None:
        body = [{"labels": labels}]
        requests.post(f"{started.url}/api/v2/alerts", json=body, timeout=5).raise_for_status()

    yield Held(started.url, post)
    started.stop()


def _of_the_demo() -> Iterator[Held]:
    held = DemoAlertmanager(lambda: datetime.now(UTC))
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(held.asgi, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()

    def post(labels: dict[str, str]) -> None:
        at = datetime.now(UTC).isoformat()
        held.hold({"alerts": [{"labels": labels, "status": "firing", "startsAt": at}]})

    yield Held(f"http://127.0.0.1:{listening.getsockname()[1]}", post)
    server.should_exit = True
    thread.join(10)
    listening.close()
    assert not thread.is_alive()


@pytest.fixture
def client(server: Held) -> Iterator[AlertmanagerClient]:
    made = AlertmanagerClient(Settings(url=server.url))
    yield made
    made.close()


def fire(server: Held, **labels: str) -> None:
    server.post({"alertname": "ITLHigh", **labels})


def soon() -> float:
    return time.monotonic() + 5


def silence(id: str, *matchers: Matcher, minutes: float = 30) -> Silence:
    now = datetime.now(UTC)
    ends = now + timedelta(minutes=minutes)
    return Silence(id=id, matchers=matchers, starts=now, ends=ends, by="ana", why=NASTY)


def test_a_silence_mutes_what_it_names_until_it_is_ended(
    server: Held, client: AlertmanagerClient
) -> None:
    fire(server, namespace="llm", service="chat-json", note=NASTY)
    fire(server, namespace="llm", service="other")
    wanted = (Matcher("namespace", "llm"), Matcher("note", NASTY))

    def count() -> int:
        found = asyncio.run(client.firing(wanted, soon()))
        assert not isinstance(found, Missing)
        return len(found)

    wait_until(lambda: count() == 1, "the alert fires")
    id = asyncio.run(client.set(silence("abc123", *wanted), soon()))
    assert isinstance(id, str)
    assert asyncio.run(client.find("abc123", soon())) == id
    assert asyncio.run(client.is_active(id, soon())) is True
    wait_until(lambda: unmuted(server) == ["other"], "it is muted")
    assert count() == 1  # what is muted is counted too: it would be muted for longer
    assert asyncio.run(client.end(id, soon())) is None
    assert asyncio.run(client.end(id, soon())) is None
    assert asyncio.run(client.is_active(id, soon())) is False
    wait_until(lambda: unmuted(server) == ["chat-json", "other"], "it fires again")


def unmuted(server: Held) -> list[str]:
    """The services of the namespace `llm` whose alerts fire and are not silenced."""
    asked = {"silenced": "false", "filter": 'namespace="llm"'}
    found = requests.get(f"{server.url}/api/v2/alerts", params=asked, timeout=5).json()
    return sorted(row["labels"]["service"] for row in found)


@pytest.mark.parametrize(
    ("ours", "why"), [("sec1", "we rotate the password:"), ("sec2", "token: abcdef0123456789")]
)
def test_a_silence_is_found_whatever_its_comment_holds(
    server: Held, client: AlertmanagerClient, ours: str, why: str
) -> None:
    made = replace(silence(ours, Matcher("namespace", "secretive")), why=why)
    id = asyncio.run(client.set(made, soon()))
    assert asyncio.run(client.find(ours, soon())) == id
    assert isinstance(id, str)
    asyncio.run(client.end(id, soon()))


def test_an_alert_whose_labels_look_like_secrets_is_counted(
    server: Held, client: AlertmanagerClient
) -> None:
    labels = {"hf_token": "abcdef123456", "instance": "http://u:secretpw@gpu-1:9100"}
    fire(server, namespace="vault", severity="critical", **labels)
    wanted = tuple(Matcher(name, value) for name, value in labels.items())

    def found() -> bool:
        alerts = asyncio.run(client.firing(wanted, soon()))
        assert not isinstance(alerts, Missing)
        return muted(wanted, alerts) == Muted(alerts=1, pages=1)

    wait_until(found, "the page is counted")


def test_what_it_does_not_know_or_refuses_is_said(client: AlertmanagerClient) -> None:
    assert asyncio.run(client.find("nobody", soon())) == ""
    unknown = "00000000-0000-0000-0000-000000000000"
    assert asyncio.run(client.is_active(unknown, soon())) is False
    refused = asyncio.run(client.set(silence("x", Matcher("a", "(", True)), soon()))
    assert isinstance(refused, Missing)
    assert refused.reason is Reason.UNPARSABLE
    assert "HTTP 400" in refused.detail


def test_a_server_that_is_not_there_is_unreachable() -> None:
    client = AlertmanagerClient(Settings(url="http://127.0.0.1:9"))
    found = asyncio.run(client.firing((), soon()))
    client.close()
    assert isinstance(found, Missing)
    assert found.reason is Reason.UNREACHABLE
