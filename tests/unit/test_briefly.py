"""How parts of tailhound stand, in few words."""

from datetime import UTC, datetime

import pytest

from tailhound.app.briefly import brief, in_queue
from tailhound.durable.asking import Place
from tailhound.durable.standings import Standing
from tailhound.slack.deeds import Part
from tailhound.web.parts import HealthLine

NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
AT = datetime(2026, 11, 30, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (HealthLine(name="P", state="answers", works=True, seconds=0.04, since=AT), "40\u00a0ms"),
        (HealthLine(name="P", state="answers", works=True, since=AT), "answers"),
        (HealthLine(name="P", state="times out", works=False, since=AT),
         "times out since 01:10 UTC"),
        (HealthLine(name="P", state="11 of 12 hosts answer", works=False),
         "11 of 12 hosts answer"),
        (HealthLine(name="P", state="not asked yet", works=None, since=AT), "not asked yet"),
    ],
)  # fmt: skip
def test_a_backend_is_told_by_its_latency_or_by_what_is_wrong(line: HealthLine, told: str) -> None:
    assert brief(line, NOW) == Part("P", told, line.works)


def test_what_waits_for_slack_is_counted_over_its_places() -> None:
    slack = [Standing(Place("slack", c), waiting=n, late=0, refused=0, why="")
             for c, n in (("C1", 2), ("C2", 1))]  # fmt: skip
    console = Standing(Place("console", "-"), waiting=9, late=9, refused=0, why="")
    assert [*in_queue([*slack, console], "slack")] == [Part("Slack queue", "3", True)]
    late = Standing(Place("slack", "C3"), waiting=1, late=1, refused=0, why="timeout")
    assert [*in_queue([*slack, late], "slack")] == [Part("Slack queue", "4", False)]
    assert [*in_queue([console], "slack")] == []
