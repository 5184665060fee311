"""What a diagnosis says, in words: which causes a headline names, what led to what, what is open.

One place, so that Slack, the web, the terminal and the console say the same; a surface escapes the
texts, shortens the lists and draws them. Nothing here is escaped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from tailhound.model.evidence import EvidenceStatus
from tailhound.model.incident import Incident, Recheck, State
from tailhound.model.names import backend_name, plural, small
from tailhound.model.symptomless import symptomless
from tailhound.model.verdict import (
    Also,
    Cause,
    Confidence,
    Diagnosis,
    Offer,
    Outlook,
    Symptom,
    Verdict,
)
from tailhound.model.wording import clock, count, day_clock, number, times, with_usual

_ENDS = {
    EvidenceStatus.COLLECTED: "answered",
    EvidenceStatus.EMPTY: "empty",
    EvidenceStatus.NOT_APPLICABLE: "empty",
    EvidenceStatus.SKIPPED: "not asked",
}
"""How a question ended, in words; any other status is a failure."""

GROUPS = (
    (Verdict.CONFIRMED, "confirmed"),
    (Verdict.UNKNOWN, "unknown"),
    (Verdict.REFUTED, "ruled out"),
    (Verdict.NOT_APPLICABLE, "not applicable"),
)
"""Each verdict, under the word that people use for it."""

_QUANTILE = re.compile(r" (?:p\d+|mean)(?: at its peaks)?$")
"""What a headline has no room for; the value's own line tells it."""

_THINGS = {"inter-token": "tokens", "end to end": "requests", "request": "requests"}
"""What is slow, where the name of its time is no thing."""

_SHAPES = {"step": "rose in one step", "ramp": "rises slowly", "comb": "rises and falls"}
_LOADS = {"flat": "load as usual", "up": "load up", "down": "load down"}


# --- causes


def of(diagnosis: Diagnosis, verdict: Verdict) -> tuple[Cause, ...]:
    """The causes of one verdict, in the order of the diagnosis."""
    return tuple(cause for cause in diagnosis.causes if cause.verdict is verdict)


def headline_causes(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """The causes that the headline names: the primary one, or the two that fit."""
    return diagnosis.named if diagnosis else ()


def chain(diagnosis: Diagnosis) -> tuple[Cause, ...]:
    """The causes of the chain, trigger first; both where two fit."""
    known = {cause.runbook: cause for cause in diagnosis.causes}
    linked = tuple(known[runbook] for runbook in diagnosis.chain if runbook in known)
    return linked or headline_causes(diagnosis)


def link(cause: Cause) -> str:
    """What a confirmed cause does here: the runbook's own words, else why it is confirmed.

    The first letter stays as the runbook has it: the first word may be a name.
    """
    return " ".join(cause.says.split()) or because(cause)


def title(cause: Cause, *, over: bool = False) -> str:
    """The cause as its runbook words it, for the middle of a sentence; `over`: in the past."""
    return small(((cause.was if over else "") or cause.title).rstrip("."))


def because(cause: Cause) -> str:
    """Why the verdict is what it is, for the middle of a sentence."""
    return small(cause.because.rstrip("."))


def sure(confidence: Confidence | None) -> str:
    """`high confidence`; "" where nothing is confirmed."""
    return f"{confidence.value} confidence" if confidence else ""


def less_sure_because(cause: Cause) -> str:
    """What lowers the confidence, for the middle of a sentence; "" for high."""
    if cause.confidence is Confidence.HIGH:
        return ""
    return small(cause.confidence_because.rstrip("."))


def blind(diagnosis: Diagnosis) -> str:
    """`Prometheus does not answer`: who gives no answer, and how, for the outlook BLIND."""
    kind = diagnosis.blind.lower()
    asked = [one for item in diagnosis.evidence for one in item.asked if one.backend == kind]
    ends = {one.status for one in asked}
    name = backend_name(kind) or "the evidence"
    if ends == {EvidenceStatus.SKIPPED}:
        unset = any("is not configured" in one.detail for one in asked)
        return f"{name} is not configured" if unset else f"{name} was not asked"
    return f"{name} refuses" if ends == {EvidenceStatus.FORBIDDEN} else f"{name} does not answer"


def doctor(diagnosis: Diagnosis) -> str:
    """`tailhound doctor prometheus`: what looks at the backend that does not answer; "" where it is
    one that the command does not know.
    """
    kind = diagnosis.blind.lower()
    return f"tailhound doctor {kind}" if kind in ("prometheus", "kubernetes") else ""


def shape(diagnosis: Diagnosis) -> str:
    """How the symptom rose, and the load: `rose in one step, load as usual`; "" when unknown."""
    parts = (_SHAPES.get(diagnosis.shape), _LOADS.get(diagnosis.load))
    return ", ".join(part for part in parts if part)


def no_symptom(diagnosis: Diagnosis) -> str:
    """Why there is no symptom: `unknown (no usual value yet: first token 700 ms)`, `none grew: ..`.

    "" when there is one.
    """
    return "" if diagnosis.symptom else symptomless(diagnosis.evidence).text


def slow(symptom: Symptom | None) -> str:
    """`slow` of a time, `high` of anything else: how the symptom left its usual band."""
    return "slow" if symptom is not None and symptom.unit == "seconds" else "high"


def ails(symptom: Symptom) -> str:
    """`first token`, `tokens`, `error share at ingress`: what is slow or high, without how that was
    measured.
    """
    name = _QUANTILE.sub("", symptom.name)
    return _THINGS.get(name.lower(), small(name))


def valued(symptom: Symptom) -> str:
    """`3.1 s, usually 0.8 s (x3.9), p99 not used: 43 requests`: the value with all that belongs to
    it.
    """
    parts = (compared(symptom), thin(symptom), also(symptom), symptom.unmeasured)
    return ", ".join(part for part in parts if part)


def also(symptom: Symptom, most: int | None = None) -> str:
    """`also end to end x2.6, first token x1.4`: what else left its usual band, at most so many; ""
    where nothing did.
    """
    told = [f"{one.name} {_grown(one)}" for one in symptom.also[:most]]
    return f"also {', '.join(told)}" if told else ""


def _grown(one: Also) -> str:
    """How many times its usual value, else the value."""
    ratio = times(one.value, one.usual, at_least=one.at_least)
    return ratio or number(one.value, one.unit, at_least=one.at_least)


def compared(symptom: Symptom) -> str:
    """`3.1 s, usually 0.8 s (x3.9)`: the value beside its usual one."""
    return with_usual(
        symptom.value,
        symptom.usual,
        symptom.unit,
        at_least=symptom.at_least,
        history_seconds=symptom.history_seconds,
    )


def thin(symptom: Symptom | None) -> str:
    """`p99 not used: 43 requests`: why a lower quantile is told; "" where it is not."""
    if symptom is None or symptom.thin_requests is None:
        return ""
    return f"p99 not used: {plural(round(symptom.thin_requests), 'request')}"


def since(symptom: Symptom | None, alert_began: datetime) -> datetime | None:
    """When the symptom began, where that is before its alert; None where it tells nothing new.

    A series of rates shows a growth as late as its window is long: what the alert saw before it
    was there by then.
    """
    onset = symptom.onset if symptom else None
    if onset is None or onset >= alert_began.replace(second=0, microsecond=0):
        return None
    return onset


def ended(incident: Incident) -> str:
    """How it ended: `resolved`, `not heard of since`; "" while it stands.

    Said before the time of `resolved_at`; nobody has told the end of what is not heard of.
    """
    if incident.resolved_at is None:
        return ""
    return "not heard of since" if incident.unheard else "resolved"


def silenced(incident: Incident, now: datetime) -> str:
    """`silenced until 21:09 UTC`, by the silence that ends last; "" while nothing is."""
    held = [one.until for one in incident.silences if one.holds(now)]
    return f"silenced until {day_clock(max(held), now)}" if held else ""


def effect(diagnosis: Diagnosis) -> tuple[datetime | None, str]:
    """When the symptom began, as the effect of the chain, and a remark on that ("" for none).

    A cause may begin after the first slowness of its symptom: then half of the growth is what came
    after it, and the remark tells both: `half grown; slow since 11:52`.
    """
    symptom = diagnosis.symptom
    if symptom is None:
        return None, ""
    onset, half = symptom.onset, symptom.half_grown
    later = onset and any(one.onset and one.onset > onset for one in chain(diagnosis))
    if not later or onset is None or half is None or half <= onset:
        return onset, ""
    return half, f"half grown; {slow(symptom)} since {clock(onset).removesuffix(' UTC')}"


def counts(diagnosis: Diagnosis | None) -> str:
    """`14 causes checked: 11 ruled out, 2 unknown, 1 confirmed`.

    Zero is told of what is confirmed, unknown or ruled out: it is news. Causes that do not apply
    are told where there are any. What is confirmed and explains no symptom is no confirmed cause.
    """
    causes = diagnosis.causes if diagnosis else ()
    order = (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.NOT_APPLICABLE, Verdict.CONFIRMED)
    words = dict(GROUPS)
    found = any(one.verdict is Verdict.CONFIRMED for one in causes)
    if diagnosis and diagnosis.outlook is Outlook.NONE_CONFIRMED and found:
        words[Verdict.CONFIRMED] = "present without a symptom"
    amounts = [(sum(one.verdict is verdict for one in causes), words[verdict]) for verdict in order]
    told = [f"{amount} {word}" for amount, word in amounts if amount or word != "not applicable"]
    return f"{plural(len(causes), 'cause')} checked: {', '.join(told)}"


def rechecked(incident: Incident, now: datetime) -> str:
    """`Checking again since 03:12 UTC (asked by ana)…`, above the verdict that stands meanwhile;
    and how that ended, unless another verdict took its place. "" where nobody checks again.
    """
    if not incident.verdict_stands:
        return ""
    check = incident.recheck or Recheck(n=0, since=incident.since, ended_at=incident.since)
    told = incident.recheck is not None
    since = f" since {day_clock(check.since, now)}" if told else ""
    since = ", and once more after that" if check.n > incident.n else since
    since += f" (asked by {check.by})" if check.by else ""
    ended = f" {day_clock(check.ended_at, now)}" if check.ended_at and told else ""
    if incident.is_rechecked:
        waits = incident.state is State.DEFERRED
        return f"{'Waiting its turn to be checked' if waits else 'Checking'} again{since}…"
    if incident.failed_because:
        why = incident.failed_because.rstrip(".")
        return f"Checking again failed{ended}, this is still the verdict from before: {why}"
    return f"Checked again{ended}: same answer." if check.same else ""


def warnings(causes: Iterable[Cause]) -> tuple[str, ...]:
    """What must not be done while these causes hold, each once, without its full stop."""
    return tuple(dict.fromkeys(one.beware.rstrip(".") for one in causes if one.beware))


def offers(causes: Iterable[Cause], *, over: bool = False) -> tuple[Offer, ...]:
    """What can be done about these causes, each once: best first as the runbooks have it, and last
    what does not fit this case. `over`: without what makes sense only while it lasts.
    """
    every = (offer for cause in causes for offer in cause.mitigations)
    found = {offer.id: offer for offer in every if not (over and offer.while_it_lasts)}
    return tuple(sorted(found.values(), key=lambda offer: not offer.offered))


def named(offer: Offer) -> str:
    """`Raise the CPU limit by half (security/agent-x7k2p)`: what can be done, and to what."""
    title = offer.title.rstrip(".")
    return f"{title} ({offer.of})" if offer.of else title


def more_offers(left: Sequence[Offer]) -> str:
    """`2 more and 1 that does not apply`: the suggestions that a list leaves to the page, so that
    every list counts those that do not fit this case apart; "" for none.
    """
    fit = sum(offer.offered for offer in left)
    unfit = len(left) - fit
    counts = ((fit, "more"), (unfit, "that does not apply" if unfit == 1 else "that do not apply"))
    return " and ".join(f"{amount} {what}" for amount, what in counts if amount)


def risk(level: str, of: str = "") -> str:
    """`medium risk: the pods restart one by one`: how likely harm is, and what it would be."""
    if not level:
        return ""
    return f"{level} risk: {small(of.rstrip('.'))}" if of else f"{level} risk"


# --- questions


def answered(diagnosis: Diagnosis | None) -> str:
    """`38 of 40 questions answered, 1 empty, 1 failed`; "" when nothing was asked."""
    asked = [one for item in (diagnosis.evidence if diagnosis else ()) for one in item.asked]
    return tally(one.status for one in asked)


def tally(statuses: Iterable[EvidenceStatus]) -> str:
    """How questions ended: with data, with nothing there (empty), without an answer, not asked.

    An empty answer is no data: it is told apart. "" when there is no question.
    """
    ends = Counter(_ENDS.get(status, "failed") for status in statuses)
    if not ends:
        return ""
    rest = "".join(f", {count(ends[end])} {end}" for end in ("empty", "failed", "not asked")
                   if ends[end])  # fmt: skip
    return f"{count(ends['answered'])} of {plural(ends.total(), 'question')} answered{rest}"
