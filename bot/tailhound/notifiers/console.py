"""Incidents as one line each: for a terminal, a log, and where there is no Slack."""

from collections.abc import Callable

from tailhound.model import CLOSED_STATES, Incident, Outlook, State, telling
from tailhound.model.redaction import redacted
from tailhound.model.wording import clock, date_clock, duration
from tailhound.notifiers import Delivery, Posted

NOT_HEARD_OF = "not heard of"
"""What an incident counts as of which nobody said that it is over: its alert may still fire."""

_LIMIT = 200


class ConsoleNotifier:
    """Writes a line through `write` whenever an incident changes for its reader.

    Progress of an investigation is no change: a log wants the states, not every answer. A failure
    of tailhound, and a body that it can't read, go through `warn`.
    """

    name = "console"

    def __init__(
        self, write: Callable[[str], None], warn: Callable[[str], None] | None = None
    ) -> None:
        self._write = write
        self._warn = warn or write
        self._told: dict[str, str] = {}

    async def deliver(self, delivery: Delivery) -> Posted:
        """Write the incident's line, unless it is the line that was written last for it."""
        incident = delivery.incident
        text = line(incident)
        if self._told.get(incident.id) != text:
            self._told[incident.id] = text
            (self._warn if incident.state is State.FAILED else self._write)(text)
        if incident.state in CLOSED_STATES:
            self._told.pop(incident.id, None)
        return Posted(place=delivery.place, message=incident.id)


def line(incident: Incident) -> str:
    """`8R5W  cause found  llm/chat-json  The CPU limit stops the engine, high confidence, ...`."""
    state, rest = _state(incident), _rest(incident)
    where = () if incident.unreadable else (incident.subject.where,)
    text = "  ".join((incident.id, state, *where, rest))
    shown = redacted("".join(letter if letter.isprintable() else " " for letter in text))
    return shown if len(shown) <= _LIMIT else f"{shown[: _LIMIT - 1]}…"


_DECIDED = frozenset({State.DIAGNOSED, State.MITIGATING})


def _goes_on(incident: Incident) -> bool:
    """Whether its verdict stands while it is checked again."""
    return incident.state in (State.INVESTIGATING, State.DEFERRED) and incident.verdict_stands


def _state(incident: Incident) -> str:
    diagnosis = incident.diagnosis
    if incident.unreadable and incident.state is not State.JOINED:
        return "unreadable alert"
    if diagnosis is not None and (incident.state in _DECIDED or _goes_on(incident)):
        return diagnosis.outlook.value
    if incident.state is State.INVESTIGATING and incident.episode > 1:
        return "back again"
    if incident.state is State.RESOLVED and incident.unheard:
        return NOT_HEARD_OF
    return "waiting its turn" if incident.state is State.DEFERRED else incident.state.value


def _rest(incident: Incident) -> str:
    if incident.unreadable:
        return incident.unreadable
    if incident.state is State.JOINED:
        return f"goes on as incident {incident.joined_into}"
    if incident.state is State.FAILED:
        return f"{incident.failed_because.rstrip('.') or 'no verdict'}; the alert stands"
    if incident.state is State.RESOLVED:
        return _resolved(incident)
    if incident.state is State.DIAGNOSED or _goes_on(incident):
        again = ["checking again"] if _goes_on(incident) else []
        return ", ".join([headline(incident), *_symptom(incident), *again])
    return f"{incident.name}, since {clock(incident.since)}"


def _resolved(incident: Incident) -> str:
    end = incident.resolved_at
    if end and incident.unheard:
        return f"since {date_clock(end)}: {incident.name}"
    lasted = f"after {duration((end - incident.since).total_seconds())}" if end else "now"
    cause = headline(incident) if incident.diagnosis is not None else "before a verdict"
    return f"{lasted}: {cause}"


def headline(incident: Incident) -> str:
    """The verdict in a few words: the causes and how sure, or what can't be told."""
    diagnosis = incident.diagnosis
    if diagnosis is None:
        return incident.name
    if diagnosis.outlook is Outlook.BLIND:
        return telling.blind(diagnosis)
    causes = telling.headline_causes(diagnosis)
    if not causes:
        return f"{incident.name}, {telling.counts(diagnosis)}"
    sure = telling.sure(diagnosis.confidence)
    return ", ".join([*(telling.title(cause) for cause in causes), *([sure] if sure else [])])


def _symptom(incident: Incident) -> list[str]:
    symptom = incident.diagnosis.symptom if incident.diagnosis else None
    if symptom is None:
        return []
    return [f"{symptom.name} {telling.valued(symptom)}"]
