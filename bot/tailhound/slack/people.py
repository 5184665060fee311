"""Who pressed or typed: an id that does not change, a name to show, and what they may do here.

What a payload says of a person is enough for the bot's own records. Whoever resumes or silences is
looked up: guests, strangers, bots and those whom Slack does not tell may not (fail closed).
Stopping is safe whoever does it: only those who are known to be outsiders may not.
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
from tailhound.slack.calls import Lost, No, outcome_of
from tailhound.slack.escape import clean
from tailhound.slack.events import inner

KNOWN_SECONDS: Final = 300.0
"""How long an answer of `users.info` counts."""

NAME_LENGTH: Final = 40
STRANGER: Final = "Not done. Only people of this workspace may press or type this here."
_REMEMBERED: Final = 5_000
_ID: Final = re.compile(r"[UW][A-Z0-9]{1,40}")
GUEST: Final = "Not done. This is for full members of this workspace."

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Known:
    """What `users.info` said of somebody, and when; `why_not` "" = a full member."""

    name: str
    why_not: str
    at: float


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
        self._team = ""

    def person(self, payload: Payload) -> Person | None:
        """Who acts, by the payload; Slack is asked only where it holds no name."""
        id = user_of(payload)
        if not id:
            return None
        user = inner(payload, "user")
        told = user.get("name") or user.get("username") or payload.get("user_name") or ""
        return Person(id, named(str(told)) or self._looked_up(id).name or id)

    def learn(self) -> None:
        """Ask Slack which workspace this is; until then, all people of one are from here."""
        self._why_no_team(self._web())

    def is_stranger(self, payload: Payload) -> bool:
        """Whether the payload says that somebody of another workspace acts, or for another one."""
        here = str(inner(payload, "team").get("id") or payload.get("team_id") or "")
        theirs = str(inner(payload, "user").get("team_id") or "")
        known = {self._team, here} - {""}
        return len(known) > 1 or bool(theirs and known and theirs not in known)

    def why_no_member(self, person: Person) -> str:
        """Why somebody may not stop, resume or silence; "" for a full member."""
        return self._looked_up(person.id).why_not

    def is_outsider(self, person: Person) -> bool:
        """Whether Slack says, or said last, that somebody is no full member.

        Where it has never said so this is False: for what is safe whoever does it.
        """
        found = self._looked_up(person.id)
        if not found.at:
            with self._lock:
                found = self._known.get(person.id, found)
        return bool(found.at and found.why_not)

    def name_of(self, id: str) -> str:
        """The name of somebody who does nothing here now; the id where Slack does not tell."""
        return self._looked_up(id).name or id

    def _looked_up(self, id: str) -> _Known:
        with self._lock:
            known = self._known.get(id)
        if known is not None and self._monotonic() - known.at < KNOWN_SECONDS:
            return known
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
        if why_not := self._why_no_team(web):
            return _Known("", why_not, 0.0)
        found = outcome_of(lambda web: web.users_info(user=id), web)
        if isinstance(found, No | Lost):
            return _Known("", _untold(found), 0.0)
        user = inner(found.data, "user")
        name = inner(user, "profile").get("display_name") or user.get("name") or ""
        why_not = "" if _is_full_member(user, self._team) else GUEST
        return _Known(named(str(name)), why_not, self._monotonic())

    def _why_no_team(self, web: WebClient) -> str:
        if self._team:
            return ""
        told = outcome_of(lambda web: web.auth_test(), web)
        if isinstance(told, No | Lost):
            return _untold(told)
        self._team = str(told.data.get("team_id") or "")
        return ""


def _is_full_member(user: Payload, team: str) -> bool:
    """Whether somebody is certainly one: what is not said counts against it."""
    outside = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger")
    if any(user.get(name) for name in outside) or user.get("is_restricted") is None:
        return False
    teams = inner(user, "enterprise_user").get("teams") or ()
    return bool(team) and (user.get("team_id") == team or team in teams)


def _untold(outcome: No | Lost) -> str:
    why = outcome.error if isinstance(outcome, No) else "no answer"
    return (
        f"Not done. Slack did not tell who you are ({why}), so you do not count as a full member; "
        "try again in a minute."
    )
