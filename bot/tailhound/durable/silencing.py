"""Silences that people asked for: stored first, then set in Alertmanager, once.

`asked` -> `setting` (in a commit of its own, before the call) -> `set` or `refused`; `set` ->
`ending` -> `ended`. After a lost answer, or a kill, the silence is looked for by the id in its
comment before it is sent again.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from uuid import uuid4

import sqlalchemy as sa

from tailhound.actions.silence import Matcher, Silence
from tailhound.durable.acts import Click, clicked
from tailhound.durable.asking import noted
from tailhound.durable.blocking import Blocking
from tailhound.durable.desk import Desk
from tailhound.durable.turns import Turns, woken
from tailhound.model import Missing, Reason, Silenced
from tailhound.model.wording import clock
from tailhound.store.records import Record
from tailhound.store.tables import silence as table

CALL_SECONDS = 5.0
LOOK_SECONDS = 60.0
"""How often it is looked whether a silence still holds: anybody may end it in Alertmanager."""

CLAIM_SECONDS = 30.0
"""A row that somebody began to set this long ago was left by a process that is gone."""

TRIES_SECONDS = 5.0
GIVE_UP_SECONDS = 600.0

_NOT_ALIVE = "this replica was taken for dead"


class Silencer(Protocol):
    """Alertmanager, as far as silences go. `deadline` is monotonic; Missing says why not."""

    async def set(self, silence: Silence, deadline: float) -> str | Missing:
        """Set one; its id there."""
        ...

    async def find(self, silence: str, deadline: float) -> str | Missing:
        """The id there of a silence of ours; "" without."""
        ...

    async def is_active(self, remote_id: str, deadline: float) -> bool | Missing:
        """Whether it still mutes."""
        ...

    async def end(self, remote_id: str, deadline: float) -> Missing | None:
        """End it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a person asked to mute: matchers, hours, why; `alerts` is what the preview counted."""

    matchers: tuple[Matcher, ...]
    hours: float
    why: str
    alerts: int


@dataclass(frozen=True, slots=True)
class _Row:
    silence: Silence
    incident: str
    alerts: int
    state: str
    remote_id: str
    was_begun: bool
    asked_at: datetime
    claimed_at: float


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
        """Ask for the end of a silence; False when that click was known, or it has ended."""
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            home = clicked(connection, pressed, "end-silence", now)
            if home is None:
                return False
            ended = connection.execute(
                sa.update(table)
                .where(table.c.remote_id == remote_id, table.c.state == "set")
                .values(state="ending", claimed_at=0.0)
            )
        return ended.rowcount > 0

    def claim(self) -> _Row | None:
        """The next row to work at, marked as begun; None when there is none."""
        now = self._desk.boot.clock().timestamp()
        ahead = table.c.claimed_at > now + CLAIM_SECONDS  # only by a clock that was set back
        stale = sa.or_(table.c.claimed_at < now - CLAIM_SECONDS, ahead)
        due = sa.or_(table.c.claimed_at <= now, ahead)
        wanted = (
            sa.select(table)
            .where(
                sa.or_(
                    sa.and_(table.c.state.in_(("asked", "ending")), due),
                    sa.and_(table.c.state == "setting", stale),
                )
            )
            .order_by(table.c.asked_at)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        with self._desk.database.writing() as connection:
            row = connection.execute(wanted).mappings().first()
            if row is None:
                return None
            state = "ending" if row["state"] == "ending" else "setting"
            claimed_at = now + (CLAIM_SECONDS if state == "ending" else 0)
            connection.execute(
                sa.update(table)
                .where(table.c.id == row["id"])
                .values(state=state, claimed_at=claimed_at)
            )
        return replace(_row(row), claimed_at=claimed_at)

    def take_over(self) -> None:
        """Work at once at what an earlier life had begun, where no other process can be at it."""
        if not self._desk.database.is_sqlite:
            return
        begun = table.c.state.in_(("setting", "ending"))
        with self._desk.database.writing() as connection:
            connection.execute(sa.update(table).where(begun).values(claimed_at=0.0))

    def later(self, row: _Row, why: str) -> None:
        """Nothing came of it now: it is tried again, unless somebody else has taken it up."""
        again = self._desk.boot.clock().timestamp() + TRIES_SECONDS
        if row.state != "ending":  # `setting` keeps in mind that it may stand already
            again -= CLAIM_SECONDS
        with self._desk.database.writing() as connection:
            connection.execute(
                sa.update(table)
                .where(table.c.id == row.silence.id, table.c.claimed_at == row.claimed_at)
                .values(claimed_at=again, error=why[:500])
            )

    def settled(self, row: _Row, remote_id: str) -> None:
        """It stands in Alertmanager: the incident says so."""
        now, it = self._desk.boot.clock(), row.silence
        shown = Silenced(id=remote_id, by=it.by, until=it.ends, alerts=row.alerts)
        many = f"{row.alerts} alert{'' if row.alerts == 1 else 's'}"
        line = f"{it.by} silenced {many} until {clock(it.ends)}: {it.why}"

        def edit(record: Record) -> Record:
            others = tuple(one for one in record.incident.silences if one.id != remote_id)
            return noted(record.edited(silences=(*others, shown)), now, line)

        values = {"state": "set", "remote_id": remote_id, "error": ""}
        self._write(row, table.c.state == "setting", values, edit)

    def refused(self, row: _Row, why: str, *, unsure: bool) -> None:
        """It is not tried any more: the incident says so, and whether it may stand all the same."""
        now, it = self._desk.boot.clock(), row.silence
        told = "may stand or not, look in Alertmanager" if unsure else "was not set"
        line = f"The silence that {it.by} asked for {told}: {why}"[:400]
        values = {"state": "refused", "error": why[:500]}
        mine = sa.and_(table.c.state == "setting", table.c.claimed_at == row.claimed_at)
        self._write(row, mine, values, lambda record: noted(record, now, line))

    def ended(self, row: _Row) -> None:
        """It mutes nothing any more."""
        now = self._desk.boot.clock()

        def edit(record: Record) -> Record:
            silences = tuple(
                replace(one, ended_at=now) if one.id == row.remote_id else one
                for one in record.incident.silences
            )
            line = f"The silence of {row.silence.by} has ended"
            return noted(record.edited(silences=silences), now, line)

        self._write(row, table.c.state.in_(("set", "ending")), {"state": "ended"}, edit)

    def standing(self) -> tuple[_Row, ...]:
        """The silences that hold as far as is known."""
        with self._desk.database.reading() as connection:
            rows = connection.execute(sa.select(table).where(table.c.state == "set")).mappings()
            return tuple(_row(row) for row in rows)

    def _write(
        self,
        row: _Row,
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
                self._desk.change(connection, row.incident, edit, urgent=True)


def _row(row: sa.RowMapping) -> _Row:
    return _Row(
        silence=Silence(
            id=row["id"],
            matchers=tuple(Matcher(n, v, bool(r)) for n, v, r in json.loads(row["matchers"])),
            starts=datetime.fromtimestamp(row["asked_at"], UTC),
            ends=datetime.fromtimestamp(row["until"], UTC),
            by=row["name"],
            why=row["comment"],
        ),
        incident=row["incident_id"],
        alerts=row["alerts"],
        state=row["state"],
        remote_id=row["remote_id"],
        was_begun=row["state"] == "setting",
        asked_at=datetime.fromtimestamp(row["asked_at"], UTC),
        claimed_at=row["claimed_at"],
    )


class Silencing:
    """The loop that sets and ends what was asked for, and notices what has ended."""

    def __init__(
        self, silences: Silences, silencer: Silencer, blocking: Blocking, desk: Desk
    ) -> None:
        self._silences, self._silencer = silences, silencer
        self._blocking, self._boot = blocking, desk.boot
        self._waker = asyncio.Event()
        self._look_at = 0.0

    def wake(self) -> None:
        """Somebody asked for something; called on the event loop."""
        self._waker.set()

    async def run(self, tell: Callable[[], None]) -> None:
        """Work until cancelled; `tell` is called when there is news to show."""
        turns = Turns("setting silences")
        self._look_at = 0.0
        await turns.take(self._blocking.run(self._silences.take_over))
        while True:
            self._waker.clear()
            if await turns.take(self._turn()):
                tell()
            else:
                await woken(self._waker, TRIES_SECONDS)

    async def _turn(self) -> bool:
        if await self._one():
            return True
        if time.monotonic() < self._look_at:
            return False
        self._look_at = time.monotonic() + LOOK_SECONDS
        return await self._look()

    async def _one(self) -> bool:
        """Work at one row; whether there was one."""
        row = await self._blocking.run(self._silences.claim)
        if row is None:
            return False
        await (self._ended(row) if row.state == "ending" else self._set(row))
        return True

    async def _set(self, row: _Row) -> None:
        found: str | Missing = ""
        if row.was_begun:
            found = await self._silencer.find(row.silence.id, _soon())
        stands_not = found == ""
        if stands_not:
            if not self._boot.holds():  # somebody else may have set it meanwhile
                return await self._blocking.run(self._silences.later, row, _NOT_ALIVE)
            found = await self._silencer.set(row.silence, _soon())
        if not isinstance(found, Missing):
            await self._blocking.run(self._silences.settled, row, found)
        elif self._is_final(found, row.asked_at):
            unsure = found.reason is Reason.TIMEOUT or not stands_not
            await self._blocking.run(self._silences.refused, row, found.detail, unsure=unsure)
        else:
            await self._blocking.run(self._silences.later, row, found.detail)

    async def _ended(self, row: _Row) -> None:
        missing = await self._silencer.end(row.remote_id, _soon())
        if missing is None:
            await self._blocking.run(self._silences.ended, row)
        else:
            await self._blocking.run(self._silences.later, row, missing.detail)

    async def _look(self) -> bool:
        """Whether one of the silences that hold has ended meanwhile."""
        rows: Sequence[_Row] = await self._blocking.run(self._silences.standing)
        ended = False
        for row in rows:
            active = await self._silencer.is_active(row.remote_id, _soon())
            if active is False or row.silence.ends <= self._boot.clock():
                await self._blocking.run(self._silences.ended, row)
                ended = True
        return ended

    def _is_final(self, missing: Missing, asked_at: datetime) -> bool:
        refused = missing.reason in (Reason.UNPARSABLE, Reason.FORBIDDEN)
        return refused or (self._boot.clock() - asked_at).total_seconds() > GIVE_UP_SECONDS


def _soon() -> float:
    return time.monotonic() + CALL_SECONDS
