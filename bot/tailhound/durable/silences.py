"""The rows of silences that people asked for, and how far each is.

`asked` -> `setting` (in a commit of its own, before the call) -> `set` or `refused`; `set` ->
`ending` -> `ended`, or back to `set` where Alertmanager refuses the end. What went wrong stands in
the incident's message until the silence would have ended, or one stands that mutes the same.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from tailhound.actions.silence import Matcher
from tailhound.durable.acts import Click, clicked, home_of
from tailhound.durable.asking import noted
from tailhound.durable.desk import Desk
from tailhound.durable.silence_rows import CLAIM_SECONDS, Row, due_at, row_of
from tailhound.model import Silenced
from tailhound.model.wording import clock
from tailhound.store import records
from tailhound.store.records import Record
from tailhound.store.tables import silence as table

TRIES_SECONDS = 5.0

_NOW = sa.select(sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Float))
_TROUBLE_LENGTH = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a person asked to mute: matchers, hours, why; `alerts` is what the preview counted."""

    matchers: tuple[Matcher, ...]
    hours: float
    why: str
    alerts: int


class Silences:
    """The rows; each function is one transaction."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def ask(self, pressed: Click, wish: Wish) -> bool:
        """Store what was asked for; False when that very click was known. LookupError."""
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            home = clicked(connection, pressed, "silence", now)
            if home is None:
                return False
            connection.execute(
                sa.insert(table).values(
                    id=uuid4().hex[:12],
                    incident_id=home,
                    person=pressed.person.id[:80],
                    name=pressed.person.name[:200],
                    matchers=json.dumps([[m.name, m.value, m.is_regex] for m in wish.matchers]),
                    comment=wish.why[:500],
                    alerts=wish.alerts,
                    asked_at=now.timestamp(),
                    until=(now + timedelta(hours=wish.hours)).timestamp(),
                    state="asked",
                )
            )
        return True

    def end(self, pressed: Click, remote_id: str) -> bool:
        """Ask for the end of a silence; False when that click was known, or it has ended.

        LookupError when it is none of the incident's, or of those that have joined it.
        """
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            wanted = sa.select(table.c.id, table.c.incident_id).where(
                table.c.remote_id == remote_id, table.c.remote_id != ""
            )
            rows = connection.execute(wanted).all()
            home = clicked(connection, pressed, "end-silence", now)
            if home is None:
                return False
            own = [row.id for row in rows if _home(connection, row.incident_id) == home]
            if not own:
                raise LookupError(f"there is no silence {remote_id} of incident {home}")
            ended = connection.execute(
                sa.update(table)
                .where(table.c.id.in_(own), table.c.state == "set")
                .values(state="ending", claimed_at=0.0, error="")
            )
        return ended.rowcount > 0

    def claim(self) -> Row | None:
        """The next row to work at, marked as begun; None when there is none.

        Claims are timed by the database's clock where replicas share one: by clocks of their own
        that differ, two of them would set one silence at the same time.
        """
        with self._desk.database.writing() as connection:
            now = self._now(connection)
            row = connection.execute(due_at(now)).mappings().first()
            if row is None:
                return None
            state = "ending" if row["state"] == "ending" else "setting"
            claimed_at = now + (CLAIM_SECONDS if state == "ending" else 0)
            connection.execute(
                sa.update(table)
                .where(table.c.id == row["id"])
                .values(state=state, claimed_at=claimed_at)
            )
        return replace(row_of(row), claimed_at=claimed_at)

    def take_over(self) -> None:
        """Work at once at what an earlier life had begun, where no other process can be at it."""
        if not self._desk.database.is_sqlite:
            return
        begun = table.c.state.in_(("setting", "ending"))
        with self._desk.database.writing() as connection:
            connection.execute(sa.update(table).where(begun).values(claimed_at=0.0))

    def later(self, row: Row, why: str) -> None:
        """Nothing came of it now: it is tried again, unless somebody else has taken it up.

        That an end is not to be had is shown at once: until then it mutes.
        """
        mine = (table.c.id == row.silence.id, table.c.claimed_at == row.claimed_at)
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            again = self._now(connection) + TRIES_SECONDS
            if row.state != "ending":  # `setting` keeps in mind that it may stand already
                again -= CLAIM_SECONDS
            values = {"claimed_at": again, "error": why[:500]}
            kept = connection.execute(sa.update(table).where(*mine).values(values))
            if kept.rowcount and row.state == "ending" and not row.error:
                edit = _stays(row, f"{why}; tried again until then", now)
                self._change(connection, row, edit)

    def settled(self, row: Row, remote_id: str) -> None:
        """It stands in Alertmanager: the incident says so."""
        now, it = self._desk.boot.clock(), row.silence
        shown = _shown(row, id=remote_id)
        many = f"{row.alerts} alert{'' if row.alerts == 1 else 's'}"
        line = f"{it.by} silenced {many} until {clock(it.ends)}: {it.why}"

        def edit(record: Record) -> Record:
            return noted(_with(record, shown, now), now, line)

        values = {"state": "set", "remote_id": remote_id, "error": ""}
        self._write(row, table.c.state == "setting", values, edit)

    def refused(self, row: Row, why: str, *, unsure: bool) -> None:
        """It is not tried any more: the incident says so, and whether it may stand all the same."""
        now, it = self._desk.boot.clock(), row.silence
        told = "may stand or not, look in Alertmanager" if unsure else "was not set"
        line = f"The silence that {it.by} asked for {told}: {why}"[:_TROUBLE_LENGTH]
        trouble = f"{told}: {why}"[:_TROUBLE_LENGTH]
        shown = _shown(row, trouble=trouble)

        def edit(record: Record) -> Record:
            return noted(_with(record, shown, now), now, line)

        values = {"state": "refused", "error": why[:500]}
        mine = sa.and_(table.c.state == "setting", table.c.claimed_at == row.claimed_at)
        self._write(row, mine, values, edit)

    def stays(self, row: Row, why: str) -> None:
        """Alertmanager refuses to end it: it mutes on, and the incident says so."""
        mine = sa.and_(table.c.state == "ending", table.c.claimed_at == row.claimed_at)
        values = {"state": "set", "claimed_at": 0.0, "error": why[:500]}
        self._write(row, mine, values, _stays(row, why, self._desk.boot.clock()))

    def ended(self, row: Row) -> None:
        """It mutes nothing any more."""
        now = self._desk.boot.clock()

        def edit(record: Record) -> Record:
            silences = tuple(
                replace(one, ended_at=now, trouble="") if one.id == row.remote_id else one
                for one in record.incident.silences
            )
            line = f"The silence of {row.silence.by} has ended"
            return noted(record.edited(silences=silences), now, line)

        self._write(row, table.c.state.in_(("set", "ending")), {"state": "ended"}, edit)

    def standing(self) -> tuple[Row, ...]:
        """The silences that hold as far as is known."""
        with self._desk.database.reading() as connection:
            rows = connection.execute(sa.select(table).where(table.c.state == "set")).mappings()
            return tuple(row_of(row) for row in rows)

    def _write(
        self,
        row: Row,
        still: sa.ColumnElement[bool],
        values: dict[str, Any],
        edit: Callable[[Record], Record | None],
    ) -> None:
        """Write what came of it while the row is `still` so: who was stopped comes too late."""
        with self._desk.database.writing() as connection:
            changed = connection.execute(
                sa.update(table).where(table.c.id == row.silence.id, still).values(values)
            )
            if changed.rowcount:
                self._change(connection, row, edit)

    def _change(
        self, connection: sa.Connection, row: Row, edit: Callable[[Record], Record | None]
    ) -> None:
        """Edit the incident that shows it: the one that its own has joined meanwhile."""
        self._desk.change(connection, _home(connection, row.incident), edit, urgent=True)

    def _now(self, connection: sa.Connection) -> float:
        """The time by which claims are measured."""
        if self._desk.database.is_sqlite:
            return self._desk.boot.clock().timestamp()
        return float(connection.execute(_NOW).scalar_one())


def _stays(row: Row, why: str, now: datetime) -> Callable[[Record], Record]:
    """The edit of an incident whose silence mutes on, although somebody ended it."""

    def edit(record: Record) -> Record:
        silences = tuple(
            replace(one, trouble=why[:_TROUBLE_LENGTH]) if one.id == row.remote_id else one
            for one in record.incident.silences
        )
        line = f"The silence of {row.silence.by} could not be ended: {why}"[:_TROUBLE_LENGTH]
        return noted(record.edited(silences=silences), now, line)

    return edit


def _shown(row: Row, *, id: str = "", trouble: str = "") -> Silenced:
    """What an incident tells of a silence."""
    it = row.silence
    matchers = sorted((one.name, one.value, one.is_regex) for one in it.matchers)
    asked = hashlib.sha256(json.dumps(matchers).encode()).hexdigest()[:12]
    return Silenced(id=id, by=it.by, until=it.ends, alerts=row.alerts, trouble=trouble, asked=asked)


def _with(record: Record, shown: Silenced, now: datetime) -> Record:
    """The record with one more silence, in the place of itself and of what failed to mute the same;
    what else failed is told until it would have ended.
    """
    kept = (
        one
        for one in record.incident.silences
        if (one.id != shown.id if one.id else one.asked != shown.asked and one.failed(now))
    )
    return record.edited(silences=(*kept, shown))


def _home(connection: sa.Connection, id: str) -> str:
    record = records.read(connection, id)
    return id if record is None else home_of(connection, record)
