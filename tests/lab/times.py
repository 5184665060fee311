"""Times as scenarios write them: relative to now, as `-12m`, `-1d`, `0` or `at -40m`."""

import re
from datetime import UTC, datetime
from typing import Any

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_WHOLE = re.compile(r"(?P<sign>-?)(?P<parts>(?:\d+(?:\.\d+)?[smhdw])+)")


def seconds(text: object) -> float:
    """`-1h30m` -> -5400.0; a number is seconds. ValueError says what a time looks like."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        return float(text)
    if text == "0":
        return 0.0
    match = _WHOLE.fullmatch(str(text).strip())
    if not match:
        raise ValueError(f"{text!r} is no time: write 0, -90s, -12m, -1h30m or -7d")
    total = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(match["parts"]))
    return -total if match["sign"] else total


def past(text: object) -> float:
    """A time that is not after now."""
    value = seconds(text)
    if value > 0:
        raise ValueError(f"{text!r} is in the future: times are 0 or negative")
    return value


def span(text: object) -> float:
    """A length of time, such as 15s."""
    value = seconds(text)
    if value < 0:
        raise ValueError(f"{text!r} is negative, but it is a length of time")
    return value


def is_relative(value: object) -> bool:
    """Whether a manifest's value is a time to be filled in (`-12m`)."""
    return isinstance(value, str) and value.startswith("-") and bool(_WHOLE.fullmatch(value))


def rfc3339(unix: float) -> str:
    """The Kubernetes form: `2026-11-30T05:45:14Z`."""
    return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def filled(value: Any, now: float) -> Any:
    """A manifest with its relative times written as RFC 3339.

    Only keys that hold times are looked at (creationTimestamp, startedAt, lastHeartbeatTime ...):
    a label or an argument that happens to read `-1m` stays as it is.
    """
    if isinstance(value, dict):
        return {key: _field(key, inner, now) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(item, now) for item in value]
    return value


_TIME_KEY = re.compile(r"(.*[Tt]ime|.*Timestamp|.*At|notBefore|notAfter)")
_MICRO_KEYS = frozenset({"renewTime", "acquireTime", "eventTime"})
"""Fields that Kubernetes reads with microseconds, and with nothing else."""


def _field(key: str, value: Any, now: float) -> Any:
    if _TIME_KEY.fullmatch(str(key)) and (is_relative(value) or value == "0m"):
        text = rfc3339(now + seconds(value))
        return text.replace("Z", ".000000Z") if key in _MICRO_KEYS else text
    return filled(value, now)
