"""Reading incidents: lists, one, its raw answers; and what is kept of them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.errors import SettingsError
from tailhound.model import Incident, State
from tailhound.store import outputs, records
from tailhound.store.database import Database, open_database
from tailhound.store.incidents import IncidentReader, RawOutput
from tailhound.store.records import Record
from tailhound.store.tables import investigation
from tests.databases import url_of
from tests.samples.causes import DIAGNOSIS
from tests.samples.incidents import EVERY_FIELD as INCIDENT

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)


@pytest.fixture
def database(each_database: str, tmp_path: Path) -> Iterator[Database]:
    opened = open_database(url_of(tmp_path))
    yield opened
    opened.close()


def _put(database: Database, *incidents: Incident) -> None:
    with database.writing() as connection:
        for incident in incidents:
            plain = replace(incident, diagnosis=None, revision=records.raise_revision(connection))
            records.insert(connection, [Record(incident=plain)], NOW)
            if incident.diagnosis is not None:
                records.write_diagnosis(connection, incident.id, incident.diagnosis)


def _incident(number: int, **changes: object) -> Incident:
    base = replace(
        INCIDENT,
        id=f"A{number:03}",
        key=f"key-{number}",
        received_at=NOW + timedelta(seconds=number),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def test_one_incident_comes_back_whole_whatever_the_case_of_its_id(database: Database) -> None:
    _put(database, INCIDENT)
    found = IncidentReader.of(database).get("7f3k")
    assert found == replace(INCIDENT, revision=1, repeats=0)
    assert IncidentReader.of(database).get("NONE") is None


def test_a_list_has_the_newest_first_and_no_evidence(database: Database) -> None:
    _put(database, *(_incident(i) for i in range(5)))
    found = IncidentReader.of(database).list(limit=3)
    assert [incident.id for incident in found] == ["A004", "A003", "A002"]
    assert all(incident.diagnosis is not None for incident in found)
    assert [incident.diagnosis.evidence for incident in found if incident.diagnosis] == [()] * 3


def test_a_list_pages_by_time(database: Database) -> None:
    _put(database, *(_incident(i) for i in range(5)))
    reader = IncidentReader.of(database)
    first = reader.list(limit=2)
    second = reader.list(limit=2, before=first[-1].received_at)
    assert [incident.id for incident in second] == ["A002", "A001"]


def test_pages_lose_nothing_of_what_came_at_one_moment(database: Database) -> None:
    at_once = [replace(_incident(i), received_at=_incident(0).received_at) for i in range(5)]
    _put(database, *at_once, _incident(9))
    reader = IncidentReader.of(database)
    first = reader.list(limit=3)
    rest = reader.list(limit=9, before=first[-1].received_at, after=first[-1].id)
    ids = [incident.id for incident in (*first, *rest)]
    assert ids == ["A009", "A000", "A001", "A002", "A003", "A004"]


def test_a_list_filters_by_state(database: Database) -> None:
    _put(database, _incident(1), _incident(2, state=State.RESOLVED))
    reader = IncidentReader.of(database)
    assert [i.id for i in reader.list(states=[State.RESOLVED])] == ["A002"]
    assert [i.id for i in reader.list(states=[State.RESOLVED, State.DIAGNOSED])] == [
        "A002",
        "A001",
    ]
    assert reader.list(states=[State.JOINED]) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [("Inference", 1), ("llm/chat", 1), ("a001", 1), (" chat-json ", 1), ("100%", 0), ("_", 0)],
)
def test_a_list_can_be_searched_and_wildcards_are_plain_characters(
    database: Database, text: str, found: int
) -> None:
    _put(database, _incident(1))
    assert len(IncidentReader.of(database).list(text=text)) == found


def test_hostile_text_in_a_search_finds_nothing_and_harms_nothing(database: Database) -> None:
    _put(database, _incident(1))
    reader = IncidentReader.of(database)
    assert reader.list(text="'; DROP TABLE th_incident; --") == ()
    assert len(reader.list()) == 1


def test_the_revision_grows_with_every_change(database: Database) -> None:
    reader = IncidentReader.of(database)
    assert reader.revision() == 0
    _put(database, _incident(1), _incident(2))
    assert reader.revision() == 2
    with database.writing() as connection:
        records.change(connection, "A001", lambda r: r.edited(causes_checked=9), NOW)
    assert reader.revision() == 3


def test_an_edit_keeps_the_diagnosis_unless_it_brings_one(database: Database) -> None:
    _put(database, INCIDENT)
    with database.writing() as connection:
        records.change(connection, "7F3K", lambda r: r.edited(causes_checked=9), NOW)
    found = IncidentReader.of(database).get("7F3K")
    assert found is not None
    assert found.diagnosis == INCIDENT.diagnosis
    assert found.causes_checked == 9
    other = replace(DIAGNOSIS, primary=None)
    with database.writing() as connection:
        records.change(connection, "7F3K", lambda r: r.edited(diagnosis=other), NOW)
    found = IncidentReader.of(database).get("7F3K")
    assert found is not None
    assert found.diagnosis == other


def test_an_edit_that_wants_nothing_raises_no_revision(database: Database) -> None:
    _put(database, INCIDENT)
    with database.writing() as connection:
        assert records.change(connection, "7F3K", lambda _record: None, NOW) is None
        assert records.change(connection, "NONE", lambda record: record, NOW) is None
    assert IncidentReader.of(database).revision() == 1


def test_repeats_are_counted_beside_the_snapshot(database: Database) -> None:
    _put(database, INCIDENT)
    with database.writing() as connection:
        records.add_repeats(connection, {"7F3K": 3, "NONE": 1}, NOW)
        records.add_repeats(connection, {"7F3K": 4}, NOW)
        records.change(connection, "7F3K", lambda r: r.edited(causes_checked=9), NOW)
    (found,) = IncidentReader.of(database).list()
    assert found.repeats == 7


def test_a_reader_works_beside_a_running_serve(database: Database, tmp_path: Path) -> None:
    _put(database, INCIDENT)
    reader = IncidentReader.open(url_of(tmp_path))
    assert [incident.id for incident in reader.list()] == ["7F3K"]
    with database.writing() as connection:
        records.change(connection, "7F3K", lambda r: r.edited(causes_checked=9), NOW)
        assert reader.revision() == 1
    assert reader.revision() == 2
    reader.close()


def test_a_reader_of_nothing_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no database"):
        IncidentReader.open(f"sqlite:///{tmp_path / 'none.db'}")


def _raw(question: str, text: str) -> RawOutput:
    return RawOutput(question=question, backend="prometheus", text=text, asked_at=NOW)


def _keep(database: Database, *raws: RawOutput, n: int = 1) -> None:
    with database.writing() as connection:
        outputs.keep_outputs(connection, "7F3K", n, raws)


def test_raw_answers_come_back_in_their_order(database: Database) -> None:
    _put(database, INCIDENT)
    _keep(database, _raw("b", "två"), _raw("a", "one"))
    found = IncidentReader.of(database).raw("7f3k")
    assert [(raw.question, raw.text, raw.truncated) for raw in found] == [
        ("b", "två", False),
        ("a", "one", False),
    ]


def test_a_step_that_runs_again_replaces_its_answers(database: Database) -> None:
    _put(database, INCIDENT)
    _keep(database, _raw("a", "one"), _raw("b", "two"))
    _keep(database, _raw("a", "one again"), _raw("b", "two again"))
    _keep(database, _raw("a", "another investigation"), n=2)
    found = IncidentReader.of(database).raw("7F3K")
    assert [raw.text for raw in found] == ["one again", "two again", "another investigation"]


def test_one_answer_is_cut_with_a_mark(database: Database) -> None:
    _put(database, INCIDENT)
    _keep(database, _raw("a", "å" * outputs.EACH_AT_MOST))
    (found,) = IncidentReader.of(database).raw("7F3K")
    assert found.truncated
    assert found.size == outputs.EACH_AT_MOST
    assert found.text == "å" * (outputs.EACH_AT_MOST // 2)


def test_an_incident_keeps_four_megabytes_and_no_more(database: Database) -> None:
    _put(database, INCIDENT)
    many = [_raw(f"q{i}", "x" * outputs.EACH_AT_MOST) for i in range(20)]
    _keep(database, *many)
    found = IncidentReader.of(database).raw("7F3K")
    assert sum(raw.size for raw in found) == outputs.INCIDENT_AT_MOST
    assert [(raw.question, raw.text) for raw in found if raw.truncated] == [
        (f"q{i}", "") for i in range(16, 20)
    ]


def test_what_was_heard_last_takes_the_place_of_what_was_heard_first(database: Database) -> None:
    _put(database, INCIDENT)
    _keep(database, *(_raw(f"q{i}", "x" * outputs.EACH_AT_MOST) for i in range(16)))
    _keep(database, _raw("again", "y"), _raw("more", "z" * outputs.EACH_AT_MOST), n=2)
    found = IncidentReader.of(database).raw("7F3K")
    assert [raw.question for raw in found] == [*(f"q{i}" for i in range(2, 16)), "again", "more"]
    assert not any(raw.truncated for raw in found)


def test_a_compiled_set_goes_once_nobody_runs_by_it(database: Database) -> None:
    _put(database, INCIDENT)
    later = (NOW + timedelta(days=1)).timestamp()
    with database.writing() as connection:
        used, old, current = (outputs.keep_compiled(connection, x, NOW) for x in (b"a", b"b", b"c"))
        connection.execute(
            sa.insert(investigation).values(
                incident_id="7F3K", n=9, sha=used, reason="", requested_at=0.0, verdict_by=0.0
            )
        )
        assert outputs.forget_compiled(connection, NOW.timestamp(), current) == 0
        assert outputs.forget_compiled(connection, later, current) == 1
        assert outputs.read_compiled(connection, old) is None
        assert outputs.read_compiled(connection, used) == b"a"
        assert outputs.read_compiled(connection, current) == b"c"


def test_a_compiled_set_is_stored_once_and_never_changed(database: Database) -> None:
    with database.writing() as connection:
        sha = outputs.keep_compiled(connection, b"runbooks", NOW)
        assert outputs.keep_compiled(connection, b"runbooks", NOW) == sha
        assert outputs.keep_compiled(connection, b"other", NOW) != sha
        assert outputs.read_compiled(connection, sha) == b"runbooks"
        assert outputs.read_compiled(connection, "0" * 64) is None
