"""Who may approve changes and end a stop: the roles of the settings, asked of Slack at the click.

It fails closed: an empty configuration means nobody, and where Slack does not tell who is in a
group, nobody counts as a member of it.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from slack_sdk import WebClient

from tailhound.durable.acts import Person
from tailhound.settings import Role
from tailhound.slack import escape
from tailhound.slack.calls import Lost, No, outcome_of
from tailhound.slack.people import GUEST, People

NO_COUNTS_SECONDS: Final = 60.0
"""How long a list without somebody spares Slack the next question (it takes 20 a minute). A list
that lets somebody in is always a fresh one."""

_NAMED: Final = 3
_OUTSIDE: Final = "Not changed. Changes are for full members of this workspace."
_NOBODY: Final = (
    "Not changed. Nobody may approve changes yet ({where} is empty). `tailhound resume`, typed "
    "where tailhound runs, ends the stop."
)


@dataclass(frozen=True, slots=True)
class _Group:
    """Who is in a group, and when Slack said so."""

    users: frozenset[str]
    at: float


class Approvers:
    """The roles by name. `web` gives a client that gives up within about a second."""

    def __init__(
        self,
        web: Callable[[], WebClient],
        roles: Mapping[str, Role],
        people: People,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._web, self._roles, self._people = web, dict(roles), people
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._known: dict[str, _Group] = {}

    def why_not(self, person: Person) -> str:
        """Why somebody may not end a stop; "" for an approver. Blocks while Slack is asked."""
        if why_not := self._people.why_no_member(person):
            return _OUTSIDE if why_not == GUEST else why_not
        roles = {name: role for name, role in self._roles.items() if role.groups or role.users}
        if not roles:
            names = [f"approvals.{name}" for name in self._roles] or ["approvals"]
            return _NOBODY.format(where=" and ".join(escape.code(name, 80) for name in names[:2]))
        if any(person.id in role.users for role in roles.values()):
            return ""
        return self._why_in_no_group(person, roles)

    def _why_in_no_group(self, person: Person, roles: Mapping[str, Role]) -> str:
        members: dict[str, None] = dict.fromkeys(id for one in roles.values() for id in one.users)
        untold = ""
        for name, role in roles.items():
            for group in role.groups:
                found = self._members(group, person.id)
                if isinstance(found, str):
                    untold = untold or _untold(name, found)
                elif person.id in found:
                    return ""
                else:
                    members |= dict.fromkeys(sorted(found))
        return untold or self._refused(list(roles), list(members))

    def _members(self, group: str, wanted: str) -> frozenset[str] | str:
        """Who is in a group; why Slack does not tell, otherwise."""
        with self._lock:
            known = self._known.get(group)
        is_new = known is not None and self._monotonic() - known.at < NO_COUNTS_SECONDS
        if known is not None and is_new and wanted not in known.users:
            return known.users
        found = outcome_of(lambda web: web.usergroups_users_list(usergroup=group), self._web())
        if isinstance(found, No | Lost):
            return found.error if isinstance(found, No) else "no answer"
        users = found.data.get("users")
        if not isinstance(users, list):
            return "no list of users"
        told = _Group(frozenset(map(str, users)), self._monotonic())
        with self._lock:
            self._known[group] = told
        return told.users

    def _refused(self, roles: Sequence[str], members: Sequence[str]) -> str:
        names = [escape.value(self._people.name_of(id), 40) for id in islice(members, _NAMED)]
        left = len(members) - len(names)
        more = [f"+ {left} more"] if left else []
        who = _listed([*names, *more]) if names else "nobody is one now"
        only = _listed([escape.value(role, 40) for role in roles])
        stopping = "Stopping is open to every full member."
        return f"Not changed. Only {only} may end the stop: {who}. {stopping}"


def _listed(words: Sequence[str]) -> str:
    """`ana`, `ana and ben`, `ana, ben, + 2 more`."""
    return " and ".join(words) if len(words) < 3 else ", ".join(words)


def _untold(role: str, why: str) -> str:
    return (
        f"Not changed. Slack did not tell who is in {escape.value(role, 40)} "
        f"({escape.value(why, 40)}), so nobody counts as a member; try again in a minute."
    )
