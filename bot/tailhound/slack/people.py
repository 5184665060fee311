"""Who pressed or typed: an id that does not change, a name to show, and what they may do here.

What a payload says of a person is enough for the bot's own records, once Slack has told which
workspace this is: until then nobody counts as one of it. In an organisation of several workspaces
who comes from another one is looked up: people may be members of more than one. Whoever resumes or
silences is looked up: guests, strangers, bots and those whom Slack does not tell may not (fail
closed). Stopping is safe whoever does it: only those who are known to be outsiders may not.
"""

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slack_sdk import WebClient

from tailhound.durable.acts import Person
from tailhound.model.wording import cut
from tailhound.slack import escape
from tailhound.slack.calls import Lost, No, outcome_of
from tailhound.slack.escape import clean
from tailhound.slack.events import inner

KNOWN_SECONDS: Final = 300.0
"""How long an answer of `users.info` counts."""

NAME_LENGTH: Final = 40
NO_ANSWER_SECONDS: Final = 2.0
"""How long Slack is spared the question which workspace this is, after it gave no answer."""

STRANGER: Final = "Not done. Only people of this workspace may press or type this here."
_REMEMBERED: Final = 5_000
_ID: Final = re.compile(r"[UW][A-Z0-9]{1,40}")
_UNTOLD_TEAM: Final = (
    "Not done. Slack did not tell tailhound which workspace this is ({}), so nobody counts as one "
    "of it; try again in a minute."
)
UNTOLD: Final = (
    "Not done. Slack did not tell who you are ({}), so you do not count as a full member; try "
    "again in a minute."
)
NO_ANSWER: Final = "no answer"
GUEST: Final = "Not done. This is for full members of this workspace."

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Known:
    """What `users.info` said of somebody, and when; `why_not` "" = a full member.

    `is_here`: of this workspace, guests too.
    """

    name: str
    why_not: str
    at: float
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class _Here:
    """This workspace, and the organisation that it belongs to, "" = none."""

    team: str
    organisation: str


def user_of(payload: Payload) -> str:
    """The id of who acts; "" when the payload names nobody."""
    found = inner(payload, "user").get("id") or payload.get("user_id")
    id = str(found or inner(payload, "event").get("user") or "")
    return id if _ID.fullmatch(id) else ""


def named(name: str) -> str:
    """A name from outside, on one line and short; it is still to be escaped where it is shown."""
    return cut(clean(name), NAME_LENGTH)


class People:
    """Who people are. `web` gives a client that gives up within about a second."""

    def __init__(
        self, web: Callable[[], WebClient], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._web, self._monotonic = web, monotonic
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}
        self._here: _Here | None = None
        self._unanswered = ("", 0.0)

    def person(self, payload: Payload, *, ask: bool = True) -> Person | None:
        """Who acts, by the payload; Slack is asked only where it holds no name, and never without
        `ask`: then its last word counts, here and below.
        """
        id = user_of(payload)
        if not id:
            return None
        user = inner(payload, "user")
        told = user.get("name") or user.get("username") or payload.get("user_name") or ""
        return Person(id, named(str(told)) or self._looked_up(id, ask=ask).name or id)

    def learn(self) -> None:
        """Ask Slack which workspace this is; until it tells, nobody is from here."""
        self._found(self._web())

    def why_stranger(self, payload: Payload, *, safe: bool = False, ask: bool = True) -> str:
        """Why somebody does not count as one of this workspace; "" when they do.

        Slack is asked only where it has not told which workspace this is, or where somebody of the
        same organisation comes from another workspace. `safe`: for what harms nothing whoever does
        it, the payload is believed where Slack does not tell.
        """
        told = str(inner(payload, "team").get("id") or payload.get("team_id") or "")
        theirs = str(inner(payload, "user").get("team_id") or "")
        here = self._found(self._web()) if ask else self._here or NO_ANSWER
        if isinstance(here, str):
            return "" if safe and theirs in ("", told) else _UNTOLD_TEAM.format(here)
        if {told, theirs} <= {"", here.team}:
            return ""
        if not here.organisation:
            return STRANGER
        found = self._looked_up(user_of(payload), ask=ask)
        return "" if found.is_here else STRANGER if found.at else found.why_not

    def why_no_member(self, person: Person) -> str:
        """Why somebody may not stop, resume or silence; "" for a full member."""
        return self._looked_up(person.id).why_not

    def is_outsider(self, person: Person, *, ask: bool = True) -> bool:
        """Whether Slack says, or said last, that somebody is no full member.

        Where it has never said so this is False: for what is safe whoever does it.
        """
        found = self._last_word(person.id, ask=ask)
        return bool(found.at and found.why_not)

    def is_stranger(self, id: str) -> bool:
        """Whether Slack says, or said last, that somebody is not of this workspace; as above."""
        found = self._last_word(id)
        return bool(found.at and not found.is_here)

    def name_of(self, id: str) -> str:
        """The name of somebody who does nothing here now; the id where Slack does not tell."""
        return self._looked_up(id).name or id

    def _last_word(self, id: str, *, ask: bool = True) -> _Known:
        """What Slack says; where it says nothing, what it said last, however long ago."""
        found = self._looked_up(id, ask=ask)
        if found.at:
            return found
        with self._lock:
            return self._known.get(id, found)

    def _looked_up(self, id: str, *, ask: bool = True) -> _Known:
        with self._lock:
            known = self._known.get(id)
        if known is not None and (not ask or self._monotonic() - known.at < KNOWN_SECONDS):
            return known
        if not ask:
            return _Known("", UNTOLD.format(NO_ANSWER), 0.0)
        asked = self._asked(id)
        if asked.at:
            with self._lock:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[id] = asked
        return asked

    def _asked(self, id: str) -> _Known:
        """What Slack says; `at` is 0 for no answer, which is not remembered."""
        web = self._web()
        here = self._found(web)
        if isinstance(here, str):
            return _Known("", UNTOLD.format(here), 0.0)
        found = outcome_of(lambda web: web.users_info(user=id), web)
        if isinstance(found, No | Lost):
            return _Known("", UNTOLD.format(_why(found)), 0.0)
        user = inner(found.data, "user")
        name = inner(user, "profile").get("display_name") or user.get("name") or ""
        is_here = _is_here(user, here.team)
        why_not = "" if is_here and _is_no_guest(user) else GUEST
        return _Known(named(str(name)), why_not, self._monotonic(), is_here)

    def _found(self, web: WebClient) -> _Here | str:
        """This workspace; why Slack does not tell, otherwise."""
        if self._here is not None:
            return self._here
        why, until = self._unanswered
        if why and self._monotonic() < until:
            return why
        told = outcome_of(lambda web: web.auth_test(), web)
        team = "" if isinstance(told, No | Lost) else str(told.data.get("team_id") or "")
        if isinstance(told, No | Lost) or not team:
            why = _why(told) if isinstance(told, No | Lost) else "an answer without a workspace"
            self._unanswered = (why, self._monotonic() + NO_ANSWER_SECONDS)
            return why
        self._here = _Here(team, str(told.data.get("enterprise_id") or ""))
        return self._here


def _is_here(user: Payload, team: str) -> bool:
    """Whether somebody is certainly of this workspace: what is not said counts against it."""
    if any(user.get(name) for name in ("deleted", "is_bot", "is_stranger")):
        return False
    teams = inner(user, "enterprise_user").get("teams") or ()
    return user.get("team_id") == team or (isinstance(teams, list | tuple) and team in teams)


def _is_no_guest(user: Payload) -> bool:
    return user.get("is_restricted") is False and not user.get("is_ultra_restricted")


def _why(outcome: No | Lost) -> str:
    return escape.value(outcome.error, 40) if isinstance(outcome, No) else NO_ANSWER
