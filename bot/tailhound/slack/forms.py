"""What both forms have in common: opened as a loading view within three seconds, then filled."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt import Ack

from tailhound.durable.acts import Person
from tailhound.model import Incident
from tailhound.slack.actions import TRY_AGAIN
from tailhound.slack.events import Event
from tailhound.slack.modals import sheet
from tailhound.slack.modals.sheet import Note, View
from tailhound.slack.presses import NOT_OURS
from tailhound.slack.promptly import NOT_RECORDED, Gone, Silent, Told
from tailhound.slack.tools import BUSY, Tools

STORE_SILENT: Final = "The store did not answer in time. Nothing was changed."
NO_INCIDENT: Final = "There is no such incident here any more. Nothing was changed."

Found = Told[Incident | None] | Gone | Silent


@dataclass(frozen=True, slots=True)
class Opened:
    """A form that is open: whose, the view as Slack has it, and its note."""

    person: Person
    view: View
    note: Note


class Form:
    """One kind of form; `callback` is its id. What it shows changes nothing; sending it does."""

    callback = ""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def pressed(self, ack: Ack, event: Event, opens: Callable[[Event, Person, str], None]) -> None:
        """The button that opens it was pressed: acknowledge, then open."""
        tools = self._tools
        person = tools.person(event, ack)
        if person is None:
            return
        ack()
        if not event.incident:
            tools.whisper(event, NOT_OURS)
            return
        self.begin(event, lambda: opens(event, person, event.incident))

    def sent(self, event: Event) -> Opened | None:
        """The form that an event is about, if it is ours and of somebody from here."""
        tools = self._tools
        stranger = tools.people.is_stranger(event.body)
        person = None if stranger else tools.people.person(event.body)
        note = self.note(event)
        if person is None or note is None:
            return None
        return Opened(person, event.view, note)

    def note(self, event: Event) -> Note | None:
        """What the form remembers; None when it is none of this kind, or none of ours."""
        if event.view.get("callback_id") != self.callback or not event.view.get("id"):
            return None
        return sheet.note_in(str(event.view.get("private_metadata") or ""))

    def found(self, note: Note) -> Found:
        """The form's incident."""
        tools = self._tools
        return tools.store.ask(lambda: tools.deeds.incident(note.incident))

    def show(self, view: View, made: View) -> None:
        """Change the form, unless somebody did meanwhile."""
        self._tools.update_view(view, made, hash=str(view.get("hash") or ""))

    def stored(self, ack: Ack, store: Callable[[], bool], field: str) -> bool:
        """Store and acknowledge; what was known already counts as stored."""
        outcome = self._tools.store.ask(store)
        if isinstance(outcome, Told):
            ack()
            return True
        text = NOT_RECORDED if isinstance(outcome, Silent) else NO_INCIDENT
        ack(errors({field: text}))
        return False

    def begin(self, event: Event, work: Callable[[], None]) -> None:
        """Go on behind the acknowledgement."""
        if not self._tools.behind.do(work):
            self._tools.whisper(event, BUSY)


def missing(found: Found) -> str:
    """Why the form's incident can't be shown."""
    return STORE_SILENT if isinstance(found, Silent) else NO_INCIDENT


def again(found: Found) -> str:
    """The action id of *Try again*, where that may help."""
    return TRY_AGAIN if isinstance(found, Silent) else ""


def errors(found: dict[str, str]) -> dict[str, Any]:
    """The acknowledgement that leaves a form open and says what is wrong with it, by field."""
    return {"response_action": "errors", "errors": found}
