"""Checks that a person asks for: an alert of our own, which joins like any other, and ends.

Nobody else will ever say that such an alert is over, so it ends an hour after it was asked for.
"""

import asyncio
import hashlib
import json
import logging
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.known import Accepted
from tailhound.durable.turns import Turns
from tailhound.model.alert import BY_HAND
from tailhound.store.database import Database
from tailhound.store.tables import alert, body

ALERT = "asked by hand"
"""The name of its alert."""

_log = logging.getLogger(__name__)

LASTS = timedelta(hours=1)
LOOK_SECONDS = 60.0
_AT_ONCE = 100
_DUE = (
    sa.select(body.c.content)
    .join(alert, alert.c.body_sha == body.c.sha)
    .where(
        alert.c.fingerprint.startswith(BY_HAND),
        alert.c.status == sa.literal("firing", literal_execute=True),
        alert.c.starts_at < sa.bindparam("before"),
    )
    .limit(_AT_ONCE)
)


def body_of(labels: Mapping[str, str], by: str, now: datetime) -> bytes:
    """The webhook body that stands for what somebody asked. `labels` say what it is about."""
    named = json.dumps(sorted(labels.items()))
    told = f"{named}{by}{now.isoformat()}".encode("utf-8", "replace")
    one = {
        "status": "firing",
        "labels": {**labels, "alertname": ALERT},
        "fingerprint": f"{BY_HAND}{hashlib.sha256(told).hexdigest()[:16]}",
        "annotations": {"summary": f"{by} asked for this check"},
        "startsAt": now.isoformat(),
    }
    group = f"{ALERT}:{named}"
    return json.dumps(
        {"version": "4", "groupKey": group, "receiver": "by hand", "alerts": [one]}
    ).encode()


def ended(asked: bytes, now: datetime) -> bytes:
    """The body that says that it is over; ValueError when `asked` is none of these."""
    document = json.loads(asked)
    try:
        ours = [one for one in document["alerts"] if _is_ours(one)]
        alerts = [{**one, "status": "resolved", "endsAt": now.isoformat()} for one in ours]
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError("not a body that was made by hand") from error
    return json.dumps({**document, "alerts": alerts}).encode()


def _is_ours(one: Mapping[str, object]) -> bool:
    fingerprint = one.get("fingerprint")
    return isinstance(fingerprint, str) and fingerprint.startswith(BY_HAND)


@dataclass(frozen=True, slots=True)
class AskedByHand:
    """Ends what was asked for, in time. Several replicas may do it at once: a repeat is none."""

    database: Database
    boot: Boot
    blocking: Blocking
    accept: Callable[[bytes], Awaitable[Accepted]]

    async def run(self, every: float = LOOK_SECONDS) -> None:
        """Look for ever; cancel it to stop."""
        turns = Turns("the end of what was asked by hand")
        while True:
            await turns.take(self.end_due())
            await asyncio.sleep(every)

    async def end_due(self) -> int:
        """End what has lasted its hour; how many there were. One that can't be ended is told, and
        keeps no other from its end.
        """
        due = await self.blocking.run(self._due)
        for asked in due:
            try:
                over = ended(asked, self.boot.clock())
            except ValueError as error:
                _log.warning("a check that was asked by hand can't be ended: %s", error)
            else:
                await self.accept(over)
        return len(due)

    def _due(self) -> tuple[bytes, ...]:
        before = (self.boot.clock() - LASTS).timestamp()
        with self.database.reading() as connection:
            return tuple(
                zlib.decompress(row.content) for row in connection.execute(_DUE, {"before": before})
            )
