"""Silences in a real Alertmanager."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import requests

from tailhound.actions.silence import Matcher, Silence
from tailhound.model import Missing, Reason
from tailhound.settings import Alertmanager as Settings
from tailhound.transports.alertmanager import AlertmanagerClient
from tests.lab.alertmanager import Alertmanager
from tests.lab.process import wait_until

NASTY = 'a "quoted" {value}\\ \u00e9'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alertmanager]:
    started = Alertmanager(tmp_path_factory.mktemp("am"))
    started.start("http://127.0.0.1:9/nowhere", "t")
    yield started
    started.stop()


@pytest.fixture
def client(server: Alertmanager) -> Iterator[AlertmanagerClient]:
    made = AlertmanagerClient(Settings(url=server.url))
    yield made
    made.close()


def fire(server: Alertmanager, **labels: str) -> None:
    body = [{"labels": {"alertname": "ITLHigh", **labels}}]
    requests.post(f"{server.url}/api/v2/alerts", json=body, timeout=5).raise_for_status()


def soon() -> float:
    return time.monotonic() + 5


def silence(id: str, *matchers: Matcher, minutes: float = 30) -> Silence:
    now = datetime.now(UTC)
    ends = now + timedelta(minutes=minutes)
    return Silence(id=id, matchers=matchers, starts=now, ends=ends, by="ana", why=NASTY)


def test_a_silence_mutes_what_it_names_until_it_is_ended(
    server: Alertmanager, client: AlertmanagerClient
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
    wait_until(lambda: count() == 0, "it is muted")
    everything = asyncio.run(client.firing((Matcher("namespace", "llm"),), soon()))
    assert not isinstance(everything, Missing)
    assert [alert.labels["service"] for alert in everything] == ["other"]
    assert asyncio.run(client.end(id, soon())) is None
    assert asyncio.run(client.end(id, soon())) is None
    assert asyncio.run(client.is_active(id, soon())) is False
    wait_until(lambda: count() == 1, "it fires again")


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
