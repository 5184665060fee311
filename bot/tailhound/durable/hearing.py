"""What this process hears: since when, and of which incidents just now.

That nothing was heard of an incident means something only to who listened for long enough.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from tailhound.durable.episodes import last_heard
from tailhound.model import State
from tailhound.settings import Incidents
from tailhound.store.records import Record

_LEAST = timedelta(hours=1)
_HOURS = 72.0
"""What counts as long where no incident is ever over for want of news."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """What is known at a moment: since when this process listens without a gap, and of which
    incidents a repeat came that is not written yet.
    """

    now: datetime
    since: datetime
    just: frozenset[str] = frozenset()

    def is_quiet(self, record: Record, longer: timedelta, settings: Incidents) -> bool:
        """Whether an open incident was not heard of for longer than that, by who would have heard
        it; one that is being looked at, or changed, is not quiet.
        """
        is_worked_at = record.is_active or record.incident.state is State.MITIGATING
        if is_worked_at or not record.is_open or record.incident.id in self.just:
            return False
        has_listened = self.now - self.since >= repeats_within(settings)
        return has_listened and self.now - last_heard(record) > longer


def repeats_within(settings: Incidents) -> timedelta:
    """Within how long an alert that fires is delivered again: a quarter of `unheard_hours`, which
    are to be at least four times Alertmanager's `repeat_interval`.
    """
    return max(_LEAST, timedelta(hours=settings.unheard_hours or _HOURS) / 4)


class Ear:
    """Counts the repeats that are not written yet, and knows since when one listens.

    The event loop and intake's writer both count; the sweep looks.
    """

    def __init__(self, since: datetime) -> None:
        self.since = since
        self._lock = threading.Lock()
        self._repeats: Counter[str] = Counter()
        self._writing: Counter[str] = Counter()

    def heard(self, incidents: Sequence[str]) -> None:
        """A repeat came of each of these."""
        with self._lock:
            self._repeats.update(incidents)

    @property
    def has_repeats(self) -> bool:
        """Whether there is a repeat to write."""
        return bool(self._repeats)

    def hearing(self, now: datetime) -> Hearing:
        """What is known now."""
        with self._lock:
            return Hearing(now, self.since, frozenset((*self._repeats, *self._writing)))

    @contextmanager
    def repeats(self) -> Iterator[Counter[str]]:
        """The repeats, to be written inside; they come back when the writing fails."""
        with self._lock:
            self._writing, self._repeats = self._repeats, Counter()
        try:
            yield self._writing
        except BaseException:
            with self._lock:
                self._repeats.update(self._writing)
            raise
        finally:
            self._writing = Counter()
