"""The verdict on one cause: pure, the same evidence gives the same answer.

Verdict, all nine cells:

    confirm (all) \\ refute (any) | false     | unknown | true
    true                         | confirmed | unknown | unknown (they contradict each other)
    unknown                      | unknown   | unknown | refuted
    false                        | unknown   | unknown | refuted

Before that, `applies`: one line that does not hold makes it not applicable, whatever the rest says;
an unknown one leaves only refuted or unknown.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tailhound.model import Check, Confidence, Part, Verdict, claims, reasons
from tailhound.model.lacking import collected
from tailhound.model.names import capital, listed, plural, small
from tailhound.rules.expression import Answer, Facts
from tailhound.rules.runbook import Claim, Runbook
from tailhound.truth import Truth, all_of, any_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict with what led to it.

    `because` is one sentence. `missing` names the facts that would decide, `missing_evidence` the
    evidence they belong to; both are empty unless the verdict is UNKNOWN.
    """

    verdict: Verdict
    because: str
    checks: tuple[Check, ...]
    missing: tuple[str, ...] = ()
    missing_evidence: tuple[str, ...] = ()

    def part(self, part: Part) -> tuple[Check, ...]:
        """The checks of one list."""
        return tuple(check for check in self.checks if check.part is part)


def judge(runbook: Runbook, facts: Facts, overrides: Mapping[str, float] | None = None) -> Judged:
    """The verdict on these facts. `overrides` replace the values of thresholds by name."""
    thresholds = {**runbook.values, **(overrides or {})}
    checks = tuple(
        answered(runbook, claim, part, facts, thresholds) for part, claim in runbook.claims
    )
    verdict, because = _verdict(checks)
    if verdict is not Verdict.UNKNOWN:
        return Judged(verdict=verdict, because=because, checks=checks)
    undecided = [check for check in checks if check.part is not Part.OPTIONAL]
    missing = tuple(dict.fromkeys(name for check in undecided for name in check.missing))
    names = tuple(dict.fromkeys(name.partition(".")[0] for name in missing))
    return Judged(
        verdict=verdict,
        because=because,
        checks=checks,
        missing=missing,
        missing_evidence=names,
    )


def answered(
    runbook: Runbook, claim: Claim, part: Part, facts: Facts, thresholds: Mapping[str, float]
) -> Check:
    """One claim, answered. What is so only because nothing was measured is unknown, to people."""
    answer = claim.condition.answer(facts, thresholds)
    assumed = answer.assumed or _is_hollow(claim, part, answer, facts)
    return Check(
        claim=claim.sentence,
        condition=claim.condition.text,
        part=part,
        truth=Truth.UNKNOWN if assumed else answer.truth,
        taken=answer.truth if assumed else None,
        seen=tuple(replace(one, collector=runbook.collector(one.name)) for one in answer.seen),
        missing=answer.missing,
        needs=answer.needs,
        otherwise=claim.otherwise,
    )


_AGAINST = {(Part.APPLIES, Truth.FALSE), (Part.REFUTE, Truth.TRUE)}
"""What rules a cause out is told as it is: that there is no such thing here may be all of it."""


def _is_hollow(claim: Claim, part: Part, answer: Answer, facts: Facts) -> bool:
    """Whether an answer rests on evidence that found nothing but that there is nothing: no
    autoscaler, no pod that fails where no pod is known.
    """
    if answer.truth is Truth.UNKNOWN or (part, answer.truth) in _AGAINST:
        return False
    looked = {seen.name.partition(".")[0] for seen in answer.seen} & facts.keys()
    if answer.seen and not looked:
        return False
    speaks = (part is Part.REFUTE) is (answer.truth is Truth.FALSE)
    names = looked or claim.condition.evidence
    return not any(
        _tells(value, zero=not speaks)
        for name in names
        for value in (facts.get(name) or {}).values()
    )


def _tells(value: object, *, zero: bool) -> bool:
    """Whether a fact tells more than that there is nothing; `zero`: an amount of none does, too."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return zero or value != 0
    return bool(value)


def decided(applies: Truth, confirm: Truth, refute: Truth) -> Verdict:
    """The table above."""
    if applies is Truth.FALSE:
        return Verdict.NOT_APPLICABLE
    if refute is Truth.TRUE:
        return Verdict.UNKNOWN if confirm is Truth.TRUE else Verdict.REFUTED
    clear = applies is confirm is Truth.TRUE and refute is Truth.FALSE
    return Verdict.CONFIRMED if clear else Verdict.UNKNOWN


def _verdict(checks: Sequence[Check]) -> tuple[Verdict, str]:
    applies, confirm, refute = (
        [check for check in checks if check.part is part]
        for part in (Part.APPLIES, Part.CONFIRM, Part.REFUTE)
    )
    verdict = decided(
        all_of(check.counts for check in applies),
        all_of(check.counts for check in confirm),
        any_of(check.counts for check in refute),
    )
    match verdict:
        case Verdict.NOT_APPLICABLE:
            return verdict, _against(_first(applies, Truth.FALSE))
        case Verdict.REFUTED:
            return verdict, _against(_first(refute, Truth.TRUE))
        case Verdict.CONFIRMED:
            return verdict, _confirmed(confirm)
        case Verdict.UNKNOWN:
            return verdict, _undecided(applies, confirm, refute)


def _first(checks: Iterable[Check], truth: Truth) -> Check:
    return next(check for check in checks if check.counts is truth)


def _against(check: Check) -> str:
    """`The pod has whole CPUs of its own.`: in the runbook's words, else as any claim."""
    told = reasons.words(check)
    return f"{capital(told)}." if told else _told(check)


def _told(check: Check) -> str:
    """`Hardly ever stopped: 0.4 % (refuted under 5 %).`, `Held up: x5 the usual pauses.`"""
    if claims.is_by_branch(check):
        return f"{capital(claims.told(check))}."
    seen = claims.sentence(check)
    return f"{check.claim}: {seen}." if seen else f"{check.claim}."


def _confirmed(confirm: Sequence[Check]) -> str:
    told, amount = _told(confirm[0]), len(confirm)
    held = sum(check.truth is not Truth.UNKNOWN for check in confirm)
    if amount == 1:
        return told
    if held == amount:
        return f"All {amount} claims hold. {told}"
    return f"{held} of {amount} claims hold, the rest is not measured and not needed. {told}"


def _undecided(applies: Sequence[Check], confirm: Sequence[Check], refute: Sequence[Check]) -> str:
    against = [check for check in refute if check.counts is Truth.TRUE]
    if against:
        return f"The rules contradict each other: every claim holds, yet {_told(against[0])}"
    unknown = [check for check in (*applies, *confirm, *refute) if check.counts is Truth.UNKNOWN]
    if unknown:
        rest = f" + {plural(len(unknown) - 1, 'more claim')}" if unknown[1:] else ""
        return f"Evidence is missing for “{unknown[0].claim}”{rest}."
    failed = _first(confirm, Truth.FALSE)
    so = claims.words_against(failed)
    told = f"{claims.claimed(failed)}." if so else f"this does not hold: {_told(failed)}"
    return f"Decides neither way: nothing refutes it, but {told}"


def _lowers(runbook: Runbook, claim: Claim, check: Check, why_open: Callable[[Check], str]) -> str:
    """What lowers the confidence, where an optional claim is not true."""
    if check.counts is Truth.UNKNOWN:
        why = why_open(check)
        if not why and (lacking := _lacking(runbook, check)):
            return lacking
        told = f"not measured whether {_whether(claims.brief(claim.sentence))}"
        return f"{why}, so it is {told}" if why else told
    return claim.otherwise or f"“{claim.sentence}” does not hold"


def _lacking(runbook: Runbook, check: Check) -> str:
    """`pause frames: not measured`: the evidence that a claim lacks while others of it answered; ""
    where nothing of it was measured, or some of the same evidence. What is asked only in some cases
    is named where nothing else lacks.
    """
    measured = {seen.name.partition(".")[0] for seen in check.seen if seen.value is not None}
    names = dict.fromkeys(fact.partition(".")[0] for fact in check.missing)
    absent = [name for name in names if name in runbook.evidence]
    if not measured or not absent or not measured.isdisjoint(absent):
        return ""
    always = [name for name in absent if runbook.evidence[name].when is None]
    asked = (runbook.evidence[name].collector.name for name in always or absent)
    return f"{listed([collected(one) for one in asked], 3)}: not measured"


def _whether(sentence: str) -> str:
    """`any rollout replaces its pods` of `No rollout replaces its pods`."""
    first, _, rest = sentence.partition(" ")
    return f"any {rest}" if first == "No" and rest else small(sentence)


_ORDER = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


def confidence(
    runbook: Runbook,
    judged: Judged,
    *,
    no_onset: str = "",
    no_symptom: str = "",
    why_open: Callable[[Check], str] = lambda _: "",
) -> tuple[Confidence, str]:
    """How sure a confirmation is, and why it is no surer ("" when it is high).

    High: every claim holds, the optional ones too, and the onset is known; `no_onset` says why it
    is not, "" when it is or none is named. `no_symptom` says why no latency or error series is
    known to have left its usual band; then it is at most medium. `why_open` says why nobody could
    look at an optional claim, "" where nobody knows.
    """
    reasons: list[tuple[Confidence, str]] = []
    optional = zip(runbook.optional, judged.part(Part.OPTIONAL), strict=True)
    open_ = [
        _lowers(runbook, claim, check, why_open)
        for claim, check in optional
        if check.counts is not Truth.TRUE
    ]
    if open_:
        reasons.append((Confidence.MEDIUM, open_[0]))
    if no_onset:
        reasons.append((Confidence.MEDIUM, no_onset))
    if no_symptom:
        reasons.append((Confidence.MEDIUM, no_symptom))
    if not runbook.active:
        reasons.append((Confidence.MEDIUM, "the runbook is a draft"))
    if runbook.at_most is not None and runbook.at_most is not Confidence.HIGH:
        reasons.append((runbook.at_most, runbook.at_most_because))
    if not reasons:
        return Confidence.HIGH, ""
    lowest = min((level for level, _ in reasons), key=_ORDER.index)
    return lowest, next(why for level, why in reasons if level is lowest)
