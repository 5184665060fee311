"""Each benchmark that starts servers runs in a tiny size and gives its rows, with their probes."""

import pytest

from benchmarks import (
    clicks,
    drain,
    evidence,
    first_post,
    fleet,
    footprint,
    intake,
    overload,
    postgres,
    storm,
)
from benchmarks.questions import READS
from benchmarks.rows import Row
from benchmarks.sizes import Sizes
from tests.lab.conftest import Needs

pytestmark = pytest.mark.lab

TINY = Sizes(
    seconds=0.2,
    backlog=4,
    drained=3,
    posts=1,
    clicks=3,
    judged=2,
    starts=1,
    hosts=3,
    fleet_rounds=1,
    overloaded=3,
    slow=1.0,
    gap=0.5,
    storm_alerts=6,
    storm_seconds=0.3,
)


def check(rows: list[Row], benchmark: str) -> None:
    """All are measured, and stand beside a probe that was measured too."""
    assert rows
    for one in rows:
        assert one.benchmark == benchmark
        assert one.value > 0, one.name
        assert one.probe > 0, one.name
        assert "probe:" in one.how


def test_intake_is_measured_beside_a_bare_durable_server() -> None:
    rows = list(intake.run(TINY, ("each its own incident",)))
    check(rows, "intake")
    assert [one.unit for one in rows] == ["requests/s", "ms", "ms"] * 2


def test_intake_on_postgresql_is_measured_with_two_replicas(needs: Needs) -> None:
    needs("postgres")
    rows = list(postgres.run(TINY, ("each its own incident",)))
    check(rows, "postgres")
    assert [one.unit for one in rows] == ["requests/s", "ms", "ms"]


def test_draining_asks_twenty_questions_an_incident() -> None:
    rows = list(drain.run(TINY))
    check(rows, "drain")
    # a server asks one small question when it starts, which counts among those of few incidents
    assert all(READS <= one.details["questions_each"] <= READS + 1 for one in rows)


def test_the_first_post_is_measured_up_to_the_stand_in() -> None:
    check(list(first_post.run(TINY)), "first-post")


def test_a_click_is_measured_to_its_acknowledgement() -> None:
    rows = list(clicks.run(TINY))
    check(rows, "click")
    assert [one.unit for one in rows] == ["ms", "ms"]


def test_memory_is_measured_after_every_transport_was_used() -> None:
    rows = list(footprint.memory(TINY))
    check(rows, "memory")
    assert rows[0].value > rows[0].probe


def test_starting_is_measured_to_the_first_ready() -> None:
    check(list(footprint.start(TINY)), "start")


def test_a_storm_loses_nothing_and_leaves_nothing_open() -> None:
    rows = {one.name: one for one in storm.run(TINY)}
    assert rows["lost"].value == 0
    assert rows["without a visible outcome"].value == 0
    assert rows["most memory"].value > rows["most memory"].probe > 0
    assert rows["until the last verdict"].value > 0


def test_a_fleet_is_read_beside_asyncssh() -> None:
    rows = list(fleet.run(TINY))
    check(rows, "hosts")
    assert [one.unit for one in rows] == ["s", "s"]


def test_an_incident_takes_hardly_longer_than_what_is_slow() -> None:
    rows = list(evidence.run(TINY))
    check(rows, "evidence")
    assert all(one.probe >= TINY.slow for one in rows)
    assert all(one.value >= one.probe for one in rows)


def test_a_saturated_api_server_is_asked_less_and_more_slowly_and_the_bot_counts_it(
    needs: Needs,
) -> None:
    needs("etcd", "kube-apiserver")
    rows = {one.name: one for one in overload.run(TINY)}
    check(list(rows.values()), "overload")
    each, rate = rows["requests an incident"], rows["requests a second"]
    assert each.value < 0.75 * each.probe, "the later incidents ask what is about the server alone"
    assert rate.value < rate.probe
    assert each.details["slowed"] > 0
    assert each.details["spared"] > each.details["spared_while_quiet"] == 0
