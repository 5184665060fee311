"""What a person can look at where what decides about a cause was not measured: a runbook's words,
with the names of the incident in place of NAMESPACE, POD and NODE, as in the steps of a mitigation.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tailhound.model import Look
from tailhound.model.names import PLAIN_NAME
from tailhound.model.steps import NAMES
from tailhound.rules.condition.terms import Facts, raw_fact

HOLES: Final = ("NAMESPACE", "POD", "NODE")
"""What differs from incident to incident."""

_TEMPLATE = re.compile(r"\{[{%#]")
_NOT_SHOWN = re.compile(r"[`\x00-\x1f\x7f]")
"""What a message can't show as it is: a command with it would be another one."""

_FOREIGN = re.compile(rf"\b(?:{'|'.join(sorted(NAMES - {*HOLES}))})\b|<[A-Za-z][\w -]*>|\$\w+")
"""A name that steps alone know, or that is written as elsewhere: nobody would fill it."""

_HOLE = re.compile(rf"\b(?:{'|'.join(HOLES)})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """`unless_known` are the facts that would show it, by their full names; `command` is "" where
    there is none to paste.
    """

    unless_known: tuple[str, ...]
    what: str
    at: str
    command: str = ""

    def render(self, facts: Facts, names: Mapping[str, str]) -> Look | None:
        """What nobody measured here, and how to see it; None where any of it was measured, or a
        name in it is not known, or is more than a name.
        """
        texts = (self.what, self.at, self.command)
        holes = {hole for text in texts for hole in _HOLE.findall(text)}
        shown = (raw_fact(facts, *fact.split(".", 1)) for fact in self.unless_known)
        if any(value is not None for value in shown):
            return None
        if not all(PLAIN_NAME.fullmatch(names.get(hole, "")) for hole in holes):
            return None
        what, at, command = (_HOLE.sub(lambda hole: names[hole[0]], text) for text in texts)
        return Look.beside(command, f"nobody measured {what}", at)


def mistakes(text: str) -> Iterator[str]:
    """What is wrong with one of its texts, in the words that go behind its key."""
    if _TEMPLATE.search(text):
        yield f"is no template; it knows {', '.join(HOLES)}"
    if _NOT_SHOWN.search(text):
        yield "is one line, without a line break, a control character or a backtick"
    if foreign := _FOREIGN.search(text):
        yield f"knows {', '.join(HOLES)}, and no {foreign[0]}"
    if text and not text.strip(" ."):
        yield "says nothing"
