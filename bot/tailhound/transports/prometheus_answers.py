"""What an answer of Prometheus' query API means: the values in it, or the reason for none."""

import re
from collections.abc import Mapping
from typing import Any

from tailhound.model import Reason
from tailhound.model.facts import Sample
from tailhound.requests import Labelled, Ranged, Ranges, Vector
from tailhound.transports.http import NoAnswer, json_of, said

_OVER_LIMIT = re.compile(r"too many (?:samples|series|chunks)|exceed\w* .{0,60}limit")
_HISTOGRAM = "the answer holds native histograms: use histogram_quantile() or the like on them"
_WRONG = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)
"""What an answer of another shape raises while it is read."""
_LAST_MOMENT = 253_402_300_799.0
"""The last second of the calendar, as Unix time."""
_LARGEST = 1e100
"""Nothing that is measured is larger; sums and shares of what is would no longer be numbers."""
_SHAPE = "the result has another shape than the query API gives"


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> NoAnswer:
    """What an answer other than 200 means, and what would help."""
    kind, text = _error_of(body)
    told = f" ({text})" if text else ""
    if kind in ("timeout", "canceled") or "context deadline exceeded" in text:
        return NoAnswer(Reason.TIMEOUT, f"Prometheus gave up on the query{told}")
    if status != 400 and _OVER_LIMIT.search(text):
        return NoAnswer(Reason.TRUNCATED, f"the query is over a limit of Prometheus{told}")
    if 300 <= status < 400:
        where = said(headers.get("Location", "nowhere"), 100)
        return NoAnswer(
            Reason.UNREACHABLE,
            f"HTTP {status}: redirected to {where}, not followed: set prometheus.url to the "
            "address that answers itself (a login page in front needs prometheus.bearer)",
        )
    reason, meaning = _MEANING.get(status, (Reason.UNREACHABLE, "Prometheus does not work"))
    return NoAnswer(reason, f"HTTP {status}: {meaning}{told}")


_MEANING: dict[int, tuple[Reason, str]] = {
    400: (Reason.UNPARSABLE, "Prometheus can't read the query"),
    401: (
        Reason.FORBIDDEN,
        "Prometheus wants other credentials: set prometheus.bearer or prometheus.basic",
    ),
    403: (Reason.FORBIDDEN, "these credentials may not query Prometheus: grant them reading"),
    404: (
        Reason.UNREACHABLE,
        "there is no query API at this address: is a path prefix missing in prometheus.url?",
    ),
    422: (Reason.UNPARSABLE, "Prometheus can't evaluate the query"),
    429: (Reason.SKIPPED, "the server asked to wait, it has too many requests"),
    503: (Reason.UNREACHABLE, "Prometheus is not ready"),
}


def _error_of(body: bytes) -> tuple[str, str]:
    """Prometheus' errorType and error text; ("", first words) of any other body."""
    try:
        payload = json_of(body, "")
    except NoAnswer:
        return "", said(body[:300].decode("utf-8", "replace"))
    if not isinstance(payload, dict):
        return "", said(payload)
    return str(payload.get("errorType", "")), said(payload.get("error", ""))


def check(payload: Any) -> None:
    """NoAnswer unless this is a whole successful answer of the query API."""
    data = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(data, dict) or payload.get("status") != "success":
        raise NoAnswer(
            Reason.UNPARSABLE, "the answer is JSON but not of the query API: check prometheus.url"
        )
    if not isinstance(data.get("result"), list):
        raise NoAnswer(Reason.UNPARSABLE, "the answer of the query API holds no result")
    warnings = payload.get("warnings")
    if warnings:
        told = "; ".join(map(str, warnings)) if isinstance(warnings, list) else warnings
        raise NoAnswer(
            Reason.TRUNCATED, f"Prometheus warns that the answer is not whole: {said(told)}"
        )


def vector(result: list[Any]) -> Vector:
    """An instant answer; a scalar is one element without labels. NaN and infinities are left out.

    NoAnswer(EMPTY) when nothing is left, NoAnswer(UNPARSABLE) when it isn't such an answer.
    """
    if len(result) == 2 and not isinstance(result[0], dict):
        result = [{"metric": {}, "value": result}]
    try:
        found = tuple(
            Labelled(_labels(item), value)
            for item in result
            if (value := _number(item["value"])) is not None
        )
    except _WRONG as error:
        raise _misshaped(result) from error
    return _not_empty(found, result)


def ranges(result: list[Any]) -> Ranges:
    """A range answer. NaN and infinities are left out; NoAnswer as in `vector`."""
    try:
        found = tuple(
            Ranged(_labels(item), samples)
            for item in result
            if (samples := _samples(item["values"]))
        )
    except _WRONG as error:
        raise _misshaped(result) from error
    return _not_empty(found, result)


def _not_empty(found: tuple[Any, ...], result: list[Any]) -> tuple[Any, ...]:
    if found:
        return found
    detail = "only NaN or infinite values" if result else "no such series in Prometheus"
    raise NoAnswer(Reason.EMPTY, detail)


def _misshaped(result: list[Any]) -> NoAnswer:
    items = [item for item in result if isinstance(item, dict)]
    is_histogram = any("histogram" in item or "histograms" in item for item in items)
    return NoAnswer(Reason.UNPARSABLE, _HISTOGRAM if is_histogram else _SHAPE)


def _labels(item: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(name), str(value)) for name, value in item["metric"].items()))


def _number(pair: list[Any]) -> float | None:
    _, text = pair
    value = float(text)
    return value if abs(value) <= _LARGEST else None


def _samples(pairs: list[Any]) -> tuple[Sample, ...]:
    return tuple(
        Sample(at=_moment(pair[0]), value=value)
        for pair in pairs
        if (value := _number(pair)) is not None
    )


def _moment(value: Any) -> float:
    """A Unix time within the calendar; ValueError for any other number."""
    at = float(value)
    if not 0 <= at <= _LAST_MOMENT:
        raise ValueError(f"{at} is no time of the calendar")
    return at
