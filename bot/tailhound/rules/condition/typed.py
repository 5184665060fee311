"""What the checker builds: typed pieces, the bounds and the values that people are shown."""

import difflib
import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tailhound.model.facts import Fact, Kind, Schema
from tailhound.rules.condition.terms import Run, unknown


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with a part of a condition."""

    offset: int
    length: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a condition. `kind` None = it is wrong, and has been reported.

    `names` are the facts it looks at. `name` is how a person would call its value
    (`cpu.throttled_ratio`), "" where it has no single one. `fact` is the declaration of a set.
    """

    kind: Kind | None
    run: Run = unknown
    unit: str = "none"
    names: tuple[str, ...] = ()
    name: str = ""
    fact: Fact | None = None

    @property
    def word(self) -> str:
        """The kind, for a message."""
        return self.kind.value if self.kind else ""


WRONG = Piece(kind=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A bound in a condition: `fact comparison limit`, the limit known without evidence.

    `threshold` is its name, "" where it is no single one. `path` are the numbers of the
    alternatives that it stands in, outermost first.
    """

    fact: str
    comparison: str
    limit: Run
    unit: str
    threshold: str = ""
    path: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A value to show.

    A plain fact has `evidence`. What a set decided has `key`: a field of the record, or a number
    where `fact` is "". A computed value has `run`. `labels` are the fields that name a record.
    `paths` are the alternatives that it stands in, for each place where it stands.
    """

    name: str
    unit: str
    evidence: str = ""
    fact: str = ""
    kind: Kind = Kind.NUMBER
    usual: str = ""
    key: int | None = None
    labels: tuple[str, ...] = ()
    run: Run | None = None
    paths: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a condition may name: evidence with its facts, thresholds with their units.

    `broken` is evidence that is wrong itself: what is said about its facts can't be checked.
    """

    evidence: Mapping[str, Schema]
    thresholds: Mapping[str, str]
    broken: frozenset[str] = frozenset()


def names_of(parts: Iterable[Piece]) -> tuple[str, ...]:
    """The facts that any of the parts looks at, each once."""
    return tuple(dict.fromkeys(name for part in parts for name in part.names))


def meant(name: str, names: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or what there is when nothing is close."""
    options = list(names)
    close = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    if not options:
        return ""
    shown = ", ".join(sorted(options)[:8]) + (", …" if len(options) > 8 else "")
    return f"; there is: {shown}"


def usable(name: str) -> bool:
    """Whether a name can stand in a condition."""
    return name.isidentifier() and not keyword.iskeyword(name) and name not in ("true", "false")
