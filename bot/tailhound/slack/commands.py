"""What `/tailhound` answers. Pure; values are escaped."""

import difflib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from tailhound.model import Incident, Outlook, State, telling
from tailhound.model.names import backend_name
from tailhound.model.wording import day_clock
from tailhound.slack import escape

COMMANDS: Final[Mapping[str, str]] = {
    "status": "what is open, and since when",
    "help": "this list",
}
_SHOWN: Final = 20
_LENGTH: Final = 2_900


def help_text() -> str:
    """All commands, a line each."""
    lines = [f"`/tailhound {word}`  {does}" for word, does in COMMANDS.items()]
    return "\n".join([*lines, "A click on *Re-check* under a message looks again."])


def unknown_text(word: str) -> str:
    """An unknown word runs nothing and gets the nearest command."""
    near = difflib.get_close_matches(word.lower(), COMMANDS, n=1, cutoff=0.6)
    hint = f" Did you mean `{near[0]}`?" if near else ""
    return f"No command {escape.code(word)}.{hint} `/tailhound help` lists all {len(COMMANDS)}."


def status_text(incidents: Sequence[Incident], now: datetime) -> str:
    """The open incidents, the newest first; at most 20 lines."""
    closed = (State.RESOLVED, State.JOINED)
    open_ = [incident for incident in incidents if incident.state not in closed]
    if not open_:
        return "Nothing is open. `/tailhound help` lists what can be asked."
    lines = [f"*{len(open_)} open.*"]
    for incident in open_[:_SHOWN]:
        line = _line(incident, now)
        if len("\n".join([*lines, line])) > _LENGTH:
            break
        lines.append(line)
    left = len(open_) - (len(lines) - 1)
    return "\n".join([*lines, f"+ {left} more on the page"] if left else lines)


def _line(incident: Incident, now: datetime) -> str:
    where = escape.value(incident.subject.where)
    since = day_clock(incident.since, now)
    return f"{escape.value(incident.id)} {where} · {_says(incident)} · since {since}"


def _says(incident: Incident) -> str:
    diagnosis = incident.diagnosis
    if incident.state is State.FAILED:
        return "tailhound itself failed, the alert stands"
    if incident.state is State.DEFERRED:
        return "waiting its turn"
    if incident.unreadable:
        return "unreadable alert"
    if diagnosis is None or incident.state is State.INVESTIGATING:
        return "being checked"
    if diagnosis.primary is None or diagnosis.outlook is Outlook.BLIND:
        who = escape.value(backend_name(diagnosis.blind))
        blind = f": {who} does not answer" if diagnosis.blind else ""
        return f"{diagnosis.outlook.value}{blind}"
    title = escape.said(telling.title(diagnosis.cause(diagnosis.primary)), 80)
    sure = f" · {diagnosis.confidence.value}" if diagnosis.confidence else ""
    return f"{title}{sure}"
