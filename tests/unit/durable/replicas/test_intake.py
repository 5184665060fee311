"""Intake at several replicas: one alert is one incident, whoever heard of it."""

import asyncio
from pathlib import Path

import pytest

from tailhound.durable.boot import Boot
from tailhound.durable.engine import Engine
from tailhound.durable.intake import Intake
from tailhound.sources.alertmanager import read_group
from tailhound.store.database import Database, open_database
from tailhound.store.incidents import IncidentReader
from tests.databases import url_of
from tests.unit.durable import kit
from tests.unit.durable.kit import alert, body
from tests.unit.durable.replicas.kit import workflows

pytestmark = pytest.mark.postgres


def test_what_another_replica_heard_meanwhile_makes_an_old_body_news(
    database: Database, folder: Path
) -> None:
    async def scene() -> None:
        clock = kit.Clock()
        other = open_database(url_of(folder))
        one, two = (
            Intake(each, kit.terms, Engine(each, "x").enqueue, read_group, Boot(clock=clock))
            for each in (database, other)
        )
        for intake in (one, two):
            intake.start(lambda: None)
        fires, ends = body(alert()), body(alert(ends_at="2026-11-30T02:52:00Z"))
        (id,) = (await one.accept(fires)).incidents
        assert (await one.accept(fires)).repeats == 1
        await two.accept(ends)
        assert IncidentReader.of(database).list()[0].resolved_at is not None
        clock.advance(120)
        again = await one.accept(fires)
        assert (again.incidents, again.new) == ((id,), 1)
        assert IncidentReader.of(database).list()[0].episode == 2
        for intake in (one, two):
            await intake.stop()
        other.close()

    kit.run(scene())


def test_one_alert_at_two_replicas_is_one_incident(database: Database, folder: Path) -> None:
    async def scene() -> None:
        other = open_database(url_of(folder))
        intakes = [
            Intake(each, kit.terms, Engine(each, "x").enqueue, read_group, Boot())
            for each in (database, other)
        ]
        for intake in intakes:
            intake.start(lambda: None)
        bodies = [body(alert(f"w{i % 20}", fingerprint=f"f{i}")) for i in range(60)]
        accepted = await asyncio.gather(
            *(intake.accept(content) for content in bodies for intake in intakes)
        )
        for intake in intakes:
            await intake.stop()
        incidents = IncidentReader.of(database).list(limit=100)
        assert len(incidents) == 20
        assert all(len(incident.alerts) == 3 for incident in incidents)
        assert sum(one.new for one in accepted) == 60
        assert sum(one.repeats for one in accepted) == 60
        assert len(workflows(database)) == 20
        other.close()

    kit.run(scene())
