"""How the questions of a recording and their replies stand in its file; reading is strict."""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from tailhound.errors import RecordingUnreadable, Refused
from tailhound.flow import Request
from tailhound.model import Missing, Reason
from tailhound.model.facts import Sample
from tailhound.requests import (
    GetObject,
    Labelled,
    ListObjects,
    Output,
    Query,
    Ranged,
    RangeQuery,
    RunOnHost,
)

REQUESTS: Mapping[str, type[Request[Any]]] = {
    kind.__name__: kind for kind in (Query, RangeQuery, GetObject, ListObjects, RunOnHost)
}
"""Every kind of question that a recording can hold."""


def request_of(item: Any, at: str) -> Request[Any]:
    """The question that stands at a place of the file."""
    values = dict(typed(item, dict, at))
    name = values.pop("type", None)
    kind = REQUESTS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise RecordingUnreadable(f"{at}.type: {name!r} is none of {', '.join(REQUESTS)}")
    declared = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    known_only(values, set(declared), at)
    for key, value in values.items():
        kind_of_field = _FIELD_KINDS[declared[key].type]
        typed(value, kind_of_field, f"{at}.{key}")
        if kind_of_field is list:
            values[key] = tuple(typed(part, str, f"{at}.{key}") for part in value)
    try:
        return kind(**values)
    except (TypeError, Refused) as error:
        raise RecordingUnreadable(f"{at}: {error}") from error


_FIELD_KINDS: Mapping[Any, Any] = {
    str: str,
    bool: bool,
    float: (int, float),
    tuple[str, ...]: list,
}
"""What the fields of questions are declared as, and what JSON holds for them."""


def missing_of(item: Any, at: str) -> Missing:
    """Why there was no answer, as it stands at a place of the file."""
    known_only(typed(item, dict, at), {"reason", "detail"}, at)
    try:
        reason = Reason(item.get("reason"))
    except ValueError as error:
        raise RecordingUnreadable(f"{at}.reason: {error}") from error
    return Missing(reason, typed(item.get("detail"), str, f"{at}.detail"))


def known_only(item: Mapping[str, Any], names: set[str], at: str) -> None:
    unknown = sorted(set(item) - names)
    if unknown:
        raise RecordingUnreadable(f"{at}: unknown {', '.join(map(repr, unknown))}")


def typed(value: Any, kind: Any, at: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise RecordingUnreadable(f"{at}: can't be {type(value).__name__}")
    return value


def finite(value: Any, at: str) -> float:
    try:
        number = float(typed(value, int | float, at))
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RecordingUnreadable(f"{at}: must be finite")
    return number


def _series(item: Labelled | Ranged) -> dict[str, Any]:
    labels = {"labels": dict(item.labels)}
    if isinstance(item, Labelled):
        return {**labels, "value": item.value}
    return {**labels, "samples": [[sample.at, sample.value] for sample in item.samples]}


def _labels(item: Any) -> tuple[tuple[str, str], ...]:
    pairs = typed(item["labels"], dict, "labels").items()
    return tuple(sorted((name, typed(value, str, name)) for name, value in pairs))


def _labelled(item: Any) -> Labelled:
    return Labelled(_labels(item), finite(item["value"], "value"))


def _ranged(item: Any) -> Ranged:
    samples = (Sample(finite(at, "at"), finite(value, "value")) for at, value in item["samples"])
    return Ranged(_labels(item), tuple(samples))


def _output(item: Any) -> Output:
    second = item.get("second")
    known_only(item, {"stdout", "stderr", "exit_code", "second", "gap_seconds"}, "output")
    return Output(
        stdout=typed(item["stdout"], str, "stdout"),
        stderr=typed(item["stderr"], str, "stderr"),
        exit_code=typed(item["exit_code"], int, "exit_code"),
        second=_output(second) if second is not None else None,
        gap_seconds=finite(item.get("gap_seconds", 0.0), "gap_seconds"),
    )


def _output_written(output: Output) -> dict[str, Any]:
    told: dict[str, Any] = {
        "stdout": output.stdout,
        "stderr": output.stderr,
        "exit_code": output.exit_code,
    }
    if output.second is not None:
        told |= {"second": _output_written(output.second), "gap_seconds": output.gap_seconds}
    return told


def _kube_object(item: Any) -> Any:
    return typed(item, dict, "object")


CODECS: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "Query": (
        lambda reply: [_series(item) for item in reply],
        lambda told: tuple(_labelled(item) for item in typed(told, list, "vector")),
    ),
    "RangeQuery": (
        lambda reply: [_series(item) for item in reply],
        lambda told: tuple(_ranged(item) for item in typed(told, list, "ranges")),
    ),
    "GetObject": (dict, _kube_object),
    "ListObjects": (
        list,
        lambda told: tuple(_kube_object(item) for item in typed(told, list, "objects")),
    ),
    "RunOnHost": (_output_written, _output),
}
"""Per kind of question: how its reply is written, and how it is read."""
