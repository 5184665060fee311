"""Questions to Prometheus, and how a label value is quoted: here and nowhere else."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tailhound.flow import Read
from tailhound.model.facts import Sample
from tailhound.model.plainly import BROKEN


@dataclass(frozen=True, slots=True)
class Labelled:
    """One element of an instant vector. `labels` are sorted pairs; NaN and Inf never get here."""

    labels: tuple[tuple[str, str], ...]
    value: float

    def label(self, name: str) -> str:
        """The value of a label, "" without it."""
        return dict(self.labels).get(name, "")


@dataclass(frozen=True, slots=True)
class Ranged:
    """One series of a range answer."""

    labels: tuple[tuple[str, str], ...]
    samples: tuple[Sample, ...]

    def label(self, name: str) -> str:
        """The value of a label, "" without it."""
        return dict(self.labels).get(name, "")


Vector = tuple[Labelled, ...]
Ranges = tuple[Ranged, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Read[Vector]):
    """An instant query, evaluated `ago` seconds before the turn's `as_of`.

    An empty answer comes as Missing(EMPTY), never as an empty vector.
    """

    promql: str
    ago: float = 0.0

    @property
    def backend(self) -> str:
        """Prometheus."""
        return "prometheus"

    @property
    def shown(self) -> str:
        """The query, with the time it looks at."""
        return f"{self.promql}  # {self.ago:g} s ago" if self.ago else self.promql


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeQuery(Read[Ranges]):
    """A range query from `start_ago` to `end_ago` seconds before `as_of`, one sample per `step`."""

    promql: str
    start_ago: float
    end_ago: float = 0.0
    step: float = 15.0

    @property
    def backend(self) -> str:
        """Prometheus."""
        return "prometheus"

    @property
    def shown(self) -> str:
        """The query, with its range."""
        return f"{self.promql}  # from {self.start_ago:g} s ago, every {self.step:g} s"


def quoted(value: str) -> str:
    """A PromQL string literal. Every character of the value arrives as itself.

    A lone surrogate is no character, and no label of Prometheus holds one: it becomes U+FFFD, as
    where alerts come in. The query stays text that can be sent.
    """
    text = BROKEN.sub("\ufffd", value)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def literal_regex(value: str) -> str:
    """A regular expression (RE2) that matches the value and nothing else."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", value)


def one_of(values: Iterable[str]) -> str:
    """A regular expression that matches each of the values and nothing else."""
    return "|".join(literal_regex(value) for value in values)


def matchers(*extra: str, **labels: str | Iterable[str]) -> str:
    """`{namespace="x",pod=~"a|b",...}`: a text is matched exactly, several as alternatives.

    `extra` are literal matchers of the collector's own (`container!=""`). A label whose value is
    empty text is left out. An empty collection matches nothing.
    """
    parts = [
        f"{name}={quoted(value)}"
        if isinstance(value, str)
        else f"{name}=~{quoted(one_of(value) or '^$none')}"
        for name, value in labels.items()
        if value != ""
    ]
    return "{" + ",".join([*parts, *extra]) + "}"
