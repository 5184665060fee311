"""Which causes are confirmed stands beside the diagnosis: lists and counts need not open it."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.model import Cause, Confidence, Diagnosis, Incident, Outlook, State, Verdict
from tailhound.model.alert import Subject, SubjectKind
from tailhound.store import codec, migrations, records
from tailhound.store.database import Database, open_database
from tailhound.store.records import Record
from tailhound.store.tables import confirmed
from tests.databases import url_of
from tests.unit.store.earlier import INCIDENT_ROW

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)
INCIDENT = Incident(
    id="7F3K",
    key="workload:/prod/llm",
    subject=Subject(kind=SubjectKind.WORKLOAD, namespace="prod", workload="llm"),
    state=State.DIAGNOSED,
    alerts=(),
    received_at=NOW,
)


def cause(runbook: str, verdict: Verdict) -> Cause:
    return Cause(runbook=runbook, title=runbook, verdict=verdict, because="")


FOUND = Diagnosis(
    outlook=Outlook.CAUSE_FOUND,
    primary="kv-preemption",
    chain=("long-prompt", "kv-preemption"),
    confidence=Confidence.HIGH,
    causes=(
        cause("kv-preemption", Verdict.CONFIRMED),
        cause("long-prompt", Verdict.CONFIRMED),
        cause("cpu-throttling", Verdict.REFUTED),
    ),
    evidence=(),
)
TWO_FIT = replace(FOUND, outlook=Outlook.TWO_FIT, primary=None, chain=())
NONE = replace(FOUND, outlook=Outlook.NONE_CONFIRMED, primary=None, causes=FOUND.causes[2:])
CASES = [
    pytest.param(FOUND, {"kv-preemption": True, "long-prompt": False}, id="one"),
    pytest.param(TWO_FIT, {"kv-preemption": True, "long-prompt": True}, id="two"),
    pytest.param(NONE, {}, id="none"),
]


def rows(database: Database) -> dict[str, bool]:
    with database.reading() as reading:
        return {row.runbook: row.named for row in reading.execute(sa.select(confirmed))}


@pytest.mark.usefixtures("each_database")
@pytest.mark.parametrize(("diagnosis", "expected"), CASES)
def test_a_diagnosis_leaves_the_causes_that_it_confirms(
    diagnosis: Diagnosis, expected: dict[str, bool], tmp_path: Path
) -> None:
    database = open_database(url_of(tmp_path))
    with database.writing() as writing:
        records.insert(writing, [Record(incident=INCIDENT)], NOW)
        records.write_diagnosis(writing, INCIDENT.id, TWO_FIT)
        records.write_diagnosis(writing, INCIDENT.id, diagnosis)
    assert rows(database) == expected
    database.close()


@pytest.mark.parametrize(("diagnosis", "expected"), CASES)
def test_older_databases_get_the_causes_of_the_diagnoses_that_they_hold(
    diagnosis: Diagnosis, expected: dict[str, bool], tmp_path: Path
) -> None:
    path = tmp_path / "bot.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        migrations.upgrade(connection, path.name, "0003")
        held = {**INCIDENT_ROW, "diagnosis": codec.diagnosis_to_json(diagnosis)}
        none = json.dumps({"causes": [1]})
        more = [
            {**INCIDENT_ROW, "id": f"A{n:03}", "key": f"key-{n}", "diagnosis": none}
            for n in range(250)
        ]
        connection.execute(sa.insert(sa.table("th_incident", *map(sa.column, held))), [held, *more])
    engine.dispose()
    database = open_database(f"sqlite:///{path}")
    assert rows(database) == expected
    database.close()
