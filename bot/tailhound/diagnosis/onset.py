"""When a series left its usual band, and whether a cause can have started before its effect."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby, pairwise
from statistics import median

from tailhound.model import FactValue

SAMPLES_OUTSIDE = 3
"""An onset needs three scrapes outside the band."""

DEVIATIONS = 3.0
"""The band is the median +- this many median absolute deviations."""

FLOOR_RATIO = 0.10
"""A band is never narrower than a tenth of its median: a flat series has no deviation at all, and
any jitter would leave it. Our own default."""

TEETH = 4
"""A comb has at least four spikes: three come in equal intervals by accident. Our own default."""

TOOTH_RATIO = 1.5
"""A spike stands out from the usual value by half of it. Our own default."""

REGULAR_RATIO = 0.25
"""The spikes of a comb come in equal intervals, give or take a quarter. Our own default."""

RESOLUTION_SECONDS = 120.0
"""The rate window of the series that onsets are read from; a scrape interval is shorter."""

Pairs = Sequence[tuple[float, float]]
"""(at, value) in the order of time."""


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
    end for three samples, or outside from the first sample on (it began earlier than we look). What
    comes back regularly (`teeth_of`) began with its first spike.
    """
    samples, usual = samples_of(series), samples_of(usual_series)
    return _moment(_began(samples, usual, _teeth(samples, usual)))


def _began(samples: Pairs, usual: Pairs, teeth: Sequence[float]) -> float | None:
    if teeth:
        return _first_of(teeth, samples)
    edges = band([value for _, value in usual])
    if edges is None or not samples:
        return None
    low, high = edges
    first = len(samples)
    while first > 0 and not low <= samples[first - 1][1] <= high:
        first -= 1
    if first == 0 or len(samples) - first < SAMPLES_OUTSIDE:
        return None
    return samples[first][0]


def lasted(series: FactValue, usual_series: FactValue) -> float:
    """How many seconds a series was looked at, if it was outside its usual band from the first
    sample on, or, with no usual window, the same all the time and not zero; else 0.
    """
    samples = samples_of(series)
    values = [value for _, value in samples]
    edges = band([value for _, value in samples_of(usual_series)])
    if len(samples) < SAMPLES_OUTSIDE:
        return 0.0
    if edges is None:
        low, high = band(values) or (0.0, 0.0)
        so = bool(values[0]) and all(low <= value <= high for value in values)
    else:
        so = all(not edges[0] <= value <= edges[1] for value in values)
    return samples[-1][0] - samples[0][0] if so else 0.0


def _moment(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(at, UTC)


def half_grown(series: FactValue, usual_series: FactValue) -> datetime | None:
    """When the series had come half the way from its usual value to where it is now, for good.

    For a step, and for spikes that come back, that is the onset. None when there was no onset.
    """
    samples, usual = samples_of(series), samples_of(usual_series)
    teeth = _teeth(samples, usual)
    onset = _began(samples, usual, teeth)
    if onset is None or teeth:
        return _moment(onset)
    centre = median(value for _, value in usual)
    later = [(at, value) for at, value in samples if at >= onset]
    level = median(value for _, value in later[len(later) // 2 :])
    first = len(later)
    while first > 0 and abs(later[first - 1][1] - centre) >= abs(level - centre) / 2:
        first -= 1
    return _moment(later[min(first, len(later) - 1)][0])


def left_band(series: FactValue, usual_series: FactValue) -> bool | None:
    """Whether the last three samples lie outside the usual band; None when nobody can tell."""
    values = [value for _, value in samples_of(series)][-SAMPLES_OUTSIDE:]
    edges = band([value for _, value in samples_of(usual_series)])
    if edges is None or len(values) < SAMPLES_OUTSIDE:
        return None
    return all(not edges[0] <= value <= edges[1] for value in values)


def teeth_of(series: FactValue, usual_series: FactValue) -> tuple[float, ...]:
    """When each spike of a comb began; () when the series is none.

    A comb leaves its band upwards and comes back at least four times, in equal intervals, and goes
    on doing so; a series that is usually like that is none. What is shorter than the rate window
    that the series was read with can't be told from a steady rise.
    """
    return _teeth(samples_of(series), samples_of(usual_series))


def _teeth(samples: Pairs, usual: Pairs) -> tuple[float, ...]:
    edges = band([value for _, value in usual])
    if edges is None or not samples:
        return ()
    high = max(edges[1], TOOTH_RATIO * median(value for _, value in usual))
    starts = _spikes(samples, edges[1], high)
    gaps = [after - before for before, after in pairwise(starts)]
    if len(starts) < TEETH or not _regular(gaps):
        return ()
    goes_on = samples[-1][0] - starts[-1] <= (1 + 2 * REGULAR_RATIO) * median(gaps)
    new = _share_above(usual, high) < _share_above(samples, high) / 2
    return tuple(starts) if goes_on and new else ()


def _spikes(samples: Pairs, edge: float, high: float) -> list[float]:
    """The beginnings of the times above the edge that reach `high`; not of one that lasts since
    before the first sample.
    """
    runs = [tuple(run) for _, run in groupby(samples, key=lambda sample: sample[1] > edge)]
    return [
        run[0][0] for run in runs[1:] if run[0][1] > edge and max(value for _, value in run) >= high
    ]


def _regular(gaps: Sequence[float]) -> bool:
    return bool(gaps) and all(
        abs(gap - median(gaps)) <= REGULAR_RATIO * median(gaps) for gap in gaps
    )


def _share_above(samples: Pairs, high: float) -> float:
    return sum(value >= high for _, value in samples) / len(samples)


def _first_of(teeth: Sequence[float], samples: Pairs) -> float | None:
    """The first spike, when a whole interval without one is seen before it."""
    interval = median(after - before for before, after in pairwise(teeth))
    return teeth[0] if teeth[0] - samples[0][0] > interval else None


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
    later = [(at, value) for at, value in samples_of(series) if at >= onset.timestamp()]
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


_RECORD = (dict, Mapping)
"""A dict first: asking an ABC is slow."""
_NUMBER = (int, float)


def samples_of(series: FactValue) -> list[tuple[float, float]]:
    """The samples of a series fact in the order of time; whatever is no sample is left out."""
    if not isinstance(series, tuple | list):
        return []
    pairs = []
    for sample in series:
        if not isinstance(sample, _RECORD):
            continue
        at, value = sample.get("at"), sample.get("value")
        if isinstance(at, _NUMBER) and isinstance(value, _NUMBER):
            pairs.append((float(at), float(value)))
    return sorted(pairs)
