"""Whether tailhound may change anything, in words: worded once, so that no two places disagree."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tailhound.model.wording import day_clock, duration

NO_CHANGES = "no changes exist in this version"
_STOPS_NOTHING = f"It holds nothing back now, for {NO_CHANGES}; it is kept for one that has them."
_TURNS_NOTHING_ON = f"That turns nothing on: {NO_CHANGES}."


class Stops(Protocol):
    """All changes are stopped. `by` "" and `at` None = nobody knows by whom, or since when."""

    @property
    def by(self) -> str:
        """Who stopped them."""

    @property
    def at(self) -> datetime | None:
        """Since when."""


class Switched(Stops, Protocol):
    """The same, with the reason that was given, and the file that stops them, "" = a person did."""

    @property
    def why(self) -> str:
        """The reason."""

    @property
    def file(self) -> str:
        """The path of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """How a place writes: a value from outside and a name of a file or command, each of at most so
    many characters; `resume` is what ends a stop there.
    """

    value: Callable[[str, int], str]
    code: Callable[[str, int], str]
    resume: str


def allowed(mode: str) -> str:
    """What the mode allows, behind "changes": `off (observe mode)`."""
    none = ", but this version has none" if mode == "one-click" else ""
    return f"off ({mode} mode{none})"


def changes_stand(mode: str, stopped: Stops | None, now: datetime) -> str:
    """The mode, or who has stopped all changes: `stopped by ana since 02:40 UTC`."""
    if stopped is None:
        return allowed(mode)
    by = f" by {stopped.by}" if stopped.by else ""
    return f"stopped{by}{f' since {day_clock(stopped.at, now)}' if stopped.at else ''}"


def stopped_told(stopped: Switched, *, already: bool, pen: Pen, now: datetime) -> str:
    """`ana stopped all changes 02:40 UTC: “game day”. Diagnoses go on. End: tailhound resume`, with
    what a stop does where nothing is changed anyway.
    """
    by, why = pen.value(stopped.by, 40) or "somebody", pen.value(stopped.why, 200)
    who = f"{by[0].upper()}{by[1:]}" if stopped.file or not stopped.by else by
    at = f" {day_clock(stopped.at, now)}" if stopped.at else ""
    reason = f": “{why}”" if why else ""
    first = "Already stopped. " if already else ""
    end = f"remove {pen.code(stopped.file, 300)}" if stopped.file else pen.resume
    told = f"{first}{who} stopped all changes{at}{reason}. {_STOPS_NOTHING}"
    return f"{told} Diagnoses go on. End: {end}"


def resumed_told(was: Switched | None, by: str, *, pen: Pen, now: datetime) -> str:
    """What came of a resume, of how the switch stood before: a file goes on stopping changes."""
    if was is None:
        return "Nothing was stopped."
    if was.file:
        file = pen.code(was.file, 300)
        return (
            f"Not changed. {file} stops all changes as long as it exists. Remove it where "
            "tailhound runs."
        )
    stood = f"; stopped for {duration((now - was.at).total_seconds())}" if was.at else ""
    who = f"{pen.value(by, 40)}, {day_clock(now, now)}{stood}"
    return f"Changes are no longer stopped ({who}). {_TURNS_NOTHING_ON}"
