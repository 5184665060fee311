"""What `/tailhound` answers. Pure; values are escaped."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tailhound.durable.switch import Stopped
from tailhound.model import Diagnosis, Incident, Outlook, State, may_change, telling
from tailhound.model.names import grave
from tailhound.model.wording import day_clock
from tailhound.slack import escape
from tailhound.slack.deeds import Open, Part
from tailhound.slack.look import WORDS, look_of
from tailhound.slack.meant import where_text

COMMANDS: Final[Mapping[str, str]] = {
    "diagnose": "NAMESPACE/WORKLOAD: check it now, as if an alert had come",
    "run": "RUNBOOK NAMESPACE/WORKLOAD: check one cause, without an incident",
    "status": "what is open, and since when",
    "show": "[INCIDENT]: its symptom, its verdict and what can be done",
    "why": "[INCIDENT]: its claims with their values, and what could not be checked",
    "recheck": "[INCIDENT]: ask everything again",
    "approvals": "what waits for somebody's word",
    "runbooks": "[ID]: the causes that are known, or one of them",
    "silence": "[INCIDENT]: silence its alerts, with a preview",
    "stop": "[WHY]: stop all changes; this version makes none. Diagnoses go on",
    "resume": "end that stop; it turns nothing on",
    "help": "this list",
}
WAITS: Final = (
    f"Nothing waits for approval: {may_change.NO_CHANGES}. `/tailhound status` lists what is open."
)
_NEXT: Final = (
    "*Re-check* under a message looks again; `/tailhound help` lists what else can be done."
)
_INCIDENTS: Final = (
    "INCIDENT is an id such as `7F3K`, a link to its message or page, or its workload; without "
    "one, what is open in the channel where you type."
)
_INCIDENT: Final = re.compile(r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{4}")
"""What reads like an incident's id, and like no word: four letters and digits."""
_SHOWN: Final = 20
_LENGTH: Final = 2_900


def help_text() -> str:
    """All commands, a line each."""
    lines = [f"`/tailhound {word}`  {does}" for word, does in COMMANDS.items()]
    return "\n".join([*lines, _INCIDENTS])


def unknown_text(word: str) -> str:
    """An unknown word runs nothing and gets the nearest command, an incident's id what it goes
    with.
    """
    if _INCIDENT.fullmatch(word):
        id = word.upper()
        return (
            f"{escape.code(id)} alone does nothing. `/tailhound show {id}` shows it, `/tailhound "
            f"why {id}` its claims; `recheck {id}` asks again, `silence {id}` silences its alerts."
        )
    near = difflib.get_close_matches(word.lower(), COMMANDS, n=1, cutoff=0.6)
    hint = f" Did you mean `{near[0]}`?" if near else ""
    return f"No command {escape.code(word)}.{hint} `/tailhound help` lists all {len(COMMANDS)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What `status` tells: what is open, the backends, and whether anything may change. `page` is
    where the pages are, "" = nowhere that people could reach.
    """

    open: Open
    parts: Sequence[Part]
    mode: str
    stopped: Stopped | None
    page: str


def status_text(standing: Standing, now: datetime) -> str:
    """The open incidents, the newest first; at most 20 lines."""
    changes = changes_text(standing.mode, standing.stopped, now)
    foot = [parts_text(standing.parts)] if standing.parts else []
    if not standing.open.amount:
        lines = [f"*Nothing is open, {changes}.*", *foot]
        return "\n".join([*lines, "`/tailhound diagnose NAMESPACE/WORKLOAD` checks something now."])
    head = f"*{standing.open.amount} open, {changes}.*"
    room = _LENGTH - len(head) - sum(map(len, foot)) - len(_NEXT) - 60
    lines = [*incident_lines(standing.open, now, page=bool(standing.page), room=room)]
    return "\n".join([head, *lines, *foot, _NEXT])


def status_help(word: str) -> str:
    """What who asks for the status of one incident is told."""
    shows = escape.code(f"/tailhound show {word}")
    return f"`/tailhound status` takes no incident: it lists what is open. {shows} shows that one."


def incident_lines(
    found: Open, now: datetime, *, page: bool, room: int = _LENGTH, glyphs: bool = False
) -> tuple[str, ...]:
    """A line each, within so many characters; what is left out is counted. `page`: it can be seen
    on a page.

    With `glyphs`, each begins with that of its state, which the line says in words too.
    """
    lines: list[str] = []
    for incident in found.listed[:_SHOWN]:
        glyph = f"{_glyph(incident)} " if glyphs else ""
        line = f"{glyph}{_line(incident, now, found.links.get(incident.id, ''))}"
        if sum(map(len, lines)) + len(lines) + len(line) > room:
            break
        lines.append(line)
    left = found.amount - len(lines)
    where = "on the page" if page else "in `tailhound incidents`"
    return (*lines, f"+ {left} more {where}") if left > 0 else tuple(lines)


def changes_text(mode: str, stopped: Stopped | None, now: datetime) -> str:
    """`changes off (observe mode)`, `changes stopped by ana since 02:40 UTC`."""
    return f"changes {escape.value(may_change.changes_stand(mode, stopped, now), 120)}"


def parts_text(parts: Sequence[Part]) -> str:
    """`Prometheus 40 ms · Kubernetes can't be reached`, those in trouble in bold."""
    shown = [f"{escape.value(one.name, 40)} {escape.value(one.state, 60)}" for one in parts[:12]]
    bold = [f"*{text}*" if one.works is False else text
            for text, one in zip(shown, parts, strict=False)]  # fmt: skip
    left = len(parts) - len(shown)
    return " · ".join([*bold, *([f"+ {left} more"] if left > 0 else [])])


def _glyph(incident: Incident) -> str:
    """The first word of its state, where that is a glyph."""
    first = WORDS[look_of(incident)].split()[0]
    return "⚠️" if first.isascii() else first


def _line(incident: Incident, now: datetime, address: str) -> str:
    id, where = escape.link(address, escape.value(incident.id)), where_text(incident)
    since = day_clock(incident.since, now)
    severity = f" · {grave(escape.value(incident.severity, 20))}" if incident.severity else ""
    on_it = f" · {escape.value(incident.on_it.by, 40)} is on it" if incident.on_it else ""
    silenced = f" · {told}" if (told := telling.silenced(incident, now)) else ""
    return f"{id} {where}{severity} · {_says(incident)} · since {since}{on_it}{silenced}"


def _says(incident: Incident) -> str:
    diagnosis = incident.diagnosis
    if incident.unreadable:
        return "unreadable alert"
    if diagnosis is not None and incident.verdict_stands:
        told = verdict_text(diagnosis)
        return f"{told} · checking again" if incident.is_rechecked else told
    if incident.state is State.FAILED:
        return "tailhound itself failed, the alert stands"
    return "waiting its turn" if incident.state is State.DEFERRED else "being checked"


def verdict_text(diagnosis: Diagnosis) -> str:
    """`the CPU limit stops the engine · high`, `no cause confirmed`."""
    if diagnosis.primary is None or diagnosis.outlook is Outlook.BLIND:
        blind = f": {escape.value(telling.blind(diagnosis))}" if diagnosis.blind else ""
        return f"{diagnosis.outlook.value}{blind}"
    title = escape.sentence(telling.title(diagnosis.cause(diagnosis.primary)), 80)
    sure = f" · {diagnosis.confidence.value}" if diagnosis.confidence else ""
    return f"{title}{sure}"
