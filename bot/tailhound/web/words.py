"""What pages alone say: bars, labels, ages, anchors. Pure text; the templates escape it.

What they say as every surface does is in `model.telling` and `model.claims`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import escape

from tailhound.model import (
    Alert,
    Asked,
    Cause,
    Check,
    Diagnosis,
    Incident,
    Offer,
    Outlook,
    Part,
    Stage,
    State,
    by_hand,
    telling,
    weighing,
)
from tailhound.model.gaps import next_gap
from tailhound.model.names import capital, listed, small
from tailhound.model.next_look import next_look
from tailhound.model.stages import GROWTH_RATIO, NOTHING_SECONDS, name_of, unexplained
from tailhound.model.wording import NOT_MEASURED, day_clock, duration, grown, with_usual
from tailhound.rules.runbook import Mitigation
from tailhound.web.headline import is_old, seen

_PASTED = 1000
"""Characters of a question to paste; the page shows no more of one."""
_FIRST_LABELS = ("alertname", "severity", "cluster", "namespace", "deployment", "statefulset",
                 "service", "model_name", "pod", "container", "node", "instance")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Group:
    """The causes of one verdict, under the word that people use for it."""

    word: str
    slug: str
    causes: tuple[Cause, ...]


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
    made = (
        Group(capital(word), word.replace(" ", "-"), telling.of(diagnosis, verdict))
        for verdict, word in telling.GROUPS
    )
    return tuple(group for group in made if group.causes)


def offers(diagnosis: Diagnosis, *, over: bool = False) -> tuple[Offer, ...]:
    """What can be done about the causes that the headline names, best first, each once; once it is
    `over`, what still makes sense then.
    """
    named = (*telling.headline_causes(diagnosis), *telling.chain(diagnosis))
    return telling.offers(named, over=over)


def to_do(incident: Incident) -> str:
    """The heading of what to do; it promises nothing where there is nothing."""
    if is_old(incident):
        return "What could be done last time"
    if incident.state is State.RESOLVED:
        return "What could be done"
    diagnosis = incident.diagnosis
    if diagnosis is None or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return "You can"
    found = (
        offers(diagnosis),
        next_look(incident),
        next_gap(diagnosis),
        by_hand.by_hand(diagnosis),
    )
    return "You can" if any(found) else "No change is offered"


def warnings(incident: Incident) -> tuple[str, ...]:
    """What must not be done meanwhile; nothing once it is over, or while it is checked anew."""
    diagnosis = incident.diagnosis
    if diagnosis is None or incident.state is State.RESOLVED or is_old(incident):
        return ()
    return telling.warnings((*telling.headline_causes(diagnosis), *telling.chain(diagnosis)))


def price(offer: Offer | Mitigation) -> str:
    """`Medium risk: the pods restart. Cost none, time to first token better`."""
    parts = [f"cost {small(offer.cost)}" if offer.cost else ""]
    parts += [f"complexity {small(offer.complexity)}" if offer.complexity else ""]
    parts += [f"time to first token {small(offer.ttft)}" if offer.ttft else ""]
    return _sentences(offer, ", ".join(part for part in parts if part))


def risk(offer: Offer) -> str:
    """`Medium risk: the pods restart. Cost none`: the two that decide at night."""
    return _sentences(offer, f"cost {small(offer.cost)}" if offer.cost else "")


def _sentences(offer: Offer | Mitigation, price: str) -> str:
    parts = (telling.risk(offer.risk, offer.risk_of), price)
    return ". ".join(capital(part) for part in parts if part)


def tally(diagnosis: Diagnosis) -> str:
    """`2 confirmed, 11 ruled out, 1 unknown`."""
    counted = [(len(telling.of(diagnosis, verdict)), word) for verdict, word in telling.GROUPS]
    return ", ".join(f"{amount} {word}" for amount, word in counted if amount)


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
    if stage.remainder:
        text = f"{text}; {seen(stage.remainder, 60)}"
    return Bar(name_of(stage), text, length(stage.seconds), length(usual), grew)


def growth(diagnosis: Diagnosis) -> str:
    """`queue +3.1 s`: the stage that grew most, in seconds of its mean; `+0.25 s of +2.98 s queue`
    where that explains less than half of the symptom; `no stage grew` where none is longer by a
    tenth; "" if nothing is known.
    """
    known = [
        (stage.seconds - stage.usual_seconds, stage.usual_seconds, name_of(stage))
        for stage in diagnosis.stages
        if stage.seconds is not None and stage.usual_seconds is not None
    ]
    if not known:
        return ""
    more, usual, name = max(known)
    if more <= GROWTH_RATIO * usual or more < NOTHING_SECONDS:
        return _none_grew(diagnosis, [stage for _, _, stage in known])
    whole = unexplained(diagnosis)
    if whole is not None:
        return f"{grown(more, whole)} {seen(name, 40)}"
    return f"{seen(name, 40)} +{duration(more)}"


def _none_grew(diagnosis: Diagnosis, known: Sequence[str]) -> str:
    """`no stage grew`; `queue did not grow; decode: not measured` where that is not all of them."""
    dark = [name_of(stage) for stage in diagnosis.stages if stage.seconds is None]
    if not dark:
        return "no stage grew"
    shown = [seen(name, 40) for name in known], [seen(name, 40) for name in dark]
    return f"{listed(shown[0], 3)} did not grow; {listed(shown[1], 3)}: {NOT_MEASURED}"


def pasted(found: Iterable[Asked]) -> tuple[Asked, ...]:
    """The questions that are shown whole, to be pasted; the longer ones are in the Markdown."""
    return tuple(one for one in found if len(one.question) <= _PASTED)


def against(cause: Cause) -> str:
    """`Nothing speaks against it (3 of 4 checked).`; "" when one does."""
    found = weighing.against(cause.checks)
    return found.sentence(small(seen(found.open, 200)))


def anchors(cause: Cause) -> tuple[tuple[str, Check], ...]:
    """Each claim with its anchor: `cpu-throttling.confirm-1`."""
    counted: Counter[Part] = Counter()
    made = []
    for check in cause.checks:
        counted[check.part] += 1
        made.append((f"{cause.runbook}.{check.part.value}-{counted[check.part]}", check))
    return tuple(made)


def labels_of(
    labels: Iterable[tuple[str, str]], room: int = 1_000_000
) -> tuple[tuple[str, str], ...]:
    """Labels with those that people look for first, then by name; values fit to be seen.

    Those behind `room` bytes of HTML are left out.
    """
    rank = {label: n for n, label in enumerate(_FIRST_LABELS)}
    ordered = sorted(labels, key=lambda pair: (rank.get(pair[0], len(rank)), pair[0]))
    told = []
    for label, text in ordered:
        pair = seen(label, 80), seen(text)
        room -= 60 + sum(len(escape(one).encode("utf-8", "replace")) for one in pair)
        if room < 0:
            break
        told.append(pair)
    return tuple(told)


def which(alert: Alert) -> str:
    """What tells an alert from the others of its group: its pod, node, instance or device."""
    for label in ("pod", "node", "instance", "device"):
        if alert.labels.get(label):
            return f"{label} {seen(alert.labels[label], 80)}"
    return ""


def state_of(alert: Alert, now: datetime) -> str:
    """`firing, since 02:51 UTC · pod chat-json-2`, `fired from 02:51 UTC, over since ..`."""
    of = which(alert)
    begun = day_clock(alert.starts_at, now)
    told = f"firing, since {begun}"
    if alert.ends_at is not None:
        told = f"fired from {begun}, over since {day_clock(alert.ends_at, now)}"
    return f"{told}{f' · {of}' if of else ''}"


def iso(at: datetime) -> str:
    """`2026-11-30T02:51:00Z`, for machines."""
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def ago(at: datetime, now: datetime) -> str:
    """`9 min ago`, `in 2 min`, `now`."""
    seconds = (now - at).total_seconds()
    if abs(seconds) < 1:
        return "now"
    text = duration(
        float(round(abs(seconds) / 60) * 60 if abs(seconds) >= 120 else round(abs(seconds)))
    )
    return f"{text} ago" if seconds > 0 else f"in {text}"


def summary(incident: Incident) -> str:
    """What the alert itself says: its summary or description; "" without one."""
    notes = incident.worst.annotations if incident.worst else {}
    return seen(notes.get("summary") or notes.get("description") or "", 300)
