"""A chart as data: everything that is drawn, in values and words; nothing about pixels."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

Point = tuple[float, float]
"""(Unix seconds, value)."""

Run = tuple[Point, ...]
"""Samples without a gap between them; only these are joined by a line."""


class Role(Enum):
    """What a panel shows: the mechanism of a cause, or the symptom."""

    MECHANISM = "mechanism"
    SYMPTOM = "symptom"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One series. `name` is the pod, or whatever it belongs to; "" = all of the subject."""

    name: str
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The lowest and highest of the series that are not drawn by name: `3 other pods`."""

    name: str
    runs: tuple[tuple[tuple[float, float, float], ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A horizontal line: what a claim needs (`needs 25 %`), or an objective (`SLO 2.5 s`)."""

    label: str
    value: float
    objective: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Onset:
    """When something began: `mark` is its number in the chain, "" outside one."""

    at: float
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """When something was changed, by whom it may be: a rollout, a scaling. `what` is short."""

    at: float
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """The band of a quantile that is clipped by its top bucket: from `low` up, since `start`."""

    low: float
    start: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One pair of axes. `unit` is as in `model.facts`; `words` say what is measured.

    `usual` is the lowest and highest of the usual moments, None where they are unknown. `gaps` are
    spans (start, end) without any sample.
    """

    role: Role
    words: str
    unit: str
    lines: tuple[Line, ...]
    envelope: Envelope | None = None
    usual: tuple[float, float] | None = None
    limits: tuple[Limit, ...] = ()
    onset: Onset | None = None
    open: Open | None = None
    gaps: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One question, answered by one or two panels over one axis of time (Unix seconds, UTC).

    `id` is unique within the incident and made of [a-z0-9-]. `changes` are context, in the order
    of time.
    """

    id: str
    title: str
    alt: str
    panels: tuple[Panel, ...]
    start: float
    end: float
    changes: tuple[Change, ...] = ()


def charts_to_json(charts: Sequence[Chart]) -> str:
    """Charts as one line of JSON, for the process that draws them."""
    return json.dumps([dataclasses.asdict(chart) for chart in charts], default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Role):
        return value.value
    raise TypeError(f"{value!r} is no part of a chart")


def charts_from_json(text: str | bytes) -> tuple[Chart, ...]:
    """What `charts_to_json` wrote; ValueError, TypeError or KeyError for anything else."""
    return tuple(
        Chart(
            **{
                **found,
                "panels": tuple(_panel(one) for one in found["panels"]),
                "changes": tuple(Change(**one) for one in found["changes"]),
            }
        )
        for found in json.loads(text)
    )


def _panel(found: dict[str, Any]) -> Panel:
    envelope, onset, clipped = found["envelope"], found["onset"], found["open"]
    return Panel(
        role=Role(found["role"]),
        words=found["words"],
        unit=found["unit"],
        lines=tuple(Line(name=one["name"], runs=_tuples(one["runs"])) for one in found["lines"]),
        envelope=envelope and Envelope(name=envelope["name"], runs=_tuples(envelope["runs"])),
        usual=found["usual"] and tuple(found["usual"]),
        limits=tuple(Limit(**one) for one in found["limits"]),
        onset=onset and Onset(**onset),
        open=clipped and Open(**clipped),
        gaps=_tuples(found["gaps"]),
    )


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
