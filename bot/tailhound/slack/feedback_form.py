"""*Wrong? Tell us the cause*, *Add or change an answer*: the form opened, sent, stored."""

from typing import Final

from slack_bolt import Ack, BoltRequest

from tailhound.durable.acts import Click, Person
from tailhound.slack.events import Event
from tailhound.slack.forms import Deed, Form, again, errors, missing
from tailhound.slack.modals import feedback
from tailhound.slack.modals.sheet import Note, View
from tailhound.slack.people import user_of
from tailhound.slack.promptly import Gone, Told
from tailhound.slack.tools import Tools

_SAVED: Final = (
    "Saved. The message of {} shows it to everybody; *Add or change an answer* under it changes "
    "it, for 30 days."
)


class FeedbackForm(Form):
    """Anybody from here may say what it was; the newest word of each person counts."""

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools, feedback.frame)

    def button_pressed(self, ack: Ack, req: BoltRequest) -> None:
        """Open it."""
        self.pressed(ack, Event.of(req), self._open)

    def try_again(self, event: Event) -> None:
        """Fill it once more."""
        note = self.note(event)
        if note is not None:
            self.show(event.view, self._form(note, user_of(event.body)))

    def form_sent(self, ack: Ack, req: BoltRequest) -> None:
        """Stored first, then acknowledged; who sent it is asked while the incident is read."""
        event = Event.of(req)
        field = feedback.first_field(event.view)
        asked, noted = self.asking(event), self.note(event)
        found = Gone() if noted is None else self.found(noted)
        opened = self.opened(asked)
        if isinstance(opened, str):
            ack(errors({field: opened}))
            return
        tools, note = self._tools, opened.note
        if not isinstance(found, Told) or found.value is None:
            ack(errors({field: missing(found)}))
            return
        runbooks = tools.deeds.runbooks
        if feedback.is_stale(found.value, note):
            made = feedback.form(found.value, runbooks, note, changed=True)
            ack({"response_action": "update", "view": made})
            return
        said = feedback.word(event.view, found.value, runbooks)
        if isinstance(said, dict):
            ack(errors(said))
            return
        click = Click(note.incident, opened.person, event.envelope)
        deed = Deed(lambda: tools.deeds.rate(click, said), field, _SAVED.format(found.value.id))
        self.store(ack, deed, opened)

    def _open(self, event: Event, person: Person, incident: str) -> None:
        note = Note(incident=incident, channel=event.channel, thread=event.thread)
        opened = self._tools.open_view(event, self.saying(note, feedback.LOADING))
        if opened is not None:
            self.show(opened, self._form(note, person.id))

    def _form(self, note: Note, person: str) -> View:
        """The form for the person with this id, or why there is none."""
        found = self.found(note)
        if isinstance(found, Told) and found.value is not None:
            return feedback.form(found.value, self._tools.deeds.runbooks, note, person=person)
        return self.saying(note, missing(found), again=again(found))
