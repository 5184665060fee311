"""The latencies that users feel, each with its quantile, its usual value and its history."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.model.facts import Series
from tailhound.requests import Query, Vector
from tailhound_collectors.families import Family, Part, Timing
from tailhound_collectors.reading import (
    ONSET_WINDOW,
    WINDOW,
    by,
    history,
    number,
    ratio,
    side_by_side,
    usually,
)

THIN_REQUESTS = 100
"""Below this many requests in the window a p99 is one or two requests; then p90 is read."""

SYMPTOMS = (
    ("ttft", "first token"),
    ("itl", "inter-token"),
    ("pace", "time per token"),
    ("e2e", "end to end"),
    ("queue", "queue wait"),
    ("handling", "request"),
)
"""The order in which a symptom is looked for."""

WAITS = frozenset({"queue"})
"""Symptoms that may be next to nothing as a rule: their growth in proportion says little."""

SAME_REQUESTS = 1.5
"""Means may be subtracted while their counts differ by less than this factor. An engine records the
first token when it comes, and the stages when the request ends: with many requests half way, the
means are of different requests. Our own default."""

_SHORT = {"ttft": "first token", "e2e": "end to end", "runtime": "run time"}
"""Kinds whose own name is no word for people."""

Pair = tuple[float | None, float | None]
"""A value now, and its usual value."""


@dataclass(frozen=True, slots=True)
class Means:
    """Mean seconds of each kind now and usually, and the requests per second behind them."""

    seconds: Mapping[str, Pair]
    counts: Mapping[str, Pair]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPace:
    """One latency at one pod: its mean now and usually; a new pod has no usual one."""

    pod: str
    seconds: float | None = None
    usual_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SymptomRow:
    """One latency: its mean now and usually, and the samples that its onset is read from.

    `pods` is asked of a latency that grew at a workload of several pods. A pod that served nothing
    is not in it. `requests_count` is how many requests a quantile of thin traffic rests on; nothing
    where there are enough.
    """

    symptom: str
    title: str
    seconds: float | None = None
    usual_seconds: float | None = None
    quantile_seconds: float | None = None
    quantile_usual_seconds: float | None = None
    quantile: str = ""
    clipped: bool = False
    requests_count: float | None = None
    series: Series | None = None
    usual_series: Series | None = None
    pods: tuple[PodPace, ...] | None = None


def mean(timings: Sequence[Timing], here: str, window: str) -> str:
    """The mean in seconds of the first spelling that exists."""
    return " or ".join(
        f"(sum (rate({one.total}{here}[{window}])) / sum (rate({one.count}{here}[{window}]))"
        f"{scaled(one)})"
        for one in timings
    )


def scaled(timing: Timing) -> str:
    """What turns a mean into seconds; "" for one that is in seconds."""
    return "" if timing.unit == 1 else f" * {timing.unit:g}"


def arrivals(family: Family, here: str, window: str = WINDOW) -> str:
    """Requests per second: those that reached a first token, else those that were answered."""
    kinds = [kind for kind in ("ttft", "handling", "e2e") if kind in family.timings]
    counts = dict.fromkeys(one.count for kind in kinds for one in family.timings[kind])
    return " or ".join(f"sum (rate({name}{here}[{window}]))" for name in counts)


def means(family: Family, here: str, usual: Sequence[float]) -> Reading[Means]:
    """The means of each kind that the family has, and the counts of those that get subtracted: of
    those of a stage's `otherwise` only where it is needed.
    """
    kinds = list(family.timings)
    subtracted = _subtracted((*family.stages, *family.on_cpu))
    asked = [mean(family.timings[kind], here, WINDOW) for kind in kinds]
    asked += [_count(family.timings[kind], here) for kind in subtracted]
    values = yield from side_by_side(usually(promql, usual) for promql in asked)
    seconds = dict(zip(kinds, values[: len(kinds)], strict=True))
    counts = dict(zip(subtracted, values[len(kinds) :], strict=True))
    instead = (one.otherwise for one in family.stages if seconds[one.of][0] is None)
    more = [kind for kind in _subtracted(filter(None, instead)) if kind not in counts]
    known = yield from side_by_side(
        usually(_count(family.timings[kind], here), usual) for kind in more
    )
    return Means(seconds=seconds, counts={**counts, **dict(zip(more, known, strict=True))})


def _subtracted(parts: Iterable[Part]) -> list[str]:
    """The kinds that are subtracted from each other, each once."""
    of = (kind for one in parts if one.less for kind in (one.of, *one.less))
    return list(dict.fromkeys(of))


def _count(timings: Sequence[Timing], here: str) -> str:
    return " or ".join(f"sum (rate({one.count}{here}[{WINDOW}]))" for one in timings)


def symptoms(
    family: Family, found: Means, here: str, usual: Sequence[float]
) -> Reading[tuple[SymptomRow, ...]]:
    """Each latency that the family has, with its quantile and its history."""
    wanted = [
        SymptomRow(
            symptom=kind,
            title=title,
            seconds=found.seconds[kind][0],
            usual_seconds=found.seconds[kind][1],
        )
        for kind, title in SYMPTOMS
        if kind in family.timings and found.seconds[kind][0] is not None
    ]
    rows = yield from side_by_side(
        row_of(row, family.timings[row.symptom], here, usual) for row in wanted
    )
    return rows


def row_of(
    row: SymptomRow, timings: Sequence[Timing], here: str, usual: Sequence[float]
) -> Reading[SymptomRow]:
    """The row with its history, and its quantile where there are buckets."""
    series, usual_series = yield from history(mean(timings, here, ONSET_WINDOW), usual)
    row = replace(row, series=series, usual_series=usual_series)
    histograms = [one for one in timings if one.bucket]
    if not histograms:
        return row
    return (yield from _quantile(row, histograms, here, usual))


def _quantile(
    row: SymptomRow, timings: Sequence[Timing], here: str, usual: Sequence[float]
) -> Reading[SymptomRow]:
    """p99, or p90 of thin traffic, now and usually; clipped where it is the top finite bucket."""
    count = " or ".join(f"sum (increase({one.count}{here}[{WINDOW}]))" for one in timings)
    les = " or ".join(f"count by (le) (rate({one.bucket}{here}[{WINDOW}]))" for one in timings)
    replies = yield from together([Query(promql=count), Query(promql=les)])
    requests, bounds = number(replies[0]), _bounds(replies[1])
    if requests is None or not bounds:
        return row
    q = 0.99 if requests >= THIN_REQUESTS else 0.9
    promql = " or ".join(
        f"(histogram_quantile({q:g}, sum by (le) (rate({one.bucket}{here}[{WINDOW}])))"
        f"{scaled(one)})"
        for one in timings
    )
    now, before = yield from usually(promql, usual)
    top = max(bounds) * timings[0].unit
    return replace(
        row,
        quantile=f"p{q * 100:g}",
        requests_count=requests if requests < THIN_REQUESTS else None,
        quantile_seconds=now,
        quantile_usual_seconds=before,
        clipped=now is not None and now >= top,
    )


def _bounds(reply: Vector | Missing) -> list[float]:
    """The finite bucket bounds; a quantile at the highest of them is "at least" that."""
    bounds = []
    for (le,) in by(reply, "le"):
        try:
            bounds.append(float(le))
        except ValueError:
            continue
    return [bound for bound in bounds if bound != float("inf")]


def slowest(rows: Sequence[SymptomRow]) -> tuple[float | None, str | None]:
    """The growth of the symptom that grew most in proportion (mean or quantile), and its name.

    Waits are left out: a wait of next to nothing grows a thousandfold without anybody noticing.
    """
    grown = [(grew, row.title) for row in rows if (grew := _growth(row)) is not None]
    return max(grown) if grown else (None, None)


def _growth(row: SymptomRow) -> float | None:
    if row.symptom in WAITS:
        return None
    shares = (
        ratio(row.seconds, row.usual_seconds),
        ratio(row.quantile_seconds, row.quantile_usual_seconds),
    )
    return max((share for share in shares if share is not None), default=None)


def part(found: Means, of: str, less: Sequence[str]) -> Pair:
    """A kind's mean less others', now and usually.

    Unknown when one of them is, when it is negative, or when they are means of other requests.
    """
    return _rest(found, of, less, 0), _rest(found, of, less, 1)


def remainder_of(one: Part) -> str:
    """`first token less queue and prefill`; "" of a stage that is measured by itself."""
    if not one.less:
        return ""
    *head, last = (_SHORT.get(kind, kind) for kind in one.less)
    less = f"{', '.join(head)} and {last}" if head else last
    return f"{_SHORT.get(one.of, one.of)} less {less}"


def _rest(found: Means, of: str, less: Sequence[str], at: int) -> float | None:
    whole = found.seconds[of][at]
    if not less:
        return whole
    parts = [found.seconds[kind][at] for kind in less]
    known = [value for value in parts if value is not None]
    if whole is None or len(known) < len(parts) or not _same_requests(found, (of, *less), at):
        return None
    rest = whole - sum(known)
    return rest if rest >= 0 else None


def _same_requests(found: Means, kinds: Sequence[str], at: int) -> bool:
    counts = [count for kind in kinds if (count := found.counts[kind][at]) is not None]
    return not counts or max(counts) <= SAME_REQUESTS * min(counts)
