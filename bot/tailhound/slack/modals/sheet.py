"""What all forms have in common: the view, the note that it carries, what people chose. Pure.

Everything that comes back is from outside: a note that is not to the letter as ours is none.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from tailhound.model.wording import cut
from tailhound.slack.escape import clean
from tailhound.slack.kit import Block, button, plain, section
from tailhound.slack.limits import OPTION_TEXT

View = dict[str, Any]

_FIELDS: Final = {
    "incident": re.compile(r"[A-Za-z0-9_-]{1,40}"),
    "channel": re.compile(r"(?:[CGD][A-Z0-9]{2,40})?"),
    "thread": re.compile(r"(?:\d{1,12}\.\d{1,9})?"),
    "seen": re.compile(r"[A-Za-z0-9/.:-]{0,120}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a form remembers: its incident, where the button was, and which preview was shown."""

    incident: str
    channel: str = ""
    thread: str = ""
    seen: str = ""

    def text(self) -> str:
        """As the view carries it."""
        return json.dumps(asdict(self))


def note_in(text: str) -> Note | None:
    """The note of a view; None when it is none of ours."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or found.keys() != _FIELDS.keys():
        return None
    for name, pattern in _FIELDS.items():
        if not isinstance(found[name], str) or pattern.fullmatch(found[name]) is None:
            return None
    return Note(**found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands around a form. Without `submit` there is nothing to send."""

    title: str
    callback: str
    note: Note
    submit: str = ""
    close: str = "Cancel"


def view(frame: Frame, blocks: Sequence[Block | None]) -> View:
    """A modal."""
    made: View = {
        "type": "modal",
        "callback_id": frame.callback,
        "private_metadata": frame.note.text(),
        "title": plain(frame.title),
        "close": plain(frame.close),
        "blocks": [dict(block) for block in blocks if block],
    }
    return {**made, "submit": plain(frame.submit)} if frame.submit else made


def said(frame: Frame, text: str, *, again: str = "") -> View:
    """A modal that only says something; `again` is the action id of *Try again*."""
    retry = button("Try again", again, value="again") if again else None
    return view(frame, [section("said", text, accessory=retry)])


def option(text: str, value: str) -> Block:
    """One choice; its text may come from outside."""
    return {"text": plain(cut(clean(text), OPTION_TEXT) or "(empty)"), "value": value}


def field(label: str, element: Block, **more: Any) -> Block:
    """A field of a form; block and element share their id, so that what was put in stays."""
    id = str(element["action_id"])
    return {"type": "input", "block_id": id, "label": plain(label), "element": element, **more}


def radio(action_id: str, options: Sequence[Block], first: Block | None = None) -> Block:
    """One of a few."""
    made = {"type": "radio_buttons", "action_id": action_id, "options": list(options)}
    return {**made, "initial_option": first} if first else made


def select(action_id: str, options: Sequence[Block], first: Block | None = None) -> Block:
    """One of many."""
    made = {"type": "static_select", "action_id": action_id, "options": list(options)}
    return {**made, "initial_option": first} if first else made


def text_field(action_id: str, most: int, placeholder: str, first: str = "") -> Block:
    """A few words."""
    made = {
        "type": "plain_text_input",
        "action_id": action_id,
        "max_length": most,
        "placeholder": plain(placeholder),
    }
    return {**made, "initial_value": first} if first else made


def preformatted(block_id: str, text: str) -> Block:
    """Text in which Slack reads nothing at all."""
    inside = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "block_id": block_id, "elements": [inside]}


def chosen(view: Mapping[str, Any], action_id: str) -> str:
    """The value that was chosen or typed; "" for none, and for whatever is no such field."""
    found = _state(view, action_id)
    option = found.get("selected_option")
    value = option.get("value") if isinstance(option, Mapping) else found.get("value")
    return value if isinstance(value, str) else ""


def ticked(view: Mapping[str, Any], action_id: str) -> bool:
    """Whether a box is ticked."""
    return bool(_state(view, action_id).get("selected_options"))


def _state(view: Mapping[str, Any], action_id: str) -> Mapping[str, Any]:
    found: Any = view
    for name in ("state", "values", action_id, action_id):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}
