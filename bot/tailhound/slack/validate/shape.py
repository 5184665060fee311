"""The parts that checks are made of. A check takes a place and a value, and returns the faults."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = Mapping[str, Any]
Check: TypeAlias = Callable[[str, Any], list[str]]

PLAIN = ("plain_text",)
ANY_TEXT = ("plain_text", "mrkdwn")


def fault(path: str, what: str) -> str:
    """One fault in Slack's own form."""
    return f"{what} [json-pointer:{path}]"


def string(most: int, *, least: int = 1, pattern: str = "") -> Check:
    """A string of so many characters; `pattern` must fit as a whole."""

    def check(path: str, value: Any) -> list[str]:
        if not isinstance(value, str):
            return [fault(path, "must provide a string")]
        if len(value) < least:
            return [fault(path, f"must be more than {least - 1} characters")]
        if len(value) > most:
            return [fault(path, f"must be less than {most + 1} characters")]
        if pattern and re.fullmatch(pattern, value, re.IGNORECASE) is None:
            return [fault(path, f"input must match regex pattern: {pattern}")]
        return []

    return check


def whole(least: int, most: int) -> Check:
    """A whole number between two others."""

    def check(path: str, value: Any) -> list[str]:
        if isinstance(value, bool) or not isinstance(value, int):
            return [fault(path, "must provide a number")]
        inside = least <= value <= most
        return [] if inside else [fault(path, f"must be between {least} and {most}")]

    return check


def boolean(path: str, value: Any) -> list[str]:
    """True or false."""
    return [] if isinstance(value, bool) else [fault(path, "must provide a boolean")]


def one_of(*values: str) -> Check:
    """One of these words."""

    def check(path: str, value: Any) -> list[str]:
        if value in values:
            return []
        return [fault(path, f"must be one of: {', '.join(values)}")]

    return check


def items(check: Check, most: int, *, least: int = 1) -> Check:
    """A list of so many items, each of which passes `check`."""

    def checked(path: str, value: Any) -> list[str]:
        if not isinstance(value, list):
            return [fault(path, "must provide an array")]
        if len(value) < least:
            return [fault(path, f"no fewer than {least} items allowed")]
        if len(value) > most:
            return [fault(path, f"no more than {most} items allowed")]
        return [found for at, item in enumerate(value) for found in check(f"{path}/{at}", item)]

    return checked


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with these keys and no others. `also` looks at it as a whole."""

    required: Mapping[str, Check] = field(default_factory=dict)
    optional: Mapping[str, Check] = field(default_factory=dict)
    also: Callable[[str, Json], list[str]] | None = None

    def __call__(self, path: str, value: Any) -> list[str]:
        """The faults of a value."""
        if not isinstance(value, dict):
            return [fault(path, "must provide an object")]
        known = {**self.required, **self.optional}
        missing = [name for name in self.required if name not in value]
        found = [fault(path, f"missing required field: {name}") for name in missing]
        for name, inner in value.items():
            if name in known:
                found += known[name](f"{path}/{name}", inner)
            elif name != "type":
                found.append(fault(path, f"invalid additional property: {name}"))
        return found + (self.also(path, value) if self.also else [])


def typed(shapes: Mapping[str, Check], what: str = "type") -> Check:
    """An object whose `type` says which of the shapes it has."""

    def check(path: str, value: Any) -> list[str]:
        if not isinstance(value, dict):
            return [fault(path, "must provide an object")]
        shape = shapes.get(str(value.get("type")))
        if shape is None:
            return [fault(path, f"unsupported {what}: {value.get('type')}")]
        return shape(path, value)

    return check


def text(most: int, kinds: Sequence[str] = ANY_TEXT) -> Check:
    """A text object of so many characters."""
    words = string(most)
    plain = Shape(required={"text": words}, optional={"emoji": boolean})
    marked = Shape(required={"text": words}, optional={"verbatim": boolean})

    def check(path: str, value: Any) -> list[str]:
        if not isinstance(value, dict):
            return [fault(path, "must provide an object")]
        if value.get("type") not in kinds:
            return [fault(path, f"must be {' or '.join(kinds)}")]
        return (plain if value["type"] == "plain_text" else marked)(path, value)

    return check


def exactly_one(*names: str) -> Callable[[str, Json], list[str]]:
    """Of these keys, one and only one."""

    def check(path: str, value: Json) -> list[str]:
        given = [name for name in names if name in value]
        if len(given) == 1:
            return []
        return [fault(path, f"must define exactly one of: {', '.join(names)}")]

    return check
