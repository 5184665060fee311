"""A replica on PostgreSQL, to be killed, stopped and continued: see `test_replicas`.

    python -m tests.faults.replica_child FOLDER NAME '{"alerts": 3, ...}'

It shares the database of FOLDER and a chat service with the others, and leaves lines in the ledger
there. It ends at SIGTERM.
"""

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from tailhound.durable.boot import Boot
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.errors import StoreUnavailable
from tests.faults.engine_child import Ledger, Service
from tests.unit.durable import fakes, kit


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a replica does. `alerts` it sends itself, again until each is accepted.

    `hangs_at` is the step in which its investigations never end, `stops_at` the instant at which it
    stops itself (SIGSTOP) the first time. `reaps` and `is_fenced` false are the negative controls.
    """

    alerts: int = 0
    hangs_at: str = ""
    stops_at: str = ""
    lease: float = 2.0
    beat: float = 0.3
    step_seconds: float = 0.0
    reaps: bool = True
    is_fenced: bool = True


class Slow(fakes.Detective):
    """An investigator whose questions take their time; it notes what it does."""

    def __init__(self, name: str, part: Part, ledger: Ledger) -> None:
        super().__init__(conditional=("node",), hangs_at=part.hangs_at)
        self._name, self._seconds, self._ledger = name, part.step_seconds, ledger

    async def _at(self, step: str) -> None:
        self._ledger.write("step", self._name, step)
        await super()._at(step)
        await asyncio.sleep(self._seconds)


def boot(name: str, part: Part, ledger: Ledger) -> Boot:
    """A life that notes what it passes, and stops itself once."""

    def hook(instant: str) -> None:
        ledger.write("passed", name, instant)
        mark = ledger.path.with_name(f"stopped-{name}")
        if instant == part.stops_at and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGSTOP)

    return Boot(hook=hook)


async def main(folder: Path, name: str, part: Part) -> None:
    """Live until SIGTERM."""
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    ledger = Ledger(folder / "ledger")
    if not part.is_fenced:
        Replicas.holds = _always  # type: ignore[method-assign]
    if not part.reaps:
        Replicas.look = _never_look  # type: ignore[method-assign]
    async with kit.lab(
        folder,
        chat=Service(ledger=ledger),
        detective=Slow(name, part, ledger),
        boot=boot(name, part, ledger),
        pulse=Pulse(lease=part.lease, beat=part.beat),
        verdict_seconds=20.0,
    ) as lab:
        ledger.write("up", name)
        for i in range(part.alerts):
            ledger.write("ack", await _accepted(lab, i))
        ledger.write("sent", name)
        await over.wait()


def _always(self: Replicas) -> bool:
    return True


async def _never_look(self: Replicas) -> bool:
    return False


async def _accepted(lab: kit.Lab, i: int) -> str:
    """Send an alert as Alertmanager does: again, until it is taken."""
    while True:
        try:
            return await lab.accepted(kit.body(kit.alert(f"w{i}", fingerprint=f"f{i}")))
        except StoreUnavailable:
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], Part(**json.loads(sys.argv[3]))))
