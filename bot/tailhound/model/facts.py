"""What kinds of facts a collector can declare: name, kind and unit, for checks at load time.

A Python collector declares its facts as a frozen dataclass; `schema_of` reads it. A fact's unit is
the suffix of its name, or the metadata that `fact(unit=...)` sets:

    @dataclass(frozen=True, slots=True)
    class Cpu:
        throttled_ratio: float | None               # unit "ratio" by its suffix
        lost: float | None = fact("seconds_per_second")
        containers: tuple[Container, ...] | None     # a set; Container is such a dataclass itself
        throttled_ratio_series: Series | None        # both make `onset: cpu.throttled_ratio` legal
        throttled_ratio_usual_series: Series | None

Evidence that YAML defines builds the same `Schema` from its text.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tailhound.model.evidence import FactValue

SUFFIX_UNITS = (
    ("slowdown_ratio", "times"),
    ("_times", "times"),
    ("_seconds_per_second", "seconds_per_second"),
    ("_bytes_per_second", "bytes_per_second"),
    ("_tokens_per_second", "tokens_per_second"),
    ("_per_second", "per_second"),
    ("_seconds", "seconds"),
    ("_hours", "hours"),
    ("_ratio", "ratio"),
    ("_cores", "cores"),
    ("_bytes", "bytes"),
    ("_tokens", "tokens"),
    ("_count", "count"),
    ("_celsius", "celsius"),
)
UNITS = frozenset({unit for _, unit in SUFFIX_UNITS} | {"none"})
"""Units that a fact or a threshold may have. "none" is a plain number without a unit.

"ratio" is a share (0.62 = 62 %), "times" a ratio to something else (1.5 = x1.5); conditions may
compare one with the other, people read them differently.
"""


class Kind(Enum):
    """What a fact is; conditions are checked against it."""

    NUMBER = "number"
    TEXT = "text"
    YESNO = "yes/no"
    SET = "set"
    SERIES = "series"


@dataclass(frozen=True, slots=True)
class Fact:
    """One declared fact. `fields` is filled for a SET: what each of its records holds."""

    kind: Kind
    unit: str = "none"
    fields: "Schema" = field(default_factory=dict)


Schema = Mapping[str, Fact]
"""The facts of one evidence by name."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a series: `at` in Unix seconds."""

    at: float
    value: float


Series = tuple[Sample, ...]
"""Samples in the order of time. A gap is a gap: nothing is joined or filled."""


def fact(unit: str, *, default: Any = None) -> Any:
    """A dataclass field whose unit is not in its name."""
    if unit not in UNITS:
        raise ValueError(f"no unit named {unit!r}")
    return dataclasses.field(default=default, metadata={"unit": unit})


def schema_of(facts: type[Any]) -> Schema:
    """The schema of a collector's facts class; TypeError where a field has no fact's type."""
    hints = typing.get_type_hints(facts)
    return {
        item.name: _fact_of(item.name, hints[item.name], item.metadata.get("unit"))
        for item in dataclasses.fields(facts)
    }


def _fact_of(name: str, hint: Any, unit: str | None) -> Fact:
    plain = _without_none(hint)
    if plain is bool:
        return Fact(Kind.YESNO)
    if plain is str:
        return Fact(Kind.TEXT)
    if plain in (int, float):
        return Fact(Kind.NUMBER, unit or unit_of(name))
    if typing.get_origin(plain) is tuple:
        item = typing.get_args(plain)[0]
        if item is Sample:
            return Fact(Kind.SERIES)
        if dataclasses.is_dataclass(item) and isinstance(item, type):
            return Fact(Kind.SET, fields=schema_of(item))
    raise TypeError(f"{name}: {hint} can't be a fact")


def _without_none(hint: Any) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kept = [part for part in typing.get_args(hint) if part is not type(None)]
        return kept[0] if len(kept) == 1 else hint
    return hint


def unit_of(name: str) -> str:
    """The unit that a fact's name ends in; "none" without one."""
    base = "_" + name.removesuffix("_usual")
    return next((unit for suffix, unit in SUFFIX_UNITS if base.endswith(suffix)), "none")


def number_of(value: object) -> float | None:
    """A fact as a finite number, or None for anything else: a yes/no is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def values_of(facts: Any) -> dict[str, FactValue]:
    """A facts object as plain JSON-able values, ready to cross a checkpoint."""
    return {item.name: _plain(getattr(facts, item.name)) for item in dataclasses.fields(facts)}


def _plain(value: Any) -> FactValue:
    if isinstance(value, tuple | list):
        return tuple(values_of(item) for item in value)
    if isinstance(value, Enum):
        return str(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{value!r} can't be a fact's value")
