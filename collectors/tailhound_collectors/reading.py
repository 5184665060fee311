"""What collectors share: numbers out of replies, and the usual value of a query."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, TypeVar

from tailhound.flow import Read, Reading, Together, together
from tailhound.model import Missing, Reason
from tailhound.model.facts import Sample, Series
from tailhound.requests import Query, RangeQuery, Ranges, Vector

T = TypeVar("T")

WINDOW = "5m"
"""Rate window of verdicts (signals: at least four scrapes; 5 m for verdicts)."""

ONSET_WINDOW = "2m"
"""Rate window of the series that onsets are read from."""

HISTORY_SECONDS = 2700.0
"""How far back an onset is looked for: 45 minutes, our own default."""

STEP_SECONDS = 15.0
USUAL_SPAN_SECONDS = 600.0
"""Ten minutes of samples around each "usual" moment make its band: our own default."""


def number(reply: Vector | Missing) -> float | None:
    """The value of a one-element answer; None when there is none."""
    if isinstance(reply, Missing) or len(reply) != 1:
        return None
    return reply[0].value


def by(reply: Vector | Missing, *labels: str) -> dict[tuple[str, ...], float]:
    """The values of an answer by the named labels; empty when there is none."""
    if isinstance(reply, Missing):
        return {}
    return {tuple(item.label(name) for name in labels): item.value for item in reply}


def counted(reply: Vector | Missing) -> bool | None:
    """Whether such a series exists; None when the backend gave no answer."""
    if isinstance(reply, Missing):
        return False if reply.reason.value == "empty" else None
    return True


def ratio(now: float | None, usual: float | None) -> float | None:
    """now / usual; None when either is unknown or usual is 0."""
    if now is None or usual is None or usual == 0:
        return None
    return now / usual


def summed(names: Iterable[str], here: str, by_labels: str = "", window: str = "") -> str:
    """The sum of the first spelling that exists; with a window, of its rate."""
    group = f"sum by ({by_labels})" if by_labels else "sum"
    return " or ".join(
        f"{group} (rate({name}{here}[{window}]))" if window else f"{group} ({name}{here})"
        for name in names
    )


def middle(values: Iterable[float | None]) -> float | None:
    """The median of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


NOT_ASKED = Missing(Reason.NOT_APPLICABLE, "this kind of server has no such series")


def named(queries: Mapping[str, str]) -> Reading[dict[str, Vector | Missing]]:
    """Ask several queries at once, by name; an empty query has no answer."""
    asked = {name: promql for name, promql in queries.items() if promql}
    replies = yield from together(Query(promql=promql) for promql in asked.values())
    return {**dict.fromkeys(queries, NOT_ASKED), **dict(zip(asked, replies, strict=True))}


def side_by_side(flows: Iterable[Reading[T]]) -> Reading[tuple[T, ...]]:
    """Run several flows in step: what they ask in one round is asked at the same time."""
    running = dict(enumerate(flows))
    results: dict[int, T] = {}
    replies: dict[int, Any] = dict.fromkeys(running)
    count = len(running)
    while running:
        asked = _advance(running, replies, results)
        if not asked:
            continue
        flat = [inner for request in asked.values() for inner in _inner(request)]
        answered = iter((yield Together(tuple(flat))))
        for at, request in asked.items():
            got = tuple(next(answered) for _ in _inner(request))
            replies[at] = got if isinstance(request, Together) else got[0]
    return tuple(results[at] for at in range(count))


def _advance(
    running: dict[int, Reading[T]], replies: dict[int, Any], results: dict[int, T]
) -> dict[int, Read[Any]]:
    """Give every flow its reply; what each asks next. A flow that ends moves to the results."""
    asked: dict[int, Read[Any]] = {}
    for at, flow in list(running.items()):
        try:
            asked[at] = flow.send(replies[at])
        except StopIteration as end:
            results[at] = end.value
            del running[at]
    return asked


def _inner(request: Read[Any]) -> tuple[Read[Any], ...]:
    return request.requests if isinstance(request, Together) else (request,)


def usually(
    promql: str, usual: Sequence[float], pick: Callable[[Vector | Missing], float | None] = number
) -> Reading[tuple[float | None, float | None]]:
    """A query's value now, and the median of its values at the usual moments; unknown without a
    query.
    """
    if not promql:
        return None, None
    replies = yield from together(
        [Query(promql=promql), *(Query(promql=promql, ago=ago) for ago in usual)]
    )
    return pick(replies[0]), middle(pick(reply) for reply in replies[1:])


def now_of(promql: str) -> Reading[float | None]:
    """A query's value now."""
    return number((yield from together([Query(promql=promql)]))[0])


def usual_of(promql: str, usual: Sequence[float]) -> Reading[float | None]:
    """The median of a query's values at the usual moments."""
    replies = yield from together(Query(promql=promql, ago=ago) for ago in usual)
    return middle(number(reply) for reply in replies)


def history(promql: str, usual: Sequence[float]) -> Reading[tuple[Series | None, Series | None]]:
    """The last 45 minutes of a query, and its samples around the usual moments."""
    if not promql:
        return None, None
    asked = [
        RangeQuery(promql=promql, start_ago=HISTORY_SECONDS, step=STEP_SECONDS),
        *(
            RangeQuery(
                promql=promql,
                start_ago=ago + USUAL_SPAN_SECONDS,
                end_ago=ago,
                step=STEP_SECONDS,
            )
            for ago in usual
        ),
    ]
    replies = yield from together(asked)
    return _series(replies[0]), _joined(_series(reply) for reply in replies[1:])


def _series(reply: Ranges | Missing) -> Series | None:
    if isinstance(reply, Missing) or len(reply) != 1:
        return None
    return reply[0].samples


def _joined(parts: Iterable[Series | None]) -> Series | None:
    samples: list[Sample] = [sample for part in parts if part for sample in part]
    return tuple(samples) if samples else None
