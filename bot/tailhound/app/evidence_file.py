"""All evidence of an incident as one Markdown file, for its thread: what the page's export says,
every value, and the raw outputs.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tailhound.model import Diagnosis, Evidence, Incident
from tailhound.model.names import plural
from tailhound.model.redaction import plain, redacted, scrubbed
from tailhound.model.wording import NOT_MEASURED, cut, day_clock
from tailhound.settings import Settings
from tailhound.store.incidents import RawOutput
from tailhound.web.assets import Assets
from tailhound.web.markdown import code, escaped, fence
from tailhound.web.render import Renderer

FILE_BYTES = 900_000
"""Slack shows the beginning of files up to a megabyte; the store has what does not fit."""

_ONE_OUTPUT = 64 * 1024
_VALUE = 400


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """Writes the file. `raw` reads the raw outputs of an incident; it blocks."""

    settings: Settings
    raw: Callable[[str], Sequence[RawOutput]]
    now: Callable[[], datetime]

    def __call__(self, incident: Incident) -> str:
        """The file's text; everything in it is redacted."""
        now = self.now()
        base = self.settings.listen.public_url.rstrip("/")
        page = f"{base}/incidents/{incident.id}" if base else ""
        text = Renderer(self.settings, Assets(), {}).markdown(
            "export", now=now, incident=incident, page=page
        )
        parts = [text.rstrip()]
        if incident.diagnosis is not None:
            parts.append(_values(incident.diagnosis))
        left = FILE_BYTES - sum(len(part.encode()) for part in parts)
        parts.append(_outputs(self.raw(incident.id), now, left, page))
        return "\n\n".join(parts) + "\n"


def _values(diagnosis: Diagnosis) -> str:
    lines = ["## Values", ""]
    lines += [line for item in diagnosis.evidence for line in _facts(item)]
    return "\n".join(lines if len(lines) > 2 else [*lines, "Nothing was measured."])


def _facts(item: Evidence) -> Iterable[str]:
    for name, value in item.facts.items():
        told = NOT_MEASURED if value is None else json.dumps(scrubbed(value), default=str)
        safe = cut(plain(redacted(told[:4_000]), 4_000), _VALUE)
        yield f"- {escaped(f'{item.name}.{name}')}: {code(safe)}"


def _outputs(raw: Sequence[RawOutput], now: datetime, room: int, page: str) -> str:
    """The raw outputs as far as there is room; the rest is counted, and stands on the page."""
    told = ["## Raw outputs"]
    shown = 0
    for output in raw:
        text = _output(output, now)
        room -= len(text.encode())
        if room < 0:
            break
        told.append(text)
        shown += 1
    if shown < len(raw):
        left = plural(len(raw) - shown, "more output")
        where = " on the page" if page else " in the store"
        told.append(f"{left}{where}: there is no room for more here.")
    elif not raw:
        told.append("No answer was kept.")
    return "\n\n".join(told)


def _output(output: RawOutput, now: datetime) -> str:
    text = plain(redacted(output.text[:_ONE_OUTPUT]), _ONE_OUTPUT)
    was_cut = output.truncated or len(output.text) > _ONE_OUTPUT
    cut_mark = "\n[more came than is kept here]" if was_cut else ""
    asked = day_clock(output.asked_at, now, seconds=True)
    question = plain(redacted(output.question), 4_000)
    head = f"### {escaped(output.backend)}, asked {asked}"
    return f"{head}\n\n{fence(question)}\n\n{fence(text + cut_mark)}"
