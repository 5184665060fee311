"""The outbox sender: one loop per place, one delivery at a time, newest state first.

A row is claimed in a commit of its own before the notifier is called, and settled after. A kill in
between leaves it claimed by a boot that is gone; the next life marks it `unsure`, and the notifier
looks for the message before it posts again.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import sqlalchemy as sa

from tailhound.durable import elsewhere, leftover, letters, storm
from tailhound.durable.asking import Place
from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.claims import Claim
from tailhound.durable.letters import Letter
from tailhound.durable.standings import Standing, broken, standing
from tailhound.durable.turns import Turns, woken
from tailhound.notifiers import Later, Notifier, Posted, Refusal
from tailhound.store.database import Database

CALL_SECONDS = 30.0
"""A notifier that takes longer is cut off; nobody knows then whether the message went out."""

IDLE_SECONDS = 5.0
"""How often a place is looked at without being woken: the safety net."""

STORE_SECONDS = 1.0
STOP_SECONDS = 1.5
LONGEST_PAUSE = 300.0
PROBE_SECONDS = 300.0
"""How often a place that refused everything is tried again with one message."""

ATTEMPTS_AT_MOST = 8
"""Of one message that a notifier fails on by itself, not for an answer of its service."""


def backoff(attempt: int) -> float:
    """Seconds until the next attempt after this many."""
    return min(float(2 ** min(attempt, 9)), LONGEST_PAUSE)


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that a person must mend: where, what, and for how many incidents."""

    place: Place
    why: str
    incidents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How an outbox behaves: seconds that a call may take; by notifier, how many new messages a
    place takes; which place has what another one can't show.
    """

    call_seconds: float = CALL_SECONDS
    limits: Mapping[str, storm.Limits] = field(default_factory=dict)
    detours: elsewhere.Detours = field(default_factory=elsewhere.Detours)


class Outbox:
    """Sends incidents to the places that the settings name."""

    def __init__(
        self,
        database: Database,
        notifiers: Mapping[str, Notifier],
        places: Sequence[Place],
        boot: Boot,
        manners: Manners = Manners(),
    ) -> None:
        self._database = database
        self._places = tuple(place for place in places if place.notifier in notifiers)
        self._notifiers = notifiers
        self._boot = boot
        self._manners = manners
        self._blocking = Blocking("outbox", 2)
        self._wakers = {place: asyncio.Event() for place in self._places}
        self._tasks: list[asyncio.Task[None]] = []
        self._backlog: dict[Place, int] = {}
        self._doubtful: set[Place] = set()
        self._probe_at = dict.fromkeys(self._places, 0.0)  # places that refuse, or may still do so
        self._detours = manners.detours
        self._watch = elsewhere.Watch(self._detours)
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        """Take over what an earlier life left, and begin to send."""
        if self._database.is_sqlite:
            await self._blocking.run(self._take_over)
        for place in await self._blocking.run(self._left_over):
            self._adopt(place)
        for place in self._places:
            await self._probed(place)  # before any is sent: what is given up later stays so
        self._tasks = [
            asyncio.create_task(self._serve(place), name=f"outbox {place.notifier}")
            for place in self._places
        ]

    def _adopt(self, place: Place) -> None:
        """Serve a place too that the settings name no more; where it refuses, the first one that
        they name has its messages."""
        first = next(p for p in self._places if p.notifier == place.notifier)
        self._detours = self._detours.with_place(place, first)
        self._watch = elsewhere.Watch(self._detours)
        self._places = (*self._places, place)
        self._wakers[place] = asyncio.Event()
        self._probe_at[place] = 0.0

    def wake(self) -> None:
        """There may be something to send; called on the event loop."""
        for waker in self._wakers.values():
            waker.set()

    async def stop(self) -> None:
        """Stop soon: a call that outlasts the wait is cut off and looked up in the next life."""
        self._stopping.set()
        self.wake()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=1.0)
        self._blocking.close()

    async def troubles(self) -> tuple[Trouble, ...]:
        """What was refused for good and waits for a person."""
        return await self._blocking.run(self._troubles)

    def standings(self) -> tuple[Standing, ...]:
        """How each place stands; blocks, so not on a loop."""
        with self._database.reading() as connection:
            return standing(connection)

    def diverted(self) -> Mapping[Place, Place]:
        """The places that can't show incidents now, and which ones have those in their stead."""
        return self._watch.diverted()

    def redraw(self, notifier: str) -> None:
        """Have a notifier look at all messages of open incidents again; blocks. What would say the
        same as it does is left alone.
        """
        with self._database.writing() as connection:
            letters.redraw(connection, notifier)

    def backlog(self) -> Mapping[Place, int]:
        """How many messages wait, by place, as last seen."""
        return dict(self._backlog)

    async def _serve(self, place: Place) -> None:
        waker, turns = self._wakers[place], Turns(f"the outbox of {place.notifier} {place.place}")
        while not self._stopping.is_set():
            waker.clear()
            pause = await turns.take(self._send_one(place))
            if pause is None:
                self._doubtful.add(place)  # a claim may stand although its answer was lost
                pause = STORE_SECONDS  # the row keeps; the next try says whether it helped
            if pause > 0 and not self._stopping.is_set():
                await woken(waker, pause)

    async def _send_one(self, place: Place) -> float:
        """Deliver the most pressing row; the seconds to wait before the next look, 0 = none."""
        letter = await self._blocking.run(self._claim, place)
        if letter is None:
            return await self._pause(place)
        self._boot.hook("after_claim")
        result, pause = await self._deliver(place, letter)
        self._boot.hook("after_send")
        await self._settle(place, letter, result)
        other = self._wakers.get(self._watch.diverted().get(place, place))
        if other is not None:
            other.set()
        await self._mended(place, result)
        self._boot.hook("after_record")
        if pause:
            await woken(self._stopping, pause)
        return 0.0

    async def _deliver(
        self, place: Place, letter: Letter
    ) -> tuple[Posted | Later | Refusal, float]:
        """What the notifier answers, and how long its place must be left alone."""
        notifier = self._notifiers[place.notifier]
        attempt = letter.delivery.attempt
        if not self._boot.holds():
            return Later(1.0, "this replica was taken for dead", unsure=letter.claim.unsure), 1.0
        try:
            async with asyncio.timeout(self._manners.call_seconds):
                result = await notifier.deliver(replace(letter.delivery, holds=self._boot.holds))
        except TimeoutError:
            why = f"{notifier.name} gave no answer in {self._manners.call_seconds:g} s"
            return Later(backoff(attempt), why, unsure=True), backoff(attempt)
        except Exception as error:  # noqa: BLE001 (a notifier's bug becomes a result on record)
            why = f"{notifier.name} failed: {type(error).__name__}: {error}"
            if attempt >= ATTEMPTS_AT_MOST:
                return Refusal(why, only_this=True), 0.0
            return Later(backoff(attempt), why, unsure=True), 0.0
        pause = result.seconds if isinstance(result, Later) and not result.only_this else 0.0
        return result, min(max(pause, 0.0), LONGEST_PAUSE)

    async def _settle(self, place: Place, letter: Letter, result: Posted | Later | Refusal) -> None:
        """Record a result; it was sent, so this is tried until the database takes it."""
        try:
            await self._blocking.insist(self._write, place, letter, result)
        except (sa.exc.SQLAlchemyError, ValueError) as error:
            why = f"what {place.notifier} answered can't be stored: {type(error).__name__}"
            await self._blocking.insist(self._give_up, letter.claim, f"{why}: {str(error)[:200]!a}")

    async def _mended(self, place: Place, result: Posted | Later | Refusal) -> None:
        """Notice that a place refuses, and when it does so no more: then all goes out."""
        if isinstance(result, Refusal) and not result.only_this:
            self._probe_at[place] = self._boot.clock().timestamp() + PROBE_SECONDS
        elif isinstance(result, Posted) and result.called and place in self._probe_at:
            await self._blocking.run(self._revive, place, None)
            del self._probe_at[place]

    async def _probed(self, place: Place) -> bool:
        """Whether one of the refused messages is now to be tried again."""
        now = self._boot.clock().timestamp()
        if now < self._probe_at.get(place, now + 1) <= now + PROBE_SECONDS:
            return False
        self._probe_at[place] = now + PROBE_SECONDS
        return await self._blocking.run(self._revive, place, 1) > 0

    async def _pause(self, place: Place) -> float:
        found = await self._blocking.run(self._waiting, place)
        self._backlog[place] = found.count
        if not found.count or found.soonest is None:
            return 0.0 if await self._probed(place) else IDLE_SECONDS
        ahead = found.soonest - self._boot.clock().timestamp()
        return min(max(ahead, 0.01), IDLE_SECONDS)

    def _claim(self, place: Place) -> Letter | None:
        """The next letter; what can't even be read is left to a person, and the next one taken."""
        limits, now = self._manners.limits.get(place.notifier), self._boot.clock()
        while True:
            with self._database.writing() as connection:
                if place in self._doubtful:
                    letters.take_back(connection, place, self._boot.id)
                if limits is not None and place not in self._watch.diverted():
                    storm.hold(connection, place, limits, now)
                    storm.refresh(connection, place)
                claimed = letters.claim(connection, place, self._boot.id, now)
            self._doubtful.discard(place)
            if claimed is None:
                return None
            try:
                with self._database.reading() as connection:
                    return self._opened(connection, place, claimed)
            except ValueError as error:
                why = f"incident {claimed.incident_id} can't be read: {str(error)[:300]}"
                self._give_up(claimed, why)

    def _opened(self, connection: sa.Connection, place: Place, claimed: Claim) -> Letter:
        limits = self._manners.limits.get(place.notifier, storm.Limits(0, 0.0))
        return letters.opened(
            connection,
            claimed,
            lambda first: storm.summary(connection, place, first, limits),
            elsewhere.instead_of(connection, claimed.incident_id, place, self._detours),
        )

    def _write(self, place: Place, letter: Letter, result: Posted | Later | Refusal) -> None:
        now = self._boot.clock()
        to = self._watch.seen(place, result, now) if self._boot.holds() else None
        with self._database.writing() as connection:
            letters.settle(connection, letter, result, self._boot.id, now)
            if to is not None:
                refused = letter.claim if isinstance(result, Refusal) else None
                elsewhere.hand_on(connection, place, to, refused, now)

    def _give_up(self, claimed: Claim, why: str) -> None:
        with self._database.writing() as connection:
            letters.give_up(connection, claimed, self._boot.id, why)

    def _left_over(self) -> tuple[Place, ...]:
        with self._database.writing() as connection:
            left = leftover.leave(connection, self._notifiers)
            if left:
                _log.warning("%d messages wait for notifiers that the settings have no more", left)
            return leftover.places(connection, self._places)

    def _waiting(self, place: Place) -> letters.Waiting:
        with self._database.reading() as connection:
            return letters.waiting(connection, place)

    def _revive(self, place: Place, limit: int | None) -> int:
        with self._database.writing() as connection:
            return letters.revive(connection, place, self._boot.clock(), limit)

    def _take_over(self) -> None:
        with self._database.writing() as connection:
            letters.take_over(connection, [self._boot.id])

    def _troubles(self) -> tuple[Trouble, ...]:
        with self._database.reading() as connection:
            return tuple(Trouble(*row) for row in broken(connection))
