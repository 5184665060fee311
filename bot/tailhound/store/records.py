"""Incident rows: reading, writing, and the revision that grows with every change.

All functions run within the caller's transaction, and read for update.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from tailhound.model import Diagnosis, Incident, Outlook, Verdict
from tailhound.store import codec
from tailhound.store.tables import confirmed, counter, incident

CHUNK = 400
"""Values of one IN list."""

_PLAIN = (
    incident.c.ordinal,
    incident.c.done,
    incident.c.waiting,
    incident.c.resolved_key,
    incident.c.repeats,
    incident.c.heard_at,
    incident.c.snapshot,
)


# Statements are built once: building one costs as much as running it.
_RECORDS = sa.select(*_PLAIN).order_by(incident.c.received_at, incident.c.id).with_for_update()
_LATER = incident.alias("later")
_NEWEST = (
    sa.select(sa.func.max(_LATER.c.ordinal)).where(_LATER.c.key == incident.c.key)
).scalar_subquery()
_BY_ID = _RECORDS.where(incident.c.id.in_(sa.bindparam("ids", expanding=True)))
_BY_KEY = _RECORDS.where(
    incident.c.key.in_(sa.bindparam("keys", expanding=True)), incident.c.ordinal == _NEWEST
)
_IS_TAKEN = sa.select(incident.c.id).where(incident.c.id == sa.bindparam("id"))
_RAISE = (
    sa.update(counter)
    .where(counter.c.name == "revision")
    .values(value=counter.c.value + sa.bindparam("by"))
    .returning(counter.c.value)
)
_INSERT = sa.insert(incident)
_FORGET = sa.delete(confirmed).where(confirmed.c.incident_id == sa.bindparam("row_id"))
_RECEIVED = sa.select(incident.c.received_at).where(incident.c.id == sa.bindparam("incident_id"))
_CONFIRM = sa.insert(confirmed).values(
    incident_id=sa.bindparam("incident_id"), received_at=_RECEIVED.scalar_subquery()
)
_REPEATS = (
    sa.update(incident)
    .where(incident.c.id == sa.bindparam("row_id"))
    .values(repeats=incident.c.repeats + sa.bindparam("more"), heard_at=sa.bindparam("heard"))
)
_REWRITTEN = (
    "is_open",
    "resolved_key",
    "state",
    "severity",
    "episode",
    "n",
    "done",
    "waiting",
    "joined_into",
    "changed_at",
    "resolved_at",
    "heard_at",
    "revision",
    "search",
    "snapshot",
)
_UPDATE = (
    sa.update(incident)
    .where(incident.c.id == sa.bindparam("row_id"))
    .values({name: sa.bindparam(name) for name in _REWRITTEN})
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An incident and what only the machinery knows of it.

    `incident.diagnosis` is None here unless it was asked for: it can be large. `ordinal` counts the
    incidents of one key. `done` is the last investigation that ended; `waiting` says why another
    one waits for it, "" = none does. `resolved_key` is the key of the workload that it turned out
    to be about. `heard_at` is when an alert of it was delivered last, in Unix seconds.
    """

    incident: Incident
    ordinal: int = 0
    done: int = 0
    waiting: str = ""
    resolved_key: str = ""
    heard_at: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether new alerts of its key belong to it."""
        return self.incident.is_open

    @property
    def is_active(self) -> bool:
        """Whether an investigation of it runs or is queued."""
        return self.done < self.incident.n

    def edited(self, **changes: Any) -> "Record":
        """The same record with other values in the incident."""
        return replace(self, incident=replace(self.incident, **changes))


def raise_revision(connection: sa.Connection, by: int = 1) -> int:
    """Reserve `by` revisions; the first of them."""
    changed = connection.execute(_RAISE, {"by": by}).scalar()
    if changed is None:
        connection.execute(sa.insert(counter).values(name="revision", value=by))
        changed = by
    return int(changed) - by + 1


def read(connection: sa.Connection, id: str) -> Record | None:
    """One incident, locked until the transaction ends; None when there is none."""
    return read_ids(connection, [id]).get(id)


def read_ids(connection: sa.Connection, ids: Iterable[str]) -> dict[str, Record]:
    """The incidents of these ids, locked."""
    found = (_rows(connection, _BY_ID, {"ids": chunk}) for chunk in chunks(ids))
    return {record.incident.id: record for part in found for record in part}


def read_latest(connection: sa.Connection, keys: Iterable[str]) -> dict[str, Record]:
    """The newest incident of each of these keys, locked."""
    found = (_rows(connection, _BY_KEY, {"keys": chunk}) for chunk in chunks(keys))
    return {record.incident.key: record for part in found for record in part}


def read_where(
    connection: sa.Connection, *conditions: sa.ColumnElement[bool], limit: int
) -> tuple[Record, ...]:
    """The incidents that meet all conditions, oldest first, locked; without their diagnosis."""
    return _rows(connection, _RECORDS.where(*conditions).limit(limit), {})


def is_taken(connection: sa.Connection, id: str) -> bool:
    """Whether there is an incident of this id."""
    return connection.execute(_IS_TAKEN, {"id": id}).first() is not None


def read_whole(connection: sa.Connection, id: str) -> Incident | None:
    """One incident as people see it, with its diagnosis and all evidence; None without it."""
    row = (
        connection.execute(
            sa.select(
                incident.c.snapshot, incident.c.repeats, incident.c.diagnosis, incident.c.evidence
            ).where(incident.c.id == id)
        )
        .mappings()
        .first()
    )
    return whole(row) if row else None


def whole(values: sa.RowMapping) -> Incident:
    """The incident of a row with `snapshot`, `repeats`, `diagnosis` and, maybe, `evidence`."""
    found = codec.incident_from_json(values["snapshot"])
    if values["diagnosis"] is None:
        return replace(found, repeats=values["repeats"])
    diagnosis = codec.diagnosis_from_json(values["diagnosis"])
    evidence = values.get("evidence")
    if evidence is not None:
        diagnosis = replace(diagnosis, evidence=codec.evidence_from_json(evidence))
    return replace(found, repeats=values["repeats"], diagnosis=diagnosis)


def insert(connection: sa.Connection, records: Sequence[Record], now: datetime) -> None:
    """Write new incidents."""
    if records:
        connection.execute(_INSERT, [columns(record, now) for record in records])


def update(connection: sa.Connection, records: Sequence[Record], now: datetime) -> None:
    """Write changed incidents; their diagnosis stays as it is."""
    if not records:
        return
    rows = [(record.incident.id, columns(record, now)) for record in records]
    connection.execute(
        _UPDATE, [{"row_id": id} | {name: row[name] for name in _REWRITTEN} for id, row in rows]
    )


def change(
    connection: sa.Connection,
    id: str,
    edit: Callable[[Record], Record | None],
    now: datetime,
) -> Record | None:
    """Edit one incident and raise its revision; None when `edit` wants no change or none is there.

    A diagnosis that the edited incident carries replaces the one that stands.
    """
    before = read(connection, id)
    after = edit(before) if before else None
    if after is None:
        return None
    after = after.edited(revision=raise_revision(connection))
    update(connection, [after], now)
    if after.incident.diagnosis is not None:
        write_diagnosis(connection, id, after.incident.diagnosis)
    return after


def write_diagnosis(connection: sa.Connection, id: str, diagnosis: Diagnosis) -> None:
    """Replace the diagnosis of an incident."""
    connection.execute(
        sa.update(incident)
        .where(incident.c.id == id)
        .values(
            diagnosis=codec.diagnosis_to_json(replace(diagnosis, evidence=())),
            evidence=codec.evidence_to_json(diagnosis.evidence),
        )
    )
    connection.execute(_FORGET, {"row_id": id})
    found = [cause.runbook for cause in diagnosis.causes if cause.verdict is Verdict.CONFIRMED]
    named = found[:2] if diagnosis.outlook is Outlook.TWO_FIT else [diagnosis.primary]
    rows = [{"incident_id": id, "runbook": one, "named": one in named} for one in found]
    if rows:
        connection.execute(_CONFIRM, rows)


def add_repeats(connection: sa.Connection, counts: dict[str, int], now: datetime) -> None:
    """Count deliveries that brought nothing new, but that it is still there."""
    if counts:
        heard = now.timestamp()
        rows = [{"row_id": id, "more": more, "heard": heard} for id, more in sorted(counts.items())]
        connection.execute(_REPEATS, rows)


def columns(record: Record, now: datetime) -> dict[str, Any]:
    """A record as the values of its row, except the diagnosis and the repeats."""
    it = record.incident
    return {
        "id": it.id,
        "key": it.key,
        "ordinal": record.ordinal,
        "is_open": record.is_open,
        "resolved_key": record.resolved_key,
        "state": it.state.value,
        "severity": it.severity[:40],
        "episode": it.episode,
        "n": it.n,
        "done": record.done,
        "waiting": record.waiting[:200],
        "joined_into": it.joined_into,
        "received_at": it.received_at.timestamp(),
        "changed_at": now.timestamp(),
        "resolved_at": it.resolved_at.timestamp() if it.resolved_at else None,
        "heard_at": record.heard_at,
        "revision": it.revision,
        "search": search_text(it),
        "snapshot": codec.incident_to_json(replace(it, diagnosis=None, repeats=0)),
    }


def search_text(it: Incident) -> str:
    """What a search looks through: id, names, subject, label values; at most 2,000 characters."""
    labels = (value for alert in it.alerts[:5] for value in alert.labels.values())
    names = (alert.name for alert in it.alerts[:20])
    subject = (it.subject.where, it.subject.pod, it.subject.node, it.subject.cluster)
    seen = dict.fromkeys((it.id, *names, *subject, *labels))
    return " ".join(part for part in seen if part).lower()[:2000]


def chunks(values: Iterable[str]) -> Iterable[list[str]]:
    """Distinct values in lists that are short enough for one statement."""
    distinct = list(dict.fromkeys(values))
    return (distinct[i : i + CHUNK] for i in range(0, len(distinct), CHUNK))


def at(seconds: float | None) -> datetime | None:
    """Unix seconds as an aware time; None stays None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _rows(
    connection: sa.Connection, wanted: sa.Select[Any], values: dict[str, Any]
) -> tuple[Record, ...]:
    return tuple(_record(row) for row in connection.execute(wanted, values).mappings())


def _record(values: sa.RowMapping) -> Record:
    found = codec.incident_from_json(values["snapshot"])
    return Record(
        incident=replace(found, repeats=values["repeats"]),
        ordinal=values["ordinal"],
        done=values["done"],
        waiting=values["waiting"],
        resolved_key=values["resolved_key"],
        heard_at=values["heard_at"],
    )
