"""Watching over tailhound itself: what is wrong is told in the ops channel, and in messages.

Four things are watched: messages that Slack takes late, Prometheus and Kubernetes, the dead man's
switch, and the file that stops all changes.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from tailhound.app.arrivals import LATE, WATCHDOG
from tailhound.durable.blocking import Blocking
from tailhound.durable.ops import Notice, OwnTrouble, OwnTroubles, is_new
from tailhound.durable.switch import stopped_by
from tailhound.durable.turns import Turns, woken
from tailhound.model.wording import clock
from tailhound.notifiers import Later, Posted, Refusal
from tailhound.web.parts import HealthLine

EVERY_SECONDS = 30.0
LASTS = timedelta(seconds=60)
"""What is wrong for a shorter time is not told: a restart, one slow answer."""

WATCHED = frozenset({"Prometheus", "Kubernetes"})

Post = Callable[[Notice, bool], Awaitable[Posted | Later | Refusal]]
"""Posts a message where the second is true, else edits the one that stands."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """What is looked at: `look` asks the backends, `backends` tells how they stand; `late_since` is
    when the oldest message was due that Slack has not taken, None = nothing is late; it blocks.
    `switch_seen` is when the dead man's switch was seen by this process; `switch_heard` is told
    when any process saw it last. `leads` is true of one replica; it blocks. `post` None = there
    is no channel for it. `redraw` has the messages of open incidents looked at again, whose last
    line says what is wrong; it blocks.
    """

    look: Callable[[], Awaitable[None]]
    backends: Callable[[], Sequence[HealthLine]]
    late_since: Callable[[], datetime | None]
    switch_seen: Callable[[], datetime | None]
    switch_heard: Callable[[datetime | None], None]
    stop_file: Path | None
    leads: Callable[[], bool]
    post: Post | None
    redraw: Callable[[], None]


class OpsWatch:
    """Looks at all of it, every EVERY_SECONDS, until `stop`."""

    def __init__(self, watching: Watching, rows: OwnTroubles, now: Callable[[], datetime]) -> None:
        self._watching, self._rows, self._now = watching, rows, now
        self._started = now()
        self._blocking = Blocking("ops", 1)
        self._stopping = asyncio.Event()
        self._was_late = False
        self._current: Sequence[OwnTrouble] = ()
        self._is_stale = True  # what an earlier process wrote may be over

    def notes(self) -> Sequence[str]:
        """What is wrong now, for the last line of a message: true whenever it is read."""
        return [
            f"trouble of tailhound itself from {clock(one.since)}: {one.what}"
            for one in self._current
        ]

    async def run(self) -> None:
        """Watch until `stop`. Who saw the dead man's switch is asked at once: without an answer
        nobody can say whether it comes.
        """
        turns = Turns("the watch over tailhound itself")
        try:
            await turns.take(self._blocking.run(self._switch_seen))
            await woken(self._stopping, EVERY_SECONDS)
            while not self._stopping.is_set():
                await turns.take(self.turn())
                await woken(self._stopping, EVERY_SECONDS)
        finally:
            self._blocking.close()

    def stop(self) -> None:
        """End `run` soon."""
        self._stopping.set()

    async def turn(self) -> None:
        """Look once, and tell what is to be told."""
        await self._watching.look()
        before, self._current = self._current, await self._blocking.run(self._standing)
        self._is_stale = self._is_stale or _kinds(before) != _kinds(self._current)
        post = self._watching.post
        if post is not None and await self._blocking.run(self._watching.leads):
            for due in await self._blocking.run(self._rows.watch, self._now(), self._current):
                await self._tell(post, due)
        await self._redraw()

    async def _redraw(self) -> None:
        """Have the last lines say what is wrong now, by each process, as each tells what it sees.

        Edits nobody waits for are left until Slack takes messages in time.
        """
        if not self._is_stale or self._was_late:
            return
        await self._blocking.run(self._watching.redraw)
        self._is_stale = False

    async def _tell(self, post: Post, due: Notice) -> None:
        now = self._now()
        new = is_new(due, now)
        if new and not await self._blocking.run(self._rows.posting, due, now):
            return
        result = await post(due, new)
        if isinstance(result, Posted):
            await self._blocking.run(self._rows.told, due, result.message)
        elif isinstance(result, Refusal):
            _log.error("%s: %s", due.trouble.what, result.why)
            if not new:  # the message is gone
                await self._blocking.run(self._rows.told, due, "")
        elif new and not result.unsure:
            await self._blocking.run(self._rows.not_posted, due)

    # --- what is wrong

    def _standing(self) -> Sequence[OwnTrouble]:
        now = self._now()
        found = (*self._backends(), *self._late(now), *self._switch(now), *self._stop_file(now))
        return [one for one in found if now - one.since >= LASTS or one.kind in _AT_ONCE]

    def _backends(self) -> Sequence[OwnTrouble]:
        """Those that don't answer. One that refuses a single question is no trouble of all: the
        page on health and the messages that lack the answer say so.
        """
        return [
            OwnTrouble(
                kind=f"backend {line.name}",
                what=f"{line.name} {line.state}",
                since=line.since,
                effect=line.effect,
                fix=line.fix,
            )
            for line in self._watching.backends()
            if line.name in WATCHED and line.works is False and not line.partly and line.since
        ]

    def _late(self, now: datetime) -> Sequence[OwnTrouble]:
        """Late at two looks: what a storm let go is old news, and on its way the next moment."""
        since = self._watching.late_since()
        was_late, self._was_late = self._was_late, since is not None and now - since >= LASTS
        if since is None or not (was_late and self._was_late):
            return ()
        return (
            OwnTrouble(
                kind=_SLACK,
                what="Slack takes messages late",
                since=since,
                effect="people see things late; the pages are complete",
                fix="see the page on health, and whether Slack itself has trouble",
            ),
        )

    def _switch(self, now: datetime) -> Sequence[OwnTrouble]:
        """Silent only once it was seen, by any process; a start is given the time of a repeat."""
        seen = self._switch_seen()
        if seen is None or now - max(seen, self._started) <= LATE:
            return ()
        return (
            OwnTrouble(
                kind=_SWITCH,
                what=f"the alert {WATCHDOG}, the dead man's switch, has not come in",
                since=seen,
                effect="nobody knows whether alerts get here",
                fix=f"see whether Alertmanager runs and routes {WATCHDOG} to this webhook",
            ),
        )

    def _switch_seen(self) -> datetime | None:
        """When any process saw it last, and whoever tells of it hears so."""
        seen = self._rows.seen(self._watching.switch_seen())
        self._watching.switch_heard(seen)
        return seen

    def _stop_file(self, now: datetime) -> Sequence[OwnTrouble]:
        found = stopped_by(self._watching.stop_file)
        if found is None or found.at is not None:
            return ()
        before = [one.since for one in self._current if one.kind == _FILE]
        return (
            OwnTrouble(
                kind=_FILE,
                what=found.why,
                since=before[0] if before else now,
                effect="nothing is changed, whoever approves",
                fix="let tailhound look at it, or remove it",
            ),
        )


def _kinds(troubles: Sequence[OwnTrouble]) -> set[tuple[str, datetime]]:
    return {(one.kind, one.since) for one in troubles}


_SLACK, _SWITCH, _FILE = "slack late", "watchdog", "stop file"
_AT_ONCE = frozenset({_SLACK, _SWITCH, _FILE})
