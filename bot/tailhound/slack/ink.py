"""How much room a text gets: each slot is written with the most room that keeps its budget."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from tailhound.model.wording import clock
from tailhound.slack import escape
from tailhound.slack.escape import Mrkdwn

ON_PAGE: Final = "on the page"
IN_THREAD: Final = "in the thread"
IN_FILE: Final = "in the file"
"""Where what a text leaves out is to be found: the page, where pages have an address, has it all;
else the posts in the thread, and their file.
"""


@dataclass(frozen=True, slots=True)
class Ink:
    """Characters for a value, characters for a sentence, lines for a list.

    `terse` counts the lesser things that are left out whole, in an order that each slot names, so
    that no value has to be cut for them. `rest` says where to look for what is left out.
    """

    value_length: int
    sentence_length: int
    lines: int
    terse: int = 0
    rest: str = ON_PAGE

    def value(self, text: str) -> Mrkdwn:
        """A value from outside in running text."""
        return escape.value(text, self.value_length)

    def name(self, text: str) -> Mrkdwn:
        """Whose it is, by names that people copy: their dots and slashes stay."""
        return escape.sentence(text, self.value_length)

    def figure(self, text: str) -> Mrkdwn:
        """A number in words. It needs little room, unless the number is absurd."""
        return escape.value(text, 64 if self.lines else 24)

    def code(self, text: str) -> Mrkdwn:
        """A value from outside as a code span."""
        return escape.code(text, self.value_length)

    def sentence(self, text: str) -> Mrkdwn:
        """A sentence of ours that quotes values."""
        return escape.sentence(text, self.sentence_length)

    def brief(self, text: str) -> Mrkdwn:
        """A sentence that goes without the remarks in its brackets before it is cut, where anything
        is left of it then.
        """
        return self.sentence(without_remarks(text, self.sentence_length))

    def whole(self, text: str) -> Mrkdwn:
        """A sentence that is of no use when it is cut: a fix. It takes the room of others."""
        return escape.sentence(text, max(_WHOLE if self.lines else 0, self.sentence_length))

    def link(self, text: str) -> Mrkdwn:
        """What one cause of a chain does: whole clauses that fit, and `+ more` for the others.

        The first is whole where it can be: half of it tells no fact. Where it has no room, it goes
        without the remarks in its brackets before it is cut.
        """
        told, is_whole = whole_sentences(text, self.sentence_length)
        room = max(self.sentence_length, _WHOLE if self.lines > 1 else 0)
        told = without_remarks(told, room)
        shown, was_cut = escape.sentence(told, room), len(told) > room
        return shown if is_whole or was_cut else Mrkdwn(f"{shown.rstrip(';')} + more")

    def said(self, text: str) -> Mrkdwn:
        """What a runbook's author wrote."""
        return escape.said(text, self.sentence_length)

    def note(self, text: str) -> Mrkdwn:
        """What a person typed: a value from outside, only longer."""
        return escape.value(text, min(_NOTE, self.sentence_length))

    def command(self, text: str) -> Mrkdwn:
        """A question or command to repeat by hand, as a code span."""
        return escape.code(text, min(_COMMAND, self.sentence_length))

    def more(self, left: int) -> str:
        """What stands at the end of a list that is shortened; "" when nothing is left out."""
        return f"+ {left} more {self.rest}" if left > 0 else ""


_NOTE: Final = 140
_COMMAND: Final = 240
_WHOLE: Final = 120
_CLAUSES: Final = re.compile(r"(?<=\.)(?<!\be\.g\.)(?<!\bi\.e\.) (?=\w)|(?<=;) ")
"""A sentence may begin with the name of a pod, in small letters."""

_REMARK: Final = re.compile(r" \([^()]*\)")


def without_remarks(text: str, room: int) -> str:
    """A text as it is where it has room, or is no more than a word and a remark."""
    short = _REMARK.sub("", text)
    return short if len(text) > room and " " in short else text


def whole_sentences(text: str, room: int) -> tuple[str, bool]:
    """The sentences that fit, the first in any case; and whether these are all.

    The last of all goes without its full stop, as in a list.
    """
    told, *others = _CLAUSES.split(text)
    for sentence in others:
        if len(told) + 1 + len(sentence) > room:
            return told, False
        told = f"{told} {sentence}"
    return told.rstrip("."), True


INKS: Final = (
    Ink(60, 400, 8),
    Ink(60, 240, 8),
    Ink(60, 160, 8),
    Ink(60, 110, 8),
    Ink(60, 160, 5),
    Ink(60, 110, 5),
    Ink(60, 80, 4),
    Ink(60, 110, 2),
    Ink(60, 80, 2),
    Ink(60, 110, 1),
    Ink(48, 80, 1),
    Ink(32, 60, 1),
    Ink(20, 40, 1),
    Ink(12, 24, 1),
    Ink(10, 16, 0),
)
"""From roomy to tight. The tightest fits every budget, whatever the values are."""


ROOMY: Final = Ink(60, 800, 12)
"""For an answer that somebody asked for: no message has to stay short for it."""


def _tersely(steps: int, roomy: Ink = INKS[2]) -> tuple[Ink, ...]:
    """First whole things go, one after the other, then lines, then values are cut."""
    tighter = INKS[INKS.index(roomy) + 1 :]
    return (
        *(replace(roomy, terse=n) for n in range(steps + 1)),
        *(replace(ink, terse=steps) for ink in tighter),
    )


def _todo() -> tuple[Ink, ...]:
    """What can be done: fewer lines before the first suggestion goes without what may go wrong."""
    steps = _tersely(5)
    roomy = next(at for at, ink in enumerate(steps) if ink.value_length < INKS[0].value_length)
    bare = (replace(ink, terse=6) for ink in (steps[roomy - 1], *steps[roomy:]))
    return (*steps[:roomy], *bare)


LADDERS: Final[Mapping[str, tuple[Ink, ...]]] = {
    "T": _tersely(4),
    "S": _tersely(7),
    "W": _tersely(5, INKS[0]),
    "D": _todo(),
    "F": _tersely(4),
    "RT": _tersely(4),
}
"""How a slot gets tighter that holds things of different weight; others follow `INKS`."""


def ago(at: datetime) -> Mrkdwn:
    """`9 min ago (02:51 UTC)`, told by the reader's client, so that it stays true."""
    text = clock(at)
    return Mrkdwn(f"<!date^{int(at.timestamp())}^{{ago}}|{text}> ({text})")
