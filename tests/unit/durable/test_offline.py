"""An investigation without a database has the same waves as the durable one."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from tailhound.durable.deadlines import COLLECT_SHARE, RESOLVE_SHARE
from tailhound.durable.investigating import Plain
from tailhound.durable.offline import Terms, investigate
from tailhound.flow import Turn
from tailhound.model import Incident, State, Subject, SubjectKind
from tests.unit.durable import fakes, kit

NOW = kit.Clock()()
INCIDENT = Incident(
    id="7F3K",
    key="k",
    subject=Subject(kind=SubjectKind.POD),
    state=State.INVESTIGATING,
    alerts=(),
    received_at=NOW,
)


@dataclass
class Timed(fakes.Detective):
    """Notes until when each wave may take; `uses_up` names one that takes all of it."""

    uses_up: str = ""
    ends: dict[str, float] = field(default_factory=dict)

    async def resolve(self, incident: Incident, turn: Turn, **rest: Any) -> Plain:
        await self._note("resolve", turn)
        return {**await super().resolve(incident, turn, **rest), "resolved": {}}

    async def collect(
        self, incident: Incident, resolved: Plain, turn: Turn, *rest: Any, **more: Any
    ) -> Plain:
        await self._note("collect", turn)
        return await super().collect(incident, resolved, turn, *rest, **more)

    async def deepen(
        self, incident: Incident, resolved: Plain, collected: Plain, turn: Turn, **rest: Any
    ) -> Plain:
        await self._note("deepen", turn)
        return await super().deepen(incident, resolved, collected, turn, **rest)

    async def _note(self, wave: str, turn: Turn) -> None:
        self.ends[wave] = turn.deadline
        if wave == self.uses_up:
            await asyncio.sleep(turn.deadline - asyncio.get_running_loop().time())


def judged(detective: Timed, seconds: float) -> tuple[Incident, float]:
    async def scene() -> tuple[Incident, float]:
        started = asyncio.get_running_loop().time()
        return await investigate(detective, INCIDENT, Terms(as_of=NOW, seconds=seconds)), started

    return asyncio.run(scene())


def test_the_first_questions_leave_time_for_the_conditional_ones() -> None:
    detective = Timed()
    incident, started = judged(detective, 30.0)
    shares = {wave: (end - started) / 30.0 for wave, end in detective.ends.items()}
    wanted = {"resolve": RESOLVE_SHARE, "collect": COLLECT_SHARE, "deepen": 1.0}
    assert shares == pytest.approx(wanted, abs=0.01)
    assert incident.diagnosis is not None
    assert not incident.diagnosis.at_deadline


@pytest.mark.parametrize("wave", ["collect", "deepen"])
def test_a_verdict_is_at_the_deadline_when_a_wave_used_up_its_time(wave: str) -> None:
    incident, _ = judged(Timed(uses_up=wave), 0.8)
    assert incident.diagnosis is not None
    assert incident.diagnosis.at_deadline
