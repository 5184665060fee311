"""What people do to an incident: stored once, shown, and kept for the counts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable.acts import Acts, Click, Person
from tailhound.durable.boot import Boot
from tailhound.durable.desk import Desk
from tailhound.durable.switch import Seen, Switch, stopped_by
from tailhound.durable.tasks import Task
from tailhound.model import (
    Confidence,
    Diagnosis,
    Incident,
    Outlook,
    Rating,
    State,
    Subject,
    SubjectKind,
)
from tailhound.store import records
from tailhound.store.database import Database
from tailhound.store.incidents import IncidentReader
from tailhound.store.records import Record
from tailhound.store.tables import feedback, meta
from tests.unit.durable import kit
from tests.unit.durable.kit import Clock

ANA, BEN = Person("U1", "ana"), Person("U2", "ben")


@dataclass
class Office:
    """One incident, and the acts on it."""

    acts: Acts
    switch: Switch
    desk: Desk
    database: Database
    clock: Clock

    def incident(self, id: str = "7F3K") -> Incident:
        """The incident as people see it."""
        found = IncidentReader.of(self.database).get(id)
        assert found is not None
        return found

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Who rated how, and what it was."""
        wanted = sa.select(
            feedback.c.person, feedback.c.rating, feedback.c.cause, feedback.c.said_primary
        ).order_by(feedback.c.person)
        with self.database.reading() as connection:
            return [(row[0], row[1], row[2], row[3]) for row in connection.execute(wanted)]


def _incident(id: str, clock: Clock, **more: object) -> Record:
    whole = Incident(
        id=id,
        key=f"workload:/prod/{id}",
        subject=Subject(kind=SubjectKind.WORKLOAD, namespace="prod", workload="llm"),
        state=State.DIAGNOSED,
        alerts=(),
        received_at=clock.now,
        n=1,
    )
    return Record(incident=whole, done=1).edited(**more)


@contextmanager
def opened(folder: Path) -> Iterator[Office]:
    clock = Clock()
    database = kit.fresh_database(folder)

    def nothing(_connection: sa.Connection, *_tasks: Task) -> None:
        raise AssertionError("an act asks for no investigation")

    desk = Desk(database, kit.terms, nothing, Boot(clock=clock))
    diagnosis = Diagnosis(
        outlook=Outlook.CAUSE_FOUND,
        primary="cpu-throttling",
        chain=(),
        confidence=Confidence.HIGH,
        causes=(),
        evidence=(),
    )
    with database.writing() as connection:
        records.insert(connection, [_incident("7F3K", clock)], clock.now)
        records.write_diagnosis(connection, "7F3K", diagnosis)
        joined = _incident("8R5W", clock, state=State.JOINED, joined_into="7F3K")
        records.insert(connection, [joined], clock.now)
    try:
        yield Office(Acts(desk), Switch(desk), desk, database, clock)
    finally:
        database.close()


def click(person: Person = ANA, envelope: str = "e1", incident: str = "7F3K") -> Click:
    return Click(incident=incident, person=person, envelope=envelope)


def test_somebody_is_on_it_and_the_timeline_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        before = at.incident().revision
        assert at.acts.on_it(click())
        it = at.incident()
        assert it.on_it is not None
        assert (it.on_it.by, it.on_it.since) == ("ana", at.clock.now)
        assert it.timeline[-1].what == "ana is on it"
        assert it.revision > before


def test_the_same_click_twice_and_the_same_person_twice_change_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        at.acts.on_it(click())
        first = at.incident()
        assert not at.acts.on_it(click())
        assert at.acts.on_it(click(envelope="e2"))
        assert at.incident() == first


def test_the_next_person_takes_over(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        at.acts.on_it(click())
        at.acts.on_it(click(BEN, "e2"))
        it = at.incident()
        assert it.on_it is not None
        assert it.on_it.by == "ben"


def test_who_was_on_it_gives_it_back_and_the_timeline_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        at.acts.on_it(click())
        before = at.incident().revision
        assert at.acts.off_it(click(envelope="e2"))
        it = at.incident()
        assert it.on_it is None
        assert it.timeline[-1].what == "ana is not on it any more"
        assert it.revision > before
        assert not at.acts.off_it(click(envelope="e2"))
        assert at.acts.off_it(click(envelope="e3"))
        assert at.incident() == it


def test_who_took_over_stays_when_the_one_before_gives_it_back(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        at.acts.on_it(click())
        at.acts.on_it(click(BEN, "e2"))
        assert at.acts.off_it(click(envelope="e3"))
        it = at.incident()
        assert it.on_it is not None
        assert it.on_it.by == "ben"
        assert it.timeline[-1].what == "ben is on it"


def test_a_click_on_an_incident_that_joined_another_counts_for_that_one(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        at.acts.on_it(click(incident="8R5W"))
        assert at.incident("8R5W").on_it is None
        assert at.incident("7F3K").on_it is not None


def test_a_click_counts_for_the_incident_that_all_have_joined_in_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        joined = _incident("9T6X", at.clock, state=State.JOINED, joined_into="8R5W")
        with at.database.writing() as connection:
            records.insert(connection, [joined], at.clock.now)
        at.acts.on_it(click(incident="9T6X"))
        assert at.incident("8R5W").on_it is None
        assert at.incident("7F3K").on_it is not None


def test_an_incident_that_does_not_exist_is_said_to_be_none(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        with pytest.raises(LookupError, match="there is no incident NONE"):
            at.acts.on_it(click(incident="NONE"))
        with pytest.raises(LookupError, match="there is no incident NONE"):
            at.acts.feedback(click(incident="NONE"), Rating.RIGHT)


def test_feedback_is_kept_with_what_had_been_said(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        assert at.acts.feedback(click(), Rating.WRONG, "kv-preemption", "prompts had grown")
        (said,) = at.incident().feedback
        assert (said.rating, said.cause, said.by) == (Rating.WRONG, "kv-preemption", "ana")
        assert said.said_primary == "cpu-throttling"
        assert at.rows() == [("U1", "wrong", "kv-preemption", "cpu-throttling")]
        line = "ana: the diagnosis was wrong; it was kv-preemption"
        assert at.incident().timeline[-1].what == line


def test_who_agrees_agrees_with_what_was_shown_and_with_nothing_else(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        diagnosis = at.incident().diagnosis
        assert diagnosis is not None
        other = replace(diagnosis, outlook=Outlook.NONE_CONFIRMED).mark
        assert other != diagnosis.mark
        before = at.incident()
        assert at.acts.agree(click(), other) is None
        assert at.incident() == before
        assert at.acts.agree(click(), diagnosis.mark)  # the click was not stored
        assert at.acts.agree(click(), diagnosis.mark) is False
        assert at.acts.agree(click(BEN, "e2"), "")
        assert [(row[0], row[1]) for row in at.rows()] == [("U1", "right"), ("U2", "right")]


def test_a_second_word_of_one_person_replaces_the_first_and_others_stand(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        at.acts.feedback(click(), Rating.WRONG, "kv-preemption")
        at.acts.feedback(click(Person("U9", "ana"), "e2"), Rating.UNSURE)
        at.clock.advance(60)
        at.acts.feedback(click(envelope="e3"), Rating.RIGHT, "cpu-throttling")
        assert [(row[0], row[1]) for row in at.rows()] == [("U1", "right"), ("U9", "unsure")]
        ratings = [(one.person, one.rating) for one in at.incident().feedback]
        assert ratings == [("U9", Rating.UNSURE), ("U1", Rating.RIGHT)]


def test_changes_stay_stopped_until_somebody_resumes_them(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        assert at.switch.state() is None
        at.switch.stop(ANA, "game day")
        at.clock.advance(600)
        standing = at.switch.stop(BEN, "me too").now
        assert standing is not None
        assert (standing.by, standing.why) == ("ana", "game day")
        ended = at.switch.resume().before
        assert ended is not None
        assert ended.at == at.clock.now - timedelta(seconds=600)
        assert at.switch.state() is None
        assert at.switch.resume().before is None


def test_a_resume_that_is_delivered_again_does_not_undo_a_newer_stop(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        at.switch.stop(ANA, "game day", "e1")
        at.switch.resume("e2")
        at.switch.stop(BEN, "again", "e3")
        late = at.switch.resume("e2")
        assert late.known
        assert late.now == at.switch.state()
        assert late.now is not None
        assert late.now.by == "ben"


def test_a_resume_ends_only_the_stop_that_was_seen(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        nothing = Seen(at.switch.state())
        at.switch.stop(ANA, "game day")
        assert at.switch.resume(seen=nothing).newer
        seen = Seen(at.switch.state())
        at.switch.stop(BEN, "failover", "e1")
        late = at.switch.resume("e2", seen)
        assert late.newer
        assert late.now == at.switch.state()
        assert late.now is not None
        assert late.now.again is not None
        assert (late.now.by, late.now.again.by, late.now.again.times) == ("ana", "ben", 1)
        once, _ = Seen(at.switch.state()), at.switch.stop(BEN, "failover", "e3")
        assert at.switch.resume("e4", once).newer  # the clock stands still
        assert at.switch.resume("e5", Seen(at.switch.state())).now is None
        assert at.switch.state() is None


def test_a_stop_that_is_delivered_again_does_not_undo_a_newer_resume(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        assert not at.switch.stop(ANA, "game day", "e1").known
        at.switch.resume("e2")
        late = at.switch.stop(ANA, "game day", "e1")
        assert (late.known, late.now) == (True, None)
        assert at.switch.state() is None


def test_a_hundred_envelopes_are_remembered_and_no_more(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        for n in range(101):
            at.switch.resume(f"e{n}")
        assert at.switch.resume("e100").known
        assert at.switch.resume("e1").known
        assert not at.switch.resume("e0").known
        with at.database.reading() as connection:
            kept = connection.execute(sa.select(meta.c.value).where(meta.c.name == "stop:seen"))
            assert len(kept.scalar_one().split()) == 100


def test_a_switch_that_cant_be_read_counts_as_stopped(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        with at.database.writing() as connection:
            connection.execute(sa.insert(meta).values(name="stop", value="{"))
        standing = at.switch.state()
        assert standing is not None
        assert standing.why == "the stop switch can't be read"
        seen = Seen(standing)
        assert at.switch.stop(ANA, "game day").now == at.switch.state()
        assert at.switch.resume(seen=seen).newer
        assert at.switch.resume(seen=Seen(at.switch.state())).now is None


def test_a_file_stops_all_changes_as_long_as_it_exists(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        file = tmp_path / "x.stop"
        switch = Switch(at.desk, file)
        assert switch.state() is None
        file.write_text("game day\nsecond line", encoding="utf-8")
        stands = switch.state()
        assert stands is not None
        assert (stands.by, stands.why, stands.file) == ("the file x.stop", "game day", str(file))
        assert stands.at is not None
        assert switch.resume().now == stands
        file.unlink()
        assert switch.state() is None


def test_a_resume_leaves_a_stop_as_it_is_that_a_file_backs(tmp_path: Path) -> None:
    with opened(tmp_path) as at:
        file = tmp_path / "x.stop"
        file.touch()
        switch = Switch(at.desk, file)
        switch.stop(ANA, "by hand")
        switch.resume()
        file.unlink()
        stands = switch.state()
        assert stands is not None
        assert stands.why == "by hand"


def test_a_stop_file_that_cant_be_looked_at_counts_as_there(tmp_path: Path) -> None:
    name = tmp_path / ("x" * 300)  # longer than a file's name may be
    found = stopped_by(name)
    assert found is not None
    assert found.at is None
    assert "can't be looked at" in found.why
    assert stopped_by(tmp_path / "absent" / "x.stop") is None
    assert stopped_by(None) is None
