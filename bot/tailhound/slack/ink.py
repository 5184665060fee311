"""How much room a text gets: each slot is written with the most room that keeps its budget."""

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

    def said(self, text: str) -> Mrkdwn:
        """What a runbook's author wrote."""
        return escape.said(text, self.sentence_length)

    def command(self, text: str) -> Mrkdwn:
        """A question or command to repeat by hand, as a code span."""
        return escape.code(text, self.sentence_length)


INKS: Final = (
    Ink(60, 240, 8),
    Ink(60, 160, 8),
    Ink(60, 110, 8),
    Ink(60, 160, 5),
    Ink(48, 110, 5),
    Ink(40, 80, 4),
    Ink(32, 80, 2),
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


def capital(text: str) -> str:
    """The first letter as a capital one."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """The first letter small, unless the first word is an abbreviation or a code span."""
    first = text.split(" ", 1)[0]
    return text if first[1:].lower() != first[1:] else text[:1].lower() + text[1:]


def more(left: int) -> str:
    """What stands at the end of a list that is shortened; "" when nothing is left out."""
    return f"+ {left} more on the page" if left > 0 else ""
