"""Databases of earlier versions: they are brought up to date, and nothing in them is lost."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.store import migrations
from tailhound.store.database import open_database

INCIDENT = {
    "id": "7F3K",
    "key": "workload:/prod/llm",
    "ordinal": 0,
    "is_open": True,
    "state": "diagnosed",
    "episode": 1,
    "n": 1,
    "done": 1,
    "received_at": 1.0,
    "changed_at": 1.0,
    "revision": 4,
    "search": "",
    "snapshot": "{}",
}
MESSAGE = {
    "incident_id": "7F3K",
    "notifier": "slack",
    "place": "C1",
    "wanted_revision": 4,
    "sent_revision": 4,
    "message": "1700000000.000100",
    "state": "sent",
}


def _insert(table: str, row: dict[str, object]) -> sa.TextClause:
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    return sa.text(f"INSERT INTO {table} ({names}) VALUES ({values})").bindparams(**row)  # noqa: S608


@pytest.mark.parametrize("version", migrations.KNOWN[:-1])
def test_a_database_of_an_earlier_version_is_brought_up_to_date_with_its_rows(
    version: str, tmp_path: Path
) -> None:
    path = tmp_path / "bot.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        migrations.upgrade(connection, path.name, version)
        connection.execute(_insert("th_incident", INCIDENT))
        connection.execute(_insert("th_outbox", MESSAGE))
    engine.dispose()
    database = open_database(f"sqlite:///{path}")
    with database.reading() as reading:
        found = reading.execute(sa.text("SELECT version_num FROM th_version")).scalar()
        row = reading.execute(sa.text("SELECT * FROM th_outbox")).mappings().one()
        tables = sa.inspect(reading).get_table_names()
    database.close()
    assert found == migrations.KNOWN[-1]
    assert {name: row[name] for name in MESSAGE} == MESSAGE
    assert row["part"] == ""
    assert {"th_recording", "th_feedback", "th_silence"} <= set(tables)
