"""An incident as one Slack message: slots H S W D E N L F, each within its budget. Pure.

The slots never move; one that has nothing to say is left out. Row L holds only buttons that work:
*Re-check* where there is something to check again, *Full evidence* where the page has an address.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tailhound.model import Incident
from tailhound.slack.ink import Ink
from tailhound.slack.limits import BUDGETS, OUR_BYTES, PHONE_LINES, PHONE_WIDTH, SHORTER, URL
from tailhound.slack.look import Look, look_of
from tailhound.slack.texts import fitted
from tailhound.slack.view import View

RECHECK: Final = "recheck"
"""The action id of *Re-check*; its value is `incident:revision`."""

PAGE: Final = "page"
"""The action id of *Full evidence*, a link: Slack reports the click all the same."""

Block = Mapping[str, Any]

_CHECKABLE = frozenset({Look.CONFIRMED, Look.TWO_FIT, Look.UNKNOWN, Look.BLIND, Look.FAILED})
_EXPANDED = frozenset({"S", "W", "E"})
_DATE = re.compile(r"<!date\^\d+\^\{ago\}\|[^>]*>")
_ENTITY = re.compile("&(?:amp|lt|gt);")


@dataclass(frozen=True, slots=True)
class SlackMessage:
    """What is sent: `text` for notifications and screen readers, `blocks` for the eyes."""

    text: str
    blocks: tuple[Block, ...]

    @property
    def bytes(self) -> int:
        """The size of the blocks as JSON, in UTF-8."""
        return len(json.dumps(self.blocks, ensure_ascii=False, separators=(",", ":")).encode())


def message(incident: Incident, *, page_url: str, now: datetime) -> SlackMessage:
    """The message of an incident as it stands; `page_url` is "" where the page has no address."""
    if len(page_url) > URL:
        page_url = ""

    def view(ink: Ink) -> View:
        return View(incident=incident, now=now, ink=ink, page=bool(page_url))

    texts = {slot: fitted(slot, view, BUDGETS[slot]) for slot in "HSWENF"}
    texts["T"] = fitted("T", view, BUDGETS["T"], _tells_at_once)
    room = PHONE_LINES - sum(_lines(texts[slot]) for slot in "HSW")
    texts["D"] = fitted("D", view, BUDGETS["D"], lambda text, _: _lines(text) <= room)
    result = _message(texts, incident, page_url)
    for slot, budget in SHORTER:
        if result.bytes <= OUR_BYTES:
            break
        texts[slot] = _shorter(slot, view, budget)
        result = _message(texts, incident, page_url)
    return result


def _tells_at_once(text: str, view: View) -> bool:
    """The first 100 characters, which a push notification shows, say where."""
    return view.where in text[:100]


def _lines(text: str) -> int:
    """How many lines a text takes on a phone, as it is drawn there."""
    drawn = _ENTITY.sub("&", _DATE.sub("44 min ago", text))
    return sum(max(1, -(-len(line) // PHONE_WIDTH)) for line in drawn.splitlines())


def _shorter(slot: str, view: Any, budget: int) -> str:
    """A slot within less room; N, when nothing else is left, as its counts alone."""
    text = fitted(slot, view, budget)
    summary = view(Ink(10, 16, 0)).gaps_summary
    return str(summary) if slot == "N" and budget < 200 and summary else text


def _message(texts: Mapping[str, str], incident: Incident, page_url: str) -> SlackMessage:
    drawn = (
        _header(texts["H"]),
        *(_section(slot, texts[slot]) for slot in "SWDEN"),
        _links(incident, page_url),
        _footer(texts["F"]),
    )
    blocks = tuple(
        {**block, "block_id": f"{block['block_id']}:{incident.revision}"}
        for block in drawn
        if block
    )
    return SlackMessage(text=texts["T"], blocks=blocks)


def _header(text: str) -> Block | None:
    if not text:
        return None
    return {
        "type": "header",
        "block_id": "H",
        "text": {"type": "plain_text", "text": text, "emoji": False},
    }


def _section(slot: str, text: str) -> Block | None:
    if not text:
        return None
    block = {"type": "section", "block_id": slot, "text": _mrkdwn(text)}
    return {**block, "expand": True} if slot in _EXPANDED else block


def _mrkdwn(text: str) -> Block:
    """`verbatim`: Slack links no address, host or channel name in it by itself."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _links(incident: Incident, page_url: str) -> Block | None:
    buttons = []
    if look_of(incident) in _CHECKABLE:
        buttons.append(_button("Re-check", RECHECK, value=f"{incident.id}:{incident.revision}"))
    if page_url:
        buttons.append(_button("Full evidence ↗", PAGE, url=page_url))
    if not buttons or look_of(incident) is Look.JOINED:
        return None
    return {"type": "actions", "block_id": "L", "elements": buttons}


def _button(label: str, action_id: str, **more: str) -> Block:
    text = {"type": "plain_text", "text": label, "emoji": False}
    return {"type": "button", "text": text, "action_id": action_id, **more}


def _footer(text: str) -> Block | None:
    if not text:
        return None
    return {"type": "context", "block_id": "F", "elements": [_mrkdwn(text)]}
