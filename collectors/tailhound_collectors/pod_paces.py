"""Which pods a latency grew at: its mean for each pod, now and usually.

Asked only of latencies that grew, and of workloads with several pods.
"""

from collections.abc import Sequence
from dataclasses import replace

from tailhound.flow import Reading
from tailhound_collectors.families import Family, Timing
from tailhound_collectors.now_and_usual import now_and_usual
from tailhound_collectors.reading import WINDOW, ratio
from tailhound_collectors.symptoms import SYMPTOMS, Means, PodPace, SymptomRow, scaled

GREW = 1.1
"""A mean within a tenth of its usual value did not grow: as wide as a usual band at least is."""


def pod_paces(
    family: Family, found: Means, here: str, usual: Sequence[float]
) -> Reading[dict[str, tuple[PodPace, ...]]]:
    """By kind of latency: the mean of each pod, for the kinds whose mean grew."""
    kinds = [
        kind
        for kind, _ in SYMPTOMS
        if kind in family.timings and (ratio(*found.seconds[kind]) or 0.0) > GREW
    ]
    asked = {kind: _by_pod(family.timings[kind], here) for kind in kinds}
    if not asked:
        return {}
    answers = yield from now_and_usual(asked, {}, usual)
    return {
        kind: _paces(answers[kind].by("pod"), answers[kind].usually_by("pod")) for kind in kinds
    }


def with_paces(
    rows: Sequence[SymptomRow], paces: dict[str, tuple[PodPace, ...]]
) -> tuple[SymptomRow, ...]:
    """The latencies, each with its pods where they are known."""
    return tuple(replace(row, pods=paces.get(row.symptom) or None) for row in rows)


def _by_pod(timings: Sequence[Timing], here: str) -> str:
    return " or ".join(
        f"(sum by (pod) (rate({one.total}{here}[{WINDOW}]))"
        f" / sum by (pod) (rate({one.count}{here}[{WINDOW}])){scaled(one)})"
        for one in timings
    )


def _paces(
    now: dict[tuple[str, ...], float], usual: dict[tuple[str, ...], float]
) -> tuple[PodPace, ...]:
    return tuple(
        PodPace(pod=row[0], seconds=seconds, usual_seconds=usual.get(row))
        for row, seconds in sorted(now.items())
    )
