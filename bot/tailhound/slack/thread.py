"""The posts in an incident's thread: timeline, evidence, charts, and what people must notice. Pure.

Each is a list of wordings, the richest first: where Slack refuses the blocks of one, the next is
sent, and the last has none.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from tailhound.charts.chart import Chart
from tailhound.model import Cause, Check, Incident, Part, Verdict, claims, needs
from tailhound.model.wording import cut
from tailhound.slack.blocks import SlackMessage
from tailhound.slack.escape import clean, value
from tailhound.slack.ink import IN_FILE, ON_PAGE, Ink
from tailhound.slack.kit import Block, plain, section
from tailhound.slack.limits import IMAGE_ALT, OUR_BYTES, SECTION_TEXT, TABLE_ROWS
from tailhound.slack.texts import fitted
from tailhound.slack.thread_view import ThreadView
from tailhound.truth import Truth

ROWS: Final = min(60, TABLE_ROWS - 1)
"""So many claims are shown in the table; the file has them all."""

TEXT: Final = 250
"""Characters of what a notification or a screen reader gets."""

_ROOM: Final = SECTION_TEXT - 200
_CELLS: Final = (90, 48, 40, 48)
"""Characters of the cells of a row."""

_TABLE_BYTES: Final = OUR_BYTES - 600
_HEAD: Final = ("Claim", "Seen", "Needs", "Says")
_COLUMNS: Final[tuple[Block, ...]] = ({"is_wrapped": True}, {"is_wrapped": True}, {}, {})
_PLAIN_ROOM: Final = 2_800
_WITHOUT_BOUND: Final = {
    Part.CONFIRM: "yes",
    Part.APPLIES: "yes",
    Part.OPTIONAL: "yes (it helps)",
    Part.REFUTE: "refuted by yes",
}
_GROUP: Final = re.compile(r"S[A-Z0-9]{1,40}")

Wordings = tuple[SlackMessage, ...]


def timeline(incident: Incident, now: datetime, *, page: bool = True) -> Wordings:
    """The verdict in one line, and what happened, newest last. `page`: pages have an address."""
    view = _views(incident, now, page=page)
    told = fitted("timeline", view, _ROOM)
    text = fitted("timeline text", view, TEXT)
    return _said("TL", told, text)


def evidence(incident: Incident, now: datetime) -> Wordings:
    """All claims of all causes as a table, confirmed ones first; without a table as plain lines."""
    rows = _rows(incident)
    if not rows:
        return ()
    shown = _fitting(rows)
    text = fitted("evidence text", _views(incident, now), TEXT)
    table = _intro(incident, now, len(shown)), _table(shown)
    lines = _lines(rows)
    listed = _intro(incident, now, len(lines)), _preformatted(lines)
    return (
        SlackMessage(text=text, blocks=table),
        SlackMessage(text=text, blocks=listed),
        SlackMessage(text=f"{text}\n{_plain_lines(lines)}", blocks=()),
    )


def charts(
    incident: Incident,
    now: datetime,
    drawn: Sequence[Chart],
    files: Sequence[str],
    *,
    page: bool = True,
) -> Wordings:
    """One to three images with what they show; without `files`, where they are to be found."""
    view = _views(incident, now, rows=len(files), page=page)
    told = fitted("charts", view, 600)
    text = fitted("charts text", view, TEXT)
    titles = "\n".join(f"· {value(chart.title, 160)}" for chart in drawn)
    without = _views(incident, now, page=page)
    bare = f"{fitted('charts', without, 600)}\n{titles}".strip()
    if not files:
        return _said("CH", bare, text)
    images = tuple(
        _image(n, chart, file) for n, (chart, file) in enumerate(zip(drawn, files, strict=True), 1)
    )
    first = SlackMessage(text=text, blocks=(_section("CH", told), *images))
    return (first, *_said("CH", bare, fitted("charts text", without, TEXT)))


def event(incident: Incident, name: str, now: datetime, mention: str = "") -> Wordings:
    """What people must notice, in one line; `mention` is a group's id from the configuration."""
    view = _views(incident, now, event=name)
    told, text = fitted("event", view, 400), fitted("event", view, TEXT)
    group = f"<!subteam^{mention}> " if _GROUP.fullmatch(mention) else ""
    return _said("X", f"{group}{told}", text.replace("*", ""))


def _views(
    incident: Incident, now: datetime, *, rows: int = 0, event: str = "", page: bool = True
) -> Callable[[Ink], ThreadView]:
    def view(ink: Ink) -> ThreadView:
        told = replace(ink, rest=ON_PAGE if page else IN_FILE)
        return ThreadView(incident=incident, now=now, ink=told, page=page, rows=rows, event=event)

    return view


def _said(slot: str, told: str, text: str) -> Wordings:
    """A section, and the same as text alone."""
    return (
        SlackMessage(text=text, blocks=(_section(slot, told),)),
        SlackMessage(text=told, blocks=()),
    )


def _section(slot: str, told: str) -> Block:
    return section(slot, told, expand=True) or {}


def _image(n: int, chart: Chart, file: str) -> Block:
    return {
        "type": "image",
        "block_id": f"CH{n}",
        "slack_file": {"id": file},
        "alt_text": cut(clean(chart.alt), IMAGE_ALT),
        "title": plain(cut(clean(chart.title), 160)),
    }


# --- claims as rows


Row = tuple[str, str, str, str]


def _rows(incident: Incident) -> list[Row]:
    """The claims of confirmed causes, then what holds, then the rest that was measured; what nobody
    measured comes last.
    """
    causes = incident.diagnosis.causes if incident.diagnosis else ()
    found = [(cause, check) for cause in causes for check in cause.checks]
    found.sort(key=lambda one: _rank(*one))
    return [_row(cause, check) for cause, check in found]


def _rank(cause: Cause, check: Check) -> int:
    if cause.verdict is Verdict.CONFIRMED:
        return 0
    if all(seen.value is None for seen in check.seen):
        return 3
    return 1 if check.truth is Truth.TRUE else 2


def _row(cause: Cause, check: Check) -> Row:
    bounds = needs.bounds(check) or _WITHOUT_BOUND[check.part]
    cells = (
        f"{claims.mark(check)} {check.claim.rstrip('.')}",
        _seen(check),
        bounds,
        claims.stand(check, cause.runbook),
    )
    cut_cells = [cut(clean(text), most) or "-" for text, most in zip(cells, _CELLS, strict=True)]
    return cut_cells[0], cut_cells[1], cut_cells[2], cut_cells[3]


def _seen(check: Check) -> str:
    """What was seen, in whole values where one fits: half of one says something else."""
    both = claims.told(check, 2, with_needs=False)
    return both if len(both) <= _CELLS[1] else claims.told(check, 1, with_needs=False)


def _fitting(rows: Sequence[Row]) -> list[Row]:
    """The first rows that keep the message within its bytes."""
    shown: list[Row] = []
    left = _TABLE_BYTES - _bytes(_table([]))
    for row in rows[:ROWS]:
        left -= _bytes(_cells(row)) + 1
        if left < 0:
            break
        shown.append(row)
    return shown


def _bytes(block: Any) -> int:
    return len(json.dumps(block, ensure_ascii=False, separators=(",", ":")).encode())


def _table(rows: Sequence[Row]) -> Block:
    return {
        "type": "table",
        "block_id": "EV2",
        "column_settings": [dict(column) for column in _COLUMNS],
        "rows": [_cells(_HEAD), *(_cells(row) for row in rows)],
    }


def _cells(row: Row) -> list[Block]:
    return [{"type": "raw_text", "text": text} for text in row]


def _intro(incident: Incident, now: datetime, shown: int) -> Block:
    return _section("EV", fitted("evidence", _views(incident, now, rows=shown), 600))


def _lines(rows: Sequence[Row]) -> list[str]:
    """The first rows as lines, as far as one block of text takes them."""
    lines: list[str] = []
    left = _PLAIN_ROOM
    for claim, seen, bounds, says in rows[:ROWS]:
        line = f"{claim}: {seen} ({bounds}); {says}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return lines


def _preformatted(lines: Sequence[str]) -> Block:
    piece = {"type": "text", "text": "\n".join(lines) or "-"}
    block = {"type": "rich_text_preformatted", "elements": [piece]}
    return {"type": "rich_text", "block_id": "EV2", "elements": [block]}


def _plain_lines(lines: Sequence[str]) -> str:
    """The lines as text that Slack parses, each made harmless, as far as an edit takes them."""
    told: list[str] = []
    left = _PLAIN_ROOM
    for line in lines:
        safe = value(line, 200)
        left -= len(safe) + 1
        if left < 0:
            break
        told.append(safe)
    return "\n".join(told)
