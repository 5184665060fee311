"""`/tailhound ...`: what is typed, done and answered."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from slack_bolt import Ack, BoltRequest

from tailhound.durable.acts import Click, Person
from tailhound.durable.switch import Moved, Seen
from tailhound.errors import TailhoundError
from tailhound.model import State
from tailhound.slack import command_texts as texts
from tailhound.slack import commands, escape
from tailhound.slack.commands import Standing
from tailhound.slack.deeds import Begun
from tailhound.slack.events import Event
from tailhound.slack.meant import meant
from tailhound.slack.people import STRANGER, user_of
from tailhound.slack.promptly import NOT_YET, STORE_SILENT, Asked, Gone, Late, Silent, Told
from tailhound.slack.seconds import WHO_SECONDS
from tailhound.slack.shown import SHOW, WHY, shown_text
from tailhound.slack.silence_form import NO_ALERTMANAGER, SilenceForm
from tailhound.slack.tools import BUSY, Tools, aloud, ephemeral

NOT_STORED: Final = "Not recorded, type it again."

_TO_NO_STRANGER: Final = frozenset({"status", "show", "why", "recheck", "silence"})
"""What tells of incidents, or changes them: to people of this workspace alone, as Slack has it."""

T = TypeVar("T")
_Said: TypeAlias = dict[str, Any]
_Answer: TypeAlias = _Said | Callable[[], None]
"""What the acknowledgement says, or what is done behind one that says nothing."""

_Handler = Callable[[Event, Person, list[str]], _Answer]


class Commanding:
    """Handles the command. Whatever it stores is stored before it is acknowledged."""

    def __init__(self, tools: Tools, silence: SilenceForm) -> None:
        self._tools, self._silence = tools, silence
        self._handlers: Mapping[str, _Handler] = {
            "diagnose": self._diagnose,
            "run": self._run,
            "status": self._status,
            "show": self._shows("show", SHOW),
            "why": self._shows("why", WHY),
            "recheck": self._recheck,
            "approvals": lambda *_: ephemeral(commands.WAITS),
            "runbooks": lambda _event, _person, words: ephemeral(
                texts.runbooks_text(tools.deeds.runbooks, words)
            ),
            "silence": self._silenced,
            "resume": self._resume,
            "help": lambda *_: ephemeral(commands.help_text()),
        }

    def typed(self, ack: Ack, req: BoltRequest) -> None:
        """Somebody typed the command."""
        event = Event.of(req)
        words = event.text.split()
        word = words[0].lower() if words else "help"
        if word == "stop":
            ack(self._stop(event, words[1:]))
            return
        asked = self._asked_of(event) if word in _TO_NO_STRANGER else None
        person = self._tools.person(event, ack)
        if person is None:
            return
        if asked is not None and _is_told(asked):
            ack(ephemeral(STRANGER))
            return
        handler = self._handlers.get(word)
        if handler is None:
            ack(ephemeral(commands.unknown_text(words[0])))
            return
        said = handler(event, person, words[1:])
        if isinstance(said, dict):
            ack(said)
            return
        ack()
        if not self._tools.behind.do(said):
            self._tools.whisper(event, BUSY)

    def _status(self, _event: Event, _person: Person, words: list[str]) -> _Answer:
        deeds = self._tools.deeds
        if words:
            return ephemeral(commands.status_help(" ".join(words)))

        def read() -> str:
            standing = Standing(
                open=deeds.open(),
                parts=deeds.parts(),
                mode=deeds.mode,
                stopped=deeds.stopped(),
                page=deeds.page,
            )
            return commands.status_text(standing, self._tools.now())

        return self._told(read)

    def _told(self, read: Callable[[], str]) -> _Said:
        """What is read."""
        found = self._tools.store.ask(read)
        return ephemeral(found.value if isinstance(found, Told) else STORE_SILENT)

    def _asked_of(self, event: Event) -> Asked[bool]:
        """Begin to ask Slack whether whoever types is a stranger, beside who it is at all."""
        people, id = self._tools.people, user_of(event.body)
        return self._tools.who.begin(lambda: bool(id) and people.is_stranger(id))

    def _shows(self, command: str, slots: str) -> _Handler:
        """The handler that tells of one incident."""

        def shown(event: Event, _person: Person, words: list[str]) -> _Answer:
            deeds, now = self._tools.deeds, self._tools.now()

            def read() -> str:
                found = meant(words, event.channel, deeds, command)
                if isinstance(found, str):
                    return found
                whole = deeds.incident(found.id) or found
                page = deeds.whereabouts.page(whole.id)
                address = deeds.whereabouts.links([whole]).get(whole.id, "")
                return shown_text(whole, slots, address=address, page=page, now=now)

            return self._told(read)

        return shown

    def _recheck(self, event: Event, person: Person, words: list[str]) -> _Answer:
        deeds = self._tools.deeds

        def ask() -> str:
            found = meant(words, event.channel, deeds, "recheck")
            if isinstance(found, str):
                return found
            id = escape.link(deeds.whereabouts.links([found]).get(found.id, ""), found.id)
            waits = found.state is State.DEFERRED and not found.verdict_stands
            pressed = Click(found.id, person, event.envelope)
            is_new = deeds.check_now(found.id) if waits else deeds.recheck(pressed)
            if isinstance(is_new, str):
                return escape.sentence(is_new)
            said = "is checked again" if is_new else "is being checked already"
            return f"Recorded: {id} {said}; its message changes with the answer."

        return self._stored(event, ask, ephemeral)

    def _diagnose(self, event: Event, person: Person, words: list[str]) -> _Answer:
        tools, labels = self._tools, texts.subject_labels(words)
        if isinstance(labels, str):
            return ephemeral(texts.diagnose_help(labels))

        def said(found: Begun) -> _Said:
            text = texts.begun_text(found, labels, event.channel)
            return aloud(text) if found.incident else ephemeral(text)

        return self._stored(event, lambda: tools.deeds.diagnose(person, labels), said)

    def _run(self, event: Event, _person: Person, words: list[str]) -> _Answer:
        tools = self._tools
        runbooks = tools.deeds.runbooks
        wanted = words[0].lower() if words else ""
        if all(one.id != wanted for one in runbooks):
            return ephemeral(texts.unknown_runbook_text(wanted, runbooks))
        labels = texts.subject_labels(words[1:])
        if isinstance(labels, str):
            return ephemeral(texts.run_help(labels))
        if why_not := tools.deeds.why_no_run(labels):
            return ephemeral(f"Not checked: {escape.sentence(why_not)}")
        return lambda: self._ran(event, wanted, labels)

    def _ran(self, event: Event, runbook: str, labels: Mapping[str, str]) -> None:
        self._tools.reply(event.response_url, aloud(texts.running_text(runbook, labels)))
        said = aloud(texts.not_checked_text(runbook, labels))  # of what nobody foresaw
        try:
            said = aloud(texts.ran_text(self._tools.deeds.run(runbook, labels), labels))
        except TailhoundError as error:
            said = aloud(f"Not checked: {escape.sentence(str(error))}")
        finally:
            self._tools.reply(event.response_url, said)

    def _silenced(self, event: Event, person: Person, words: list[str]) -> _Answer:
        tools = self._tools
        if not tools.deeds.can_silence:
            return ephemeral(NO_ALERTMANAGER)
        found = tools.store.ask(lambda: meant(words, event.channel, tools.deeds, "silence"))
        if not isinstance(found, Told):
            return ephemeral(STORE_SILENT)
        if isinstance(found.value, str):
            return ephemeral(found.value)
        incident = found.value.id
        return lambda: self._silence.open(event, person, incident)

    def _stop(self, event: Event, words: list[str]) -> _Said:
        tools = self._tools
        person = tools.stopper(event)
        if isinstance(person, str):
            return ephemeral(person)
        why = escape.clean(" ".join(words))[:200]

        def said(found: Moved) -> _Said:
            text = texts.stopping_text(found, tools.now())
            return ephemeral(text) if found.known else aloud(text)

        return self._stored(event, lambda: tools.deeds.stop(person, why, event.envelope), said)

    def _resume(self, event: Event, person: Person, _words: list[str]) -> _Answer:
        """Behind the acknowledgement: Slack is asked who is in which group. What is to be ended is
        read before it, so that a stop which somebody types meanwhile stands.
        """
        tools = self._tools
        seen = tools.store.ask(tools.deeds.stopped)
        if not isinstance(seen, Told):
            return ephemeral(NOT_STORED)
        stands = Seen(seen.value)
        return lambda: tools.reply(event.response_url, self._resumed(event, person, stands))

    def _resumed(self, event: Event, person: Person, seen: Seen) -> dict[str, Any]:
        tools = self._tools
        if why_not := tools.approvers.why_not(person):
            return ephemeral(why_not)

        def said(found: Moved) -> _Said:
            text = texts.resumed_text(found, person.name, tools.now())
            was_moved = found.before is not None and found.now is None
            return aloud(text) if was_moved else ephemeral(text)

        return self._stored(event, lambda: tools.deeds.resume(event.envelope, seen), said)

    def _stored(self, event: Event, question: Callable[[], T], said: Callable[[T], _Said]) -> _Said:
        """What is said of what was stored; where the store is late, once more when it answers."""
        tools = self._tools

        def told(found: Told[T] | Gone | Silent) -> _Said:
            return said(found.value) if isinstance(found, Told) else ephemeral(NOT_STORED)

        found = tools.store.ask(
            question, late=lambda found: tools.reply(event.response_url, told(found))
        )
        return ephemeral(NOT_YET) if isinstance(found, Late) else told(found)


def _is_told(asked: Asked[bool]) -> bool:
    """Whether Slack says so, in time."""
    found = asked.wait(WHO_SECONDS)
    return isinstance(found, Told) and found.value
