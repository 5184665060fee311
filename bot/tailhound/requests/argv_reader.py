"""The read-only grammar of one program: its options, verbs and operands.

A positive list. An option that is not named is refused, so an option that a later version of a tool
brings, and a shortened long option (`dmesg --cle`), never slips through. The tables beside this
module say it of each program; where the facts come from: the tools' manual pages and their own
`--help`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Operands = Callable[[tuple[str, ...], frozenset[str]], str | None]
"""Why these operands are refused (beside these options); None = they are fine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The ways to call one program that only read.

    `flags` stand alone, `valued` take a value (`-c 5`, `-c5`, `--count=5`). With `clusters` short
    options may be joined (`-Htin`). `verbs` are the first operands, one of which is needed.
    `required` are options of which one is needed, so that the call ends by itself. `subs` are
    sub-commands with options of their own; one of them, when given, is the first argument.
    """

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    verbs: tuple[tuple[str, ...], ...] = ()
    operands: Operands | None = None
    required: frozenset[str] = frozenset()
    clusters: bool = True
    subs: Mapping[str, "Reader"] = field(default_factory=dict)
    because: str = "only its read-only options are allowed"


def words(text: str) -> frozenset[str]:
    """Options, apart."""
    return frozenset(text.split())


def verbs(text: str) -> tuple[tuple[str, ...], ...]:
    """Verbs of one or several words, parted by commas."""
    return tuple(tuple(verb.split()) for verb in text.split(","))
