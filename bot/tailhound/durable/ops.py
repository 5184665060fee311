"""Trouble of the bot's own that people must hear of: a message for each kind, once an hour at most.

Who watches hands over what is wrong now, again and again. A kind that is new gets a message, which
is edited when it changes, when it is over, and when it is back within the hour. That a message is
to be posted is written before it is sent: after a kill, or an answer that was lost, nothing is
posted twice within the hour.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from tailhound.store.database import Database
from tailhound.store.tables import meta, notice

QUIET_SECONDS = 3600.0
"""Between two messages of one kind."""

_SEEN = "watchdog"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTrouble:
    """Something that keeps tailhound from its work. `kind` is a short word that stays the same.

    `what` is a sentence without its full stop, `effect` what is lost meanwhile, `fix` what to do.
    """

    kind: str
    what: str
    since: datetime
    effect: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A message to post, or to edit where `message` has its id. `over` None = the trouble stands.

    `posted_at` is the Unix time of the last message of its kind, 0 before any.
    """

    trouble: OwnTrouble
    over: datetime | None
    message: str
    posted_at: float

    @property
    def told(self) -> str:
        """What people are told, for comparing."""
        it = self.trouble
        return f"{it.what}|{it.effect}|{it.fix}|{it.since.timestamp()}|{self.over}"


class OwnTroubles:
    """The rows of what is wrong and of what was told; each function is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def watch(self, now: datetime, standing: Sequence[OwnTrouble]) -> tuple[Notice, ...]:
        """Take down what is wrong now; the messages that are to be posted or edited."""
        with self._database.writing() as connection:
            rows = {row.kind: row for row in connection.execute(sa.select(notice)).all()}
            for trouble in standing:
                _stands(connection, rows.get(trouble.kind), trouble)
            kinds = {trouble.kind for trouble in standing}
            for row in rows.values():
                if row.kind not in kinds and row.over_at is None:
                    _set(connection, row.kind, over_at=now.timestamp())
            found = [_notice(row) for row in connection.execute(sa.select(notice)).all()]
            told = {row.kind: row.told for row in rows.values()}
        wanted = [one for one in found if told.get(one.trouble.kind) != one.told]
        return tuple(one for one in wanted if _is_due(one, now))

    def posting(self, due: Notice, now: datetime) -> bool:
        """Write that a message is about to be posted; False when somebody else does."""
        with self._database.writing() as connection:
            mine = (notice.c.kind == due.trouble.kind, notice.c.posted_at == due.posted_at)
            values = {"posted_at": now.timestamp(), "message": ""}
            return connection.execute(sa.update(notice).where(*mine).values(values)).rowcount == 1

    def not_posted(self, due: Notice) -> None:
        """It was not sent after all: the message before it is the last one, if there was any."""
        with self._database.writing() as connection:
            _set(connection, due.trouble.kind, posted_at=due.posted_at, message=due.message)

    def told(self, due: Notice, message: str) -> None:
        """The message stands as it is wanted; "" when it is gone, and none follows it yet."""
        with self._database.writing() as connection:
            _set(connection, due.trouble.kind, message=message, told=due.told)

    def seen(self, at: datetime | None) -> datetime | None:
        """When the dead man's switch was seen last by any process; `at` is when this one did."""
        with self._database.writing() as connection:
            stored = connection.execute(sa.select(meta.c.value).where(meta.c.name == _SEEN))
            last = _time(stored.scalar())
            if at is None or (last is not None and last >= at):
                return last
            connection.execute(sa.delete(meta).where(meta.c.name == _SEEN))
            row = {"name": _SEEN, "value": repr(at.timestamp())}
            connection.execute(sa.insert(meta).values(row))
        return at


def _stands(connection: sa.Connection, row: sa.Row | None, trouble: OwnTrouble) -> None:  # type: ignore[type-arg]
    said = {"what": trouble.what[:400], "effect": trouble.effect[:400], "fix": trouble.fix[:400]}
    begun = {**said, "since": trouble.since.timestamp(), "over_at": None}
    if row is None:
        connection.execute(sa.insert(notice).values(kind=trouble.kind, **begun))
    elif row.over_at is not None:
        _set(connection, trouble.kind, **begun)
    else:
        _set(connection, trouble.kind, **said)


def _is_due(one: Notice, now: datetime) -> bool:
    """What is over needs no message of its own, unless none could be posted while it stood."""
    if one.message:
        return True
    if one.over is not None:
        return one.posted_at < one.trouble.since.timestamp()
    return not _is_recent(one, now)


def is_new(one: Notice, now: datetime) -> bool:
    """Whether it is a message of its own, not an edit of the one that stands."""
    return not one.message or (one.over is None and not _is_recent(one, now))


def _is_recent(one: Notice, now: datetime) -> bool:
    return one.posted_at > now.timestamp() - QUIET_SECONDS


def _set(connection: sa.Connection, kind: str, **values: object) -> None:
    connection.execute(sa.update(notice).where(notice.c.kind == kind).values(**values))


def _notice(row: sa.Row) -> Notice:  # type: ignore[type-arg]
    return Notice(
        trouble=OwnTrouble(
            kind=row.kind,
            what=row.what,
            since=datetime.fromtimestamp(row.since, UTC),
            effect=row.effect,
            fix=row.fix,
        ),
        over=None if row.over_at is None else datetime.fromtimestamp(row.over_at, UTC),
        message=row.message,
        posted_at=row.posted_at,
    )


def _time(text: str | None) -> datetime | None:
    """The time of a row; None for one that can't be read."""
    try:
        return datetime.fromtimestamp(float(text), UTC) if text else None
    except (ValueError, OverflowError):
        return None
