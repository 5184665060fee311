"""`tailhound stop [WHY]` and `tailhound resume`: the stop switch, moved beside a running serve.

Whoever may write the database may end a stop: Slack's approvers are not asked here.
"""

import argparse
import os
import pwd
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from tailhound.cli.safely import safe
from tailhound.durable import switch
from tailhound.durable.switch import Moved, Stopped
from tailhound.errors import SettingsError, StoreUnavailable
from tailhound.model.wording import day_clock, duration
from tailhound.settings import Settings, load
from tailhound.store.beside import writing_beside

DONE, FINDINGS = 0, 1


def run(args: argparse.Namespace) -> int:
    """Move the switch; exit code 1 where a file goes on stopping changes."""
    settings, now = load(args.config), datetime.now(UTC)
    if args.command == "stop":
        sys.stdout.write(stopped_text(_stopped(settings, args.why, now), now) + "\n")
        return DONE
    with writing_beside(settings.store.url, settings.store.secret()) as connection:
        moved = switch.resume(connection, settings.stops)
    ends = moved.now is None
    (sys.stdout if ends else sys.stderr).write(resumed_text(moved, who(), now) + "\n")
    return DONE if ends else FINDINGS


def _stopped(settings: Settings, words: Sequence[str], now: datetime) -> Moved:
    """Stop; where that can't be stored, the error names what does the same."""
    try:
        with writing_beside(settings.store.url, settings.store.secret()) as connection:
            return switch.stop(connection, who(), " ".join(words), now)
    except (SettingsError, StoreUnavailable) as error:
        file = settings.stops
        hint = f"; `touch {file}` stops all changes too" if file else ""
        raise type(error)(f"not stopped: {error}{hint}") from error


def who() -> str:
    """The account that types, as the system knows it."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"


def stopped_text(moved: Moved, now: datetime) -> str:
    """What came of `stop`: who stopped first, since when and why, and how it ends."""
    already = "Already stopped: " if moved.before else ""
    told = stands_text(moved.now, now) if moved.now else "changes are not stopped"
    return f"{already}{told}\nDiagnoses go on. End: tailhound resume"


def stands_text(stopped: Stopped, now: datetime) -> str:
    """`ana stopped all changes 02:40 UTC: game day`."""
    at = f" {day_clock(stopped.at, now)}" if stopped.at else ""
    why = f": {safe(stopped.why, 200)}" if stopped.why else ""
    return f"{safe(stopped.by, 40) or 'somebody'} stopped all changes{at}{why}"


def resumed_text(moved: Moved, by: str, now: datetime) -> str:
    """What came of `resume`."""
    was = moved.before
    if was is None:
        return "Nothing was stopped."
    if was.file:
        return f"not changed: {safe(was.file, 300)} stops all changes as long as it exists"
    off = f"; off for {duration((now - was.at).total_seconds())}" if was.at else ""
    return f"Changes are no longer stopped ({safe(by, 40)}, {day_clock(now, now)}{off})."
