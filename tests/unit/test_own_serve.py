"""What `doctor` finds out from the tailhound that serves here."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tailhound.app.arrivals import LAST_METRIC, WATCHDOG_METRIC, Arrivals
from tailhound.app.clicks import Clicks
from tailhound.app.own_serve import CONNECTIONS, OTHERS, own_lines
from tailhound.app.probes import Line, Mood
from tailhound.durable.by_hand import body_of
from tailhound.settings import Settings
from tailhound.slack.socket import Standing
from tailhound.sources.alertmanager import read_group
from tailhound.web.metrics import Metrics
from tests.unit.durable.kit import alert, body
from tests.unit.test_board import Clock

NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
APP = {"app_token": {"env": "APP"}, "bot_token": {"env": "BOT"}, "channel": "C1"}


@contextmanager
def served(text: bytes) -> Iterator[int]:
    """Something that answers /metrics with this text; its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Tests are silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def lines(port: int, **more: Any) -> list[Line]:
    given = {"listen": {"host": "0.0.0.0", "port": port, "bearer": {"env": "X"}}, **more}
    return own_lines(Settings.model_validate(given), NOW)


def told(arrivals: Arrivals, more: str = "") -> bytes:
    """What a tailhound serves that has seen these."""
    metrics = Metrics()
    metrics.registry.register(arrivals)
    return metrics.text() + more.encode()


def watched(ago: timedelta) -> Arrivals:
    clock = Clock(NOW - ago)
    arrivals = Arrivals(clock)
    arrivals.note(read_group(body(alert(name="Watchdog"))))
    clock.forward(seconds=ago.total_seconds())
    return arrivals


def and_nobody_else(arrivals: Arrivals) -> Arrivals:
    """The database says that no other process saw it."""
    arrivals.heard_anywhere(arrivals.switch_seen)
    return arrivals


def test_a_dead_mans_switch_that_was_seen_lately_is_well() -> None:
    with served(told(watched(timedelta(seconds=22)))) as port:
        serve, watchdog = lines(port)
    assert (serve.mood, serve.told) == (Mood.OK, f"answers at http://127.0.0.1:{port}")
    assert (watchdog.mood, watchdog.told) == (Mood.OK, "alert Watchdog seen 22\u00a0s ago")


@pytest.mark.parametrize(
    ("arrivals", "says"),
    [
        (and_nobody_else(watched(timedelta(hours=2))), "alert Watchdog seen 2\u00a0h ago"),
        (and_nobody_else(Arrivals(lambda: NOW)), "no alert Watchdog since that process started"),
    ],
    ids=["long ago", "never"],
)
def test_one_that_is_silent_is_a_warning(arrivals: Arrivals, says: str) -> None:
    with served(told(arrivals)) as port:
        _, watchdog = lines(port)
    assert (watchdog.mood, watchdog.told) == (Mood.WARN, says)
    assert watchdog.fix == "route the alert Watchdog to this webhook, with a repeat_interval of 5m"


def test_one_that_another_replica_sees_is_well() -> None:
    arrivals = watched(timedelta(hours=2))
    arrivals.heard_anywhere(NOW - timedelta(minutes=1))
    with served(told(arrivals)) as port:
        _, watchdog = lines(port)
    assert (watchdog.mood, watchdog.told) == (Mood.OK, "alert Watchdog seen 60\u00a0s ago")


def test_while_the_database_does_not_tell_the_watchdog_is_unknown_and_not_silent() -> None:
    with served(told(watched(timedelta(hours=2)))) as port:
        _, watchdog = lines(port)
    assert watchdog.told.startswith("alert Watchdog seen 2\u00a0h ago; when any process saw it")
    assert watchdog.breaks == "nobody knows whether alerts get here"
    assert "repeat_interval" not in watchdog.fix


@pytest.mark.parametrize(
    ("amount", "mood", "says"),
    [(0, Mood.WARN, "serve has no connection to Slack now"),
     (1, Mood.OK, "serve has 1 connection"), (2, Mood.OK, "serve has 2 connections")],
)  # fmt: skip
def test_connections_to_slack_are_counted(amount: int, mood: Mood, says: str) -> None:
    text = told(watched(timedelta(0)), f"{CONNECTIONS} {amount}\n")
    with served(text) as port:
        _, slack, _ = lines(port, slack=APP)
        assert len(lines(port)) == 2  # without an app token there is none to be had
    assert (slack.name, slack.mood) == ("slack", mood)
    assert slack.told == says


def test_the_gauges_that_are_looked_for_are_those_of_the_server() -> None:
    told = {one.name for one in Clicks(lambda: Standing(up=2, wanted=2)).collect()}
    assert {CONNECTIONS, OTHERS} <= told


def test_another_program_on_the_same_app_is_a_warning() -> None:
    with served(told(watched(timedelta(0)), f"{CONNECTIONS} 2\n{OTHERS} 1\n")) as port:
        _, slack, _ = lines(port, slack=APP)
    assert (slack.mood, slack.told) == (Mood.WARN, "1 other connection of the same app")


def test_nobody_who_answers_is_a_warning_and_tells_nothing_of_the_watchdog() -> None:
    with served(b"") as port:
        pass
    (serve,) = lines(port)
    assert (serve.mood, serve.breaks) == (Mood.WARN, "no alert is taken here")
    assert serve.told == f"http://127.0.0.1:{port}: Connection refused"


@pytest.mark.parametrize("text", [b"", b"<html>", b"other_metric 1\n", b"\xff\xfe x y z\n{"])
def test_something_else_on_that_port_is_no_tailhound(text: bytes) -> None:
    with served(text) as port:
        (serve,) = lines(port)
    assert serve.mood is Mood.WARN
    assert not serve.told.startswith("answers")


def test_any_free_port_is_not_asked() -> None:
    assert lines(0) == []


def test_what_a_person_asked_for_is_no_sign_of_life_of_alertmanager() -> None:
    arrivals = Arrivals(lambda: NOW)
    arrivals.note(read_group(body_of({"node": "a"}, "ana", NOW)))
    assert arrivals.lines()[0].state == "none since 03:00 UTC"
    families = {f.name: f.samples for f in text_string_to_metric_families(told(arrivals).decode())}
    assert (families[LAST_METRIC], families[WATCHDOG_METRIC]) == ([], [])
    arrivals.note(read_group(body(alert())))
    assert arrivals.lines()[0].works
