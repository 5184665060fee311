"""Whether tailhound may change anything, in words: worded once, so that no two places disagree."""

from datetime import datetime
from typing import Protocol

from tailhound.model.wording import day_clock

NO_CHANGES = "no changes exist in this version"


class Stops(Protocol):
    """All changes are stopped. `by` "" and `at` None = nobody knows by whom, or since when."""

    @property
    def by(self) -> str:
        """Who stopped them."""

    @property
    def at(self) -> datetime | None:
        """Since when."""


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
