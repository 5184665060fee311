"""Retention: old workflows and raw answers go, incidents stay."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from tailhound.durable.tidy import KEPT, TIDY
from tailhound.settings import Incidents
from tailhound.settings_forms import DAYS_AT_LEAST
from tailhound.store.database import Database
from tests.unit.durable import kit
from tests.unit.durable.kit import alert, body

pytestmark = pytest.mark.usefixtures("each_database")

DUE = datetime(2026, 12, 1, 3, 17, tzinfo=UTC)
AGED = (("th_output", "asked_at"), ("th_recording", "asked_at"), ("th_body", "received_at"))


def _count(database: Database, table: str) -> int:
    with database.reading() as connection:
        return int(connection.execute(sa.text(f"select count(*) from {table}")).scalar_one())  # noqa: S608


def _workflows(database: Database, like: str) -> dict[str, str]:
    text = sa.text(
        "select workflow_uuid, status from workflow_status where workflow_uuid like :like"
    )
    with database.reading() as connection:
        return {row[0]: row[1] for row in connection.execute(text, {"like": like})}


def _age(database: Database, by: timedelta) -> None:
    """Make everything that ended look older."""
    seconds = by.total_seconds()
    with database.writing() as connection:
        connection.execute(
            sa.text("update workflow_status set completed_at = completed_at - :ms"),
            {"ms": int(seconds * 1000)},
        )
        for table, column in AGED:
            statement = f"update {table} set {column} = {column} - :s"  # noqa: S608
            connection.execute(sa.text(statement), {"s": seconds})


def test_a_tick_deletes_what_is_older_than_thirty_days_and_keeps_the_incident(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            (id,) = (await lab.durable.accept(body(alert()))).incidents
            await lab.diagnosed(id)
            await kit.until(lambda: set(_workflows(lab.database, "inv:%").values()) == {"SUCCESS"})
            assert _count(lab.database, "th_output") > 0
            assert _count(lab.database, "th_recording") > 0
            _age(lab.database, KEPT + timedelta(days=1))
            await lab.durable.tick(TIDY, DUE)
            await kit.until(lambda: "SUCCESS" in _workflows(lab.database, "tick:%").values())
            assert _workflows(lab.database, "inv:%") == {}
            assert _count(lab.database, "th_output") == 0
            assert _count(lab.database, "th_body") == 0
            assert _count(lab.database, "th_recording") == 0
            assert lab.incident(id).diagnosis is not None

    kit.run(scene())


def _grow_old(database: Database, id: str, by: timedelta) -> None:
    """Make an incident look as if nothing had happened to it for so long, and as resolved."""
    statement = (
        "update th_incident set state = 'resolved', is_open = false, "
        "received_at = received_at - :s, changed_at = changed_at - :s where id = :id"
    )
    with database.writing() as connection:
        connection.execute(sa.text("update th_outbox set sent_revision = wanted_revision"))
        connection.execute(sa.text(statement), {"s": by.total_seconds(), "id": id})


@pytest.mark.parametrize(("days", "gone"), [(90, True), (120, False), (0, False)])
def test_an_incident_that_is_over_goes_after_its_days(
    tmp_path: Path, days: int, gone: bool
) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path, incidents=Incidents(keep_days=days)) as lab:
            (id,) = (await lab.durable.accept(body(alert()))).incidents
            await lab.diagnosed(id)
            await kit.until(lambda: set(_workflows(lab.database, "inv:%").values()) == {"SUCCESS"})
            _grow_old(lab.database, id, timedelta(days=92))
            await lab.durable.tick(TIDY, DUE)
            await kit.until(lambda: "SUCCESS" in _workflows(lab.database, "tick:%").values())
            assert (lab.reader.get(id) is None) is gone
            assert _count(lab.database, "th_alert") == (0 if gone else 1)

    kit.run(scene())


def test_no_incident_may_go_before_what_was_asked_for_it() -> None:
    assert timedelta(days=DAYS_AT_LEAST) >= KEPT
    with pytest.raises(ValidationError, match="write 30 to 36500, or 0 for ever"):
        Incidents(keep_days=29)


def test_what_is_younger_stays_and_a_tick_runs_once(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            (id,) = (await lab.durable.accept(body(alert()))).incidents
            await lab.diagnosed(id)
            outputs = _count(lab.database, "th_output")
            for _ in range(2):
                await lab.durable.tick(TIDY, DUE)
            await kit.until(lambda: "SUCCESS" in _workflows(lab.database, "tick:%").values())
            assert len(_workflows(lab.database, "tick:%")) == 1
            assert len(_workflows(lab.database, "inv:%")) == 1
            assert _count(lab.database, "th_output") == outputs

    kit.run(scene())
