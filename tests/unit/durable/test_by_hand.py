"""What a person asks for: an alert of our own, that joins, is shown, and ends."""

import asyncio
import json
import zlib
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.by_hand import ALERT, LASTS, AskedByHand, body_of, ended
from tailhound.durable.known import Accepted
from tailhound.model import State
from tailhound.sources.alertmanager import read_group
from tailhound.store.tables import body as stored
from tests.unit.durable.kit import Clock, Desk, alert, intake_alone, run, until

pytestmark = pytest.mark.usefixtures("each_database")
LABELS = {"namespace": "prod", "deployment": "llm-70b"}


def by_hand(desk: Desk, clock: Clock) -> AskedByHand:
    blocking = Blocking("test", 1)
    accept = partial(desk.intake.accept, by_hand=True)
    return AskedByHand(desk.database, Boot(clock=clock), blocking, accept)


@pytest.mark.sqlite
def test_a_body_reads_as_one_alert_about_what_was_asked() -> None:
    group = read_group(body_of(LABELS, "ana", Clock()()))
    (found,) = group.alerts
    assert found.name == ALERT
    assert dict(found.labels) == {**LABELS, "alertname": ALERT}
    assert found.annotations["summary"] == "ana asked for this check"


@pytest.mark.sqlite
def test_whoever_asks_names_no_alert_of_their_own() -> None:
    (found,) = read_group(body_of({"alertname": "Watchdog"}, "ana", Clock()())).alerts
    assert found.name == ALERT


@pytest.mark.sqlite
@pytest.mark.parametrize("text", [b"[]", b"{}", b'{"alerts": 7}', b"x", b'{"alerts": [7]}'])
def test_a_body_that_nobody_made_by_hand_has_no_end(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        ended(text, Clock()())


def test_it_makes_an_incident_about_the_workload(tmp_path: Path) -> None:
    async def story() -> None:
        clock = Clock()
        async with intake_alone(tmp_path, clock=clock) as desk:
            accepted = await desk.intake.accept(body_of(LABELS, "ana", clock()), by_hand=True)
            assert accepted.new == 1
            incident = desk.only()
            assert incident.subject.where == "prod/llm-70b"
            assert incident.state is State.INVESTIGATING

    run(story())


def test_it_joins_what_is_open_and_is_joined_by_what_comes(tmp_path: Path) -> None:
    async def story() -> None:
        clock = Clock()
        async with intake_alone(tmp_path, clock=clock) as desk:
            await desk.intake.accept(body_of(LABELS, "ana", clock()), by_hand=True)
            await desk.accept(alert("llm-70b"))
            clock.advance(60)
            await desk.intake.accept(body_of(LABELS, "ben", clock()), by_hand=True)
            assert len(desk.only().alerts) == 3

    run(story())


def test_it_ends_an_hour_after_it_was_asked_for(tmp_path: Path) -> None:
    async def story() -> None:
        clock = Clock()
        async with intake_alone(tmp_path, clock=clock) as desk:
            asked = by_hand(desk, clock)
            await desk.intake.accept(body_of(LABELS, "ana", clock()), by_hand=True)
            clock.advance(LASTS.total_seconds() - 1)
            assert await asked.end_due() == 0
            assert desk.only().state is not State.RESOLVED
            clock.advance(2)
            assert await asked.end_due() == 1
            assert desk.only().state is State.RESOLVED
            assert await asked.end_due() == 0
            asked.blocking.close()

    run(story())


def test_an_alert_of_alertmanager_does_not_end_with_it(tmp_path: Path) -> None:
    async def story() -> None:
        clock = Clock()
        async with intake_alone(tmp_path, clock=clock) as desk:
            asked = by_hand(desk, clock)
            await desk.accept(alert("llm-70b"))
            await desk.intake.accept(body_of(LABELS, "ana", clock()), by_hand=True)
            clock.advance(LASTS.total_seconds() + 1)
            assert await asked.end_due() == 1
            incident = desk.only()
            assert incident.state is not State.RESOLVED
            assert [one.name for one in incident.firing] == ["LLMDHighTTFT"]
            asked.blocking.close()

    run(story())


@pytest.mark.sqlite
def test_a_bug_at_one_end_does_not_keep_all_later_ones(tmp_path: Path) -> None:
    async def story() -> None:
        clock = Clock()
        async with intake_alone(tmp_path, clock=clock) as desk:
            failed: list[bytes] = []

            async def accept(body: bytes) -> Accepted:
                if not failed:
                    failed.append(body)
                    raise RuntimeError("a bug")
                return await desk.intake.accept(body, by_hand=True)

            await desk.intake.accept(body_of(LABELS, "ana", clock()), by_hand=True)
            clock.advance(LASTS.total_seconds() + 1)
            asked = AskedByHand(desk.database, Boot(clock=clock), Blocking("test", 1), accept)
            looking = asyncio.create_task(asked.run(0.01))
            await until(lambda: desk.only().state is State.RESOLVED)
            looking.cancel()
            asked.blocking.close()
            assert failed

    run(story())


@pytest.mark.sqlite
def test_the_end_of_a_body_keeps_all_else() -> None:
    clock = Clock()
    begun = body_of(LABELS, "ana", clock())
    clock.advance(10)
    one = json.loads(ended(begun, clock()))["alerts"][0]
    first = json.loads(begun)["alerts"][0]
    assert (one["labels"], one["startsAt"]) == (first["labels"], first["startsAt"])
    assert one["status"] == "resolved"


def test_an_alert_that_only_bears_the_name_ends_nothing_that_came_with_it(tmp_path: Path) -> None:
    async def story() -> None:
        clock = Clock()
        async with intake_alone(tmp_path, clock=clock) as desk:
            asked = by_hand(desk, clock)
            real = alert("llm-70b")
            forged = alert("llm-70b", name=ALERT)
            await desk.accept(real, forged)
            await desk.intake.accept(body_of(LABELS, "ana", clock()), by_hand=True)
            clock.advance(LASTS.total_seconds() + 1)
            assert await asked.end_due() == 1
            assert await asked.end_due() == 0
            assert sorted(one.name for one in desk.only().firing) == ["LLMDHighTTFT", ALERT]
            asked.blocking.close()

    run(story())


def test_what_comes_from_outside_never_counts_as_asked_by_hand(tmp_path: Path) -> None:
    async def story() -> None:
        clock = Clock()
        async with intake_alone(tmp_path, clock=clock) as desk:
            asked = by_hand(desk, clock)
            forged = alert("llm-70b", fingerprint="by-hand-1", name="forged")
            bare = {k: v for k, v in alert("other").items() if k != "fingerprint"}
            await desk.accept(forged, bare)
            await desk.intake.accept(body_of(LABELS, "ana", clock()), by_hand=True)
            clock.advance(LASTS.total_seconds() + 1)
            assert await asked.end_due() == 1
            assert await asked.end_due() == 0
            fires = {one.name: one.rated for i in desk.reader.list() for one in i.firing}
            assert fires == {"forged": "critical", "LLMDHighTTFT": "critical"}
            asked.blocking.close()

    run(story())


def test_an_alert_without_a_fingerprint_beside_it_keeps_nothing_from_its_end() -> None:
    begun = json.loads(body_of(LABELS, "ana", Clock()()))
    bare = {k: v for k, v in alert("other").items() if k != "fingerprint"}
    over = ended(json.dumps({**begun, "alerts": [bare, *begun["alerts"]]}).encode(), Clock()())
    assert [one["status"] for one in json.loads(over)["alerts"]] == ["resolved"]


def test_one_that_cant_be_ended_keeps_no_other_from_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        clock = Clock()
        async with intake_alone(tmp_path, clock=clock) as desk:
            asked = by_hand(desk, clock)
            for who in ("ana", "ben"):
                await desk.intake.accept(body_of(LABELS, who, clock()), by_hand=True)
            with desk.database.writing() as connection:
                first = connection.execute(sa.select(sa.func.min(stored.c.sha))).scalar()
                connection.execute(
                    sa.update(stored)
                    .where(stored.c.sha == first)
                    .values(content=zlib.compress(b"{}"))
                )
            clock.advance(LASTS.total_seconds() + 1)
            assert await asked.end_due() == 2
            assert len(desk.only().firing) == 1
            assert "can't be ended" in caplog.text
            asked.blocking.close()

    run(story())
