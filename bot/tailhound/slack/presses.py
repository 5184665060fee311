"""Buttons of a message that need no form: stored first, then acknowledged, then answered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from slack_bolt import Ack, BoltRequest

from tailhound.durable.acts import Click
from tailhound.slack import escape
from tailhound.slack.actions import CHECK_NOW, OFF_IT, ON_IT, OPEN_HELD, RECHECK, RIGHT, shown_in
from tailhound.slack.deeds import Deeds
from tailhound.slack.events import Event
from tailhound.slack.kit import button
from tailhound.slack.promptly import Gone, Late, Silent, Told
from tailhound.slack.tools import Tools, told

OUTDATED: Final = (
    "Not recorded: the diagnosis of {incident} has changed since that message was drawn. Look at "
    "it again, then press again."
)
KNOWN: Final = "Recorded already; this click changed nothing more."
NOT_OURS: Final = "Not recorded: this button is none of tailhound's."


@dataclass(frozen=True, slots=True)
class _Press:
    """What a button does, from its value; and what is said when it did, or when there was nothing
    to do. None = another diagnosis stands than the one that was shown; a sentence = why it did not.
    `back` is the button in the answer that takes it back, its label and its id.
    """

    do: Callable[[Deeds, Click, str], bool | str | None]
    done: str
    nothing: str = KNOWN
    back: tuple[str, str] | None = None


_OWN_MESSAGE: Final = "It has its own message, here or on its way."
PRESSES: Final[Mapping[str, _Press]] = {
    RECHECK: _Press(
        lambda deeds, click, _value: deeds.recheck(click),
        "Recorded: {incident} is checked again; its message changes with the answer.",
    ),
    ON_IT: _Press(
        lambda deeds, click, _value: deeds.on_it(click),
        "Recorded: you are on it. The message of {incident} tells everybody.",
        back=("Not any more", OFF_IT),
    ),
    OFF_IT: _Press(
        lambda deeds, click, _value: deeds.off_it(click),
        "Recorded: you are not on it any more. The message of {incident} tells everybody.",
    ),
    RIGHT: _Press(
        lambda deeds, click, value: deeds.agree(click, shown_in(value)),
        "Recorded: that was it. It counts for the runbook; *Add or change an answer* under the "
        "message changes it, for 30 days.",
    ),
    CHECK_NOW: _Press(
        lambda deeds, click, _value: deeds.check_now(click.incident),
        "Recorded: {incident} is checked now; its message changes with the answer.",
        f"{{incident}} does not wait any more. {_OWN_MESSAGE}",
    ),
    OPEN_HELD: _Press(
        lambda deeds, click, _value: deeds.check_now(click.incident),
        "Recorded: {incident} gets its own message, and is checked now.",
        f"Recorded: {{incident}} is checked already. {_OWN_MESSAGE}",
    ),
}


class Presses:
    """Handles them."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def pressed(self, ack: Ack, req: BoltRequest) -> None:
        """A button was pressed."""
        tools, event = self._tools, Event.of(req)
        person = tools.person(event, ack)
        if person is None:
            return
        incident = event.incident
        if not incident:
            ack()
            tools.whisper(event, NOT_OURS)
            return
        press = PRESSES[event.action]
        click = Click(incident, person, event.envelope)
        outcome = tools.store.ask(
            lambda: press.do(tools.deeds, click, event.value),
            late=lambda found: self._say(event, found),
        )
        ack()
        self._say(event, outcome)

    def _say(self, event: Event, outcome: Told[bool | str | None] | Gone | Silent | Late) -> None:
        """What came of it; a second time, when the store was late."""
        tools, incident = self._tools, event.incident
        if isinstance(outcome, Told):
            if isinstance(outcome.value, str):
                tools.whisper(event, escape.sentence(outcome.value))
                return
            press = PRESSES[event.action]
            said = press.done if outcome.value else press.nothing
            said = OUTDATED if outcome.value is None else said
            backs = (button(*press.back, value=event.value),) if press.back else ()
            tools.whisper_instead(event, said.format(incident=incident), backs)
            return
        if not isinstance(outcome, Late):
            tools.envelopes.forget(event.envelope)
        tools.whisper(event, told(outcome, incident))
