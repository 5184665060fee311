"""What a server says when it begins, and how its lines look."""

import asyncio
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tailhound import __version__
from tailhound.app import compiled
from tailhound.app.composition import transports
from tailhound.app.greeting import Voice, begun, greet
from tailhound.app.lines import INFO, Stamped, saying, stamped
from tailhound.app.site import Site
from tailhound.settings import Settings
from tailhound.web.metrics import Metrics
from tests.lab.process import BlackHole, free_port
from tests.standins.slack import SlackStandin

NOW = datetime(2026, 11, 30, 2, 53, 10, 999999, tzinfo=UTC)


class Told:
    """A voice that keeps what it says."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.warned: list[str] = []
        self.voice = Voice(say=self.said.append, warn=self.warned.append)


def greeted(settings: Settings) -> Told:
    """What is told about the backends of these settings."""
    site = Site(settings, compiled(settings), Metrics(), lambda: NOW)
    asked = site.board.watched(transports(settings))
    told = Told()
    asyncio.run(greet(settings, site, told.voice))
    for backend in asked:
        backend.close()
    return told


def with_slack(folder: Path, port: int, **more: Any) -> Settings:
    """Settings with a Slack on this port."""
    token = folder / "token"
    token.write_text("xoxb-local", encoding="utf-8")
    slack = {
        "bot_token": {"file": str(token)},
        "channel": "C0ALERTS",
        "api_url": f"http://127.0.0.1:{port}/api/",
    }
    return Settings.model_validate({"slack": slack, **more})


def test_what_is_not_configured_is_told_with_what_is_lost_and_what_to_set() -> None:
    told = greeted(Settings())
    assert told.warned == []
    prometheus, kubernetes, ssh, slack = told.said
    assert prometheus.startswith("Prometheus: not configured; ")
    assert prometheus.endswith("causes can't be checked. Fix: set prometheus.url")
    assert kubernetes.startswith("Kubernetes: not configured")
    assert ssh.startswith("SSH: not configured")
    assert slack.startswith("Slack: not configured; nobody is told in Slack")


def test_a_backend_that_can_not_be_reached_is_a_warning(tmp_path: Path) -> None:
    port = free_port()
    told = greeted(
        with_slack(
            tmp_path,
            port,
            prometheus={"url": f"http://127.0.0.1:{port}"},
            kubernetes={"in_cluster": True},
        )
    )
    prometheus, kubernetes, slack = told.warned
    assert prometheus.startswith("Prometheus: can't be reached; ")
    assert "causes can't be checked. Fix: " in prometheus
    assert kubernetes.startswith("Kubernetes: can't be asked; kubernetes.in_cluster can't be used")
    assert kubernetes.endswith("is read again at the next start")
    assert slack.startswith("Slack: no answer from Slack")


def test_the_first_lines_say_what_runs() -> None:
    settings = Settings()
    version, runbooks, database = begun(settings, compiled(settings), "tailhound.db")
    assert version == f"tailhound {__version__}, configuration, 0 overrides from TAILHOUND_*"
    assert runbooks.endswith("from shipped")
    assert runbooks.split()[0].isdecimal()
    assert database == "Database: tailhound.db"


def test_a_line_has_its_time_and_level(capsys: pytest.CaptureFixture[str]) -> None:
    saying(INFO, lambda: NOW)("7F3K  resolved")
    assert capsys.readouterr().out == "2026-11-30T02:53:10Z INFO    7F3K  resolved\n"
    assert stamped("no answer", "WARNING", NOW) == "2026-11-30T02:53:10Z WARNING no answer"


def test_the_log_looks_like_the_lines_and_keeps_tracebacks() -> None:
    try:
        raise LookupError("nothing there")
    except LookupError:
        record = logging.LogRecord(
            "tailhound.web", logging.ERROR, "x.py", 1, "%s broke", ("it",), sys.exc_info()
        )
    record.created = NOW.timestamp()
    first, *rest = Stamped().format(record).splitlines()
    assert first == "2026-11-30T02:53:10Z ERROR   tailhound.web: it broke"
    assert rest[-1] == "LookupError: nothing there"


def test_a_question_that_hangs_keeps_no_loop_from_ending(tmp_path: Path) -> None:
    hole = BlackHole()
    settings = with_slack(tmp_path, hole.port)
    site = Site(settings, compiled(settings), Metrics(), lambda: NOW)
    told = Told()

    async def cut_off() -> None:
        task = asyncio.create_task(greet(settings, site, told.voice))
        while len(told.said) < 3:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(cut_off())
    hole.stop()
    assert all(not line.startswith("Slack") for line in told.said + told.warned)


def test_slack_is_asked_one_question_and_told_where_messages_go(tmp_path: Path) -> None:
    with SlackStandin() as slack:
        slack.add_channel("C0ALERTS")
        settings = with_slack(tmp_path, slack.bound_port)
        told = greeted(settings)
    assert told.warned == []
    *_, posts, deaf = told.said
    assert posts.startswith("Slack: tailhound in ")
    assert posts.endswith(", posts to C0ALERTS")
    assert deaf.startswith("Slack: no app_token; buttons and commands do nothing. Fix: ")
    assert not slack.refused
