"""What the person in front of the demo's channel does, delivered as Slack would deliver it."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tailhound.slack.local import LocalSlack, NotFilled, Refused, View
from tailhound.slack.local.forms import elements_of

Deliver = Callable[[str, Mapping[str, Any]], object]
"""envelope id, payload -> the acknowledgement: `SlackListeners.receive`."""

TROUBLE = "We had some trouble connecting. Try again?"
"""What Slack says of an answer that makes no sense; shown above the form."""


class Hands:
    """One person. Everything here may take as long as the app takes to acknowledge: 3 s."""

    def __init__(self, slack: LocalSlack, deliver: Deliver, user: str) -> None:
        self._slack, self._deliver, self.user = slack, deliver, user

    def press(self, channel: str, ts: str, action_id: str, block_id: str = "") -> None:
        """Press a button of a message; LookupError where there is none any more."""
        self._send(self._slack.press(channel, ts, action_id, self.user, block_id=block_id))

    def type(self, channel: str, text: str) -> None:
        """Send `/tailhound text`; its answer appears in the channel."""
        payload = self._slack.command(text, channel, self.user)
        self._slack.acknowledged(payload, self._send(payload))

    def look_home(self) -> None:
        """Look at the home tab, which the app then draws."""
        self._send(self._slack.home_opened(self.user))

    def use(self, action_id: str, *, home: bool = False) -> None:
        """Press a button of the modal or of the home tab."""
        self._tell(self._slack.use(self.user, action_id, home=home))

    def fill(self, form: Mapping[str, Sequence[str]]) -> None:
        """Put in what differs from what is there; the app hears of it where it asked to."""
        view = self._slack.modal(self.user)
        for block, element in elements_of(view.body["blocks"]) if view else ():
            name = str(element["action_id"])
            put = [value for value in form.get(f"put:{name}", ()) if value]
            if element["type"] == "button" or put == _held(view, str(block["block_id"]), name):
                continue
            many = element["type"] in ("checkboxes", "multi_static_select")
            if many or put or element["type"] == "plain_text_input":
                value = put if many else "".join(put[:1])
                self._tell(self._slack.use(self.user, name, value))

    def submit(self) -> Mapping[str, str]:
        """Send the form; what is wrong with it, by block id ("" = with all of it)."""
        try:
            payload = self._slack.submit(self.user)
            return {k: str(v) for k, v in self._sent(payload).items()}
        except NotFilled as held:
            return held.errors
        except Refused:
            return {"": TROUBLE}

    def close(self) -> None:
        """Close the modal."""
        self._tell(self._slack.close(self.user))

    def _sent(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._slack.submitted(payload, self._send(payload))

    def _tell(self, payload: Mapping[str, Any] | None) -> None:
        if payload is not None:
            self._send(payload)

    def _send(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Deliver a payload; what the acknowledgement carries."""
        answer = self._deliver(str(uuid.uuid4()), payload)
        body = getattr(answer, "body", None)
        try:
            found = json.loads(body) if isinstance(body, str) and body else {}
        except ValueError:
            return {"text": body}
        return found if isinstance(found, dict) else {}


def _held(view: View | None, block: str, action_id: str) -> list[str]:
    """What is in the form now, as the form would send it."""
    held = view.values[block][action_id] if view else {}
    if held.get("value"):
        return [str(held["value"])]
    options = [held.get("selected_option"), *(held.get("selected_options") or ())]
    return [str(option["value"]) for option in options if option]
