"""Listeners over a stand-in of Slack, without a socket: what people press, choose and type."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from slack_bolt import BoltResponse

from tailhound.actions.silence import Matcher
from tailhound.durable.acts import Click, Person
from tailhound.durable.silences import Wish
from tailhound.durable.switch import Again, Moved, Seen, Stopped
from tailhound.model import Alert, Incident, Missing
from tailhound.rules.runbook import Runbook
from tailhound.settings import Role
from tailhound.slack.blocks import message
from tailhound.slack.buttons import Offers
from tailhound.slack.calls import client
from tailhound.slack.deeds import Begun, Open, Overview, Part, Word
from tailhound.slack.listeners import SlackListeners
from tailhound.slack.local import View
from tailhound.slack.local_hands import Hands
from tailhound.store.history import Month, Past
from tests.samples.incidents import CONFIRMED, FIRST
from tests.samples.story import NOW
from tests.standins.slack import SlackStandin

CHANNEL, ANA, BEN = "C0ALERTS", "U0ANA", "U0BEN"
PAGE = "https://tailhound.example/incidents/8R5W"


@dataclass
class Whereabouts:
    """Where incidents stand: `messages` has the id by channel and message, `open_here` what is open
    in any channel, `newest` what there was lately, `addresses` the links by id.
    """

    messages: dict[tuple[str, str], str] = field(default_factory=dict)
    open_here: Sequence[Incident] = ()
    newest: Sequence[Incident] = ()
    addresses: dict[str, str] = field(default_factory=dict)

    def links(self, incidents: Sequence[Incident]) -> Mapping[str, str]:
        return {one.id: self.addresses[one.id] for one in incidents if one.id in self.addresses}

    def page(self, id: str) -> str:
        return f"https://tailhound.example/incidents/{id}"

    def at(self, channel: str, message: str) -> str:
        return self.messages.get((channel, message), "")

    def here(self, channel: str) -> Sequence[Incident]:
        return self.open_here

    def lately(self) -> Sequence[Incident]:
        return self.newest


@dataclass
class Desk:
    """What the rest of tailhound does, and the record of what was asked of it.

    `before` runs before each call that stores or reads; it may raise or wait.
    """

    stored: list[tuple[Any, ...]] = field(default_factory=list)
    before: Callable[[], object] = lambda: None
    is_new: bool = True
    over: str = ""
    outdated: bool = False
    incidents: dict[str, Incident] = field(default_factory=lambda: {"8R5W": CONFIRMED})
    listed: Sequence[Incident] = (CONFIRMED, FIRST)
    fires: tuple[Alert, ...] | Missing = CONFIRMED.alerts
    past_without: list[str] = field(default_factory=list)
    was: Past | None = field(default_factory=lambda: Past(alerts=14, real=("5B2M", "1Q9X")))
    begun: Begun = field(
        default_factory=lambda: Begun(incident="7F3K", channels=(CHANNEL,), seconds=30.0)
    )
    answer: Callable[[], Incident] = lambda: CONFIRMED
    mode: str = "observe"
    page: str = "https://tailhound.example/incidents"
    can_silence: bool = True
    approvals: Mapping[str, Role] = field(
        default_factory=lambda: {"sre-oncall": Role(users=(ANA,))}
    )
    runbooks: Sequence[Runbook] = ()
    switch: Stopped | None = None
    keeps_file: bool = False
    no_run: str = ""
    last: Incident | None = None
    whereabouts: Whereabouts = field(default_factory=Whereabouts)

    def _store(self, *what: Any) -> bool:
        self.before()
        self.stored.append(what)
        return self.is_new

    def on_it(self, pressed: Click) -> bool:
        return self._store("on_it", pressed)

    def off_it(self, pressed: Click) -> bool:
        return self._store("off_it", pressed)

    def recheck(self, pressed: Click) -> bool | str:
        return self.over or self._store("recheck", pressed)

    def rate(self, pressed: Click, word: Word) -> bool:
        return self._store("rate", pressed, word)

    def agree(self, pressed: Click, shown: str) -> bool | None:
        stored = self._store("agree", pressed, shown)
        return None if self.outdated else stored

    def check_now(self, incident: str) -> bool:
        return self._store("check_now", incident)

    def silence(self, pressed: Click, wish: Wish) -> bool:
        return self._store("silence", pressed, wish)

    def end_silence(self, pressed: Click, remote_id: str) -> bool:
        return self._store("end_silence", pressed, remote_id)

    def stop(self, person: Person, why: str, envelope: str) -> Moved:
        self._store("stop", person, why)
        before = self.switch
        self.switch = (
            replace(before, again=Again(person.name, NOW, 1))
            if before
            else Stopped(by=person.name, at=NOW, why=why)
        )
        return Moved(before=before, now=self.switch)

    def resume(self, envelope: str, seen: Seen) -> Moved:
        self._store("resume")
        if self.switch is not None and seen.stands != self.switch:
            return Moved(before=self.switch, now=self.switch, newer=True)
        if self.keeps_file:
            return Moved(before=self.switch, now=self.switch)
        was, self.switch = self.switch, None
        return Moved(before=was, now=None)

    def diagnose(self, person: Person, labels: Mapping[str, str]) -> Begun:
        self._store("diagnose", person, dict(labels))
        return self.begun

    def incident(self, id: str) -> Incident | None:
        self.before()
        return self.incidents.get(id)

    def open(self) -> Open:
        self.before()
        links = self.whereabouts.links(self.listed)
        return Open(self.listed[:20], len(self.listed), links)

    def stopped(self) -> Stopped | None:
        self.before()
        return self.switch

    def parts(self) -> Sequence[Part]:
        return (Part("Prometheus", "40 ms", True), Part("SSH", "can't be reached", False))

    def overview(self) -> Overview:
        self.before()
        month = Month(incidents=41, found=31, blind=2, right=24, partly=1, wrong=1)
        return Overview(
            open=Open(self.listed, len(self.listed), self._links()),
            last=self.last,
            month=month,
            parts=self.parts(),
            stopped=self.switch,
        )

    def _links(self) -> Mapping[str, str]:
        shown = [*self.listed, *([self.last] if self.last else [])]
        return self.whereabouts.links(shown)

    def past(self, matchers: Sequence[Matcher], but: str) -> Past:
        self.before()
        self.past_without.append(but)
        assert self.was is not None
        return self.was

    def firing(self, matchers: Sequence[Matcher]) -> tuple[Alert, ...] | Missing:
        return self.fires

    def why_no_run(self, labels: Mapping[str, str]) -> str:
        return self.no_run

    def run(self, runbook: str, labels: Mapping[str, str]) -> Incident:
        self._store("run", runbook, dict(labels))
        return self.answer()


class Floor:
    """One person in front of Slack, and tailhound behind it."""

    def __init__(self, slack: SlackStandin, desk: Desk, listeners: SlackListeners) -> None:
        self.slack, self.desk, self.listeners = slack, desk, listeners
        self.answers: list[BoltResponse] = []

    def deliver(self, envelope: str, payload: Mapping[str, Any]) -> BoltResponse:
        """As Slack's socket does."""
        answer = self.listeners.receive(envelope, payload)
        self.answers.append(answer)
        return answer

    def hands(self, user: str = ANA) -> Hands:
        """What a person does."""
        return Hands(self.slack.core, self.deliver, user)

    def show(self, incident: Incident) -> str:
        """Post an incident's message; its ts."""
        offers = Offers(can_silence=True)
        shown = message(incident, page_url=PAGE, now=NOW, offers=offers)
        answer = self.slack.core.call(
            "chat.postMessage",
            self.slack.core.bot_token,
            {"channel": CHANNEL, "text": shown.text, "blocks": list(shown.blocks)},
        )
        assert answer.body["ok"], answer.body
        return str(answer.body["ts"])

    def press(self, action: str, *, user: str = ANA, ts: str = "") -> None:
        """Press a button of the last message."""
        ts = ts or self.slack.messages(CHANNEL)[-1]["ts"]
        self.hands(user).press(CHANNEL, ts, action)

    def clicked(self, action: str, user: str = ANA) -> dict[str, Any]:
        """The payload of such a press, to be delivered by hand."""
        ts = self.slack.messages(CHANNEL)[-1]["ts"]
        return self.slack.core.press(CHANNEL, ts, action, user)

    def modal(self, holds: Callable[[View], object], user: str = ANA) -> View:
        """The modal, once it is as wanted."""
        self.slack.wait_for(lambda: (v := self.slack.modal(user)) is not None and holds(v), 5)
        view = self.slack.modal(user)
        assert view is not None
        return view

    def home(self, holds: Callable[[View], object] = bool, user: str = ANA) -> View:
        """The home tab, once it is as wanted."""
        core = self.slack.core
        self.slack.wait_for(lambda: (v := core.home(user)) is not None and holds(v), 5)
        view = core.home(user)
        assert view is not None
        return view

    def at_rest(self) -> None:
        """Wait until all that goes on behind acknowledgements has been done."""
        names = ("slack-behind", "slack-store", "slack-others", "slack-reply", "slack-who")
        self.slack.wait_for(lambda: all(one.name not in names for one in threading.enumerate()), 5)

    def told(self, count: int = 1) -> list[str]:
        """What single people were told, once there are so many answers."""
        self.slack.wait_for(lambda: len(self.slack.whispers(CHANNEL)) >= count)
        return [str(whisper["text"]) for whisper in self.slack.whispers(CHANNEL)]

    def type(self, text: str, user: str = ANA) -> str:
        """Type `/tailhound text`; what the acknowledgement makes somebody see."""
        new = self._news()
        self.hands(user).type(CHANNEL, text)
        told = new()
        return told[0] if told else ""

    def answer(self, text: str, user: str = ANA) -> str:
        """Type `/tailhound text`; what is said behind the acknowledgement, which says nothing."""
        new = self._news()
        self.hands(user).type(CHANNEL, text)
        self.slack.wait_for(lambda: len(new()) == 1)
        return new()[0]

    def _news(self) -> Callable[[], list[str]]:
        """Tells what was said to one or to all since now."""
        said, heard = len(self.slack.messages(CHANNEL)), len(self.slack.whispers(CHANNEL))

        def told() -> list[str]:
            aloud, whispers = self.slack.messages(CHANNEL), self.slack.whispers(CHANNEL)
            return [str(one["text"]) for one in (*aloud[said:], *whispers[heard:])]

        return told


@contextmanager
def floor(
    desk: Desk | None = None,
    *,
    token: Callable[[], str] | str = "xoxb-local",  # noqa: S107  a stand-in's
) -> Iterator[Floor]:
    """One for a test; whatever Slack refused is a failure."""
    before = set(threading.enumerate())
    with SlackStandin() as slack:
        slack.add_channel(CHANNEL)
        made = desk or Desk()
        listeners = SlackListeners(client(token, slack.api_url, 5), made, now=lambda: NOW)
        yield Floor(slack, made, listeners)
        listeners.close()
        _wait_for_ends(before)
        assert slack.unknown_calls == []
        assert slack.core.invalid == []
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive(), thread.name


def _wait_for_ends(before: set[threading.Thread]) -> None:
    """Until nothing that the listeners began runs any more; at most 5 s."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        begun = set(threading.enumerate()) - before
        ours = [thread.name for thread in begun if thread.name != "slack-standin"]
        if not any(name.startswith("slack-") for name in ours):
            return
        time.sleep(0.01)


def texts(view: View) -> str:
    """All that a view says, a block a line."""
    found = []
    for block in view.body["blocks"]:
        text = block.get("text") or block.get("label") or {}
        pieces = [text.get("text", "")]
        for one in block.get("elements") or ():
            inner = one.get("text", "")
            pieces.append(inner.get("text", "") if isinstance(inner, dict) else inner)
            pieces += [str(part.get("text", "")) for part in one.get("elements") or ()]
        found.append(" ".join(piece for piece in pieces if piece))
    return "\n".join(found)


def envelope() -> str:
    """A new envelope's id."""
    return str(uuid.uuid4())


__all__ = ["ANA", "BEN", "CHANNEL", "Desk", "Floor", "envelope", "floor", "replace", "texts",
           "timedelta"]  # fmt: skip
