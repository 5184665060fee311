"""When a series left its usual band, and whether a cause can have started before its effect."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from statistics import median

from tailhound.model import FactValue

SAMPLES_OUTSIDE = 3
"""An onset needs three scrapes outside the band."""

DEVIATIONS = 3.0
"""The band is the median +- this many median absolute deviations."""

FLOOR_RATIO = 0.10
"""A band is never narrower than a tenth of its median: a flat series has no deviation at all, and
any jitter would leave it. Our own default."""

RESOLUTION_SECONDS = 120.0
"""The rate window of the series that onsets are read from; a scrape interval is shorter."""


def band(usual: Sequence[float]) -> tuple[float, float] | None:
    """The usual band (low, high) of some values; None without any."""
    if not usual:
        return None
    centre = median(usual)
    spread = median(abs(value - centre) for value in usual)
    half = max(DEVIATIONS * spread, FLOOR_RATIO * abs(centre), 1e-9)
    return centre - half, centre + half


def onset_of(series: FactValue, usual_series: FactValue) -> datetime | None:
    """The first sample after which the series stays outside its usual band until its end.

    Both are sets of {at, value}. None = unknown: no samples, no usual window, not outside at the
    end for three samples, or outside from the first sample on (it began earlier than we look).
    """
    samples = _pairs(series)
    edges = band([value for _, value in _pairs(usual_series)])
    if edges is None or not samples:
        return None
    low, high = edges
    first = len(samples)
    while first > 0 and not low <= samples[first - 1][1] <= high:
        first -= 1
    if first == 0 or len(samples) - first < SAMPLES_OUTSIDE:
        return None
    return datetime.fromtimestamp(samples[first][0], UTC)


def half_grown(series: FactValue, usual_series: FactValue) -> datetime | None:
    """When the series had come half the way from its usual value to where it is now, for good.

    For a step that is its onset. None when there was no onset.
    """
    onset, usual = onset_of(series, usual_series), _pairs(usual_series)
    if onset is None:
        return None
    centre = median(value for _, value in usual)
    later = [(at, value) for at, value in _pairs(series) if at >= onset.timestamp()]
    level = median(value for _, value in later[len(later) // 2 :])
    first = len(later)
    while first > 0 and abs(later[first - 1][1] - centre) >= abs(level - centre) / 2:
        first -= 1
    return datetime.fromtimestamp(later[min(first, len(later) - 1)][0], UTC)


def left_band(series: FactValue, usual_series: FactValue) -> bool | None:
    """Whether the last three samples lie outside the usual band; None when nobody can tell."""
    values = [value for _, value in _pairs(series)][-SAMPLES_OUTSIDE:]
    edges = band([value for _, value in _pairs(usual_series)])
    if edges is None or len(values) < SAMPLES_OUTSIDE:
        return None
    return all(not edges[0] <= value <= edges[1] for value in values)


def after_its_effect(cause: datetime | None, effect: datetime | None) -> bool:
    """Whether the cause began later than its effect by more than both resolutions.

    An unknown onset never acquits.
    """
    if cause is None or effect is None:
        return False
    return (cause - effect).total_seconds() > 2 * RESOLUTION_SECONDS


def shape_of(series: FactValue, onset: datetime | None) -> str:
    """ "step" or "ramp" by how long the series took to reach its later level; "" when unknown."""
    if onset is None:
        return ""
    later = [(at, value) for at, value in _pairs(series) if at >= onset.timestamp()]
    if len(later) < 2 * SAMPLES_OUTSIDE:
        return ""
    level = median(value for _, value in later[len(later) // 2 :])
    start = later[0][1]
    reached = next(
        (
            at
            for at, value in later
            if abs(value - level) <= FLOOR_RATIO * abs(level - start)
            or abs(value - level) <= FLOOR_RATIO * abs(level)
        ),
        later[-1][0],
    )
    return "step" if reached - onset.timestamp() <= 2 * RESOLUTION_SECONDS else "ramp"


def _pairs(series: FactValue) -> list[tuple[float, float]]:
    """The samples of a series fact in the order of time; whatever is no sample is left out."""
    if not isinstance(series, tuple | list):
        return []
    pairs = []
    for sample in series:
        if not isinstance(sample, dict | Mapping):  # a dict first: asking an ABC is slow
            continue
        at, value = sample.get("at"), sample.get("value")
        if isinstance(at, int | float) and isinstance(value, int | float):
            pairs.append((float(at), float(value)))
    return sorted(pairs)
