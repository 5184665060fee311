"""How often diagnoses were right, by what people said: counts per cause, and why there are none.

The newest word of anybody about an incident counts; "can't tell" is no word. What was shown is the
primary cause at that time, and all that the diagnosis confirms.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from tailhound.model import Rating, State
from tailhound.store.database import Database
from tailhound.store.tables import confirmed, feedback, incident

_UNSURE = Rating.UNSURE.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What became of one cause. `confirmed` counts the incidents that confirm it.

    `right` and `wrong` are of those, by feedback; `partly` of the right ones were not the whole
    story. Only a cause that the headline named can be wrong: the others of a chain led to it, or
    came of it. `missed` counts incidents that people say were of this cause, and that did not
    confirm it.
    """

    runbook: str
    confirmed: int = 0
    right: int = 0
    partly: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def rated(self) -> int:
        """Incidents of which people said whether it was this cause."""
        return self.right + self.wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """The causes that were confirmed or missed, by id; how many incidents, and how many rated.

    `elsewhere` counts incidents whose cause is in no runbook, as people say.
    """

    causes: dict[str, Record] = field(default_factory=dict)
    incidents: int = 0
    rated: int = 0
    elsewhere: int = 0

    def of(self, runbook: str) -> Record:
        """The record of one cause; empty for one that nobody met."""
        return self.causes.get(runbook, Record(runbook=runbook))


@dataclass(slots=True)
class _Word:
    """The newest word about one incident, and what it was about."""

    rating: Rating
    cause: str
    shown: frozenset[str]
    named: frozenset[str]


def accuracy(database: Database, since: datetime) -> Accuracy:
    """Of the incidents received since a moment; StoreUnavailable when the database is silent."""
    with database.reading() as connection:
        return read_accuracy(connection, since)


def read_accuracy(connection: sa.Connection, since: datetime) -> Accuracy:
    """As `accuracy`, over a connection."""
    moment = since.timestamp()
    amount = connection.execute(sa.select(sa.func.count()).where(*_counted(moment))).scalar_one()
    shown, named = _confirmed(connection, moment)
    words = list(_words(connection, moment, shown, named))
    counted = Counter(runbook for each in shown.values() for runbook in each)
    return Accuracy(
        causes=_records(counted, words),
        incidents=int(amount),
        rated=len(words),
        elsewhere=sum(word.rating is Rating.WRONG and not word.cause for word in words),
    )


def _counted(moment: float) -> tuple[sa.ColumnElement[bool], ...]:
    """Incidents since then; one that has joined another is no incident of its own."""
    return incident.c.received_at >= moment, incident.c.state != State.JOINED.value


_Causes = dict[str, set[str]]


def _confirmed(connection: sa.Connection, moment: float) -> tuple[_Causes, _Causes]:
    """The causes that each incident confirms, and those of them that its headline names."""
    found = connection.execute(
        sa.select(confirmed.c.incident_id, confirmed.c.runbook, confirmed.c.named)
        .join(incident, incident.c.id == confirmed.c.incident_id)
        .where(*_counted(moment))
    )
    shown: _Causes = defaultdict(set)
    named: _Causes = defaultdict(set)
    for row in found:
        shown[row.incident_id].add(row.runbook)
        if row.named:
            named[row.incident_id].add(row.runbook)
    return shown, named


def _words(
    connection: sa.Connection, moment: float, shown: _Causes, named: _Causes
) -> Iterable[_Word]:
    told = connection.execute(
        sa.select(feedback)
        .join(incident, incident.c.id == feedback.c.incident_id)
        .where(*_counted(moment), feedback.c.rating != _UNSURE)
        .order_by(feedback.c.at, feedback.c.person)
    )
    newest: dict[str, Any] = {row.incident_id: row for row in told}
    for id, row in newest.items():
        said = {row.said_primary} if row.said_primary else named.get(id, set())
        yield _Word(
            rating=Rating[row.rating.upper()],
            cause=row.cause,
            shown=frozenset(shown.get(id, set()) | said),
            named=frozenset(said),
        )


def _records(counted: Counter[str], words: Iterable[_Word]) -> dict[str, Record]:
    right, partly, wrong, missed = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for word in words:
        good = _right(word)
        right.update(good)
        wrong.update(word.named - good)
        partly.update(good if word.rating is Rating.PARTLY else ())
        if word.cause and word.cause not in word.shown:
            missed[word.cause] += 1
    known = {*counted, *right, *wrong, *missed}
    return {
        runbook: Record(
            runbook=runbook,
            confirmed=counted[runbook],
            right=right[runbook],
            partly=partly[runbook],
            wrong=wrong[runbook],
            missed=missed[runbook],
        )
        for runbook in sorted(known)
    }


def _right(word: _Word) -> frozenset[str]:
    """The causes that were shown and were so. Of two that fit it is the one that people chose."""
    chosen = word.shown & {word.cause}
    if word.rating is Rating.WRONG:
        return chosen
    return chosen | (word.named if not chosen or len(word.named) < 2 else frozenset())
