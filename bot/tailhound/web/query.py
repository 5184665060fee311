"""What a list may be asked for: states, text, how many, before when."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from tailhound.model import Incident, State
from tailhound.web.headline import OPEN_STATES

PAGE = 50
PAGE_AT_MOST = 500
TEXT_AT_MOST = 200
_ID = re.compile(r"[0-9A-Za-z-]{1,40}")


class WrongQuery(Exception):
    """A parameter that can't be understood; the text says which, and what it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """The parameters of a list. `state` is "open", "all" or one state's word.

    A page begins behind the incident `after`, received at `before`.
    """

    state: str = "open"
    text: str = ""
    limit: int = PAGE
    before: datetime | None = None
    after: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str], *, state: str) -> "ListQuery":
        """The query of a request; WrongQuery for what is no such value. `state` is the default."""
        return cls(
            state=_state(given.get("state") or state),
            text=given.get("text", "").replace("\0", "").strip()[:TEXT_AT_MOST],
            limit=_limit(given.get("limit") or str(PAGE)),
            before=_before(given.get("before") or ""),
            after=_after(given.get("after") or ""),
        )

    @property
    def states(self) -> tuple[State, ...]:
        """The states to look for; empty = all."""
        if self.state == "open":
            return OPEN_STATES
        return () if self.state == "all" else (State(self.state),)

    def page_after(self, last: Incident) -> str:
        """The query string of the next page, behind this incident."""
        before = last.received_at.isoformat()
        values = {"state": self.state, "text": self.text, "before": before, "after": last.id}
        if self.limit != PAGE:
            values["limit"] = str(self.limit)
        return urlencode({name: value for name, value in values.items() if value})


def _state(text: str) -> str:
    known = ("open", "all", *(state.value for state in State))
    if text not in known:
        raise WrongQuery(f"state must be one of {', '.join(known)}")
    return text


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise WrongQuery(f"limit must be a number from 1 to {PAGE_AT_MOST}")
    return min(max(int(text), 1), PAGE_AT_MOST)


def _after(text: str) -> str:
    if text and not _ID.fullmatch(text):
        raise WrongQuery("after must be an incident's id")
    return text.upper()


def _before(text: str) -> datetime | None:
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError as error:
        raise WrongQuery("before must be a time such as 2026-11-30T05:16:59+00:00") from error
    if at.tzinfo is None:
        raise WrongQuery("before must say its zone, as in 2026-11-30T05:16:59+00:00")
    return at
