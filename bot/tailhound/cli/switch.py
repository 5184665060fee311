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
from tailhound.durable.switch import Moved
from tailhound.errors import SettingsError, StoreUnavailable
from tailhound.model.may_change import Pen, resumed_told, stopped_told
from tailhound.settings import Settings, load
from tailhound.store.beside import writing_beside

DONE, FINDINGS = 0, 1
PEN = Pen(value=safe, code=safe, resume="tailhound resume")


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
    if moved.now is None:
        return "Changes are not stopped."
    return stopped_told(moved.now, already=moved.before is not None, pen=PEN, now=now)


def resumed_text(moved: Moved, by: str, now: datetime) -> str:
    """What came of `resume`."""
    return resumed_told(moved.before, by, pen=PEN, now=now)
