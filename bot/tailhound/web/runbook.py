"""One runbook as its page tells it: claims with their thresholds, evidence with its questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailhound.model import Incident, Part, needs
from tailhound.model.wording import number
from tailhound.rules.runbook import Claim, EvidencePlan, Mitigation, Runbook, Threshold
from tailhound.rules.selftest import Result
from tailhound.web.questions import Question, asked_of, questions

QUESTIONS_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLine:
    """A claim: what it says, what it needs in words, its condition, and the thresholds in it."""

    anchor: str
    sentence: str
    needs: str
    condition: str
    thresholds: tuple[Threshold, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLine:
    """An evidence: its collector, the condition it waits for ("" = none), what it asks."""

    name: str
    collector: str
    when: str
    questions: tuple[Question, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookPage:
    """Everything that the page of a runbook says beyond the runbook's own texts.

    `asked_in` is the incident whose questions are shown, None without any; `stands_in` tells that
    some are shown with stand-in names.
    """

    runbook: Runbook
    confirms: tuple[ClaimLine, ...]
    optional: tuple[ClaimLine, ...]
    refutes: tuple[ClaimLine, ...]
    applies: tuple[ClaimLine, ...]
    evidence: tuple[EvidenceLine, ...]
    led_to_by: tuple[str, ...]
    tests: tuple[Result, ...]
    asked_in: Incident | None
    stands_in: bool


def page_of(
    runbook: Runbook, others: Sequence[Runbook], tests: Sequence[Result], asked_in: Incident | None
) -> RunbookPage:
    """The page of one of the active runbooks. `asked_in` is the newest incident, if any."""
    lines = {part: _claims(runbook, part) for part in Part}
    real = _really_asked(runbook, asked_in)
    return RunbookPage(
        runbook=runbook,
        confirms=lines[Part.CONFIRM],
        optional=lines[Part.OPTIONAL],
        refutes=lines[Part.REFUTE],
        applies=lines[Part.APPLIES],
        evidence=_evidence(runbook, real),
        led_to_by=tuple(one.id for one in others if runbook.id in one.leads_to),
        tests=tuple(tests),
        asked_in=asked_in if real else None,
        stands_in=any(item.collector.name not in real for item in runbook.evidence.values()),
    )


def passed(tests: Sequence[Result]) -> str:
    """`7 of 7`."""
    return f"{sum(result.passed for result in tests)} of {len(tests)}"


def value(threshold: Threshold) -> str:
    """A threshold in words: `25 %`."""
    return number(threshold.value, threshold.unit)


def conditions(mitigation: Mitigation) -> tuple[str, ...]:
    """What must hold before a change is made, a sentence each."""
    return tuple(claim.sentence for claim in mitigation.guard)


def _claims(runbook: Runbook, part: Part) -> tuple[ClaimLine, ...]:
    found = [claim for each, claim in runbook.claims if each is part]
    return tuple(_claim(runbook, part, claim, n) for n, claim in enumerate(found, 1))


def _claim(runbook: Runbook, part: Part, claim: Claim, n: int) -> ClaimLine:
    told = claim.condition.answer({}, runbook.values, whole=True).needs
    bounds = [bound for bound in told if bound.value]  # "more than none" is in the sentence
    by_fact = {
        bound.fact: needs.needed([one for one in bounds if one.fact == bound.fact], part)
        for bound in bounds
    }
    used = [runbook.thresholds[name] for name in runbook.thresholds if name in claim.condition.used]
    return ClaimLine(
        anchor=f"{part.value}-{n}",
        sentence=claim.sentence,
        needs=", ".join(dict.fromkeys(by_fact.values())),
        condition=claim.condition.text,
        thresholds=tuple(used),
    )


def _evidence(
    runbook: Runbook, real: Mapping[str, tuple[Question, ...]]
) -> tuple[EvidenceLine, ...]:
    sample = questions(runbook)
    return tuple(
        _line(item, real.get(item.collector.name, ()) or sample.get(item.name, ()))
        for item in runbook.evidence.values()
    )


def _line(item: EvidencePlan, asked: Sequence[Question]) -> EvidenceLine:
    shown = tuple(asked[:QUESTIONS_SHOWN])
    return EvidenceLine(
        name=item.name,
        collector=item.collector.name,
        when=item.when.text if item.when else "",
        questions=shown,
        more=len(asked) - len(shown),
    )


def _really_asked(runbook: Runbook, incident: Incident | None) -> dict[str, tuple[Question, ...]]:
    """What was asked for this runbook in an incident, by collector; empty when nothing was."""
    diagnosis = incident.diagnosis if incident else None
    if diagnosis is None:
        return {}
    names = {name for cause in diagnosis.causes if cause.runbook == runbook.id
             for name in cause.evidence}  # fmt: skip
    found: dict[str, tuple[Question, ...]] = {}
    for item in diagnosis.evidence:
        if item.name in names and (asked := asked_of(item.asked)):
            found[item.collector] = (*found.get(item.collector, ()), *asked)
    return found
