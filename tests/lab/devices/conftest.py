"""Two guests, and the product's own way to ask them."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tailhound.durable.gather import Ask, gather
from tailhound.flow import Collector, Turn
from tailhound.model import FactValue, Missing
from tailhound.requests import Output, RunOnHost
from tailhound.settings import Host, Secret, Ssh
from tailhound.transports.ssh import SshTransport
from tailhound_collectors.parse import TOOLS, Parsed, parse
from tests.lab.devices import requirements
from tests.lab.devices.build import Image, built
from tests.lab.devices.guest import ADDRESS, Guest, Plan, two_guests

T = TypeVar("T")
UNREADABLE_SECTOR = 2048
GAP_SECONDS = 2.0
_ANSWER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Bot:
    """Asks as the product does: its SSH transport, its allow-list, its parsers."""

    transport: SshTransport
    runner: asyncio.Runner

    def outputs(
        self, guests: Sequence[Guest], argv: Sequence[str], *, twice: bool = False
    ) -> list[Output]:
        """What an allowed command printed in each guest, asked at once."""
        return self.runner.run(self._outputs(guests, tuple(argv), twice))

    async def _outputs(
        self, guests: Sequence[Guest], argv: tuple[str, ...], twice: bool
    ) -> list[Output]:
        turn = Turn(time.monotonic() + _ANSWER_SECONDS, datetime.now(UTC))
        requests = [RunOnHost(host=guest.name, argv=argv, twice=twice) for guest in guests]
        replies = await asyncio.gather(*(self.transport.ask(each, turn) for each in requests))
        outputs = [reply for reply in replies if isinstance(reply, Output)]
        assert len(outputs) == len(guests), replies
        return outputs

    def collected(
        self, guest: Guest, collector: Collector[Any, Any], params: object
    ) -> Mapping[str, FactValue]:
        """The facts of a collector, as an investigation gathers them."""
        turn = Turn(time.monotonic() + _ANSWER_SECONDS, datetime.now(UTC))
        ask = Ask(guest.name, collector, params)
        (evidence,) = self.runner.run(gather((ask,), (self.transport,), turn))
        assert evidence.facts, evidence
        return evidence.facts

    def parsed(self, guest: Guest, tool: str, *argv: str) -> Parsed:
        """The facts, or why there are none."""
        (output,) = self.outputs((guest,), argv)
        return parse(TOOLS[tool], output)

    def facts(self, kind: type[T], guest: Guest, tool: str, *argv: str) -> T:
        """The facts; there must be some."""
        found = self.parsed(guest, tool, *argv)
        assert isinstance(found, kind), found
        return found

    def missing(self, guest: Guest, tool: str, *argv: str) -> Missing:
        """The reason why there are no facts; there must be one."""
        found = self.parsed(guest, tool, *argv)
        assert isinstance(found, Missing), found
        return found


@pytest.fixture(scope="session")
def image() -> Image:
    """Built when need be. These tests are asked for by name, so what is missing is a failure."""
    if advice := requirements.advice():
        pytest.fail(advice)
    return built()


@pytest.fixture(scope="session")
def guests(image: Image) -> Iterator[tuple[Guest, Guest]]:
    """Two hosts with a cable between their RDMA devices; the second has an unreadable sector."""
    left = Plan("gpu-1", "198.51.100.1")
    right = Plan("gpu-2", "198.51.100.2", UNREADABLE_SECTOR)
    with two_guests(image, left, right) as both:
        yield both


@pytest.fixture(scope="session")
def bot(
    guests: tuple[Guest, Guest], image: Image, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bot]:
    """It knows both guests."""
    known: Path = tmp_path_factory.mktemp("devices") / "known_hosts"
    known.write_text("".join(f"{guest.known_hosts_line}\n" for guest in guests))
    settings = Ssh(
        user="root",
        key=Secret(file=str(image.key)),
        known_hosts=str(known),
        hosts={guest.name: Host(address=ADDRESS, port=guest.port) for guest in guests},
        sudo=False,
        timeout_seconds=20.0,
        gap_seconds=GAP_SECONDS,
    )
    transport = SshTransport(settings)
    with asyncio.Runner() as runner:
        yield Bot(transport, runner)
        transport.close()
