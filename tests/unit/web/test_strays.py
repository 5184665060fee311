"""Notifications that don't get in are counted, and told often enough but not more."""

import logging
from dataclasses import dataclass
from pathlib import Path

import pytest

from tailhound import __version__
from tailhound.settings import Listen, Secret, Settings
from tailhound.web.app import create_app
from tailhound.web.metrics import Metrics
from tailhound.web.parts import Parts
from tailhound.web.strays import TELL_AGAIN_SECONDS, Seldom
from tests.unit.web.asgi import request
from tests.unit.web.shelf import parts


@dataclass(slots=True)
class Monotonic:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def refused(given: Parts, reason: str) -> float | None:
    return given.metrics.registry.get_sample_value(
        "tailhound_bodies_refused_total", {"reason": reason}
    )


@pytest.mark.parametrize(
    ("path", "status"),
    [("/webhook", 404), ("/alerts", 404), ("/incidents", 405)],
)
def test_a_wrong_path_is_counted_told_and_answered_with_the_right_one(
    path: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    given = parts()
    answer = request(create_app(given), path, method="POST", chunks=(b"{}",))
    assert answer.status == status
    assert "go to /webhook/alertmanager" in answer.text
    assert refused(given, "address") == 1
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"posted to {path!r}, which takes nothing" in record.getMessage()


def test_a_reader_who_is_lost_is_no_notification() -> None:
    given = parts()
    assert request(create_app(given), "/nowhere").status == 404
    assert request(create_app(given), "/webhook/alertmanager").status == 405
    assert refused(given, "address") == 0


def test_a_hostile_path_stays_on_its_line(caplog: pytest.LogCaptureFixture) -> None:
    request(create_app(parts()), "/x\n\x1b[2J" + "y" * 500, method="POST", chunks=(b"",))
    (record,) = caplog.records
    assert record.getMessage().isprintable()
    assert len(record.getMessage()) < 300


def test_a_credential_that_is_not_ours_is_told_without_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    token = tmp_path / "token"
    token.write_text("right", encoding="utf-8")
    settings = Settings(listen=Listen(bearer=Secret(file=str(token))))
    for headers, says in (({}, "no credential"), ({"authorization": "Bearer x9y"}, "a wrong")):
        caplog.clear()
        app = create_app(parts(settings=settings))
        hook = "/webhook/alertmanager"
        answer = request(app, hook, method="POST", headers=headers, chunks=(b"{}",))
        assert answer.status == 401
        (record,) = caplog.records
        assert says in record.getMessage()
        assert "x9y" not in record.getMessage()


def test_the_same_trouble_is_told_once_a_minute_with_its_count(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Monotonic()
    seldom = Seldom(clock)
    for _ in range(5):
        seldom.warn("refused")
    clock.now += TELL_AGAIN_SECONDS
    seldom.warn("refused")
    told = [record.getMessage() for record in caplog.records]
    assert told == ["refused", "refused (4 more since the last such line)"]


def test_what_runs_is_a_metric() -> None:
    metrics = Metrics()
    metrics.runs(7)
    text = metrics.text().decode()
    assert f'version="{__version__}"' in text
    assert "tailhound_runbooks_active 7.0" in text
