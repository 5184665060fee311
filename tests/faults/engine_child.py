"""A process with the real engine, intake and outbox, to be killed: see `test_kill_engine`.

    python -m tests.faults.engine_child FOLDER ALERTS KILL_AT SERVICE

It sends ALERTS alerts to itself, waits until every incident was shown with its verdict, and ends.
KILL_AT names the instant at which it kills itself the first time, "-" = never. SERVICE is "finds"
(a chat service in which posts can be found again) or "blind". With KILL_AT "hang" every
investigation hangs, and the process waits for SIGTERM.
"""

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tailhound.durable.boot import Boot
from tailhound.model import Incident
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tests.unit.durable import fakes, kit


@dataclass
class Ledger:
    """A file that outlives the process: one line, written at once, for each thing that happened."""

    path: Path

    def write(self, *words: object) -> None:
        """Append one line."""
        line = " ".join(str(word) for word in words) + "\n"
        handle = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        os.write(handle, line.encode())
        os.close(handle)

    def lines(self, kind: str) -> list[list[str]]:
        """The words of all lines of a kind, without the kind."""
        if not self.path.exists():
            return []
        rows = [line.split() for line in self.path.read_text().splitlines()]
        return [row[1:] for row in rows if row[0] == kind]


@dataclass
class Service(fakes.Chat):
    """A chat service whose channel is a ledger: what was posted stays posted."""

    ledger: Ledger = field(default_factory=lambda: Ledger(Path("unset")))
    blind: bool = False

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        it = delivery.incident
        message = delivery.message
        if not message and delivery.unsure and not self.blind:
            posts = (id for incident, id, _ in self.ledger.lines("post") if incident == it.id)
            message = next(posts, "")
        if message:
            self.ledger.write("edit", it.id, message, _words(it))
        else:
            message = f"m{len(self.ledger.lines('post')) + 1}"
            self.ledger.write("post", it.id, message, _words(it))
        await asyncio.sleep(0.005)
        return Posted(delivery.place, message)

    def last_shown(self, id: str) -> str:
        """What an incident's message says now."""
        rows = [row for row in self.ledger.lines("post") + self.ledger.lines("edit")]
        said = [row[2] for row in rows if row[0] == id]
        return said[-1] if said else ""


def _words(incident: Incident) -> str:
    verdict = incident.diagnosis.primary if incident.diagnosis else None
    return f"{incident.state.value}:{verdict}"


def killer(kill_at: str, mark: Path) -> Boot:
    """A life that ends itself at a named instant, unless an earlier one did so."""

    def hook(name: str) -> None:
        if name == kill_at and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    return Boot(hook=hook)


async def main(folder: Path, alerts: int, kill_at: str, service: str) -> None:
    """Accept, investigate, show; leave a ledger behind."""
    ledger = Ledger(folder / "ledger")
    chat = Service(ledger=ledger, blind=service == "blind")
    detective = fakes.Detective(conditional=("node",))
    boot = killer(kill_at, folder / "killed")
    async with kit.lab(folder, chat=chat, detective=detective, boot=boot) as lab:
        ledger.write("up")
        for i in range(alerts):
            (id,) = (
                await lab.durable.accept(kit.body(kit.alert(f"w{i}", fingerprint=f"f{i}")))
            ).incidents
            ledger.write("ack", id)
        ids = {row[0] for row in ledger.lines("ack")}
        await kit.until(
            lambda: all(chat.last_shown(id) == "diagnosed:cpu-throttling" for id in ids), 40
        )
        ledger.write("done")


async def hang(folder: Path, alerts: int) -> None:
    """Let every investigation hang in its questions, and stop at SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    detective = fakes.Detective(hangs_at="collect")
    async with kit.lab(folder, detective=detective, verdict_seconds=60.0) as lab:
        for i in range(alerts):
            await lab.durable.accept(kit.body(kit.alert(f"w{i}", fingerprint=f"f{i}")))
        await kit.until(lambda: detective.calls.count("collect") == alerts, 30)
        Ledger(folder / "ledger").write("hanging")
        await stop.wait()


if __name__ == "__main__":
    where, number = Path(sys.argv[1]), int(sys.argv[2])
    if sys.argv[3] == "hang":
        asyncio.run(hang(where, number))
    else:
        asyncio.run(main(where, number, sys.argv[3], sys.argv[4]))
