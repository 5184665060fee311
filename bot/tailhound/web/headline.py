"""What the first line of an incident says: one state word, and the cause or the symptom."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from tailhound.model import Diagnosis, Incident, Outlook, State, Verdict, telling
from tailhound.model.names import backend_name, capital, cause_name
from tailhound.model.redaction import plain, redacted
from tailhound.model.wording import duration

"""The states of an incident that is not over."""

_SHORT = 200
"""Characters: names and labels, which stand on many rows of a list, are cleaned once."""
_LOOKED_AT = 16 * 1024
"""Characters; redacting a megabyte for each of a page's values would take seconds."""


@dataclass(frozen=True, slots=True)
class Headline:
    """`word` names the state, `text` says what it is; `tone` only repeats the word as a colour."""

    word: str
    text: str
    tone: str  # "work" | "found" | "open" | "done" | "bad"


def seen(text: str, limit: int = 300) -> str:
    """Text from outside as people may see it: redacted, no control characters, bounded.

    Of a very long text only the beginning is looked at; the mark counts all that is left out.
    """
    return _seen_short(text, limit) if len(text) <= _SHORT else _seen(text, limit)


def _seen(text: str, limit: int) -> str:
    clean = plain(redacted(text[:_LOOKED_AT]), _LOOKED_AT * 2)
    length = len(clean) + max(0, len(text) - _LOOKED_AT)
    if length <= limit:
        return clean
    mark = f"… +{length - limit:,} characters"
    return clean[: max(0, limit - len(mark))] + mark if limit > len(mark) else clean[:limit] + "…"


_seen_short = lru_cache(maxsize=4096)(_seen)


def where(incident: Incident) -> str:
    """`prod / llm-70b`, `gpu-node-7`, `all services`."""
    return " / ".join(seen(incident.subject.where, 120).split("/", 1))


def name(runbook: str) -> str:
    """A runbook's id as people say it, at the beginning of a line: `Node drain`."""
    return capital(cause_name(runbook))


def is_old(incident: Incident) -> bool:
    """Whether the diagnosis is of the time before: it has come back, and is not diagnosed yet, or
    was over before it could be.
    """
    before = (State.INVESTIGATING, State.DEFERRED, State.FAILED, State.RESOLVED)
    return incident.state in before and incident.diagnosis is not None and incident.verdict is None


def cause_of(incident: Incident) -> str:
    """What the list shows under "cause": the cause, or what is known instead of one."""
    diagnosis = incident.diagnosis
    if diagnosis is None or is_old(incident) or diagnosis.outlook is Outlook.BLIND:
        return seen(incident.name, 100)
    found = telling.headline_causes(diagnosis)
    if found:
        return ", ".join(name(cause.runbook) for cause in found)
    unknown = len(telling.of(diagnosis, Verdict.UNKNOWN))
    return f"{seen(incident.name, 100)}, {unknown} unknown"


def headline(incident: Incident) -> Headline:
    """The headline of an incident as it stands."""
    if incident.unreadable and incident.state is not State.JOINED:
        return Headline("Unreadable alert", "a notification arrived that is no alert", "bad")
    if incident.verdict_stands and incident.state in _KEEP_IT:
        return _diagnosed(incident)
    return _BY_STATE[incident.state](incident)


def _deferred(incident: Incident) -> Headline:
    return Headline("Waiting its turn", _alert_on(incident), "work")


def _investigating(incident: Incident) -> Headline:
    word = "Back again" if incident.episode > 1 else "Investigating"
    return Headline(word, _alert_on(incident), "work")


def _diagnosed(incident: Incident) -> Headline:
    diagnosis = incident.diagnosis
    if diagnosis is None:
        return _investigating(incident)
    return _of_outlook(diagnosis, incident)


def _of_outlook(diagnosis: Diagnosis, incident: Incident) -> Headline:
    match diagnosis.outlook:
        case Outlook.CAUSE_FOUND:
            return Headline("Cause found", _title(diagnosis), "found")
        case Outlook.TWO_FIT:
            names = ", ".join(name(cause.runbook) for cause in telling.headline_causes(diagnosis))
            return Headline("Two causes fit", names, "found")
        case Outlook.NONE_CONFIRMED:
            return Headline("No cause confirmed", _symptom_on(diagnosis, incident), "open")
        case Outlook.BLIND:
            return Headline("Cannot see", seen(telling.blind(diagnosis), 80), "bad")


def _mitigating(incident: Incident) -> Headline:
    text = _title(incident.diagnosis) if incident.diagnosis else ""
    return Headline("Change running", text or _alert_on(incident), "work")


def _resolved(incident: Incident) -> Headline:
    seconds = (
        (incident.resolved_at - incident.since).total_seconds() if incident.resolved_at else -1.0
    )
    if incident.unheard:
        return Headline("Not heard of any more", _alert_on(incident), "done")
    word = f"Resolved after {duration(seconds)}" if seconds >= 0 else "Resolved"
    found = telling.headline_causes(incident.verdict)
    text = _title(incident.diagnosis, over=True) if found else _alert_on(incident)
    return Headline(word, text, "done")


def _joined(incident: Incident) -> Headline:
    return Headline("Joined", f"handled in incident {seen(incident.joined_into, 20)}", "done")


def _failed(incident: Incident) -> Headline:
    return Headline("tailhound itself failed", f"{_alert_on(incident)}; the alert stands", "bad")


_BY_STATE: dict[State, Callable[[Incident], Headline]] = {
    State.DEFERRED: _deferred,
    State.INVESTIGATING: _investigating,
    State.DIAGNOSED: _diagnosed,
    State.MITIGATING: _mitigating,
    State.RESOLVED: _resolved,
    State.JOINED: _joined,
    State.FAILED: _failed,
}


_KEEP_IT = frozenset({State.INVESTIGATING, State.DEFERRED, State.FAILED})
"""Whatever the check of a verdict comes to, the verdict is what people act on meanwhile."""


def backend(text: str) -> str:
    """A backend as people write it: `Prometheus`, `SSH to db-1`."""
    return backend_name(seen(text, 80))


def _title(diagnosis: Diagnosis | None, *, over: bool = False) -> str:
    found = telling.headline_causes(diagnosis)
    return seen(telling.title(found[0], over=over), 200) if found else ""


def _alert_on(incident: Incident) -> str:
    return f"{seen(incident.name, 100)} on {where(incident)}"


def _symptom_on(diagnosis: Diagnosis, incident: Incident) -> str:
    if diagnosis.symptom is None:
        return _alert_on(incident)
    symptom = diagnosis.symptom
    what = f"{telling.slow(symptom)} {telling.ails(symptom)}"
    return f"{seen(what, 60)} on {where(incident)}"
