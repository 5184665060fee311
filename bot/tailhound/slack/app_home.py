"""The home tab: what is open, what waits, how it went, how tailhound stands."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from slack_bolt import Ack, BoltRequest

from tailhound.durable.acts import Person
from tailhound.durable.switch import Moved
from tailhound.errors import StoreUnavailable
from tailhound.model import telling
from tailhound.model.may_change import NO_CHANGES
from tailhound.model.names import plural
from tailhound.model.wording import day_clock
from tailhound.slack import escape
from tailhound.slack.actions import PAGE, STOP
from tailhound.slack.calls import Said, outcome_of
from tailhound.slack.command_texts import stopped_text
from tailhound.slack.commands import changes_text, incident_lines, parts_text
from tailhound.slack.deeds import Overview
from tailhound.slack.events import Event
from tailhound.slack.kit import Block, actions, button, header, section
from tailhound.slack.limits import URL
from tailhound.slack.people import GUEST, STRANGER, user_of
from tailhound.slack.promptly import NOT_YET, Gone, Late, Silent, Told
from tailhound.slack.texts import written
from tailhound.slack.tools import Tools

_LOG = logging.getLogger(__name__)

AGAIN_SECONDS: Final = 30.0
"""A viewer's tab is drawn at most so often."""

NOTHING_WAITS: Final = f"Nothing waits for you: {NO_CHANGES}."
NOT_READ: Final = "The store did not answer, so nothing is known here. Open this tab again later."
NOT_STOPPED: Final = "*Not stopped:* the store failed. Press again."
_VIEWERS: Final = 5_000


def home_view(found: Overview, *, mode: str, page: str, now: datetime) -> dict[str, Any]:
    """The tab."""
    stop = button("Stop all changes", STOP, value="stop", style="danger")
    links = (button("Open the web page ↗", PAGE, url=page),) if page and len(page) <= URL else ()
    changes = changes_text(mode, found.stopped, now)
    parts = parts_text(found.parts)
    blocks = (
        header("open", f"Open incidents ({found.open.amount})"),
        section("open-list", _open(found, now, page)),
        header("waits", "Waits for you (0)"),
        section("waits-list", NOTHING_WAITS),
        header("month", "Last 30 days"),
        section("month-list", _month(found)),
        header("health", "Health"),
        section("health-list", f"{parts} · {changes}" if parts else changes),
        section(
            "stopped", stopped_text(found.stopped, is_new=True, now=now) if found.stopped else ""
        ),
        actions("acts", (*(() if found.stopped else (stop,)), *links)),
    )
    return {"type": "home", "blocks": [dict(block) for block in blocks if block]}


def _open(found: Overview, now: datetime, page: str) -> str:
    if found.open.amount:
        return "\n".join(incident_lines(found.open, now, page=bool(page), glyphs=True))
    last = found.last
    if last is None or last.resolved_at is None:
        return "Nothing is open."
    at = day_clock(last.resolved_at, now)
    id = escape.link(found.open.links.get(last.id, ""), escape.value(last.id))
    return f"Nothing is open. Last incident: {id}, {telling.ended(last)} {at}."


def _month(found: Overview) -> str:
    month = found.month
    return written("home_month", month=month, incidents=plural(month.incidents, "incident"))


def trouble_view(text: str) -> dict[str, Any]:
    """A tab that only says what is wrong."""
    blocks: list[Block | None] = [header("open", "Open incidents"), section("open-list", text)]
    return {"type": "home", "blocks": [dict(block) for block in blocks if block]}


def _note(outcome: Told[Moved] | Gone | Silent | Late) -> str:
    """What came of a stop, as far as the tab does not show it anyway."""
    if isinstance(outcome, Told):
        stands = outcome.value.now
        return "" if stands else "That click was done before, and the stop has ended since."
    return NOT_YET if isinstance(outcome, Late) else NOT_STOPPED


class HomeTab:
    """Draws it when somebody looks, and after somebody stopped all changes."""

    def __init__(self, tools: Tools, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._tools, self._monotonic = tools, monotonic
        self._lock = threading.Lock()
        self._drawn: dict[str, float] = {}

    def opened(self, req: BoltRequest) -> None:
        """Somebody looks at the app; bolt has acknowledged it already."""
        event = Event.of(req)
        user = user_of(event.body)
        inner = event.body.get("event")
        tab = inner.get("tab") if isinstance(inner, dict) else ""
        if user and tab == "home" and self._is_due(user):
            self._behind(lambda: self._look(event, user))

    def stop_pressed(self, ack: Ack, req: BoltRequest) -> None:
        """*Stop all changes*: stored first, then acknowledged, then shown, whatever came of it."""
        tools, event = self._tools, Event.of(req)
        user = user_of(event.body)
        person = tools.stopper(event)
        if isinstance(person, str) and person != GUEST:
            ack()
            view = trouble_view(person)
            if user:
                self._behind(lambda: self._publish(user, view))
            return
        note = person if isinstance(person, str) else self._stopped(event, person)
        ack()
        self._behind(lambda: self._draw(user, note))

    def _stopped(self, event: Event, person: Person) -> str:
        """Stop; what there is to say beside that it is stopped."""
        tools = self._tools
        outcome = tools.store.ask(
            lambda: tools.deeds.stop(person, "", event.envelope),
            late=lambda found: self._draw(person.id, _note(found)),
        )
        if not isinstance(outcome, Told | Late):
            tools.envelopes.forget(event.envelope)
        return _note(outcome)

    def _behind(self, work: Callable[[], None]) -> None:
        """Draw behind the acknowledgement; on this thread, where too much goes on elsewhere."""
        if not self._tools.behind.do(work):
            work()

    def _is_due(self, user: str) -> bool:
        now = self._monotonic()
        with self._lock:
            if now - self._drawn.get(user, -AGAIN_SECONDS) < AGAIN_SECONDS:
                return False
            if len(self._drawn) >= _VIEWERS:
                self._drawn.clear()
            self._drawn[user] = now
        return True

    def _look(self, event: Event, user: str) -> None:
        """Draw it for people of this workspace; others are told that it is not for them."""
        people = self._tools.people
        stranger = people.why_stranger(event.body)
        if stranger or people.is_stranger(user):
            self._publish(user, trouble_view(stranger or STRANGER))
        else:
            self._draw(user)

    def _draw(self, user: str, note: str = "") -> None:
        tools = self._tools
        deeds = tools.deeds
        try:
            found = deeds.overview()
            view = home_view(found, mode=deeds.mode, page=deeds.page, now=tools.now())
        except StoreUnavailable as error:
            _LOG.error("the home tab can't be filled: %s", error)
            view = trouble_view(NOT_READ)
        if note:
            view["blocks"].insert(0, section("note", note))
        self._publish(user, view)

    def _publish(self, user: str, view: dict[str, Any]) -> None:
        tools = self._tools
        told = outcome_of(lambda web: web.views_publish(user_id=user, view=view), tools.web)
        if not isinstance(told, Said):
            _LOG.warning("Slack did not take a home tab: %s", told)
            with self._lock:
                self._drawn.pop(user, None)
