"""Which commands may run on a host: the unit of permission is one argv, exact, with typed holes.

Two checks, and the first one wins: what writes, resets, clears, formats, floods, waits or runs
another program is refused whatever any list says (`refused`); of the rest only what stands in an
`AllowList` runs. An argv that begins with an absolute path runs as root (`sudo -n`).
"""

import difflib
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from tailhound.errors import SettingsError
from tailhound.requests.argv_holes import Word
from tailhound.requests.argv_refused import refused
from tailhound.requests.argv_shipped import COMMANDS

__all__ = ["SHIPPED", "AllowList", "Entry", "needs_root", "refused"]

_TEMPLATE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")
_HOW_TO_ADD = "To allow it, add it to `ssh.allow` in the configuration (docs/operators/ssh.md)"


def needs_root(argv: Sequence[str]) -> bool:
    """Whether a command runs through `sudo -n`: it does when its program is an absolute path."""
    return bool(argv) and argv[0].startswith("/")


@dataclass(frozen=True, slots=True)
class Entry:
    """One allowed command."""

    words: tuple[Word, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The entry as it is written in a list."""
        return tuple(word.text for word in self.words)

    @property
    def example(self) -> tuple[str, ...]:
        """One argv that it allows."""
        return tuple(word.example for word in self.words)

    def fits(self, argv: Sequence[str]) -> bool:
        """Whether it allows this argv."""
        return len(argv) == len(self.words) and all(
            word.fits(argument) for word, argument in zip(self.words, argv, strict=True)
        )

    def filled(self, template: Sequence[str]) -> tuple[str, ...] | None:
        """The template with an example for each `$name`; None when it can't be this command."""
        if len(template) != len(self.words):
            return None
        filled = []
        for word, argument in zip(self.words, template, strict=True):
            if _TEMPLATE.fullmatch(argument) and word.varies:
                filled.append(word.example)
            elif word.fits(argument):
                filled.append(argument)
            else:
                return None
        return tuple(filled)


@dataclass(frozen=True, slots=True)
class AllowList:
    """The commands that a site allows on its hosts."""

    entries: tuple[Entry, ...]

    @staticmethod
    def of(entries: Sequence[Sequence[str]]) -> "AllowList":
        """Read a list. The entry `[shipped]` stands for all shipped ones.

        SettingsError names an entry with an unknown hole, with a hole for the program, or one that
        would never run because it is refused.
        """
        read: list[Entry] = []
        for texts in entries:
            read.extend(SHIPPED.entries if tuple(texts) == ("shipped",) else (_entry(texts),))
        return AllowList(tuple(read))

    def why_not(self, argv: Sequence[str]) -> str | None:
        """Why this argv does not run, naming the nearest allowed one; None = it may run."""
        if why := refused(argv):
            return f"refused: {why}"
        if any(entry.fits(argv) for entry in self.entries):
            return None
        return self._not_listed(argv)

    def why_no_template(self, argv: Sequence[str]) -> str | None:
        """The same for an argv in which `$name` arguments are filled in later.

        A `$name` may only stand where the allowed command has a hole; its value is checked again
        when it is known.
        """
        if not any(_TEMPLATE.fullmatch(argument) for argument in argv):
            return self.why_not(argv)
        filled = [found for entry in self.entries if (found := entry.filled(argv)) is not None]
        if not filled:
            return refused_template(argv) or self._not_listed(argv)
        whys = [refused(candidate) for candidate in filled]
        return None if None in whys else f"refused: {whys[0]}"

    def _not_listed(self, argv: Sequence[str]) -> str:
        program = argv[0].rsplit("/", 1)[-1]
        nearest = self._nearest(argv, program)
        asked = shlex.join(argument[:80] for argument in argv[:12])
        if not nearest:
            return f"`{asked}` is not allowed: no allowed command calls `{program}`. {_HOW_TO_ADD}"
        return (
            f"`{asked}` is not allowed; the nearest allowed command is `{nearest}`. {_HOW_TO_ADD}"
        )

    def _nearest(self, argv: Sequence[str], program: str) -> str:
        same = [
            " ".join(entry.texts)
            for entry in self.entries
            if entry.texts[0].rsplit("/", 1)[-1] == program
        ]
        wanted = " ".join(argument[:200] for argument in argv[:40])
        return next(iter(difflib.get_close_matches(wanted, same, n=1, cutoff=0.0)), "")


def refused_template(argv: Sequence[str]) -> str | None:
    """Whether what is fixed in a template is refused already, with `x1` for each `$name`."""
    why = refused([_TEMPLATE.sub("x1", argument) for argument in argv])
    return f"refused: {why}" if why else None


def _entry(texts: Sequence[str]) -> Entry:
    if not texts:
        raise SettingsError("ssh.allow: an entry is empty; each is a list of arguments")
    shown = f"ssh.allow: [{', '.join(texts)}]"
    try:
        entry = Entry(tuple(Word.of(text) for text in texts))
    except SettingsError as error:
        raise SettingsError(f"{shown}: {error}") from error
    if entry.words[0].varies:
        raise SettingsError(f"{shown}: the program must be a literal name or path")
    if why := refused(entry.example):
        raise SettingsError(f"{shown}: never runs, because {why}")
    return entry


SHIPPED = AllowList(tuple(_entry(texts) for texts in COMMANDS))
"""The read-only commands that the shipped collectors and runbooks use."""
