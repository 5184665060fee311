"""The health page on real backends: a Prometheus that answers, then is gone, then is silent."""

import asyncio
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tailhound.app.backends import Needs, backend_lines
from tailhound.app.board import LOOK_AGAIN, Board
from tailhound.app.composition import transports
from tailhound.settings import Settings
from tailhound.web.parts import HealthLine
from tests.lab.apiserver import ApiServer
from tests.lab.prometheus import Prometheus

pytestmark = pytest.mark.lab
NEEDS = Needs(7, {"prometheus": 7, "kubernetes": 4, "ssh": 2})


class Watch:
    """A board on the transports of real settings; its clock goes on by hand."""

    def __init__(self, settings: Settings) -> None:
        self._now = datetime.now(UTC)
        self._settings = settings
        self._board = Board(lambda: self._now)
        self._transports = self._board.watched(transports(settings))

    def look(self) -> dict[str, HealthLine]:
        """What the page says when somebody opens it a minute later."""
        self._now += LOOK_AGAIN + timedelta(seconds=30)
        asyncio.run(self._board.look())
        told = backend_lines(self._board.standings(), self._settings, NEEDS, self._now)
        return {line.name: line for line in told}

    def close(self) -> None:
        for transport in self._transports:
            transport.close()


def test_a_real_prometheus_answers_and_is_missed_when_it_is_gone(
    needs: Callable[..., None], tmp_path: Path
) -> None:
    needs("prometheus")
    server = Prometheus(tmp_path / "prometheus").start()
    watch = Watch(Settings.model_validate({"prometheus": {"url": server.url}}))
    try:
        line = watch.look()["Prometheus"]
        assert (line.state, line.works) == ("answers", True)
        assert "asked now" in line.detail
    finally:
        server.stop()
    line = watch.look()["Prometheus"]
    assert (line.state, line.works) == ("can't be reached", False)
    assert line.effect == "7 of 7 causes can't be checked"
    assert str(server.port) in line.detail
    watch.close()


def test_a_server_that_takes_the_connection_and_says_nothing_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as black_hole:
        address = f"http://127.0.0.1:{black_hole.getsockname()[1]}"
        given = {"prometheus": {"url": address, "timeout_seconds": 0.5}}
        watch = Watch(Settings.model_validate(given))
        line = watch.look()["Prometheus"]
        watch.close()
    assert (line.state, line.works) == ("does not answer in time", False)
    assert line.fix.startswith("check that it is up")


def test_an_api_server_answers_although_the_account_may_read_little(
    apiserver: ApiServer, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(apiserver.token, encoding="utf-8")
    kubernetes = {
        "server": apiserver.server,
        "ca_file": str(apiserver.ca_file),
        "token": {"file": str(token)},
    }
    watch = Watch(Settings.model_validate({"kubernetes": kubernetes}))
    found = watch.look()
    watch.close()
    assert (found["Kubernetes"].state, found["Kubernetes"].works) == ("answers", True)
    assert found["Prometheus"].state == "not configured"
