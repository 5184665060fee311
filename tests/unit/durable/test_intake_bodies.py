"""What webhooks may hold: what cannot be read or stored, and more alerts than are listed."""

import json
from pathlib import Path

import pytest

from tailhound.model import State
from tailhound.store.outputs import read_body
from tests.unit.durable import kit
from tests.unit.durable.kit import ENDED, alert, body

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b'{"version": "3", "alerts": []}',
        b'{"version":"4"}',
        b"[" * 20_000,
        json.dumps({"message": "hello"}).encode(),
    ],
)
def test_a_body_that_cant_be_read_becomes_a_visible_incident_once(
    tmp_path: Path, content: bytes
) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (id,) = (await desk.intake.accept(content)).incidents
            again = await desk.intake.accept(content)
            assert (again.incidents, again.repeats) == ((id,), 1)
            incident = desk.only()
            assert incident.state is State.FAILED
            assert incident.unreadable
            assert incident.name == "unreadable alert"
            assert desk.rows("SELECT 1 FROM workflow_status") == []
            assert len(desk.rows("SELECT 1 FROM th_outbox")) == 1
            ((sha,),) = desk.rows("SELECT sha FROM th_body")
            with desk.database.reading() as connection:
                assert read_body(connection, sha) == content

    kit.run(scene())


def test_labels_that_no_database_can_hold_are_stored_with_a_replacement(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            hostile = {
                "nul": "a\0b",
                "surrogate": "a\ud800b",
                "quote": "x';DROP TABLE th_incident;--",
                "ping": "<!channel> `id` $(id) {{ 7*7 }}",
                "long": "x" * 1_000_000,
            }
            await desk.accept(alert(labels=hostile))
            (stored,) = desk.only().alerts
            assert stored.labels["nul"] == "a\ufffdb"
            assert stored.labels["surrogate"] == "a\ufffdb"
            assert stored.labels["quote"] == hostile["quote"]
            assert stored.labels["ping"] == hostile["ping"]
            assert len(stored.labels["long"]) < 3_000
            assert stored.labels["long"].endswith(" characters)")

    kit.run(scene())


def test_a_hundred_alerts_are_listed_and_the_others_counted(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            many = [alert(fingerprint=f"f{i}") for i in range(130)]
            accepted = await desk.accept(*many)
            assert accepted.new == 130
            incident = desk.only()
            assert len(incident.alerts) == 100
            assert incident.truncated_alerts == 30
            ended = [alert(fingerprint=f"f{i}", ends_at=ENDED) for i in range(129)]
            await desk.accept(*ended)
            assert desk.only().state is State.INVESTIGATING
            await desk.accept(alert(fingerprint="f129", ends_at=ENDED))
            assert desk.only().state is State.RESOLVED

    kit.run(scene())


def test_a_body_that_can_be_read_is_kept_when_it_brings_news(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            content = body(alert())
            await desk.intake.accept(content)
            await desk.intake.accept(content + b" ")
            ((sha,),) = desk.rows("SELECT sha FROM th_body")
            assert desk.rows("SELECT body_sha FROM th_alert") == [(sha,)]
            with desk.database.reading() as connection:
                assert read_body(connection, sha) == content

    kit.run(scene())
