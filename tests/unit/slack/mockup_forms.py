"""Reads the mock-ups of `tests/golden/slack/forms.md`, and writes our views in their notation."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tailhound.slack.kit import Block, actions, context, header, section
from tailhound.slack.modals import sheet
from tailhound.slack.modals.sheet import Frame, Note, View
from tests.unit.slack import mockup

FILE: Final = Path(__file__).parents[2] / "golden" / "slack" / "forms.md"
KINDS: Final = {"radio": "radio_buttons", "select": "static_select", "text": "plain_text_input"}
_NOTE: Final = Note(incident="8R5W")

Slots = Sequence[tuple[str, str]]


def fenced(kind: str) -> dict[str, Slots]:
    """The mock-ups of a kind (`modal`, `home`, `ephemeral`) by name: slots in their order."""
    text = FILE.read_text("utf-8")
    found = re.search(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None, kind
    named = re.split(r"^== (\S+)\n", found[1], flags=re.MULTILINE)[1:]
    return {name: _slots(body) for name, body in zip(named[::2], named[1::2], strict=True)}


def _slots(body: str) -> Slots:
    parts = [part for line in body.splitlines() for part in line.split(" ‖ ")]
    pairs = [part.partition(" | ") for part in parts]
    return [(slot.strip(), text.strip().replace(" ⏎ ", "\n")) for slot, _, text in pairs]


def built(slots: Slots) -> View:
    """A mock-up as the view that Slack would get."""
    told = dict(slots)
    blocks = [_block(n, slot, text) for n, (slot, text) in enumerate(slots)]
    drawn = [dict(block) for block in blocks if block]
    if "title" not in told:
        return {"type": "home", "blocks": drawn}
    frame = Frame(
        title=told["title"],
        callback="mock",
        note=_NOTE,
        submit=told.get("submit", ""),
        close=told["close"],
    )
    return {**sheet.view(frame, ()), "blocks": drawn}


def _block(n: int, slot: str, text: str) -> Block | None:
    id = f"{slot[0]}{n}"
    return None if slot in ("title", "submit", "close") else _MADE[slot](id, text)


def _row(id: str, text: str) -> Block | None:
    return actions(id, mockup.row({id: text}, id))


def _box(id: str, text: str) -> Block:
    box = {"type": "checkboxes", "action_id": id, "options": [sheet.option(text, "yes")]}
    return sheet.field("Read", box)


def _alert(id: str, text: str) -> Block:
    said = {"type": "mrkdwn", "text": text}
    return {"type": "alert", "block_id": id, "level": "warning", "text": said}


def _field(id: str, text: str) -> Block:
    label, kind, rest = text.split(" :: ")
    if kind == "text":
        return sheet.field(label, sheet.text_field(id, 300, rest))
    options = [sheet.option(choice, f"{n}") for n, choice in enumerate(rest.split(" / "))]
    made = sheet.radio if kind == "radio" else sheet.select
    return sheet.field(label, made(id, options))


_MADE: Final[Mapping[str, Callable[[str, str], Block | None]]] = {
    "H": header,
    "S": section,
    "P": sheet.preformatted,
    "F": context,
    "A": _row,
    "I": _field,
    "C": _box,
    "! warning": _alert,
}


def written(view: View) -> Slots:
    """A view of ours as a mock-up writes it."""
    around = [(name, view[name]["text"]) for name in ("title", "submit", "close") if name in view]
    inside = [_written(block) for block in view["blocks"]]
    return [(slot, text.replace("\u00a0", " ")) for slot, text in (*around, *inside)]


def _written(block: dict[str, Any]) -> tuple[str, str]:
    if block["type"] == "input":
        return _put_in(block["label"]["text"], block["element"])
    if block["type"] == "actions":
        return "A", " ".join(_button(element) for element in block["elements"])
    inner = block.get("text") or block["elements"][0]
    while not isinstance(inner, str):
        inner = inner.get("text") or inner["elements"][0]
    return _SLOTS[block["type"]], inner


def _put_in(label: str, element: dict[str, Any]) -> tuple[str, str]:
    options = " / ".join(option["text"]["text"] for option in element.get("options", ()))
    if element["type"] == "checkboxes":
        return "C", options
    kind = next(name for name, type in KINDS.items() if type == element["type"])
    return "I", f"{label} :: {kind} :: {options or element['placeholder']['text']}"


def _button(element: dict[str, Any]) -> str:
    style = f"({element['style']})" if "style" in element else ""
    return f"[{element['text']['text']}]{style}{'->url' if 'url' in element else ''}"


_SLOTS: Final = {"header": "H", "section": "S", "rich_text": "P", "context": "F", "alert": "!"}
