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
from tailhound.slack.modals.sheet import Frame, Note, View
from tailhound.slack.people import NO_ANSWER, STRANGER, UNTOLD
from tailhound.slack.presses import NOT_OURS
from tailhound.slack.promptly import NOT_RECORDED, STORE_SILENT, Asked, Gone, Late, Silent, Told
from tailhound.slack.seconds import FORM_SECONDS
from tailhound.slack.tools import BUSY, Tools

NO_INCIDENT: Final = "There is no such incident here any more. Nothing was changed."
SEND_AGAIN: Final = (
    "The store has not answered yet: this may be recorded or not. Send it again: it counts once."
)

Found = Told[Incident | None] | Gone | Silent | Late


@dataclass(frozen=True, slots=True)
class Opened:
    """A form that is open: whose, the view as Slack has it, and its note."""

    person: Person
    view: View
    note: Note


@dataclass(frozen=True, slots=True)
class Deed:
    """What sending a form does: the call that stores, the field under which trouble is told, and
    what is said once it is done.
    """

    do: Callable[[], bool]
    field: str
    done: str


class Form:
    """One kind of form; `framed` is what stands around it. What it shows changes nothing; sending
    it does.
    """

    def __init__(self, tools: Tools, framed: Callable[[Note], Frame]) -> None:
        self._tools, self._framed = tools, framed

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

    def asking(self, event: Event) -> Asked[Opened | str]:
        """Begin to ask Slack whether whoever sent the form may do so; see `opened`."""
        return self._tools.who.begin(lambda: self.allowed(event))

    def opened(self, asked: Asked[Opened | str]) -> Opened | str:
        """The form, if it is ours and of somebody who may send it; else why not. Where Slack is
        late, nobody may.
        """
        found = asked.wait(FORM_SECONDS)
        return found.value if isinstance(found, Told) else UNTOLD.format(NO_ANSWER)

    def allowed(self, event: Event) -> Opened | str:
        """The same, however long Slack takes."""
        people, note = self._tools.people, self.note(event)
        if note is None:
            return NOT_OURS
        if why_not := people.why_stranger(event.body):
            return why_not
        person = people.person(event.body)
        return STRANGER if person is None else Opened(person, event.view, note)

    def note(self, event: Event) -> Note | None:
        """What the form remembers; None when it is none of this kind, or none of ours."""
        note = sheet.note_in(str(event.view.get("private_metadata") or ""))
        if note is None or not event.view.get("id"):
            return None
        return note if event.view.get("callback_id") == self._framed(note).callback else None

    def found(self, note: Note) -> Found:
        """The form's incident."""
        tools = self._tools
        return tools.store.ask(lambda: tools.deeds.incident(note.incident))

    def show(self, view: View, made: View) -> None:
        """Change the form, unless somebody did meanwhile."""
        self._tools.update_view(view, made, hash=str(view.get("hash") or ""))

    def store(self, ack: Ack, deed: Deed, opened: Opened) -> None:
        """Store and acknowledge, and tell who sent it; what was known already counts as stored.

        When the store is late the form stays open; it is told all the same that it was stored.
        """
        note = opened.note

        def tell(outcome: Told[bool] | Gone | Silent) -> None:
            if isinstance(outcome, Told):
                where = (note.channel, note.thread)
                self._tools.whisper_in(where, opened.person, deed.done)

        outcome = self._tools.store.ask(deed.do, late=tell)
        if isinstance(outcome, Told):
            ack()
            self.behind(lambda: tell(outcome))
            return
        why = NO_INCIDENT if isinstance(outcome, Gone) else NOT_RECORDED
        ack(errors({deed.field: SEND_AGAIN if isinstance(outcome, Late) else why}))

    def begin(self, event: Event, work: Callable[[], None]) -> None:
        """Go on behind the acknowledgement; where too much goes on, say so where the finger is."""
        tools = self._tools
        if tools.behind.do(work):
            return
        note = self.note(event)
        if note is None:
            tools.whisper(event, BUSY)
        else:
            self.show(event.view, self.saying(note, BUSY, again=TRY_AGAIN))

    def behind(self, work: Callable[[], None]) -> None:
        """Do what follows the acknowledgement, on this thread where too much goes on elsewhere."""
        if not self._tools.behind.do(work):
            work()

    def saying(self, note: Note, text: str, *, again: str = "") -> View:
        """The form with nothing but a sentence; `again` is the action id of *Try again*."""
        return sheet.said(self._framed(note), text, again=again)


def missing(found: Found) -> str:
    """Why the form's incident can't be shown."""
    return STORE_SILENT if isinstance(found, Silent | Late) else NO_INCIDENT


def again(found: Found) -> str:
    """The action id of *Try again*, where that may help."""
    return TRY_AGAIN if isinstance(found, Silent | Late) else ""


def errors(found: dict[str, str]) -> dict[str, Any]:
    """The acknowledgement that leaves a form open and says what is wrong with it, by field."""
    return {"response_action": "errors", "errors": found}
