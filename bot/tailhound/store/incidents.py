"""Incidents for those who only look: web, API, CLI. Works beside a running serve."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from tailhound.model import Incident, State
from tailhound.store.accuracy import Accuracy, read_accuracy
from tailhound.store.database import Database, open_readers
from tailhound.store.failures import explained
from tailhound.store.finding import Wanted, matching, related
from tailhound.store.posts import STORM_PART
from tailhound.store.recordings import Part, read_parts
from tailhound.store.records import read_whole, whole
from tailhound.store.tables import counter, incident, outbox, output

_SHOWN_AT_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RawOutput:
    """One answer as it came, redacted. `n` is the investigation that asked.

    `truncated` is true when more came than is kept; `size` counts the bytes that are kept.
    """

    question: str
    backend: str
    text: str
    asked_at: datetime
    n: int = 1
    size: int = 0
    truncated: bool = False


class IncidentReader:
    """Reads incidents; can't write. StoreUnavailable when the database gives no answer."""

    def __init__(self, engine: sa.Engine, name: str) -> None:
        self._engine = engine
        self._name = name

    @classmethod
    def of(cls, database: Database) -> "IncidentReader":
        """The reader of a database that this process has open."""
        return cls(database.readers, database.name)

    @classmethod
    def open(cls, url: str, password: str = "") -> "IncidentReader":
        """The reader of a database that another process may have open; SettingsError without."""
        engine = open_readers(url, password)
        return cls(engine, sa.make_url(url).render_as_string(hide_password=True))

    def list(
        self,
        *,
        limit: int = 50,
        states: Sequence[State] = (),
        text: str = "",
        before: datetime | None = None,
        after: str = "",
    ) -> tuple[Incident, ...]:
        """Incidents, newest first; their diagnoses come without evidence (see `get`).

        `text` is looked for in ids, alert names, subjects and labels. `before` pages: only what was
        received earlier; with `after`, the last id of the page before, also what was received at
        that very moment and comes behind it.
        """
        wanted = Wanted(states=states, text=text, before=before, after=after, limit=limit)
        return self.search(wanted)

    def amount(self, states: Sequence[State]) -> int:
        """How many incidents are in one of these states."""
        values = [state.value for state in states]
        wanted = sa.select(sa.func.count()).where(incident.c.state.in_(values))
        with explained(self._name), self._engine.connect() as connection:
            return int(connection.execute(wanted).scalar_one())

    def accuracy(self, since: datetime) -> Accuracy:
        """How often diagnoses were right, of the incidents received since a moment."""
        with explained(self._name), self._engine.connect() as connection:
            return read_accuracy(connection, since)

    def search(self, wanted: Wanted) -> tuple[Incident, ...]:
        """As `list`, with every filter that there is."""
        return self._read(matching(wanted))

    def alike(self, given: Incident, *, limit: int = 5) -> tuple[Incident, ...]:
        """Earlier incidents of the same workload or of the same cause, newest first."""
        return self._read(related(given, limit))

    def _read(self, wanted: sa.Select[Any]) -> tuple[Incident, ...]:
        with explained(self._name), self._engine.connect() as connection:
            return tuple(whole(row) for row in connection.execute(wanted).mappings())

    def get(self, id: str) -> Incident | None:
        """One incident with everything that is known; None without it. Case does not matter."""
        with explained(self._name), self._engine.connect() as connection:
            return read_whole(connection, id.upper())

    def raw(self, id: str) -> tuple[RawOutput, ...]:
        """The raw answers of an incident, in the order in which they came."""
        wanted = sa.select(output).where(output.c.incident_id == id.upper()).order_by(output.c.id)
        with explained(self._name), self._engine.connect() as connection:
            return tuple(
                RawOutput(
                    question=row.question,
                    backend=row.backend,
                    text=zlib.decompress(row.content).decode("utf-8", "replace"),
                    asked_at=datetime.fromtimestamp(row.asked_at, UTC),
                    n=row.n,
                    size=row.size,
                    truncated=row.truncated,
                )
                for row in connection.execute(wanted)
            )

    def recorded(self, id: str) -> tuple[Part, ...]:
        """What was asked for the verdict that stands, typed; () when it is not kept (any more)."""
        with explained(self._name), self._engine.connect() as connection:
            return read_parts(connection, id.upper())

    def messages(self, id: str, notifier: str) -> tuple[tuple[str, str], ...]:
        """Where an incident's own messages stand: (place, message), the oldest first."""
        wanted = (
            sa.select(outbox.c.place, outbox.c.message)
            .where(
                outbox.c.incident_id == id.upper(),
                outbox.c.notifier == notifier,
                outbox.c.part == "",
                outbox.c.message != "",
            )
            .order_by(outbox.c.id)
        )
        with explained(self._name), self._engine.connect() as connection:
            return tuple((row.place, row.message) for row in connection.execute(wanted))

    def standing(self, ids: Sequence[str], notifier: str) -> dict[str, tuple[str, str]]:
        """Where the first own message of each of these stands, by id: (place, message)."""
        wanted = (
            sa.select(outbox.c.incident_id, outbox.c.place, outbox.c.message)
            .where(
                outbox.c.incident_id.in_([*ids]),
                outbox.c.notifier == notifier,
                outbox.c.part == "",
                outbox.c.message != "",
            )
            .order_by(outbox.c.id.desc())
        )
        with explained(self._name), self._engine.connect() as connection:
            rows = connection.execute(wanted).all()
        return {row.incident_id: (row.place, row.message) for row in rows}

    def of_message(self, notifier: str, place: str, message: str) -> str:
        """The id of the incident that a message is about, or a post in its thread; "" for none."""
        wanted = sa.select(outbox.c.incident_id).where(
            outbox.c.notifier == notifier,
            outbox.c.place == place,
            outbox.c.message == message,
            outbox.c.part != STORM_PART,
        )
        with explained(self._name), self._engine.connect() as connection:
            return str(connection.execute(wanted.limit(1)).scalar() or "")

    def shown_in(self, notifier: str, place: str, states: Sequence[State]) -> tuple[Incident, ...]:
        """The incidents in these states whose own message stands in a place, newest first."""
        there = sa.select(outbox.c.incident_id).where(
            outbox.c.notifier == notifier,
            outbox.c.place == place,
            outbox.c.part == "",
            outbox.c.message != "",
        )
        wanted = matching(Wanted(states=states, limit=_SHOWN_AT_MOST))
        return self._read(wanted.where(incident.c.id.in_(there)))

    def revision(self) -> int:
        """The newest revision of all: it grows whenever anything that people see has changed."""
        wanted = sa.select(counter.c.value).where(counter.c.name == "revision")
        with explained(self._name), self._engine.connect() as connection:
            return int(connection.execute(wanted).scalar() or 0)

    def close(self) -> None:
        """Give back the connections."""
        self._engine.dispose()
