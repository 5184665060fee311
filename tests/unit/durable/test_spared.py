"""What an API server in trouble was spared stays unknown, and is asked again when it answers."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from tailhound import app
from tailhound.cli import alerts
from tailhound.durable.investigation import Investigator
from tailhound.durable.offline import Terms, investigate
from tailhound.durable.verdicts import is_whole, unanswered
from tailhound.flow import Request, Turn
from tailhound.model import Diagnosis, Evidence, Incident, Missing, Reason, Verdict, gaps
from tailhound.model.unanswered import SPARED
from tailhound.settings import Settings
from tailhound.shipped import shipped
from tailhound.store.codec import evidence_from_plain
from tailhound.transports.recording import load
from tailhound.transports.replay import ReplayTransport

RECORDING = load(shipped("demo") / "cpu-throttling.json")
KEPT_BACK = Missing(
    Reason.SKIPPED, f"{SPARED} (9 of the last 10). Fix: it is asked again when it answers"
)
TOO_MANY = Missing(Reason.SKIPPED, "the API server asked to wait 1 s (too many requests)")
ACQUITTED = (Verdict.REFUTED, Verdict.NOT_APPLICABLE)


@dataclass
class Spared:
    """A recording whose API server is spared until it `answers`."""

    answers: bool = False
    refuses: Missing = KEPT_BACK
    asked: list[str] = field(default_factory=list)
    inner: ReplayTransport = field(default_factory=lambda: ReplayTransport(RECORDING))
    handles: tuple[type[Request[Any]], ...] = ReplayTransport.handles

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        if request.backend == "kubernetes":
            self.asked.append(request.shown)
            if not self.answers:
                return self.refuses
        return await self.inner.ask(request, turn)

    def close(self) -> None:
        pass


def investigator(backend: Spared) -> Investigator:
    settings = Settings()
    return Investigator(app.compiled(settings), app.collectors(), (backend,), settings)


def incident() -> Incident:
    group = alerts.group_of(json.dumps(RECORDING.alert).encode(), "recording")
    (found,), _ = alerts.incidents_of(group, Settings(), RECORDING.as_of)
    return found


def diagnosed(backend: Spared) -> Diagnosis:
    terms = Terms(as_of=RECORDING.as_of, seconds=10)
    found = asyncio.run(investigate(investigator(backend), incident(), terms)).diagnosis
    assert found is not None
    return found


def test_nobody_is_accused_or_acquitted_for_what_was_not_asked() -> None:
    whole, spared = diagnosed(Spared(answers=True)), diagnosed(Spared())
    known = {cause.runbook: cause.verdict for cause in whole.causes}
    found = {cause.runbook: cause.verdict for cause in spared.causes}
    assert found.keys() == known.keys()
    for runbook, verdict in found.items():
        was_acquitted = known[runbook] in ACQUITTED
        allowed = ACQUITTED if was_acquitted else (known[runbook],)
        assert verdict in (*allowed, Verdict.UNKNOWN), runbook


def test_the_diagnosis_says_why_it_was_not_asked_and_when_it_will_be() -> None:
    left = gaps.left_open(diagnosed(Spared()))
    told = [gap for gap in (*left.causes, *left.evidence) if gap.reason.startswith(SPARED)]
    assert told
    assert {gap.fix for gap in told} == {"it is asked again when it answers"}
    assert not any(gap.for_later for gap in told)


def late(
    backend: Spared, *answers: bool, refuses: Missing = KEPT_BACK
) -> list[tuple[Evidence, ...]]:
    """What is found when a spared API server is asked again, as it `answers` then each time."""
    desk = investigator(backend)

    async def scene() -> list[tuple[Evidence, ...]]:
        turn = Turn(deadline=asyncio.get_running_loop().time() + 30, as_of=RECORDING.as_of)
        found = incident()
        resolved = await desk.resolve(found, turn, record=lambda *_: None)
        seen = await investigate(desk, found, Terms(as_of=RECORDING.as_of, seconds=10))
        assert seen.diagnosis is not None
        names = unanswered(seen.diagnosis.evidence)
        passes, backend.refuses = [], refuses
        for backend.answers in answers:
            backend.asked.clear()
            got = await desk.again(seen, resolved, names, turn, record=lambda *_: None)
            passes.append(evidence_from_plain(got["evidence"]))
        return passes

    return asyncio.run(scene())


@pytest.mark.parametrize("refuses", [KEPT_BACK, TOO_MANY])
def test_late_a_server_that_still_refuses_gets_one_question_and_the_others_say_why(
    refuses: Missing,
) -> None:
    backend = Spared()
    (found,) = late(backend, False, refuses=refuses)
    assert len(backend.asked) == 1
    told = [one.detail for item in found for one in item.asked if one.backend == "kubernetes"]
    assert set(told) == {refuses.detail, KEPT_BACK.detail}
    assert unanswered(found), "and it is asked once more"


def test_late_it_is_asked_everything_when_it_answers() -> None:
    backend = Spared()
    _, found = late(backend, False, True)
    assert len(backend.asked) > 1
    whole = {item.name for item in found if is_whole(item)}
    assert {"subject", "config", "args", "volumes", "recent_changes"} <= whole
