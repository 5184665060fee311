"""How much room a text gets: each slot is written with the most room that keeps its budget."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tailhound.model.wording import clock
from tailhound.slack import escape
from tailhound.slack.escape import Mrkdwn


@dataclass(frozen=True, slots=True)
class Ink:
    """Characters for a value, characters for a sentence, lines for a list."""

    value_length: int
    sentence_length: int
    lines: int

    def value(self, text: str) -> Mrkdwn:
        """A value from outside in running text."""
        return escape.value(text, self.value_length)

    def figure(self, text: str) -> Mrkdwn:
        """A number in words. It needs little room, unless the number is absurd."""
        return escape.value(text, 48 if self.lines else 24)

    def code(self, text: str) -> Mrkdwn:
        """A value from outside as a code span."""
        return escape.code(text, self.value_length)

    def sentence(self, text: str) -> Mrkdwn:
        """A sentence of ours that quotes values."""
        return escape.sentence(text, self.sentence_length)

    def link(self, text: str) -> Mrkdwn:
        """What one cause of a chain does: whole clauses as far as there is room, `…` for others.

        A chain of three leaves room on a phone for what can be done about it.
        """
        told, is_whole = _whole_sentences(text, min(_LINK, self.sentence_length))
        shown = escape.sentence(told, self.sentence_length)
        was_cut = len(told) > self.sentence_length
        return shown if is_whole or was_cut else Mrkdwn(f"{shown} …")

    def said(self, text: str) -> Mrkdwn:
        """What a runbook's author wrote."""
        return escape.said(text, self.sentence_length)

    def note(self, text: str) -> Mrkdwn:
        """What a person typed: a value from outside, only longer."""
        return escape.value(text, min(_NOTE, self.sentence_length))

    def command(self, text: str) -> Mrkdwn:
        """A question or command to repeat by hand, as a code span."""
        return escape.code(text, self.sentence_length)


_LINK: Final = 160
_NOTE: Final = 140
_CLAUSES: Final = re.compile(r"(?<=\.) (?=[A-Z])|(?<=;) ")


def _whole_sentences(text: str, room: int) -> tuple[str, bool]:
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
    Ink(60, 240, 8),
    Ink(60, 160, 8),
    Ink(60, 110, 8),
    Ink(60, 160, 5),
    Ink(48, 110, 5),
    Ink(40, 80, 4),
    Ink(32, 80, 2),
    Ink(32, 110, 1),
    Ink(24, 60, 2),
    Ink(20, 40, 1),
    Ink(12, 24, 1),
    Ink(10, 16, 0),
)
"""From roomy to tight. The tightest fits every budget, whatever the values are."""


def ago(at: datetime) -> Mrkdwn:
    """`9 min ago (02:51 UTC)`, told by the reader's client, so that it stays true."""
    text = clock(at)
    return Mrkdwn(f"<!date^{int(at.timestamp())}^{{ago}}|{text}> ({text})")


def more(left: int) -> str:
    """What stands at the end of a list that is shortened; "" when nothing is left out."""
    return f"+ {left} more on the page" if left > 0 else ""
