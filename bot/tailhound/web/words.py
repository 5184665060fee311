"""What the pages say of verdicts, claims and evidence. Pure text; the templates escape it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tailhound.model import (
    ANSWERED,
    Alert,
    Asked,
    Cause,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Incident,
    Offer,
    Stage,
    Verdict,
)
from tailhound.model.wording import NOT_MEASURED, count, duration, with_usual
from tailhound.truth import Truth
from tailhound.web.headline import backend, confirmed, name, seen, small

FINE = frozenset({EvidenceStatus.COLLECTED, EvidenceStatus.NOT_APPLICABLE})
_FIXES = {
    EvidenceStatus.EMPTY: "check that it is scraped or exists",
    EvidenceStatus.TIMEOUT: "check that {backend} is up; a Re-check asks again",
    EvidenceStatus.FORBIDDEN: "grant the reading account what {backend} refused",
    EvidenceStatus.UNREACHABLE: "check address, network and keys of {backend}",
    EvidenceStatus.TRUNCATED: "raise max_bytes of {backend} in the configuration",
    EvidenceStatus.UNPARSABLE: "look at the raw answer",
    EvidenceStatus.SKIPPED: "a Re-check asks again",
}
_FIRST_LABELS = ("alertname", "severity", "cluster", "namespace", "deployment", "statefulset",
                 "service", "model_name", "pod", "container", "node", "instance")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Group:
    """The causes of one verdict, under the word that people use for it."""

    word: str
    slug: str
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Why something was not answered, what would help, and which causes or evidence it concerns."""

    reason: str
    fix: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One stage as a bar: lengths from 0 to 100, None where nobody measured it."""

    stage: str
    text: str
    now: float | None
    usual: float | None
    grew: bool


def groups(diagnosis: Diagnosis) -> tuple[Group, ...]:
    """All causes by verdict; verdicts that no cause has are left out."""
    words = (
        (Verdict.CONFIRMED, "Confirmed", "confirmed"),
        (Verdict.UNKNOWN, "Unknown", "unknown"),
        (Verdict.REFUTED, "Ruled out", "ruled-out"),
        (Verdict.NOT_APPLICABLE, "Not applicable", "not-applicable"),
    )
    made = (
        Group(word, slug, tuple(c for c in diagnosis.causes if c.verdict is verdict))
        for verdict, word, slug in words
    )
    return tuple(group for group in made if group.causes)


def counts(diagnosis: Diagnosis) -> str:
    """`14 causes checked: 2 confirmed, 1 unknown, 11 ruled out`."""
    told = [f"{len(group.causes)} {group.word.lower()}" for group in groups(diagnosis)]
    return f"{plural(len(diagnosis.causes), 'cause')} checked: {', '.join(told)}"


def chain(diagnosis: Diagnosis) -> tuple[Cause, ...]:
    """The causes of the chain, trigger first; both where two fit."""
    known = {cause.runbook: cause for cause in diagnosis.causes}
    linked = tuple(known[runbook] for runbook in diagnosis.chain if runbook in known)
    return linked or confirmed(diagnosis)


def nearest(diagnosis: Diagnosis) -> tuple[Cause, ...]:
    """The unknown causes with most claims that hold, then fewest open ones; at most two."""
    unknown = [cause for cause in diagnosis.causes if cause.verdict is Verdict.UNKNOWN]
    return tuple(sorted(unknown, key=lambda c: (-held(c), _open(c)))[:2])


def held(cause: Cause) -> int:
    """How many of a cause's claims hold."""
    return sum(check.truth is Truth.TRUE for check in cause.checks)


def _open(cause: Cause) -> int:
    return sum(check.truth is Truth.UNKNOWN for check in cause.checks)


def standing(cause: Cause) -> str:
    """`2 claims hold, 3 unknown`."""
    holding = held(cause)
    verb = "holds" if holding == 1 else "hold"
    return f"{plural(holding, 'claim')} {verb}, {_open(cause)} unknown"


def would_decide(diagnosis: Diagnosis) -> tuple[str, ...]:
    """The facts that would decide about the nearest candidates; at most six."""
    missing = (m for cause in nearest(diagnosis) for check in cause.checks for m in check.missing)
    return tuple(dict.fromkeys(missing))[:6]


def offers(diagnosis: Diagnosis) -> tuple[Offer, ...]:
    """What can be done about the causes that the headline names, best first, each once."""
    named = [*confirmed(diagnosis), *chain(diagnosis)]
    found = (offer for cause in named for offer in cause.mitigations)
    return tuple({offer.id: offer for offer in found}.values())


def price(offer: Offer) -> str:
    """`Medium risk, cost: none, first token better`."""
    parts = [f"{offer.risk} risk" if offer.risk else ""]
    parts += [f"cost {small(offer.cost)}" if offer.cost else ""]
    parts += [f"complexity {small(offer.complexity)}" if offer.complexity else ""]
    parts += [f"time to first token {small(offer.ttft)}" if offer.ttft else ""]
    text = ", ".join(part for part in parts if part)
    return text[:1].upper() + text[1:]


def bars(stages: Iterable[Stage]) -> tuple[Bar, ...]:
    """The stages against the longest of them, usual values included."""
    known = [*stages]
    longest = max(
        (x for s in known for x in (s.seconds, s.usual_seconds) if x is not None), default=0.0
    )
    return tuple(_bar(stage, longest) for stage in known)


def _bar(stage: Stage, longest: float) -> Bar:
    def length(x: float | None) -> float | None:
        return None if x is None else round(100 * x / longest, 1) if longest > 0 else 0.0

    usual = stage.usual_seconds
    text = NOT_MEASURED
    grew = False
    if stage.seconds is not None:
        text = with_usual(stage.seconds, usual, "seconds")
        grew = usual is not None and stage.seconds - usual > 0.1 * max(usual, longest / 10)
    return Bar(stage.stage, text, length(stage.seconds), length(usual), grew)


def growth(diagnosis: Diagnosis) -> str:
    """`queue +3.1 s`: the stage that grew most, in seconds of its mean; "" if none is known."""
    grown = [
        (stage.seconds - stage.usual_seconds, stage.stage)
        for stage in diagnosis.stages
        if stage.seconds is not None and stage.usual_seconds is not None
    ]
    most = max(grown, default=(0.0, ""))
    return f"{seen(most[1], 40)} +{duration(most[0])}" if most[0] > 0 else ""


def gaps(diagnosis: Diagnosis) -> tuple[Gap, ...]:
    """What could not be checked, by reason: causes that stay unknown, then other evidence."""
    told: dict[tuple[str, str], list[str]] = {}
    used: set[str] = set()
    for cause in diagnosis.causes:
        if cause.verdict is Verdict.UNKNOWN:
            used.update(cause.evidence)
            told.setdefault(_gap_of(cause, diagnosis.evidence), []).append(name(cause.runbook))
    for item in diagnosis.evidence:
        failed = _failed(item)
        if failed and item.name not in used:
            told.setdefault(_gap(failed), []).append(seen(item.name, 80))
    return tuple(Gap(reason, fix, tuple(names)) for (reason, fix), names in told.items())


def by_hand(diagnosis: Diagnosis) -> tuple[Asked, ...]:
    """Questions without an answer of the causes that stay unknown, nearest first; at most four."""
    wanted = [key for cause in nearest(diagnosis) for key in cause.evidence]
    failed = [
        asked
        for item in sorted(
            (item for item in diagnosis.evidence if item.name in wanted),
            key=lambda item: wanted.index(item.name),
        )
        for asked in item.asked
        if asked.status not in FINE and asked.question
    ]
    return tuple(failed[:4])


def _gap_of(cause: Cause, evidence: Iterable[Evidence]) -> tuple[str, str]:
    for item in evidence:
        failed = _failed(item) if item.name in cause.evidence else None
        if failed:
            return _gap(failed)
    return small(cause.because.rstrip(".")) or "between its thresholds", ""


def _failed(item: Evidence) -> Asked | None:
    asked = next((asked for asked in item.asked if asked.status not in FINE), None)
    if asked or item.status in FINE:
        return asked
    return Asked(question="", backend="", status=item.status, detail=item.reason)


def _gap(asked: Asked) -> tuple[str, str]:
    """The reason and its fix; a detail that names its own fix keeps it."""
    reason, said, fix = seen(asked.detail, 600).partition("Fix:")
    who = backend(asked.backend) or "the backend"
    reason = reason.strip().rstrip(".") or f"{who}: {asked.status.value}"
    if said and fix.strip():
        return small(reason), fix.strip().rstrip(".")
    if ": set " in reason:  # not configured: the sentence says which key
        return small(reason), ""
    return small(reason), _FIXES.get(asked.status, "").format(backend=who)


def answered(diagnosis: Diagnosis) -> str:
    """`38 of 40 questions answered`; "" when nothing was asked."""
    asked = [one for item in diagnosis.evidence for one in item.asked]
    done = sum(one.status in ANSWERED for one in asked)
    return f"{count(done)} of {plural(len(asked), 'question')} answered" if asked else ""


def labels_of(labels: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Labels with those that people look for first, then by name; values fit to be seen."""
    rank = {label: n for n, label in enumerate(_FIRST_LABELS)}
    ordered = sorted(labels, key=lambda pair: (rank.get(pair[0], len(rank)), pair[0]))
    return tuple((seen(label, 80), seen(text)) for label, text in ordered)


def which(alert: Alert) -> str:
    """What tells an alert from the others of its group: its pod, node, instance or device."""
    for label in ("pod", "node", "instance", "device"):
        if alert.labels.get(label):
            return f"{label} {seen(alert.labels[label], 80)}"
    return ""


def ago(at: datetime, now: datetime) -> str:
    """`9 min ago`, `in 2 min`, `now`."""
    seconds = (now - at).total_seconds()
    if abs(seconds) < 1:
        return "now"
    text = duration(
        float(round(abs(seconds) / 60) * 60 if abs(seconds) >= 120 else round(abs(seconds)))
    )
    return f"{text} ago" if seconds > 0 else f"in {text}"


def plural(amount: int, noun: str) -> str:
    """`1 cause`, `2 causes`."""
    return f"{count(amount)} {noun}" if amount == 1 else f"{count(amount)} {noun}s"


def summary(incident: Incident) -> str:
    """What the alert itself says: its summary or description; "" without one."""
    for alert in incident.alerts[:1]:
        text = alert.annotations.get("summary") or alert.annotations.get("description") or ""
        return seen(text, 300)
    return ""
