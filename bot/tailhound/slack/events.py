"""What arrived: a click, a choice, a form, a command. All of it comes from outside."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt import BoltRequest

from tailhound.slack.actions import incident_in

ENVELOPE: Final = "x-tailhound-envelope"
_CHANNEL: Final = re.compile(r"[CGD][A-Z0-9]{2,40}")
_TS: Final = re.compile(r"\d{1,12}\.\d{1,9}")


@dataclass(frozen=True, slots=True)
class Event:
    """One payload, with the id of its envelope."""

    body: Mapping[str, Any]
    envelope: str

    @classmethod
    def of(cls, request: BoltRequest) -> "Event":
        """The event that bolt is handling."""
        return cls(request.body, request.headers[ENVELOPE][0])

    @property
    def action(self) -> str:
        """The action id of what was pressed or chosen."""
        return str(self._action.get("action_id", ""))

    @property
    def value(self) -> str:
        """The value of the button that was pressed."""
        return str(self._action.get("value") or "")

    @property
    def at(self) -> float:
        """When it was pressed, as Slack orders clicks; 0 without."""
        found = str(self._action.get("action_ts") or "")
        return float(found) if _TS.fullmatch(found) else 0.0

    @property
    def incident(self) -> str:
        """The id of the incident that the button belongs to; "" when it is none of ours."""
        return incident_in(self.value)

    @property
    def trigger(self) -> str:
        """What lets a form be opened, for three seconds."""
        return str(self.body.get("trigger_id") or "")

    @property
    def response_url(self) -> str:
        """Where an answer goes; "" for what happened in a form or a home tab."""
        return str(self.body.get("response_url") or "")

    @property
    def channel(self) -> str:
        """The channel of the message or command; "" without."""
        found = inner(self.body, "channel").get("id") or self.body.get("channel_id") or ""
        return str(found) if _CHANNEL.fullmatch(str(found)) else ""

    @property
    def thread(self) -> str:
        """The thread that an answer belongs into: that of the message which was clicked."""
        container = inner(self.body, "container")
        found = str(container.get("thread_ts") or "")
        return found if _TS.fullmatch(found) else ""

    @property
    def is_in_answer(self) -> bool:
        """Whether what was pressed stands in an answer that one person sees."""
        return inner(self.body, "container").get("is_ephemeral") is True

    @property
    def view(self) -> dict[str, Any]:
        """The form that it happened in; empty without."""
        return dict(inner(self.body, "view"))

    @property
    def text(self) -> str:
        """What was typed behind the command."""
        return str(self.body.get("text") or "")

    @property
    def _action(self) -> Mapping[str, Any]:
        actions = self.body.get("actions")
        first = actions[0] if isinstance(actions, list) and actions else {}
        return first if isinstance(first, Mapping) else {}


def inner(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a payload; empty where it is no object, whatever came."""
    found = payload.get(name)
    return found if isinstance(found, Mapping) else {}
