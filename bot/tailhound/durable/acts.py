"""What people do to an incident, stored once: the click, its effect and the new revision together.

Each function is one transaction. A click that was stored before changes nothing and says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from tailhound.durable.asking import noted
from tailhound.durable.desk import Desk
from tailhound.durable.episodes import home
from tailhound.model import Feedback, OnIt, Rating
from tailhound.model.sayings import named_none, what
from tailhound.store import records
from tailhound.store.records import Record
from tailhound.store.tables import click
from tailhound.store.tables import feedback as feedback_table

RATED = {
    Rating.RIGHT: "the diagnosis was right",
    Rating.PARTLY: "the diagnosis was right, but not the whole story",
    Rating.WRONG: "the diagnosis was wrong",
    Rating.UNSURE: "can't tell whether the diagnosis was right",
}
"""What the timeline says behind a person's name."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who clicked: an id that does not change, and a name to show. Both come from outside."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Click:
    """One press of a button: who, on which incident, and the id of its envelope."""

    incident: str
    person: Person
    envelope: str


class _Outdated(Exception):
    """Another diagnosis stands: the transaction ends, and the click with it."""


class Acts:
    """The people's side of the database."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def on_it(self, pressed: Click) -> bool:
        """Somebody looks after it from now on; False when that very click was known.

        LookupError when there is no such incident.
        """
        now, who = self._desk.boot.clock(), pressed.person

        def edit(record: Record) -> Record | None:
            standing = record.incident.on_it
            if standing is not None and standing.person == who.id:
                return None
            after = record.edited(on_it=OnIt(by=who.name, since=now, person=who.id))
            return noted(after, now, f"{who.name} is on it")

        return self._act(pressed, "on-it", edit)

    def off_it(self, pressed: Click) -> bool:
        """They look after it no more; somebody who has taken over meanwhile stays. False when that
        very click was known; LookupError when there is no such incident.
        """
        now, who = self._desk.boot.clock(), pressed.person

        def edit(record: Record) -> Record | None:
            standing = record.incident.on_it
            if standing is None or standing.person != who.id:
                return None
            return noted(record.edited(on_it=None), now, f"{who.name} is not on it any more")

        return self._act(pressed, "off-it", edit)

    def feedback(self, pressed: Click, rating: Rating, cause: str = "", note: str = "") -> bool:
        """What the cause really was, by one person; a later word of theirs replaces it.

        `cause` is a runbook's id, "" = not in the list. False when that very click was known;
        LookupError when there is no such incident.
        """
        return self._rate(pressed, rating, (cause, note), "")

    def agree(self, pressed: Click, shown: str) -> bool | None:
        """The diagnosis was right, as `feedback` has it; `shown` is its mark, "" = not known.

        None when another one stands than was shown: nothing is stored.
        """
        try:
            return self._rate(pressed, Rating.RIGHT, ("", ""), shown)
        except _Outdated:
            return None

    def _rate(self, pressed: Click, rating: Rating, words: tuple[str, str], shown: str) -> bool:
        now, desk = self._desk.boot.clock(), self._desk
        cause, note = words
        with desk.database.writing() as connection:
            home = clicked(connection, pressed, "feedback", now)
            if home is None:
                return False
            whole = records.read_whole(connection, home)
            diagnosis = whole.diagnosis if whole else None
            if shown and (diagnosis is None or diagnosis.mark != shown):
                raise _Outdated
            said = Feedback(
                rating=rating,
                cause=cause[:200],
                note=note[:1000],
                by=pressed.person.name,
                at=now,
                said_primary=(diagnosis.primary or "") if diagnosis else "",
                person=pressed.person.id,
            )
            _keep(connection, home, pressed.person, said)
            desk.change(connection, home, lambda record: _rated(record, said), urgent=True)
        return True

    def _act(self, pressed: Click, action: str, edit: Callable[[Record], Record | None]) -> bool:
        desk = self._desk
        with desk.database.writing() as connection:
            home = clicked(connection, pressed, action, desk.boot.clock())
            if home is None:
                return False
            desk.change(connection, home, edit, urgent=True)
        return True


def clicked(connection: sa.Connection, pressed: Click, action: str, now: datetime) -> str | None:
    """Store a click; the incident that it is about, which is the one that its own has joined.

    None when it was stored before. LookupError when there is no such incident.
    """
    record = records.read(connection, pressed.incident)
    if record is None:
        raise LookupError(f"there is no incident {pressed.incident}")
    known = sa.select(click.c.at).where(click.c.envelope_id == pressed.envelope)
    if connection.execute(known).first() is not None:
        return None
    stored = {
        "envelope_id": pressed.envelope,
        "incident_id": pressed.incident,
        "action": action,
        "by": pressed.person.name[:200],
        "at": now.timestamp(),
    }
    connection.execute(sa.insert(click).values(stored))
    return home_of(connection, record)


def home_of(connection: sa.Connection, record: Record) -> str:
    """The incident that this one has joined, or that one's, and so on; itself when it has not."""
    return home(record, lambda id: records.read(connection, id)).incident.id


def _rated(record: Record, said: Feedback) -> Record:
    others = tuple(one for one in record.incident.feedback if one.person != said.person)
    after = record.edited(feedback=(*others, said))
    cause = f"; it was {said.cause}" if said.cause and said.rating is not Rating.RIGHT else ""
    told = what(said, said.cause) if named_none(said) else f"{RATED[said.rating]}{cause}"
    return noted(after, said.at, f"{said.by}: {told}")


def _keep(connection: sa.Connection, id: str, person: Person, said: Feedback) -> None:
    mine = (feedback_table.c.incident_id == id, feedback_table.c.person == person.id[:80])
    connection.execute(sa.delete(feedback_table).where(*mine))
    connection.execute(
        sa.insert(feedback_table).values(
            incident_id=id,
            person=person.id[:80],
            name=person.name[:200],
            rating=said.rating.name.lower(),
            cause=said.cause,
            note=said.note,
            said_primary=said.said_primary,
            at=said.at.timestamp(),
        )
    )
