"""Filters of a list in SQL, and what is like a given incident."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import letters
from tailhound.durable.claims import Claim
from tailhound.model import Incident, State
from tailhound.model.alert import Subject, SubjectKind
from tailhound.notifiers import Like
from tailhound.store import records
from tailhound.store.database import Database, open_database
from tailhound.store.finding import Wanted
from tailhound.store.incidents import IncidentReader
from tailhound.store.tables import outbox
from tests.databases import url_of
from tests.unit.store.test_confirmed import FOUND, INCIDENT, NONE, NOW, TWO_FIT

pytestmark = pytest.mark.usefixtures("each_database")
LLM = replace(INCIDENT, id="A1", diagnosis=FOUND, received_at=NOW)
NODE = replace(
    INCIDENT,
    id="A2",
    key='group:/{}:{alertname="NodeDown"}',
    subject=Subject(kind=SubjectKind.NODE, node="gpu-node-7"),
    diagnosis=NONE,
    received_at=NOW - timedelta(hours=2),
)
CHAT = replace(
    INCIDENT,
    id="A3",
    key="workload:/llm/Chat_50%",
    diagnosis=TWO_FIT,
    received_at=NOW - timedelta(days=3),
)
OLD = replace(
    LLM, id="A4", key=f"{LLM.key}-0", state=State.RESOLVED, received_at=NOW - timedelta(days=5)
)
ALL = (LLM, NODE, CHAT, OLD)


def put(database: Database, *incidents: Incident, resolved_key: str = "", ordinal: int = 0) -> None:
    with database.writing() as writing:
        for one in incidents:
            plain = replace(one, diagnosis=None)
            record = records.Record(incident=plain, ordinal=ordinal, resolved_key=resolved_key)
            records.insert(writing, [record], NOW)
            if one.diagnosis is not None:
                records.write_diagnosis(writing, one.id, one.diagnosis)


@pytest.fixture
def database(tmp_path: Path, each_database: str) -> Iterator[Database]:
    opened = open_database(url_of(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def reader(database: Database) -> IncidentReader:
    put(database, *ALL)
    return IncidentReader.of(database)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(), ["A1", "A2", "A3", "A4"]),
        (Wanted(cause="long-prompt"), ["A1", "A3", "A4"]),
        (Wanted(cause="long-prompt", states=[State.RESOLVED]), ["A4"]),
        (Wanted(cause="cpu-throttling"), []),
        (Wanted(since=NOW - timedelta(days=1)), ["A1", "A2"]),
        (Wanted(workload="prod/LLM"), ["A1", "A4"]),
        (Wanted(workload="gpu-node-7"), ["A2"]),
        (Wanted(workload="chat_50%"), ["A3"]),
        (Wanted(workload="chat-50%"), []),
        (Wanted(workload="%"), ["A3"]),
        (Wanted(text="gpu-node"), ["A2"]),
        (Wanted(before=NOW - timedelta(hours=1), limit=2), ["A2", "A3"]),
    ],
    ids=lambda value: "" if isinstance(value, list) else str(len(repr(value))),
)
def test_a_list_is_filtered_where_the_rows_are(
    reader: IncidentReader, wanted: Wanted, expected: list[str]
) -> None:
    assert [incident.id for incident in reader.search(wanted)] == expected


def test_a_workload_that_was_found_out_later_counts_too(database: Database) -> None:
    put(database, NODE, resolved_key="workload:/prod/llm-70b")
    found = IncidentReader.of(database).search(Wanted(workload="llm-70b"))
    assert [incident.id for incident in found] == ["A2"]


def test_alike_are_earlier_ones_of_the_workload_or_of_the_named_cause(
    database: Database, reader: IncidentReader
) -> None:
    assert [incident.id for incident in reader.alike(LLM)] == ["A3", "A4"]
    assert [incident.id for incident in reader.alike(LLM, limit=1)] == ["A3"]
    assert reader.alike(OLD) == ()
    assert reader.alike(NODE) == ()
    last = replace(OLD, id="B1", key=LLM.key, received_at=NOW - timedelta(hours=1))
    put(database, replace(last, diagnosis=NONE), ordinal=1)
    assert [incident.id for incident in reader.alike(LLM)] == ["B1", "A3", "A4"]


def test_a_cause_that_only_led_to_it_makes_nothing_alike(
    database: Database, reader: IncidentReader
) -> None:
    """Of TWO_FIT both are named; of FOUND long-prompt is only the trigger."""
    only_trigger = replace(
        FOUND, primary="long-prompt", chain=("long-prompt",), causes=(FOUND.causes[1],)
    )
    put(database, replace(LLM, id="B2", key="other", diagnosis=only_trigger))
    given = replace(LLM, id="B3", key="another", received_at=NOW + timedelta(seconds=1))
    found = reader.alike(replace(given, diagnosis=only_trigger))
    assert [incident.id for incident in found] == ["B2", "A3"]


def letter(database: Database, incident: Incident, part: str = "") -> letters.Letter:
    """What the outbox hands to a notifier of an incident."""
    with database.reading() as reading:
        claimed = Claim(
            id=1, incident_id=incident.id, place="C1", message="", attempt=1, unsure=False, lost=0,
            part=part,
        )  # fmt: skip
        return letters.opened(reading, claimed)


def test_a_message_tells_of_the_newest_earlier_incident_of_its_cause(
    database: Database, reader: IncidentReader
) -> None:
    assert letter(database, LLM).delivery.like == Like(
        id="A3", at=CHAT.received_at, cause="kv-preemption"
    )
    hour_ago = NOW - timedelta(hours=1)
    put(database, replace(LLM, id="B1", key="workload:/prod/other", received_at=hour_ago))
    assert letter(database, LLM).delivery.like == Like(id="B1", at=hour_ago, cause="kv-preemption")


def test_without_a_cause_or_an_earlier_one_a_message_is_like_none(
    database: Database, reader: IncidentReader
) -> None:
    assert letter(database, OLD).delivery.like is None
    assert letter(database, NODE).delivery.like is None
    assert letter(database, CHAT).delivery.like is None, "of two causes none is the one"
    assert letter(database, LLM, "timeline").delivery.like is None, "a thread tells of its own"


def test_what_has_joined_another_is_not_alike(database: Database) -> None:
    put(database, replace(OLD, state=State.JOINED))
    assert IncidentReader.of(database).alike(replace(LLM, id="A9")) == ()


def test_an_incidents_own_messages_are_those_that_stand(
    database: Database, reader: IncidentReader
) -> None:
    rows = [
        {"notifier": "slack", "place": "C1", "message": "1.1"},
        {"notifier": "slack", "place": "C1", "message": "1.2", "part": "timeline"},
        {"notifier": "slack", "place": "C2", "message": ""},
        {"notifier": "console", "place": "-", "message": "x"},
        {"notifier": "slack", "place": "C3", "message": "3.1"},
    ]
    fixed = {"incident_id": "A1", "wanted_revision": 1, "state": "sent", "part": ""}
    with database.writing() as writing:
        writing.execute(sa.insert(outbox), [fixed | row for row in rows])
    assert reader.messages("a1", "slack") == (("C1", "1.1"), ("C3", "3.1"))
    assert reader.messages("A2", "slack") == ()
