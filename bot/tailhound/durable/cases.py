"""What the workflow reads and writes of a case: each function is one transaction."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from tailhound.durable import storm, verdicts
from tailhound.durable.asking import LATE, open_parts, task_of
from tailhound.durable.desk import Desk
from tailhound.durable.keeping import Heard, raw_outputs, typed
from tailhound.durable.queueing import started
from tailhound.model import Diagnosis, Evidence, Incident, Progress, State
from tailhound.store import records
from tailhound.store.outputs import keep_outputs
from tailhound.store.recordings import forget_earlier, keep_part
from tailhound.store.records import Record
from tailhound.store.tables import investigation


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One investigation: its incident as it stands, when it was asked for, and by when it ends.

    `resolved` and `late` are what an earlier run of it left for the late one.
    """

    incident: Incident
    requested_at: datetime
    verdict_by: datetime
    resolved: dict[str, Any]
    late: tuple[str, ...] = ()
    n: int = 1

    @property
    def is_over(self) -> bool:
        """Whether nobody is asked again: it has joined, was followed by another one, or has ended
        since it was asked for. What a person asks about an incident that has ended goes on.
        """
        it = self.incident
        return verdicts.is_over(it, self.n) or verdicts.has_ended(it, self.requested_at)

    def as_of(self, now: datetime) -> datetime:
        """The moment that is looked at: now, but of what has ended since, when it was asked for."""
        ended = verdicts.has_ended(self.incident, self.requested_at)
        return min(self.requested_at, now) if ended else now


class Cases:
    """The investigations' side of the database."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def read(self, id: str, n: int) -> Case:
        """The case; LookupError when there is none."""
        with self._desk.database.reading() as connection:
            found = records.read_whole(connection, id)
            row = connection.execute(
                sa.select(investigation).where(
                    investigation.c.incident_id == id, investigation.c.n == n
                )
            ).first()
        if found is None or row is None:
            raise LookupError(f"there is no investigation {n} of an incident {id}")
        left = json.loads(row.resolved) if row.resolved else {}
        return Case(
            incident=found,
            requested_at=datetime.fromtimestamp(row.requested_at, UTC),
            verdict_by=datetime.fromtimestamp(row.verdict_by, UTC),
            resolved=left.get("resolved", {}),
            late=tuple(left.get("late", ())),
            n=n,
        )

    def start(self, id: str, n: int) -> Case:
        """The case as its work begins; an incident that waited its turn waits no more."""
        case = self.read(id, n)
        if case.incident.state is not State.DEFERRED:
            return case
        now, terms = self._desk.boot.clock(), self._desk.terms()
        with self._desk.database.writing() as connection:
            after = self._desk.change(
                connection, id, lambda record: started(record, now, terms), urgent=False
            )
            if after is not None and after.incident.verdict_by is not None:
                connection.execute(
                    sa.update(investigation)
                    .where(investigation.c.incident_id == id, investigation.c.n == n)
                    .values(verdict_by=after.incident.verdict_by.timestamp())
                )
        return self.read(id, n)

    def progress(self, id: str, n: int, progress: Progress) -> None:
        """Show how far investigation `n` is."""
        with self._desk.database.writing() as connection:
            self._desk.change(
                connection, id, lambda r: verdicts.progressed(r, n, progress), urgent=False
            )

    def keep(
        self, investigation: tuple[str, int], part: str, heard: Sequence[Heard], at: datetime
    ) -> None:
        """Store what one step heard: for people, and for a replay."""
        if not heard:
            return
        id, n = investigation
        outputs, content = raw_outputs(heard, at, n), typed(heard, at)
        with self._desk.database.writing() as connection:
            if outputs:
                keep_outputs(connection, id, n, outputs)
            keep_part(connection, (id, n, part), at, content)

    def decide(self, id: str, n: int, diagnosis: Diagnosis, resolved: dict[str, Any]) -> bool:
        """Write the verdict of investigation `n`, and what follows; False when it stood already."""
        late = verdicts.unanswered(diagnosis.evidence)
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            self._desk.boot.hook("before_decide")
            asked = self._asked_for(connection, id, n)
            end = verdicts.late_by(asked.verdict_by, self._desk.terms())
            standing = records.read_whole(connection, id)
            old = standing.diagnosis if standing and standing.verdict_stands else None
            asked = replace(asked, until=end if late and end > now else None, old=old)
            after = self._desk.change(
                connection,
                id,
                lambda record: verdicts.diagnosed(record, n, diagnosis, now, asked),
                urgent=True,
            )
            if after is None:
                return False
            open_parts(connection, after, self._desk.terms().parts)
            _release(connection, after, diagnosis)
            left = {"resolved": resolved, "late": list(late)}
            self._finish(connection, id, n, verdicts.headline(diagnosis), left)
            forget_earlier(connection, id, n)
            if after.incident.asked_until is not None:
                self._desk.enqueue(connection, task_of(after, asked.sha, LATE))
        self._desk.boot.hook("after_decide")
        return True

    def fail(self, id: str, n: int, why: str) -> bool:
        """Say that tailhound itself failed at investigation `n`; False when that one has ended."""
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            after = self._desk.change(
                connection, id, lambda record: verdicts.failed(record, n, why, now), urgent=True
            )
            if after is not None:
                self._finish(connection, id, n, f"failed: {why}", {})
        return after is not None

    def late_is_over(self, id: str, n: int) -> None:
        """Show that nobody is asked again any more."""
        with self._desk.database.writing() as connection:
            self._desk.change(
                connection, id, lambda record: verdicts.late_is_over(record, n), urgent=False
            )

    def revise(self, id: str, n: int, old: Diagnosis, new: Diagnosis, why: str) -> bool:
        """Write what late evidence changed; False when another investigation has begun since."""
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            after = self._desk.change(
                connection,
                id,
                lambda record: (
                    None
                    if verdicts.is_over(record.incident, n)
                    else verdicts.revised(record, old, new, why, now)
                ),
                urgent=True,
            )
            if after is not None:
                _release(connection, after, new)
        return after is not None

    def _finish(
        self, connection: sa.Connection, id: str, n: int, outcome: str, left: dict[str, Any]
    ) -> None:
        connection.execute(
            sa.update(investigation)
            .where(investigation.c.incident_id == id, investigation.c.n == n)
            .values(
                finished_at=self._desk.boot.clock().timestamp(),
                outcome=outcome[:400],
                resolved=json.dumps(left) if left else None,
            )
        )

    def _asked_for(self, connection: sa.Connection, id: str, n: int) -> verdicts.AskedFor:
        row = connection.execute(
            sa.select(investigation).where(
                investigation.c.incident_id == id, investigation.c.n == n
            )
        ).one()
        requested_at = datetime.fromtimestamp(row.requested_at, UTC)
        verdict_by = datetime.fromtimestamp(row.verdict_by, UTC)
        return verdicts.AskedFor(sha=row.sha, requested_at=requested_at, verdict_by=verdict_by)


def _release(connection: sa.Connection, record: Record, diagnosis: Diagnosis) -> None:
    """Let an incident that pages have its own message once its cause is confirmed."""
    if diagnosis.primary and storm.is_urgent(record.incident.severity):
        storm.release(connection, record.incident.id)


def again(incident: Incident, new: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """All evidence of an incident's diagnosis, with late answers in their places."""
    old = incident.diagnosis.evidence if incident.diagnosis else ()
    return verdicts.merged(old, verdicts.answered_late(new))
