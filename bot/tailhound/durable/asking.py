"""Asking for an investigation: at most one runs per incident, and one waits.

`asked` decides (pure); `put` writes what was decided, in the transaction of whoever asks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

import sqlalchemy as sa

from tailhound.durable.tasks import Task
from tailhound.model import Happened, Incident, Recheck, State, badness
from tailhound.settings import Belated, Incidents
from tailhound.store.records import Record
from tailhound.store.tables import investigation, outbox

INVESTIGATE = "inv"
LATE = "late"
TIMELINE_AT_MOST = 200


class Enqueue(Protocol):
    """Asks for workflows within a transaction."""

    def __call__(self, connection: sa.Connection, /, *tasks: Task) -> None:
        """Known ids are passed over."""
        ...


_PRIORITIES = (1, 5, 10)
"""Of a queue, by how bad the worst alert is; whatever is better has the last."""

_LAST_PRIORITY = 20


_INSERT_INVESTIGATION = sa.insert(investigation)
_INSERT_OUTBOX = sa.insert(outbox)
_ROWS = sa.select(outbox.c.notifier, outbox.c.place, outbox.c.part).where(
    outbox.c.incident_id == sa.bindparam("row_id")
)
_SHOW = (
    sa.update(outbox)
    .where(outbox.c.incident_id == sa.bindparam("row_id"))
    .values(
        wanted_revision=sa.bindparam("revision"),
        state=sa.case((outbox.c.state == "sent", "pending"), else_=outbox.c.state),
    )
)
_SHOW_NOW = _SHOW.values(
    urgent=sa.case((outbox.c.part == "", sa.true()), else_=outbox.c.urgent),
    not_before=sa.case((outbox.c.part == "", 0.0), else_=outbox.c.not_before),
    state=sa.case((outbox.c.state.in_(("sent", "broken")), "pending"), else_=outbox.c.state),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where incidents are shown: a notifier's name, and its own address."""

    notifier: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where one incident is shown: `mention` is a group that its first post notifies, `thread` a
    message that stands there already and takes the incident into its thread. `later` is what
    happens where this one is named only after the first post.
    """

    place: Place
    mention: str = ""
    thread: str = ""
    later: Belated = "post"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for a new investigation: the compiled set, its size, the deadlines, the places.

    `places` are all that there are; `destinations` chooses those of one incident (None = all).
    `parts` names, by notifier, the posts in the thread of an incident that has a verdict.
    """

    incidents: Incidents
    sha: str
    causes: int
    verdict_seconds: float
    late_seconds: float
    mode: str = "observe"
    places: tuple[Place, ...] = ()
    destinations: Callable[[Incident], Sequence[Destination]] | None = None
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def destined(self, incident: Incident) -> Sequence[Destination]:
        """Where this incident is shown."""
        if self.destinations is None:
            return [Destination(place=place) for place in self.places]
        return self.destinations(incident)


def asked(record: Record, reason: str, now: datetime, terms: Terms) -> Record:
    """The record after someone asked for an investigation: begun, or waiting behind one that runs.

    `n` has grown when it was begun. The state of a resolved incident stays.
    """
    if record.is_active:
        return replace(record, waiting=reason)
    it = record.incident
    stays = it.state is State.RESOLVED
    by_somebody = it.recheck is not None and it.recheck.n == it.n + 1
    return replace(record, waiting="").edited(
        n=it.n + 1,
        recheck=it.recheck if by_somebody else Recheck(n=it.n + 1, since=now) if it.n else None,
        state=State.RESOLVED if stays else State.INVESTIGATING,
        verdict_by=now + timedelta(seconds=terms.verdict_seconds),
        causes_checked=terms.causes,
        progress=None,
        failed_because="",
        asked_until=None,
    )


def put(
    connection: sa.Connection,
    begun: Sequence[tuple[Record, str]],
    now: datetime,
    terms: Terms,
    enqueue: Enqueue,
) -> None:
    """Write and enqueue the investigations of these records; the text is why they were asked for.

    The incidents' rows must stand already.
    """
    if not begun:
        return
    connection.execute(
        _INSERT_INVESTIGATION,
        [
            {
                "incident_id": record.incident.id,
                "n": record.incident.n,
                "sha": terms.sha,
                "reason": reason[:200],
                "requested_at": now.timestamp(),
                "verdict_by": (record.incident.verdict_by or now).timestamp(),
            }
            for record, reason in begun
        ],
    )
    enqueue(connection, *(task_of(record, terms.sha) for record, _ in begun))


def task_of(record: Record, sha: str, workflow: str = INVESTIGATE) -> Task:
    """The workflow of a record's newest investigation."""
    it = record.incident
    return Task(
        workflow=workflow,
        id=f"{workflow}:{it.id}:{it.n}",
        queue=workflow,
        args=(it.id, it.n, sha),
        priority=_priority(it.severity),
    )


def _priority(severity: str) -> int:
    bad = badness(severity)
    return _PRIORITIES[bad] if bad < len(_PRIORITIES) else _LAST_PRIORITY


def noted(record: Record, at: datetime, what: str) -> Record:
    """The record with one more line in its timeline; the oldest go when there are too many."""
    line = Happened(at=at, what=what)
    return record.edited(timeline=(*record.incident.timeline, line)[-TIMELINE_AT_MOST:])


def show(connection: sa.Connection, changed: Sequence[tuple[Record, bool]]) -> None:
    """Let every place of these incidents know that there is something newer; True = it is urgent.

    What was refused for good is tried once more when the news is urgent.
    """
    for statement, urgent in ((_SHOW_NOW, True), (_SHOW, False)):
        rows = [
            {"row_id": record.incident.id, "revision": record.incident.revision}
            for record, is_urgent in changed
            if is_urgent is urgent
        ]
        if rows:
            connection.execute(statement, rows)


def message_row(
    incident_id: str, place: Place, revision: int, *, part: str = "", urgent: bool = True
) -> dict[str, object]:
    """An outbox row that waits to be sent."""
    return {
        "incident_id": incident_id,
        "notifier": place.notifier,
        "place": place.place,
        "part": part,
        "wanted_revision": revision,
        "state": "pending",
        "urgent": urgent,
    }


def announce(connection: sa.Connection, records: Sequence[Record], terms: Terms) -> None:
    """Ask for the first post of new incidents in every place that is theirs."""
    rows = [
        message_row(record.incident.id, to.place, record.incident.revision)
        | {"mention": to.mention[:80], "thread": to.thread[:40]}
        for record in records
        for to in terms.destined(record.incident)
    ]
    if rows:
        connection.execute(_INSERT_OUTBOX, rows)


def open_parts(
    connection: sa.Connection,
    record: Record,
    parts: Mapping[str, Sequence[str]],
    *,
    urgent: bool = False,
) -> None:
    """Ask for posts in the threads of an incident, by notifier; those asked for before stay."""
    if not any(parts.values()):
        return
    found = connection.execute(_ROWS, {"row_id": record.incident.id}).all()
    there = {(row.notifier, row.place, row.part) for row in found}
    rows = [
        message_row(
            record.incident.id,
            Place(row.notifier, row.place),
            record.incident.revision,
            part=part,
            urgent=urgent,
        )
        for row in found
        for part in parts.get(row.notifier, ())
        if not row.part and (row.notifier, row.place, part) not in there
    ]
    if rows:
        connection.execute(_INSERT_OUTBOX, rows)
