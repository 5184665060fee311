"""Which incidents are meant: the filters of a list, and what is like a given one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from tailhound.model import Incident, State, telling
from tailhound.store.tables import confirmed, incident, silence

_SHOWN = (incident.c.snapshot, incident.c.repeats, incident.c.diagnosis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a list is asked for; what is left out does not filter.

    `text` is looked for in ids, alert names, subjects and labels, `workload` in what an incident is
    about alone. `cause` is the id of a runbook whose cause is confirmed. `since` is the earliest
    time of receipt. `before` pages: only what was received earlier; with `after`, the last id of
    the page before, also what was received at that very moment and comes behind it.
    """

    states: Sequence[State] = ()
    text: str = ""
    workload: str = ""
    cause: str = ""
    since: datetime | None = None
    before: datetime | None = None
    after: str = ""
    limit: int = 50


def matching(wanted: Wanted) -> sa.Select[Any]:
    """Rows of `records.whole`, newest first."""
    found = sa.select(*_SHOWN).order_by(incident.c.received_at.desc(), incident.c.id)
    if wanted.states:
        found = found.where(incident.c.state.in_([state.value for state in wanted.states]))
    if wanted.text.strip():
        found = found.where(_holds(incident.c.search, wanted.text))
    if wanted.workload.strip():
        found = found.where(_about(wanted.workload))
    if wanted.cause:
        found = found.where(incident.c.id.in_(_confirming(wanted.cause)))
    if wanted.since is not None:
        found = found.where(incident.c.received_at >= wanted.since.timestamp())
    if wanted.before is not None:
        found = found.where(_behind(wanted.before.timestamp(), wanted.after))
    return found.limit(wanted.limit)


def related(given: Incident, limit: int) -> sa.Select[Any]:
    """Earlier incidents of the same workload, or of a cause that the headline of both names."""
    named = [cause.runbook for cause in telling.headline_causes(given.diagnosis)]
    same_cause = incident.c.id.in_(
        sa.select(confirmed.c.incident_id).where(confirmed.c.named, confirmed.c.runbook.in_(named))
    )
    home = sa.or_(incident.c.key == given.key, incident.c.resolved_key == given.key)
    return (
        sa.select(*_SHOWN)
        .where(
            sa.or_(home, same_cause),
            incident.c.id != given.id,
            incident.c.state != State.JOINED.value,
            incident.c.received_at < given.received_at.timestamp(),
        )
        .order_by(incident.c.received_at.desc(), incident.c.id)
        .limit(limit)
    )


def newest_of_cause(given: Incident) -> sa.Select[Any] | None:
    """The newest earlier incident whose headline names a cause that this one's names too: its id,
    when it came in, and that cause. None when this one's names none.
    """
    named = [cause.runbook for cause in telling.headline_causes(given.diagnosis)]
    newest = [_newest(given, runbook).subquery() for runbook in named]
    if not newest:
        return None
    found = sa.union_all(*(sa.select(one) for one in newest)).subquery()
    return sa.select(found).order_by(found.c.received_at.desc(), found.c.id).limit(1)


def _newest(given: Incident, runbook: str) -> sa.Select[Any]:
    """The newest earlier incident of one cause, by the index of that cause."""
    return (
        sa.select(incident.c.id, confirmed.c.received_at, confirmed.c.runbook)
        .select_from(confirmed.join(incident))
        .where(
            confirmed.c.runbook == runbook,
            confirmed.c.named.is_(True),
            confirmed.c.received_at < given.received_at.timestamp(),
            incident.c.id != given.id,
            incident.c.state != State.JOINED.value,
        )
        .order_by(confirmed.c.received_at.desc())
        .limit(1)
    )


def is_muted(after: sa.ColumnElement[float]) -> sa.ColumnElement[bool]:
    """Whether a silence of ours mutes an incident beyond a time (Unix seconds), or may."""
    return sa.exists().where(
        silence.c.incident_id == incident.c.id,
        silence.c.state.in_(("asked", "setting", "set", "ending")),
        silence.c.until > after,
    )


def _confirming(runbook: str) -> sa.Select[Any]:
    return sa.select(confirmed.c.incident_id).where(confirmed.c.runbook == runbook)


def _about(text: str) -> sa.ColumnElement[bool]:
    """A key names the workload, unless it is Alertmanager's group key or a digest of odd names."""
    unnamed = sa.or_(incident.c.key.startswith("group:"), incident.c.key.contains(":sha256:"))
    return sa.or_(
        _holds(sa.func.lower(incident.c.key), text),
        _holds(sa.func.lower(incident.c.resolved_key), text),
        sa.and_(unnamed, _holds(incident.c.search, text)),
    )


def _holds(column: sa.ColumnElement[str], text: str) -> sa.ColumnElement[bool]:
    return column.contains(text.strip().lower(), autoescape=True)


def _behind(moment: float, after: str) -> sa.ColumnElement[bool]:
    """What comes behind a moment, and behind an id of that moment, in the order of a list."""
    earlier = incident.c.received_at < moment
    if not after:
        return earlier
    same = sa.and_(incident.c.received_at == moment, incident.c.id > after)
    return sa.or_(earlier, same)
