"""What a series tells of its course, by all its samples, also where only some of them are kept.

A checkpoint has room for some samples of a long series: enough to draw it, not to say when it left
its usual band. So what the diagnosis reads is noted beside a series before it is thinned, as a set
of one record, and read from there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from tailhound.diagnosis.onset import (
    half_grown,
    lasted,
    left_band,
    onset_of,
    samples_of,
    shape_of,
    teeth_of,
)
from tailhound.model import FactValue
from tailhound.model.facts import number_of

_SERIES, _USUAL = "series", "usual_series"


@dataclass(frozen=True, slots=True)
class Course:
    """The course of one series: `Course(row)`, or `Course(facts, "throttled_ratio_")`.

    It lies under `<of>series` and `<of>usual_series`. Whatever is no series tells nothing.
    """

    facts: Mapping[str, Any]
    of: str = ""

    @property
    def onset(self) -> datetime | None:
        """When it left its usual band for good; None = unknown."""
        note = self._note
        return onset_of(*self._both) if note is None else _moment(note.get("onset"))

    @property
    def half_grown(self) -> datetime | None:
        """When half of its growth had come; None when there was no onset."""
        note = self._note
        return half_grown(*self._both) if note is None else _moment(note.get("half_grown"))

    @property
    def is_outside(self) -> bool | None:
        """Whether it ends outside its usual band; None when nobody can tell."""
        note = self._note
        if note is None:
            return left_band(*self._both)
        found = note.get("is_outside")
        return found if isinstance(found, bool) else None

    @property
    def lasted_seconds(self) -> float:
        """How long it was looked at, if it was as it is now all that time; else 0."""
        note = self._note
        return lasted(*self._both) if note is None else number_of(note.get("lasted_seconds")) or 0.0

    @property
    def comes_and_goes(self) -> bool:
        """Whether it leaves its usual band again and again, in equal intervals."""
        note = self._note
        return bool(teeth_of(*self._both)) if note is None else note.get("comes_and_goes") is True

    @property
    def shape(self) -> str:
        """ "step" or "ramp"; "" when nobody can tell."""
        note = self._note
        if note is None:
            return shape_of(self.facts.get(f"{self.of}{_SERIES}"), self.onset)
        return str(note.get("shape") or "")

    @property
    def usual(self) -> float | None:
        """The median of its usual samples; None without any."""
        note = self._note
        if note is not None:
            return number_of(note.get("usual"))
        values = [value for _, value in samples_of(self.facts.get(f"{self.of}{_USUAL}"))]
        return median(values) if values else None

    @property
    def _both(self) -> tuple[FactValue, FactValue]:
        return self.facts.get(f"{self.of}{_SERIES}"), self.facts.get(f"{self.of}{_USUAL}")

    @property
    def _note(self) -> Mapping[str, Any] | None:
        kept = self.facts.get(_place(self.of))
        found = kept[0] if isinstance(kept, tuple | list) and kept else None
        return found if isinstance(found, Mapping) else None


def noted(facts: Mapping[str, FactValue], series: str) -> Mapping[str, FactValue]:
    """What has to be kept beside the facts before the one called `series` is thinned.

    Nothing where it was noted before, so that the note is that of the whole series, and nothing of
    a series that no onset is read from.
    """
    if not series.endswith(_SERIES):
        return {}
    of = _owner(series)
    if _place(of) in facts:
        return {}
    course = Course(facts, of)
    onset = course.onset
    note: dict[str, FactValue] = {
        "onset": _seconds(onset),
        "half_grown": _seconds(course.half_grown) if onset else None,
        "is_outside": course.is_outside,
        "lasted_seconds": course.lasted_seconds,
        "comes_and_goes": course.comes_and_goes,
        "shape": course.shape if onset else "",
        "usual": course.usual,
    }
    return {_place(of): (note,)}


def turns(facts: Mapping[str, FactValue], series: str) -> tuple[float, ...]:
    """When the series of this name left its usual band, and when half of its growth had come."""
    if not series.endswith(_SERIES):
        return ()
    course = Course(facts, _owner(series))
    return tuple(at.timestamp() for at in (course.onset, course.half_grown) if at is not None)


def _owner(series: str) -> str:
    return series.removesuffix(_USUAL).removesuffix(_SERIES)


def _place(of: str) -> str:
    """Where the note lies. A dot can't stand in the name of a fact, so that no fact lies there."""
    return f"{of}{_SERIES}.whole"


def _moment(at: object) -> datetime | None:
    seconds = number_of(at)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()
