"""Whether every parameter of a collector is filled, and with a value of its type."""

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from tailhound.flow import Collector
from tailhound.rules.condition.typed import meant
from tailhound.rules.inputs import ALWAYS, Input
from tailhound.rules.places import Steps

_LITERALS: Mapping[Any, tuple[str, tuple[type, ...]]] = {
    str: ("text", (str,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    bool: ("true or false", (bool,)),
}


def parameter_mistakes(
    literals: Mapping[str, Any], collector: Collector[Any, Any], inputs: Mapping[str, Input]
) -> Iterator[tuple[Steps, str]]:
    """What is wrong, with the place below the evidence. An input, a literal of `with:`, the
    investigation itself or a default fills a parameter.
    """
    hints = typing.get_type_hints(collector.params)
    fields = dataclasses.fields(collector.params)
    for field in fields:
        if field.name in literals:
            if wrong := _unfit(literals[field.name], hints[field.name]):
                yield ("with", field.name), f"{field.name} must be {wrong}"
        elif wrong := _unfilled(field, hints[field.name], inputs):
            yield ("collect",), f"{collector.name} {wrong}"
    known = [field.name for field in fields]
    for key in literals:
        if key not in known:
            yield ("with", key), f"{collector.name} takes no {key!r}{meant(key, known)}"


def _unfilled(field: "dataclasses.Field[Any]", hint: Any, inputs: Mapping[str, Input]) -> str:
    """Why no input fills a parameter, "" when one does or none is needed."""
    if field.name in inputs:
        single = inputs[field.name].is_set and hint is str
        return f"wants one {field.name}, not a set" if single else ""
    if field.name in ALWAYS or _has_default(field):
        return ""
    return f"needs {field.name!r}: add it to `inputs:` or to `with:`"


def _has_default(field: "dataclasses.Field[Any]") -> bool:
    missing = dataclasses.MISSING
    return field.default is not missing or field.default_factory is not missing


def _unfit(value: Any, hint: Any) -> str:
    """What a literal must be, "" when it is."""
    if typing.get_origin(hint) is tuple:
        return "" if isinstance(value, list) else "a list"
    if hint not in _LITERALS:
        return ""
    words, types = _LITERALS[hint]
    fits = isinstance(value, types) and (hint is bool or not isinstance(value, bool))
    return "" if fits else words
