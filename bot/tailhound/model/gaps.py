"""What a diagnosis leaves open, and what would settle it: nothing is passed over."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tailhound.model import weighing
from tailhound.model.candidates import explaining, with_sign
from tailhound.model.evidence import Asked, Evidence, EvidenceStatus
from tailhound.model.impossible import Impossible
from tailhound.model.lacking import NO_USUAL, evidence_name, has_no_usual
from tailhound.model.names import backend_name, cause_name, small
from tailhound.model.telling import because, of
from tailhound.model.unanswered import SPARED, down, lacks_its_subject, origin, was_spared
from tailhound.model.verdict import Cause, Check, Diagnosis, Verdict

FINE = frozenset({EvidenceStatus.COLLECTED, EvidenceStatus.NOT_APPLICABLE})
"""A question of this status got what it asked for."""

_DECIDED = (Verdict.REFUTED, Verdict.NOT_APPLICABLE)
"""What has no answer about a cause of these changes nothing any more."""

_FIXES = {
    EvidenceStatus.EMPTY: "check that {backend} has what it needs",
    EvidenceStatus.TIMEOUT: "check that {backend} is up, then check again",
    EvidenceStatus.FORBIDDEN: "grant the reading account what {backend} refused",
    EvidenceStatus.UNREACHABLE: "check address, network and keys of {backend}",
    EvidenceStatus.TRUNCATED: "raise max_bytes of {backend} in the configuration",
    EvidenceStatus.UNPARSABLE: "look at the raw answer",
    EvidenceStatus.SKIPPED: "check again",
}

_WHY = {
    EvidenceStatus.EMPTY: "{backend} has nothing of it",
    EvidenceStatus.TIMEOUT: "{backend} did not answer",
    EvidenceStatus.FORBIDDEN: "{backend} refused",
    EvidenceStatus.UNREACHABLE: "{backend} was not reached",
    EvidenceStatus.TRUNCATED: "the answer of {backend} was too large",
    EvidenceStatus.UNPARSABLE: "the answer of {backend} could not be read",
}

_NOT_HELD = "a recording has no answer to this"
_TOLD_LAST = (EvidenceStatus.EMPTY, EvidenceStatus.SKIPPED)
"""What explains a gap only where nobody failed to answer."""

_NEVER_ASKED = (_NOT_HELD, "not in the recording")
"""How a reason begins where asking again can't help: nobody asked when it was recorded."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Why something has no answer, and what would give one ("" where nobody knows).

    `for_later`: nobody gets the answer during this incident: a series that is not scraped, a
    backend that is not configured.
    """

    reason: str
    fix: str = ""
    for_later: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """What a diagnosis leaves open.

    `undecided` are unknown causes of which nothing is missing: their values lie between what
    confirms and what refutes. `causes` are those that miss something, by why, with a word where a
    sign of one was measured; `evidence` what else has no answer, and `open_evidence` what of that
    is not of decided causes alone.
    """

    undecided: tuple[Cause, ...]
    causes: dict[Gap, tuple[str, ...]]
    evidence: dict[Gap, tuple[str, ...]]
    open_evidence: dict[Gap, tuple[str, ...]]

    @property
    def count(self) -> int:
        """How many causes and further evidence have a question without an answer."""
        return sum(len(names) for group in (self.causes, self.evidence) for names in group.values())


def left_open(diagnosis: Diagnosis) -> Gaps:
    """What could not be decided, and what was not answered, by reason. Nothing is passed over."""
    unknown = of(diagnosis, Verdict.UNKNOWN)
    missing = [cause for cause in unknown if _misses_something(cause)]
    trouble = down(diagnosis.evidence)
    asked_for = {key for cause in missing for key in cause.evidence}
    causes = diagnosis.causes
    others = [
        (item, (_gap(origin(failed, trouble), diagnosis.impossible), evidence_name(item, causes)))
        for item in diagnosis.evidence
        if (failed := failure(item)) is not None
        and item.name not in asked_for
        and not _only_absent(item, failed)
    ]
    return Gaps(
        undecided=tuple(cause for cause in unknown if not _misses_something(cause)),
        causes=_grouped(
            (_gap_of(cause, diagnosis), _unchecked(cause, diagnosis)) for cause in missing
        ),
        evidence=_grouped(told for _, told in others),
        open_evidence=_grouped(told for item, told in others if not _is_settled(item, causes)),
    )


def next_gap(diagnosis: Diagnosis) -> tuple[str, Gap] | None:
    """The gap to close first, and what it keeps open: of a cause that could explain this incident,
    the nearest first; None where there is none. A series that nobody scrapes is no work for whoever
    is paged: it is told with what could not be checked.
    """
    near = (cause for cause in explaining(diagnosis) if _misses_something(cause))
    found = ((cause_name(cause.runbook), _gap_of(cause, diagnosis)) for cause in near)
    return next((one for one in found if not one[1].for_later), None)


@dataclass(frozen=True, slots=True)
class UnknownClaims:
    """Claims for a cause that are not known, and why ("" where nobody can tell).

    `decides`: the verdict waits for them; else they would make it surer.
    """

    why: str
    decides: bool
    claims: tuple[str, ...]


def unknown_claims(cause: Cause, evidence: Iterable[Evidence]) -> tuple[UnknownClaims, ...]:
    """The claims for a cause that nobody could answer, by why. Those against it stand in
    `weighing.against`.
    """
    evidence = tuple(evidence)
    found: dict[tuple[str, bool], list[str]] = {}
    for check in weighing.unsettled(cause, weighing.FOR):
        key = (_why(cause, check, evidence), check.part in weighing.DECIDING)
        found.setdefault(key, []).append(check.claim)
    return tuple(UnknownClaims(why, decides, tuple(told)) for (why, decides), told in found.items())


def _why(cause: Cause, check: Check, evidence: tuple[Evidence, ...]) -> str:
    """`no such series in Prometheus`, `Kubernetes did not answer`: few words, for a list."""
    if has_no_usual(cause, check, evidence):
        return "no usual value yet"
    names = {name for fact in check.missing for name in _names(cause, fact)}
    items = [item for item in evidence if item.name in names and item.name in cause.evidence]
    found = [failed for item in items if (failed := failure(item))]
    found.sort(key=lambda failed: failed.status in _TOLD_LAST)
    if not found:
        return ""
    asked = origin(found[0], down(evidence))
    if asked.status is EvidenceStatus.EMPTY and asked.backend == "prometheus":
        return "no such series in Prometheus"
    if was_spared(asked):
        return SPARED.removeprefix("not asked: ")
    if asked.status is EvidenceStatus.SKIPPED:
        return _why_skipped(asked)
    words = _WHY.get(asked.status, "")
    return words.format(backend=backend_name(asked.backend) or "nobody") if words else ""


def _why_skipped(asked: Asked) -> str:
    """`not asked: the deadline of the investigation had passed`: never without its reason."""
    if asked.detail.startswith(_NOT_HELD):
        return _NOT_HELD
    told = asked.detail.partition("Fix:")[0].strip().rstrip(".")
    return told or "not asked, and nobody noted why"


def _names(cause: Cause, fact: str) -> tuple[str, str]:
    alias = fact.partition(".")[0]
    return alias, f"{cause.runbook}.{alias}"


def _is_settled(item: Evidence, causes: Iterable[Cause]) -> bool:
    """Whether evidence is of causes alone that are ruled out, or do not apply."""
    owners = [cause.verdict for cause in causes if item.name in cause.evidence]
    return bool(owners) and all(verdict in _DECIDED for verdict in owners)


def _unchecked(cause: Cause, diagnosis: Diagnosis) -> str:
    """The name of a cause that misses something: where claims hold, others of it were checked."""
    part = " (in part)" if cause in with_sign(diagnosis) else ""
    return f"{cause_name(cause.runbook)}{part}"


def _grouped(found: Iterable[tuple[Gap, str]]) -> dict[Gap, tuple[str, ...]]:
    told: dict[Gap, tuple[str, ...]] = {}
    for gap, name in found:
        told[gap] = (*told.get(gap, ()), name)
    return told


def _misses_something(cause: Cause) -> bool:
    return not cause.checks or bool(weighing.unsettled(cause))


def _gap_of(cause: Cause, diagnosis: Diagnosis) -> Gap:
    """Why a cause was not checked: nothing is usual yet, a question failed, else its sentence.

    Who did not answer is told before a series that is not there: only the first may still come.
    Evidence of which nothing is there goes before one that lacks a series.
    """
    evidence = diagnosis.evidence
    if any(has_no_usual(cause, check, evidence) for check in cause.checks):
        wait = "wait until Prometheus has an hour of history"
        return Gap(NO_USUAL, wait, for_later=True)
    found = [
        (failed.status in _TOLD_LAST, _only_absent(item, failed), failed)
        for item in evidence
        if item.name in cause.evidence and (failed := failure(item))
    ]
    found.sort(key=lambda one: one[:2])
    if found:
        return _gap(origin(found[0][2], down(evidence)), diagnosis.impossible)
    return Gap(because(cause) or "not measured", _FIXES[EvidenceStatus.SKIPPED])


def failure(item: Evidence) -> Asked | None:
    """The question whose failure stands for the evidence; None when all were answered.

    A series that is not there stands back behind a backend that did not answer.
    """
    failed = [question for question in item.asked if question.status not in FINE]
    failed.sort(key=lambda question: question.status is EvidenceStatus.EMPTY)
    asked = next(iter(failed), None)
    if asked or item.status in FINE:
        return asked
    return Asked(question="", backend="", status=item.status, detail=item.reason)


def _only_absent(item: Evidence, failed: Asked) -> bool:
    """Whether the evidence is there, and only a series that some engines lack is not."""
    return item.status is EvidenceStatus.COLLECTED and failed.status is EvidenceStatus.EMPTY


def _gap(asked: Asked, impossible: Impossible | None) -> Gap:
    """The reason with its fix. A detail that names its own fix, or the missing key, keeps it.
    Asking again for a name that can't exist, or scraping it, helps nobody.
    """
    if impossible is not None and impossible.explains(asked):
        return Gap(impossible.why, for_later=True)
    absent = asked.status is EvidenceStatus.EMPTY
    reason, mark, fix = asked.detail.partition("Fix:")
    reason = reason.strip().rstrip(".") or f"{backend_name(asked.backend)}: {asked.status.value}"
    if mark and fix.strip():
        return Gap(small(reason), fix.strip().rstrip("."), for_later=absent)
    if ": set " in reason:  # not configured: the sentence says which key
        return Gap(small(reason), for_later=True)
    if asked.detail.startswith(_NEVER_ASKED) or lacks_its_subject(asked.detail):
        return Gap(small(reason), for_later=True)
    if asked.status is EvidenceStatus.EMPTY and asked.backend == "prometheus":
        return Gap(small(reason), "check that its series are scraped", for_later=True)
    backend = backend_name(asked.backend) or "the backend"
    return Gap(small(reason), _FIXES.get(asked.status, "").format(backend=backend), absent)
