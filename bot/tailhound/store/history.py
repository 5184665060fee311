"""What incidents of late tell: what matchers would have muted, and how the last month went."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from tailhound.actions.silence import Matcher
from tailhound.model import Alert, Incident, Outlook, Rating, State, Verdict
from tailhound.store.database import Database
from tailhound.store.records import whole
from tailhound.store.tables import confirmed, feedback, incident

LOOKED_AT = 1_000
"""Incidents that are looked through, the newest first."""

_BLIND = f'{{"outlook":"{Outlook.BLIND.value}"'
"""How the JSON of a diagnosis begins that could see too little: its outlook comes first."""

_NONE = f'{{"outlook":"{Outlook.NONE_CONFIRMED.value}"'
_JUDGED = tuple(f'"verdict":"{one.value}"' for one in (Verdict.CONFIRMED, Verdict.REFUTED))
"""What stands in it where a cause was judged; quotes in a text from outside are escaped."""

_UNSURE = Rating.UNSURE.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What matchers would have muted. `real` are incidents with a page among it that were real:
    a cause was confirmed, or somebody said what it was. Of the other incidents with a page nobody
    knows that they were none: `untold` is how many those are.

    `whole` False = there were more incidents than are looked through: the counts are "at least".
    """

    alerts: int = 0
    real: tuple[str, ...] = ()
    untold: int = 0
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """Incidents of a time: how many, in how many a cause was found, in how many tailhound could see
    too little to say anything, and what people said of them.

    One word per incident counts, the newest; "can't tell" is none. `unnamed` are words on what it
    was where no cause had been named: nothing could be right or wrong.
    """

    incidents: int = 0
    found: int = 0
    blind: int = 0
    right: int = 0
    partly: int = 0
    wrong: int = 0
    unnamed: int = 0

    @property
    def rated(self) -> int:
        """Incidents with a word of somebody."""
        return self.right + self.partly + self.wrong + self.unnamed


def past(database: Database, matchers: Sequence[Matcher], since: datetime, but: str = "") -> Past:
    """What these matchers would have muted of the incidents received since then, `but` one: that
    which is going on says nothing of earlier ones.

    StoreUnavailable when the database is silent.
    """
    wanted = (
        sa.select(incident.c.snapshot, incident.c.repeats, sa.null().label("diagnosis"))
        .where(*_counted(since), incident.c.id != but)
        .order_by(incident.c.received_at.desc(), incident.c.id)
        .limit(LOOKED_AT + 1)
    )
    with database.reading() as connection:
        rows = [whole(row) for row in connection.execute(wanted).mappings()]
        hits = _hits(rows[:LOOKED_AT], matchers)
        paged = [id for id, alerts in hits.items() if any(alert.is_page for alert in alerts)]
        real = _real(connection, paged)
    return Past(
        alerts=sum(map(len, hits.values())),
        real=tuple(id for id in paged if id in real),
        untold=len(paged) - len(real),
        whole=len(rows) <= LOOKED_AT,
    )


def month(database: Database, since: datetime) -> Month:
    """How the incidents received since then went. StoreUnavailable when the database is silent."""
    with database.reading() as connection:
        amount = connection.execute(
            sa.select(sa.func.count()).select_from(incident).where(*_counted(since))
        ).scalar_one()
        found = connection.execute(
            sa.select(sa.func.count(confirmed.c.incident_id.distinct()))
            .join(incident, incident.c.id == confirmed.c.incident_id)
            .where(*_counted(since))
        ).scalar_one()
        blind = connection.execute(
            sa.select(sa.func.count()).select_from(incident).where(*_counted(since), _saw_nothing())
        ).scalar_one()
        ratings = Counter(_words(connection, since).values())
    return Month(
        incidents=int(amount),
        found=int(found),
        blind=int(blind),
        right=ratings[Rating.RIGHT],
        partly=ratings[Rating.PARTLY],
        wrong=ratings[Rating.WRONG],
        unnamed=ratings[None],
    )


def _saw_nothing() -> sa.ColumnElement[bool]:
    """Whether nothing is confirmed because tailhound could not see: its outlook says so, or of no
    cause at all enough was known to rule it out.
    """
    told = incident.c.diagnosis
    judged = sa.or_(*(told.contains(one, autoescape=True) for one in _JUDGED))
    blind = told.startswith(_BLIND, autoescape=True)
    unjudged = sa.and_(told.startswith(_NONE, autoescape=True), sa.not_(judged))
    confirming = sa.select(confirmed.c.incident_id)
    return sa.and_(sa.or_(blind, unjudged), incident.c.id.not_in(confirming))


def _counted(since: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """One that has joined another is no incident of its own."""
    return incident.c.received_at >= since.timestamp(), incident.c.state != State.JOINED.value


def _hits(
    incidents: Iterable[Incident], matchers: Sequence[Matcher]
) -> Mapping[str, Sequence[Alert]]:
    """The alerts that match, by incident; incidents without any are left out."""
    found = {
        one.id: [a for a in one.alerts if all(matcher.holds(a.labels) for matcher in matchers)]
        for one in incidents
    }
    return {id: alerts for id, alerts in found.items() if alerts}


def _real(connection: sa.Connection, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for start in range(0, len(ids), 400):
        some = ids[start : start + 400]
        causes = sa.select(confirmed.c.incident_id).where(confirmed.c.incident_id.in_(some))
        known = sa.or_(
            feedback.c.rating.in_([Rating.RIGHT.name.lower(), Rating.PARTLY.name.lower()]),
            feedback.c.cause != "",
        )
        words = sa.select(feedback.c.incident_id).where(feedback.c.incident_id.in_(some), known)
        found.update(connection.execute(causes).scalars(), connection.execute(words).scalars())
    return found


def _words(connection: sa.Connection, since: datetime) -> dict[str, Rating | None]:
    """The newest word about each incident; None = what it was, where no cause had been named."""
    told: sa.Select[Any] = (
        sa.select(feedback.c.incident_id, feedback.c.rating, feedback.c.said_primary)
        .join(incident, incident.c.id == feedback.c.incident_id)
        .where(*_counted(since), feedback.c.rating != _UNSURE)
        .order_by(feedback.c.at, feedback.c.person)
    )
    found: dict[str, Rating | None] = {}
    for row in connection.execute(told):
        rating = Rating[row.rating.upper()]
        unnamed = rating is Rating.WRONG and not row.said_primary
        found[row.incident_id] = None if unnamed else rating
    return found
