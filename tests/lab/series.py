"""The series of a scenario: how a line of the `series:` list is read and checked."""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tests.lab import times

Past = Annotated[float, BeforeValidator(times.past)]
Span = Annotated[float, BeforeValidator(times.span)]

_NAME = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})?", re.DOTALL)
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)', re.DOTALL)
_ESCAPES = {"n": "\n", '"': '"', "\\": "\\"}


class Strict(BaseModel):
    """Unknown keys are errors: a typo must not look like a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Phase(Strict):
    """What a series does until a moment. Exactly one way of saying it.

    `moment` is written as `value: at -40m`: the value is the Unix time of that moment.
    """

    until: Past
    value: float | None = None
    moment: Past | None = None
    start: float | None = Field(default=None, alias="from")
    to: float | None = None
    per_second: Annotated[float | None, Field(ge=0)] = None
    share: Mapping[float, float] | None = None
    mean: float | None = None
    absent: bool = False

    @model_validator(mode="before")
    @classmethod
    def _at(cls, raw: Any) -> Any:
        value = raw.get("value") if isinstance(raw, dict) else None
        if isinstance(value, str) and value.startswith("at "):
            given = {key: inner for key, inner in raw.items() if key != "value"}
            return {**given, "moment": value.removeprefix("at ")}
        return raw

    @model_validator(mode="after")
    def _says_something(self) -> "Phase":
        if (self.start is None) != (self.to is None):
            raise ValueError("`from` and `to` belong together")
        ways = (self.value, self.moment, self.to, self.per_second)
        said = sum(way is not None for way in ways)
        if said > 1 or said + self.absent == 0:
            raise ValueError("give one of: value | from and to | per_second | absent: true")
        if self.share is not None and not math.isclose(sum(self.share.values()), 1, abs_tol=1e-6):
            raise ValueError(f"the shares add up to {sum(self.share.values()):g}, not 1")
        return self


class Series(Strict):
    """One gauge, counter or histogram with its phases, oldest first."""

    gauge: str = ""
    counter: str = ""
    histogram: str = ""
    phases: Annotated[tuple[Phase, ...], Field(min_length=1)]
    jitter: Annotated[float, Field(ge=0, lt=1)] = 0.0
    start: float = 0.0
    resets: tuple[Past, ...] = ()
    le: tuple[float, ...] = ()
    mean: float | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> "Series":
        if sum(map(bool, (self.gauge, self.counter, self.histogram))) != 1:
            raise ValueError("a series is one of gauge: | counter: | histogram:")
        parsed(self.text)
        ends = [phase.until for phase in self.phases]
        if ends != sorted(set(ends)) or ends[-1] != 0:
            raise ValueError("phases go forward in time, and the last one ends `until: 0m`")
        for phase in self.phases:
            self._fits(phase)
        return self

    def _fits(self, phase: Phase) -> None:
        says = phase.per_second is not None
        if self.gauge and says:
            raise ValueError("a gauge has `value` or `from`/`to`, not `per_second`")
        if not self.gauge and not says and not phase.absent:
            raise ValueError("counters and histograms have `per_second`")
        if self.histogram:
            self._buckets_fit(phase)
        elif phase.share is not None or self.le:
            raise ValueError("`share` and `le` belong to histograms")

    def _buckets_fit(self, phase: Phase) -> None:
        if not self.le or list(self.le) != sorted(set(self.le)):
            raise ValueError("a histogram needs `le`, ascending")
        if phase.per_second and phase.share is None:
            raise ValueError("a phase of a histogram with observations needs `share`")
        strange = set(phase.share or {}) - {*self.le, math.inf}
        if strange:
            raise ValueError(f"share names buckets that `le` does not hold: {sorted(strange)}")

    @property
    def text(self) -> str:
        """`name{label="value"}`, as written."""
        return self.gauge or self.counter or self.histogram


def parsed(text: str) -> tuple[str, dict[str, str]]:
    """The name and labels of `name{a="b"}`; ValueError says where it stops being that."""
    match = _NAME.fullmatch(text.strip())
    if not match:
        raise ValueError(f'{text!r} is no series: write name{{label="value"}}')
    labels: dict[str, str] = {}
    rest = match["labels"] or ""
    position = 0
    while rest[position:].strip():
        label = _LABEL.match(rest, position)
        if not label:
            raise ValueError(f'{text!r}: {rest[position:]!r} is not label="value"')
        if label[1] in labels:
            raise ValueError(f"{text!r}: the label {label[1]} stands twice")
        labels[label[1]] = re.sub(
            r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), label[2]
        )
        position = label.end()
    return match["name"], labels


def replaced(raw: dict[str, Any], let: Mapping[str, str]) -> dict[str, Any]:
    """A raw series with `<name>` replaced by what `let` says; ValueError for an unknown name."""

    def known(found: re.Match[str]) -> str:
        if found[1] not in let:
            raise ValueError(f"<{found[1]}> is not in `let` ({', '.join(let) or 'which is empty'})")
        return let[found[1]]

    return {
        key: re.sub(r"<([A-Za-z_]\w*)>", known, value)
        if key in ("gauge", "counter", "histogram") and isinstance(value, str)
        else value
        for key, value in raw.items()
    }
