"""Databases of earlier versions: they are brought up to date, and nothing in them is lost."""

import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.store import migrations
from tailhound.store.database import open_database
from tests.unit.store.earlier import INCIDENT_ROW, MESSAGE_ROW, insert


@pytest.mark.parametrize("version", migrations.KNOWN[:-1])
def test_a_database_of_an_earlier_version_is_brought_up_to_date_with_its_rows(
    version: str, tmp_path: Path
) -> None:
    path = tmp_path / "bot.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        migrations.upgrade(connection, path.name, version)
        connection.execute(insert("th_incident", INCIDENT_ROW))
        connection.execute(insert("th_outbox", MESSAGE_ROW))
    engine.dispose()
    database = open_database(f"sqlite:///{path}")
    with database.reading() as reading:
        found = reading.execute(sa.text("SELECT version_num FROM th_version")).scalar()
        row = reading.execute(sa.text("SELECT * FROM th_outbox")).mappings().one()
        tables = sa.inspect(reading).get_table_names()
    database.close()
    assert found == migrations.KNOWN[-1]
    assert {name: row[name] for name in MESSAGE_ROW} == MESSAGE_ROW
    assert row["part"] == ""
    assert {"th_recording", "th_feedback", "th_silence"} <= set(tables)


def test_what_is_open_counts_as_heard_of_when_it_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "bot.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    over = INCIDENT_ROW | {"id": "9XYZ", "key": "other", "is_open": False, "state": "resolved"}
    with engine.begin() as connection:
        migrations.upgrade(connection, path.name, "0007")
        for row in (INCIDENT_ROW, over):
            connection.execute(insert("th_incident", row))
    engine.dispose()
    before = time.time()
    database = open_database(f"sqlite:///{path}")
    with database.reading() as reading:
        found = reading.execute(sa.text("SELECT id, heard_at FROM th_incident")).all()
    database.close()
    rows: dict[str, float] = {row.id: row.heard_at for row in found}
    assert rows["9XYZ"] == 1.0
    assert before <= rows["7F3K"] <= time.time()
