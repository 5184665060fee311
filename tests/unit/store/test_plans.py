"""What is asked again and again is looked up, however long the history is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tailhound.durable import by_hand, notices
from tailhound.store.database import Database, open_database
from tailhound.store.finding import newest_of_cause
from tests.unit.store.test_finding import CHAT, LLM

QUERIES = {
    "the newest of a cause": newest_of_cause(LLM),
    "the newest of two causes": newest_of_cause(CHAT),
    "who acted last": notices._LAST_ACT.params(row_id="A1"),
    "checks to end": by_hand._DUE.params(before=5.0),
}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(f"sqlite:///{tmp_path / 'bot.db'}")
    yield opened
    opened.close()


@pytest.mark.parametrize("name", QUERIES)
def test_no_table_is_read_from_end_to_end(database: Database, name: str) -> None:
    query: sa.Select[Any] | None = QUERIES[name]
    assert query is not None
    with database.reading() as reading:
        text = query.compile(reading, compile_kwargs={"literal_binds": True})
        steps = [row.detail for row in reading.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")]
    assert any("USING" in step for step in steps)
    tables = ("th_incident", "th_confirmed", "th_click", "th_alert", "th_body")
    assert [step for step in steps if step.startswith(tuple(f"SCAN {t}" for t in tables))] == []
