"""What a list may be asked for: states, text, workload, cause, time, how many."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from tailhound.model import OPEN_STATES, Incident, State
from tailhound.store.finding import Wanted

PAGE = 50
PAGE_AT_MOST = 500
TEXT_AT_MOST = 200
SPANS = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
"""How far back a list may look, by the word in its address."""
_ID = re.compile(r"[0-9A-Za-z-]{1,40}")
_CAUSE = re.compile(r"[0-9a-z-]{1,80}")


class WrongQuery(Exception):
    """A parameter that can't be understood; the text says which, and what it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """The parameters of a list. `state` is "open", "all" or one state's word.

    `cause` is a runbook's id, `span` a word of SPANS, "" = since ever. A page begins behind the
    incident `after`, received at `before`.
    """

    state: str = "open"
    text: str = ""
    workload: str = ""
    cause: str = ""
    span: str = ""
    limit: int = PAGE
    before: datetime | None = None
    after: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str], *, state: str) -> "ListQuery":
        """The query of a request; WrongQuery for what is no such value. `state` is the default."""
        return cls(
            state=_state(given.get("state") or state),
            text=_words(given.get("text", "")),
            workload=_words(given.get("workload", "")),
            cause=_cause(given.get("cause") or ""),
            span=_span(given.get("span") or ""),
            limit=_limit(given.get("limit") or str(PAGE)),
            before=_before(given.get("before") or ""),
            after=_after(given.get("after") or ""),
        )

    def at_most(self, rows: int) -> "ListQuery":
        """The same for a page that holds no more than this many."""
        return replace(self, limit=min(self.limit, rows))

    @property
    def states(self) -> tuple[State, ...]:
        """The states to look for; empty = all."""
        if self.state == "open":
            return OPEN_STATES
        return () if self.state == "all" else (State(self.state),)

    @property
    def narrow(self) -> bool:
        """Whether anything beside the state filters."""
        return bool(self.text or self.workload or self.cause or self.span)

    def wanted(self, now: datetime) -> Wanted:
        """What the store is asked: one more than the page holds, to know whether there is more."""
        return Wanted(
            states=self.states,
            text=self.text,
            workload=self.workload,
            cause=self.cause,
            since=now - SPANS[self.span] if self.span else None,
            before=self.before,
            after=self.after,
            limit=self.limit + 1,
        )

    def filters(self, state: str) -> str:
        """The query string of the same filters with another state."""
        return self._encoded({"state": state})

    def page_after(self, last: Incident) -> str:
        """The query string of the next page, behind this incident."""
        place = {"before": last.received_at.isoformat(), "after": last.id}
        return self._encoded({"state": self.state} | place)

    def _encoded(self, more: Mapping[str, str]) -> str:
        values = {
            "text": self.text,
            "workload": self.workload,
            "cause": self.cause,
            "span": self.span,
            "limit": "" if self.limit == PAGE else str(self.limit),
        } | dict(more)
        return urlencode({name: value for name, value in values.items() if value})


def _words(text: str) -> str:
    return text.replace("\0", "").strip()[:TEXT_AT_MOST]


def _cause(text: str) -> str:
    if text and not _CAUSE.fullmatch(text):
        raise WrongQuery("cause must be the id of a runbook, such as cpu-throttling")
    return text


def _span(text: str) -> str:
    if text and text not in SPANS:
        raise WrongQuery(f"span must be one of {', '.join(SPANS)}")
    return text


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
