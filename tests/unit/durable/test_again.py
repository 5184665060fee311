"""The late questions: asked until who was silent answers, or the time is over."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tailhound.durable import again
from tailhound.durable.again import Again
from tailhound.durable.cases import Case
from tailhound.durable.investigating import Plain, Record
from tailhound.flow import Turn
from tailhound.model import (
    Asked,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Incident,
    Outlook,
    State,
    Subject,
    SubjectKind,
)
from tailhound.store import codec
from tests.unit.durable import fakes
from tests.unit.durable.fakes import evidence

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
COLLECTED, TIMEOUT, UNREACHABLE, SKIPPED = (
    EvidenceStatus.COLLECTED,
    EvidenceStatus.TIMEOUT,
    EvidenceStatus.UNREACHABLE,
    EvidenceStatus.SKIPPED,
)


@dataclass
class Script(fakes.Detective):
    """Answers the late questions as each pass of a script says; the last pass goes on for ever."""

    passes: list[dict[str, EvidenceStatus]] = field(default_factory=list)
    other: int = -1
    asked: list[tuple[tuple[str, ...], Any]] = field(default_factory=list)

    async def again(
        self,
        incident: Incident,
        resolved: Plain,
        names: Sequence[str],
        turn: Turn,
        *,
        record: Record,
    ) -> Plain:
        self.asked.append((tuple(names), resolved["pods"]))
        step = self.passes[min(len(self.asked), len(self.passes)) - 1]
        found = codec.evidence_to_plain(tuple(evidence(*item) for item in step.items()))
        new = {"resolved": {"pods": ["other"]}} if len(self.asked) - 1 == self.other else {}
        return {"evidence": found, **new}


def case(*late: str, status: EvidenceStatus = TIMEOUT) -> Case:
    diagnosis = Diagnosis(
        outlook=Outlook.BLIND,
        primary=None,
        chain=(),
        confidence=None,
        causes=(),
        evidence=(evidence("seen"), *(evidence(name, status) for name in late)),
        decided_at=NOW,
    )
    incident = Incident(
        id="7F3K",
        key="k",
        subject=Subject(kind=SubjectKind.POD),
        state=State.DIAGNOSED,
        alerts=(),
        received_at=NOW,
        n=1,
        diagnosis=diagnosis,
    )
    return Case(
        incident=incident,
        requested_at=NOW,
        verdict_by=NOW,
        resolved={"pods": ["llm-0"]},
        late=late,
    )


def ask(
    script: Script,
    given: Case,
    monkeypatch: pytest.MonkeyPatch,
    *,
    seconds: float = 2.0,
    before: Plain | None = None,
    over_after: int = 1_000,
) -> tuple[dict[str, Evidence], Plain]:
    monkeypatch.setattr(again, "EVERY_SECONDS", 0.01)

    async def is_over() -> bool:
        return len(script.asked) >= over_after

    async def scene() -> Plain:
        turn = Turn(deadline=asyncio.get_running_loop().time() + seconds, as_of=NOW)
        return await Again(script, given, before or {}, lambda *_: None, is_over).ask(turn)

    answers = asyncio.run(scene())
    found = codec.evidence_from_plain(answers["evidence"])
    return {item.name: item for item in found}, answers


def test_who_was_silent_is_asked_until_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = {"cpu": TIMEOUT, "node": SKIPPED}
    script = Script(passes=[silent, silent, {"cpu": COLLECTED, "node": COLLECTED}])
    found, answers = ask(script, case("cpu", "node"), monkeypatch)
    assert [names for names, _ in script.asked] == [("cpu", "node")] * 3
    assert {item.status for item in found.values()} == {COLLECTED}
    assert (answers["late"], answers["is_all"]) == ([], False)
    assert "about" not in answers


def test_after_first_answers_only_the_rest_is_asked_and_only_while_answers_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script(passes=[{"cpu": COLLECTED, "node": SKIPPED}, {"node": SKIPPED}])
    found, answers = ask(script, case("cpu", "node"), monkeypatch)
    assert [names for names, _ in script.asked] == [("cpu", "node"), ("node",)]
    assert (found["cpu"].status, found["node"].status) == (COLLECTED, SKIPPED)
    assert answers["late"] == ["node"]


def test_another_round_goes_on_with_the_rest_about_the_same_subject(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script(passes=[{"node": TIMEOUT}, {"node": COLLECTED}])
    before = {"late": ["node"], "about": {"pods": ["other"]}}
    found, answers = ask(script, case("cpu", "node"), monkeypatch, before=before)
    assert script.asked == [(("node",), ["other"])] * 2
    assert found["node"].status is COLLECTED
    assert (answers["late"], answers["is_all"]) == ([], False)
    assert answers["about"] == {"pods": ["other"]}


def test_a_round_that_would_begin_beyond_the_time_asks_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script(passes=[{"node": COLLECTED}])
    before = {"late": ["node"]}
    found, answers = ask(script, case("node"), monkeypatch, seconds=0.005, before=before)
    assert (script.asked, found, answers["late"]) == ([], {}, [])


def test_who_was_unreachable_is_asked_every_thirty_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert again.EVERY_SECONDS == 30.0
    script = Script(passes=[{"cpu": UNREACHABLE}] * 3 + [{"cpu": COLLECTED}])
    given = case("cpu", status=UNREACHABLE)
    found, _ = ask(script, given, monkeypatch)
    assert len(script.asked) == 4
    assert found["cpu"].status is COLLECTED


def test_nobody_is_asked_beyond_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(passes=[{"cpu": TIMEOUT}])
    found, _ = ask(script, case("cpu"), monkeypatch, seconds=0.05)
    assert 1 < len(script.asked) < 20
    assert found["cpu"].status is TIMEOUT


def test_nobody_is_asked_once_the_incident_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(passes=[{"cpu": TIMEOUT}])
    _, answers = ask(script, case("cpu"), monkeypatch, over_after=2)
    assert len(script.asked) == 2
    assert answers["late"] == []


def test_another_subject_begins_anew_and_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    first = {"cpu": COLLECTED, "node": SKIPPED}
    script = Script(passes=[{"cpu": TIMEOUT}, first, {"node": COLLECTED}], other=1)
    found, answers = ask(script, case("subject", "cpu"), monkeypatch)
    assert script.asked == [
        (("subject", "cpu"), ["llm-0"]),
        (("subject", "cpu"), ["llm-0"]),
        (("node",), ["other"]),
    ]
    assert answers["about"] == {"pods": ["other"]}
    assert answers["is_all"] is True
    assert set(found) == {"cpu", "node"}


def test_evidence_with_a_question_that_was_not_asked_is_not_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    part = Asked(question="q", backend="prometheus", status=SKIPPED)
    half = replace(evidence("cpu"), asked=(*evidence("cpu").asked, part))

    class Half(Script):
        async def again(self, *args: Any, **kwargs: Any) -> Plain:
            answers = await super().again(*args, **kwargs)
            if len(self.asked) == 1:
                answers["evidence"] = codec.evidence_to_plain((half,))
            return answers

    script = Half(passes=[{"cpu": COLLECTED}])
    found, _ = ask(script, case("cpu"), monkeypatch)
    assert len(script.asked) == 2
    assert len(found["cpu"].asked) == 1
