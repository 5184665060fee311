"""The posts in an incident's thread: timeline, evidence, charts, and what people must notice. Pure.

Each is a list of wordings, the richest first: where Slack refuses the blocks of one, the next is
sent, and the last has none.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from tailhound.charts.chart import Chart
from tailhound.model import Incident
from tailhound.model.wording import cut
from tailhound.slack.blocks import SlackMessage
from tailhound.slack.claim_rows import HEAD, Row, rows_of
from tailhound.slack.escape import clean, value
from tailhound.slack.ink import IN_FILE, ON_PAGE, Ink
from tailhound.slack.kit import Block, plain, section
from tailhound.slack.limits import IMAGE_ALT, OUR_BYTES, SECTION_TEXT, TABLE_ROWS
from tailhound.slack.texts import fitted
from tailhound.slack.thread_view import ThreadView

ROWS: Final = min(60, TABLE_ROWS - 1)
"""So many claims are shown in the table; the file has them all."""

TEXT: Final = 250
"""Characters of what a notification or a screen reader gets."""

_ROOM: Final = SECTION_TEXT - 200
_TABLE_BYTES: Final = OUR_BYTES - 600
_COLUMNS: Final[tuple[Block, ...]] = ({"is_wrapped": True}, {"is_wrapped": True})
_PLAIN_ROOM: Final = 2_800
_GROUP: Final = re.compile(r"S[A-Z0-9]{1,40}")

Wordings = tuple[SlackMessage, ...]


def timeline(incident: Incident, now: datetime, *, page: bool = True) -> Wordings:
    """The verdict in one line, and what happened, newest last. `page`: pages have an address."""
    view = _views(incident, now, page=page)
    told = fitted("timeline", view, _ROOM)
    text = fitted("timeline text", view, TEXT)
    return _said("TL", told, text)


def evidence(incident: Incident, now: datetime) -> Wordings:
    """The claims that have an answer as a table, by cause, confirmed ones first; without a table as
    plain lines.
    """
    diagnosis = incident.diagnosis
    if diagnosis is None or not any(cause.checks for cause in diagnosis.causes):
        return ()
    rows = rows_of(diagnosis)
    of = sum(row.is_claim for row in rows)
    told = partial(_told, incident, now, of)
    text = fitted("evidence text", _views(incident, now), TEXT)
    if not rows:
        return _said("EV", told(0), text)
    shown, listed = _fitting(rows), _listed(rows)
    lines = [row.line for row in listed]
    table = _section("EV", told(_claims(shown))), _table(shown)
    plain = _section("EV", told(_claims(listed))), _preformatted(lines)
    return (
        SlackMessage(text=text, blocks=table),
        SlackMessage(text=text, blocks=plain),
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


def _views(  # noqa: PLR0913 - each is told by its name
    incident: Incident,
    now: datetime,
    *,
    rows: int = 0,
    of: int = 0,
    event: str = "",
    page: bool = True,
) -> Callable[[Ink], ThreadView]:
    def view(ink: Ink) -> ThreadView:
        told = replace(ink, rest=ON_PAGE if page else IN_FILE)
        seen = ThreadView(incident=incident, now=now, ink=told, page=page, event=event)
        return replace(seen, rows=rows, measured=of)

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


def _claims(rows: Sequence[Row]) -> int:
    return sum(row.is_claim for row in rows)


def _told(incident: Incident, now: datetime, of: int, shown: int) -> str:
    """How many claims there are, and how many of those with an answer are shown."""
    return fitted("evidence", _views(incident, now, rows=shown, of=of), 600)


def _fitting(rows: Sequence[Row]) -> list[Row]:
    """The first rows that keep the message within its bytes."""
    left = _TABLE_BYTES - _bytes(_table([]))
    return _first(rows, left, lambda row: _bytes(_cells(row.cells)) + 1)


def _listed(rows: Sequence[Row]) -> list[Row]:
    """The first rows as far as one block of text takes them as lines."""
    return _first(rows, _PLAIN_ROOM, lambda row: len(row.line) + 1)


def _first(rows: Sequence[Row], left: int, size: Callable[[Row], int]) -> list[Row]:
    """The first rows for which there is room; no cause is named without a claim below it."""
    shown: list[Row] = []
    for row in rows[:ROWS]:
        left -= size(row)
        if left < 0:
            break
        shown.append(row)
    return shown if shown[-1:] and shown[-1].is_claim else shown[:-1]


def _bytes(block: Any) -> int:
    return len(json.dumps(block, ensure_ascii=False, separators=(",", ":")).encode())


def _table(rows: Sequence[Row]) -> Block:
    return {
        "type": "table",
        "block_id": "EV2",
        "column_settings": [dict(column) for column in _COLUMNS],
        "rows": [_cells(HEAD), *(_cells(row.cells) for row in rows)],
    }


def _cells(row: Sequence[str]) -> list[Block]:
    return [{"type": "raw_text", "text": text} for text in row]


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
