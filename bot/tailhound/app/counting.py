"""Counts what passes by, for /metrics: first posts and verdicts as they are shown."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

from tailhound.errors import AlertUnreadable
from tailhound.model import AlertGroup, Incident, State
from tailhound.notifiers import Delivery, Later, Notifier, Posted, Refusal
from tailhound.web.metrics import Metrics

REMEMBERED = 1000
_POST = -1
"""In place of the number of an investigation: the first post."""
OVERSIZED = b"tailhound: refused a body of "
"""How the notice about a refused body begins; it goes the way of any body that can't be read."""

ReadGroup = Callable[[bytes], AlertGroup]


class Counting:
    """A notifier that counts what it is told to: the first post of each incident, in whichever
    channel, or each verdict once. One notifier counts each, so that nothing counts twice.
    """

    def __init__(
        self,
        inner: Notifier,
        metrics: Metrics,
        clock: Callable[[], datetime],
        *,
        posts: bool,
        verdicts: bool,
    ) -> None:
        self.name = inner.name
        self._inner = inner
        self._metrics = metrics
        self._clock = clock
        self._posts, self._verdicts = posts, verdicts
        self._seen: OrderedDict[tuple[str, int], None] = OrderedDict()

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        """Deliver, and count what came of it."""
        outcome = await self._inner.deliver(delivery)
        if isinstance(outcome, Posted):
            incident = delivery.incident
            is_first = not (delivery.message or delivery.unsure or delivery.part)
            if self._posts and is_first and self._is_new((incident.id, _POST)):
                took = (self._clock() - incident.received_at).total_seconds()
                self._metrics.first_post(max(0.0, took))
            if self._verdicts:
                self._count(incident)
        return outcome

    def _count(self, incident: Incident) -> None:
        ended = incident.diagnosis is not None or incident.state is State.FAILED
        if not ended or incident.state is State.INVESTIGATING:
            return
        if self._is_new((incident.id, incident.n)):
            self._metrics.decided(incident)

    def _is_new(self, key: tuple[str, int]) -> bool:
        """Whether that has not been counted yet; from now on it has."""
        if key in self._seen:
            return False
        self._seen[key] = None
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return True


def counting(read_group: ReadGroup, metrics: Metrics) -> ReadGroup:
    """A reader of bodies that counts those that can't be read."""

    def read(body: bytes) -> AlertGroup:
        if body.startswith(OVERSIZED):
            size = body.removeprefix(OVERSIZED).decode("ascii", "replace")[:40]
            raise AlertUnreadable(
                f"a body of {size} was refused: it is over 32 MiB. Set max_alerts in the "
                "webhook_configs of Alertmanager; its alerts are lost, for it is not kept"
            )
        try:
            return read_group(body)
        except AlertUnreadable:
            metrics.unreadable()
            raise

    return read
