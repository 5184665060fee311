"""Incidents of which nothing was heard: when they count as over, and what keeps them open."""

from pathlib import Path

import pytest

from tailhound.model import State
from tests.unit.durable import kit
from tests.unit.durable.fakes import Detective
from tests.unit.durable.kit import alert, body

pytestmark = pytest.mark.usefixtures("each_database")


def test_what_fires_weeks_later_is_a_new_incident_and_the_old_one_says_why(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert(), alert(fingerprint="f2"))
            old, heard = desk.only().id, desk.clock()
            desk.verdict_stands()
            desk.clock.advance(40 * 86_400)
            accepted = await desk.accept(alert(fingerprint="f3", starts_at="2027-01-09T02:50:00Z"))
            shown = {incident.id: incident for incident in desk.reader.list()}
            (new,) = accepted.incidents
            assert set(shown) == {old, new}
            assert shown[new].state is State.INVESTIGATING
            over = shown[old]
            assert (over.state, over.unheard, over.resolved_at) == (State.RESOLVED, True, heard)
            assert "Nothing was heard of it since 30 Nov 2026" in over.timeline[-1].what
            still = await desk.accept(alert())
            assert (still.incidents, still.new) == ((new,), 1)

    kit.run(scene())


def test_the_only_alert_with_a_much_later_start_has_ended_in_between(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            desk.clock.advance(24 * 3600)
            accepted = await desk.accept(alert(starts_at="2026-12-01T02:50:00Z"))
            assert len(desk.reader.list()) == 2
            (new,) = accepted.incidents
            await desk.accept(
                alert(starts_at="2026-12-01T02:50:00Z", ends_at="2026-12-01T03:00:00Z")
            )
            assert {i.state for i in desk.reader.list()} == {State.RESOLVED}
            assert [i.unheard for i in desk.reader.list() if i.id == new] == [False]

    kit.run(scene())


def test_after_a_weekend_of_downtime_an_incident_goes_on(tmp_path: Path) -> None:
    async def scene(news: dict[str, object], folder: Path) -> None:
        clock = kit.Clock()
        async with kit.intake_alone(folder, clock=clock) as desk:
            (old,) = (await desk.accept(alert())).incidents
            desk.verdict_stands()
        clock.advance(73 * 3600)
        async with kit.intake_alone(folder, clock=clock) as desk:
            assert (await desk.accept(news)).incidents == (old,)
            assert desk.only().state is not State.RESOLVED

    start = "2026-12-03T03:40:00Z"
    for name in ("f1", "f2"):  # the one that fires, said to have begun later, and another one
        (tmp_path / name).mkdir()
        kit.run(scene(alert(fingerprint=name, starts_at=start), tmp_path / name))


def test_a_repeat_that_memory_answered_keeps_an_incident_open(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (old,) = (await desk.accept(alert())).incidents
            desk.verdict_stands()
            desk.clock.advance(80 * 3600)
            assert (await desk.accept(alert())).repeats == 1
            peer = await desk.accept(alert(starts_at="2026-12-03T10:00:00Z"))
            assert peer.incidents == (old,)
            assert desk.only().state is not State.RESOLVED

    kit.run(scene())


def test_a_later_start_says_nothing_before_a_repeat_was_due(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (old,) = (await desk.accept(alert())).incidents
            desk.verdict_stands()
            desk.clock.advance(12 * 3600)
            peer = await desk.accept(alert(starts_at="2026-11-30T14:00:00Z"))
            assert peer.incidents == (old,)

    kit.run(scene())


def test_what_is_delivered_with_news_is_still_there(tmp_path: Path) -> None:
    async def scene(first: int) -> None:
        folder = tmp_path / str(first)
        folder.mkdir()
        async with kit.intake_alone(folder) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            desk.clock.advance(40 * 86_400)
            both = [alert(), alert(fingerprint="f2", starts_at="2027-01-09T02:50:00Z")]
            await desk.accept(both[first], both[1 - first])
            assert len(desk.only().firing) == 2

    kit.run(scene(0))
    kit.run(scene(1))


def test_another_alert_long_after_the_verdict_is_investigated(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            desk.clock.advance(29 * 60)
            await desk.accept(alert(fingerprint="f2", starts_at="2026-11-30T03:20:00Z"))
            assert desk.only().n == 1
            desk.clock.advance(2 * 60)
            await desk.accept(alert(fingerprint="f3", starts_at="2026-11-30T03:22:00Z"))
            assert (desk.only().n, desk.only().state) == (2, State.INVESTIGATING)
            rows = desk.rows("SELECT reason FROM th_investigation ORDER BY n")
            assert rows == [("the alert",), ("another alert",)]

    kit.run(scene())


def test_a_repeat_of_an_incident_that_has_joined_counts_for_the_other(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective()
        async with kit.lab(tmp_path, detective=detective) as lab:
            first = await lab.accepted(body(alert()))
            await lab.diagnosed(first)
            detective.key = lab.incident(first).key
            other = body(alert("other", fingerprint="f2"))
            second = await lab.accepted(other)
            await kit.until(lambda: lab.incident(second).state is State.JOINED)
            again = await lab.durable.accept(other)
            assert (again.incidents, again.repeats) == ((first,), 1)

    kit.run(scene())
