"""A stand-in of Slack whose clock a test moves, and short ways to call it."""

from collections.abc import Mapping
from typing import Any

from tailhound.slack.local import SCOPES, LocalSlack

CHANNEL, ANA, BEN = "C0ALERTS", "U0ANA", "U0BEN"
BEGIN = 1_764_385_200.0
PNG = b"\x89PNG\r\n\x1a\n0000"


class Slack:
    """One workspace with one channel. `later` moves its clock."""

    def __init__(self, *more_scopes: str, rates: bool = False) -> None:
        self._now = BEGIN
        scopes = SCOPES | set(more_scopes)
        self.core = LocalSlack(lambda: self._now, scopes=scopes, rates=rates)
        self.core.add_channel(CHANNEL, "alerts")

    def later(self, seconds: float) -> None:
        """So many seconds pass."""
        self._now += seconds

    def ask(self, method: str, **arguments: Any) -> Mapping[str, Any]:
        """The answer to one call."""
        return self.core.call(method, self.core.bot_token, arguments).body

    def error(self, method: str, **arguments: Any) -> str:
        """The error code of a call that is refused; "" for one that is not."""
        return str(self.ask(method, **arguments).get("error", ""))

    def post(self, text: str = "hello", **more: Any) -> str:
        """The ts of a new message."""
        answer = self.ask("chat.postMessage", **{"channel": CHANNEL, "text": text, **more})
        assert answer["ok"], answer
        return str(answer["ts"])

    def upload(self, name: str = "chart.png", content: bytes = PNG) -> str:
        """The id of a file that is uploaded, and not completed yet."""
        asked = self.ask("files.getUploadURLExternal", filename=name, length=str(len(content)))
        assert self.core.upload(asked["upload_url"].rsplit("/", 1)[1], content)
        return str(asked["file_id"])


def plain(text: str) -> dict[str, Any]:
    """A plain text object."""
    return {"type": "plain_text", "text": text}


def section(text: str, **more: Any) -> dict[str, Any]:
    """A section of mrkdwn."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def button(**more: Any) -> dict[str, Any]:
    """A button that says Go."""
    return {"type": "button", "text": plain("Go"), "action_id": "go", **more}


def row(*elements: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A row of buttons or menus."""
    return {"type": "actions", "elements": list(elements), **more}


def option(value: str, text: str = "") -> dict[str, Any]:
    """An option of a menu."""
    return {"text": plain(text or value), "value": value}


def radio(*values: str, **more: Any) -> dict[str, Any]:
    """Radio buttons."""
    options = [option(value) for value in values]
    return {"type": "radio_buttons", "action_id": "which", "options": options, **more}


def menu(*values: str, **more: Any) -> dict[str, Any]:
    """A menu of which one is chosen."""
    options = [option(value) for value in values]
    return {"type": "static_select", "action_id": "hours", "options": options, **more}


def field(element: dict[str, Any], block_id: str, **more: Any) -> dict[str, Any]:
    """An input block."""
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain(block_id),
        "element": element,
        **more,
    }


def note(**more: Any) -> dict[str, Any]:
    """A text input."""
    return {"type": "plain_text_input", "action_id": "note", **more}


def modal(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A modal that can be sent."""
    shown = list(blocks) or [section("x")]
    view = {"type": "modal", "title": plain("Silence"), "submit": plain("Go"), "blocks": shown}
    return {**view, **more}


def home(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A home tab."""
    return {"type": "home", "blocks": list(blocks) or [section("x")], **more}
