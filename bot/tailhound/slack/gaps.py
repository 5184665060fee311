"""What was ruled out, what does not apply, and what could not be checked: each with its reason.

A question without an answer is counted and told with what would give one; nothing that failed is
passed over.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tailhound.model import Asked, Cause, Diagnosis, Evidence, EvidenceStatus, Verdict
from tailhound.slack.claims import deciding, name, value_seen
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import Ink, more, small
from tailhound.truth import Truth

_FIXES = {
    EvidenceStatus.EMPTY: "check that it is scraped or exists",
    EvidenceStatus.TIMEOUT: "check that {backend} is up, then Re-check",
    EvidenceStatus.FORBIDDEN: "grant the reading account what {backend} refused",
    EvidenceStatus.UNREACHABLE: "check address, network and keys of {backend}",
    EvidenceStatus.TRUNCATED: "raise max_bytes of {backend} in the configuration",
    EvidenceStatus.UNPARSABLE: "look at the raw answer on the page",
    EvidenceStatus.SKIPPED: "Re-check asks again",
}
_BACKENDS = {"prometheus": "Prometheus", "kubernetes": "Kubernetes"}


@dataclass(frozen=True, slots=True)
class Gap:
    """Why something has no answer, and what would give one."""

    reason: str
    fix: str


def backend_name(backend: str) -> str:
    """A backend as people write it: `Prometheus`, `SSH to db-1`."""
    kind, _, host = backend.partition(" ")
    return f"SSH to {host}" if kind == "ssh" and host else _BACKENDS.get(kind, backend)


def not_confirmed(diagnosis: Diagnosis, ink: Ink) -> tuple[Mrkdwn, ...]:
    """The lines of slot N; empty when there is nothing to say."""
    lines = (
        _ruled_out(_of(diagnosis, Verdict.REFUTED), ink),
        _not_applicable(_of(diagnosis, Verdict.NOT_APPLICABLE), ink),
        *_not_checked(diagnosis, ink),
    )
    return tuple(line for line in lines if line)


def summary(diagnosis: Diagnosis) -> Mrkdwn:
    """Slot N when there is no room for it: the counts alone, and where the rest is."""
    unknown, refuted = _of(diagnosis, Verdict.UNKNOWN), _of(diagnosis, Verdict.REFUTED)
    return Mrkdwn(
        f"*Ruled out:* {len(refuted)}, *could not check:* {len(unknown)}; "
        "names, reasons and fixes are on the page"
    )


def _of(diagnosis: Diagnosis, verdict: Verdict) -> list[Cause]:
    return [cause for cause in diagnosis.causes if cause.verdict is verdict]


def _ruled_out(causes: Sequence[Cause], ink: Ink) -> Mrkdwn:
    if not causes:
        return Mrkdwn("")
    shown = causes[: min(3, ink.lines)]
    texts = [f"{ink.value(name(cause.runbook))}{_because(cause, ink)}" for cause in shown]
    return _list(f"*Ruled out ({len(causes)}):*", texts, len(causes) - len(shown))


def _because(cause: Cause, ink: Ink) -> str:
    check = deciding(cause)
    seen = value_seen(check, ink) if check else ""
    if check and seen:
        return f" ({ink.said(small(check.claim))}: {seen})"
    return f" ({ink.sentence(small(cause.because.rstrip('.')))})" if cause.because else ""


def _not_applicable(causes: Sequence[Cause], ink: Ink) -> Mrkdwn:
    if not causes:
        return Mrkdwn("")
    shown = causes[: min(3, ink.lines)]
    texts = [
        f"{ink.value(name(c.runbook))}{_because(c, ink) or ' (it has no such part)'}" for c in shown
    ]
    return _list("*Not applicable:*", texts, len(causes) - len(shown))


def _list(head: str, texts: list[str], left: int) -> Mrkdwn:
    rest = more(left)
    return Mrkdwn(f"{head} {', '.join([*texts, rest] if rest else texts)}")


def _not_checked(diagnosis: Diagnosis, ink: Ink) -> tuple[Mrkdwn, ...]:
    unknown = _of(diagnosis, Verdict.UNKNOWN)
    missing = [cause for cause in unknown if _misses_something(cause)]
    between = [cause for cause in unknown if not _misses_something(cause)]
    told: dict[Gap, list[str]] = {}
    for cause in missing:
        told.setdefault(_gap_of(cause, diagnosis.evidence), []).append(name(cause.runbook))
    asked_for = {key for cause in missing for key in cause.evidence}
    others: dict[Gap, list[str]] = {}
    for item in diagnosis.evidence:
        failed = _failed(item)
        if failed and item.name not in asked_for and not _only_absent(item, failed):
            others.setdefault(_gap(failed), []).append(item.name)
    return (
        _undecided(between, ink),
        _gaps(f"*Could not check ({len(missing)}):*", told, ink),
        _gaps(f"*No answer ({sum(map(len, others.values()))}):*", others, ink),
    )


def _gaps(head: str, gaps: dict[Gap, list[str]], ink: Ink) -> Mrkdwn:
    if not gaps:
        return Mrkdwn("")
    shown = list(gaps.items())[: min(3, ink.lines)]
    texts = [_told(gap, names, ink) for gap, names in shown]
    left = more(sum(len(names) for _, names in list(gaps.items())[len(shown) :]))
    return Mrkdwn(f"{head} {' '.join([*texts, left] if left else texts)}")


def _told(gap: Gap, names: list[str], ink: Ink) -> str:
    shown = [ink.value(item) for item in names[: max(1, ink.lines // 2)]]
    left = more(len(names) - len(shown))
    text = f"{', '.join([*shown, left] if left else shown)}: {ink.sentence(gap.reason)}."
    return f"{text} Fix: {ink.sentence(gap.fix)}." if gap.fix else text


def _misses_something(cause: Cause) -> bool:
    return not cause.checks or any(check.truth is Truth.UNKNOWN for check in cause.checks)


def _undecided(causes: Sequence[Cause], ink: Ink) -> Mrkdwn:
    """Causes whose values lie between what confirms and what refutes: nothing is missing."""
    if not causes:
        return Mrkdwn("")
    shown = causes[: min(3, ink.lines)]
    texts = [f"{ink.value(name(cause.runbook))}{_because(cause, ink)}" for cause in shown]
    return _list(
        f"*Neither confirmed nor ruled out ({len(causes)}):*", texts, len(causes) - len(shown)
    )


def _gap_of(cause: Cause, evidence: Iterable[Evidence]) -> Gap:
    """Why a cause was not checked: the question of its evidence that failed, else its sentence."""
    for item in evidence:
        failed = _failed(item) if item.name in cause.evidence else None
        if failed:
            return _gap(failed)
    return Gap(small(cause.because.rstrip(".")) or "not measured", _FIXES[EvidenceStatus.SKIPPED])


def _failed(item: Evidence) -> Asked | None:
    """The question whose failure stands for the evidence; None when all were answered.

    A series that is not there stands back behind a backend that did not answer.
    """
    fine = (EvidenceStatus.COLLECTED, EvidenceStatus.NOT_APPLICABLE)
    failed = [question for question in item.asked if question.status not in fine]
    failed.sort(key=lambda question: question.status is EvidenceStatus.EMPTY)
    asked = next(iter(failed), None)
    if asked or item.status in fine:
        return asked
    return Asked(question="", backend="", status=item.status, detail=item.reason)


def _only_absent(item: Evidence, failed: Asked) -> bool:
    """Whether the evidence is there, and only a series that some engines lack is not."""
    return item.status is EvidenceStatus.COLLECTED and failed.status is EvidenceStatus.EMPTY


def _gap(asked: Asked) -> Gap:
    """The reason with its fix. A detail that names its own fix keeps it."""
    reason, mark, fix = asked.detail.partition("Fix:")
    reason = reason.strip().rstrip(".") or f"{backend_name(asked.backend)}: {asked.status.value}"
    if mark and fix.strip():
        return Gap(small(reason), fix.strip().rstrip("."))
    backend = backend_name(asked.backend) or "the backend"
    return Gap(small(reason), _FIXES.get(asked.status, "").format(backend=backend))
