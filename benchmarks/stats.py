"""Percentiles."""

from collections.abc import Sequence
from math import ceil


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile; ValueError of nothing."""
    if not values:
        raise ValueError("no value was measured")
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]
