"""The console of a server: each line with its time (UTC) and its level.

What tailhound has to tell goes to standard output, what its log has to tell to standard error; both
look the same: `2026-11-30T02:53:10Z WARNING text`.
"""

import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime

INFO, WARNING = "INFO", "WARNING"

Say = Callable[[str], None]


def now() -> datetime:
    """The clock of a server."""
    return datetime.now(UTC)


def stamped(text: str, level: str, at: datetime) -> str:
    """One line: the time in whole seconds, the level, the text."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} {level:<7} {text}"


def saying(level: str, clock: Callable[[], datetime] = now) -> Say:
    """Writes lines of one level to standard output, at once."""

    def say(text: str) -> None:
        sys.stdout.write(f"{stamped(text, level, clock())}\n")
        sys.stdout.flush()

    return say


class Stamped(logging.Formatter):
    """The log in the form of the other lines, each with the name of who logs."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; a traceback follows it."""
        at = datetime.fromtimestamp(record.created, UTC)
        return stamped(f"{record.name}: {super().format(record)}", record.levelname, at)


def log_to_console() -> None:
    """Have warnings of everything in this process on standard error. For a command, not a library.

    Without it Python writes their bare text.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(Stamped())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
