"""How values are written for people: one place, so that every surface says the same words.

Between a number and its unit stands U+00A0, so that a phone never breaks `12.4 | s`. A value that
nobody measured is "not measured": never 0, a dash, NaN or "n/a".
"""

import math
from datetime import datetime

from tailhound.model.evidence import FactValue

NBSP = "\u00a0"
NOT_MEASURED = "not measured"
AS_USUAL = "as usual"
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_MANY = ("", "k", "M", "G", "T")
_SECONDS_UP_TO = 119.5
"""From here on a time is told in minutes."""

_BARE_USUAL = frozenset(
    {"tokens", "tokens_per_second", "per_second", "seconds_per_second", "count", "cores", "none"}
)
"""Units whose usual value is written without the unit: `98k tokens, usually 21k`."""


def number(value: float, unit: str, *, at_least: bool = False) -> str:
    """A value with its unit: `12.4 s`, `62 %`, `6 cores`, `2.4/s`, `x4.7`.

    `unit` is one of `model.facts.UNITS`; an unknown one is written behind the number. `at_least`
    marks a quantile that is clipped by its top bucket.
    """
    if not math.isfinite(value):
        return NOT_MEASURED
    text = _with_unit(value, unit)
    return f"at least {text}" if at_least else text


def _with_unit(value: float, unit: str) -> str:
    writers = {
        "seconds": duration,
        "ratio": share,
        "times": _factor,
        "bytes": _size,
        "count": _amount,
        "none": count,
    }
    if unit in writers:
        return writers[unit](value)
    if unit == "hours":
        return duration(value * 3600)
    if unit == "bytes_per_second":
        return f"{_size(value)}/s"
    if unit == "per_second":
        return f"{count(value)}/s"
    words = {
        "seconds_per_second": f"s{NBSP}per{NBSP}second",
        "tokens_per_second": "tok/s",
        "celsius": "°C",
        "cores": "core" if value == 1 else "cores",
        "tokens": "token" if value == 1 else "tokens",
    }
    return f"{count(value)}{NBSP}{words.get(unit, unit)}"


def times(now: float, usual: float | None, *, at_least: bool = False) -> str:
    """How a value stands to its usual one: `x4.7`, `÷67`, `as usual`; "" where no ratio exists."""
    if usual is None or not (math.isfinite(now) and math.isfinite(usual)):
        return ""
    if now <= 0 or usual <= 0:
        return ""
    ratio = now / usual
    if not (0 < ratio < math.inf and 1 / ratio < math.inf):
        return ""
    if 0.9 <= ratio <= 1.1:
        return AS_USUAL
    text = f"x{_one_decimal(ratio)}" if ratio > 1 else f"÷{_one_decimal(1 / ratio)}"
    return f"at least {text}" if at_least else text


def no_usual(history_seconds: float | None = None) -> str:
    """`no usual value yet (history: 20 min)`; without the history where nobody knows it."""
    if history_seconds is None or not 0 <= history_seconds < math.inf:
        return "no usual value yet"
    return f"no usual value yet (history: {duration(history_seconds)})"


def with_usual(
    value: float,
    usual: float | None,
    unit: str,
    *,
    at_least: bool = False,
    history_seconds: float | None = None,
) -> str:
    """`12.4 s, usually 0.8 s (x15)`; `2.4/s, usually 0`; `80 ms, no usual value yet`.

    `history_seconds` is how old the series is, where there is no usual value for that. Where the
    usual value is told as a bound (`under 0.1 %`) no ratio is: nobody could reckon it after.
    """
    text = number(value, unit, at_least=at_least)
    if usual is None or not math.isfinite(usual):
        return f"{text}, {no_usual(history_seconds)}"
    told = _usual(usual, value, unit)
    ratio = "" if told.startswith("under ") else times(value, usual, at_least=at_least)
    return f"{text}, usually {told}" + (f" ({ratio})" if ratio else "")


def grown(part: float, whole: float) -> str:
    """`+0.25 s of +2.98 s`: of what grew by so many seconds, a part, in the unit of the whole."""
    told = duration(part)
    if 1 <= whole < _SECONDS_UP_TO and part < 1:
        told = f"{_digits(round(part, 2))}{NBSP}s" if part >= 0.005 else f"0{NBSP}s"
    return f"+{told} of +{duration(whole)}"


def beside(usual: float | None, value: float, unit: str) -> str:
    """`usually 0.8 s`, `no usual value yet`: what stands beside a value."""
    if usual is None or not math.isfinite(usual):
        return no_usual()
    return f"usually {_usual(usual, value, unit)}"


def _usual(usual: float, value: float, unit: str) -> str:
    """The usual value, in the unit of the value that it stands beside where that reads well."""
    if unit in _BARE_USUAL:
        return _amount(usual) if unit == "count" else count(usual)
    if unit in ("seconds", "hours"):
        scale = 3600 if unit == "hours" else 1
        seconds = usual * scale
        if abs(value * scale) >= 1 and abs(seconds) < 1 and _is_round(seconds):
            return f"{_digits(seconds)}{NBSP}s"
        return duration(seconds)
    return number(usual, unit)


def _is_round(seconds: float) -> bool:
    """Whether hundredths tell it: `0.8 s`, `0.02 s`; what needs more digits is told in ms."""
    return seconds == 0 or (abs(seconds) >= 0.01 and len(_digits(seconds).partition(".")[2]) <= 2)


def duration(seconds: float) -> str:
    """Three digits: ms under 1 s, s under 2 min, then `3 min 20 s`, `2 h 10 min`, `92 days`."""
    if not math.isfinite(seconds):
        return NOT_MEASURED
    if seconds < 0:
        return f"-{duration(-seconds)}"
    return _short(seconds) if seconds < _SECONDS_UP_TO else _long(seconds)


def _short(seconds: float) -> str:
    if 0 < seconds < 0.9995:
        return f"{_digits(seconds * 1000)}{NBSP}ms"
    return f"{_digits(seconds)}{NBSP}s"


def _long(seconds: float) -> str:
    if seconds < 3599.5:
        return _two(round(seconds), 60, ("min", "s"))
    minutes = round(seconds / 60)
    if minutes < 48 * 60:
        return _two(minutes, 60, ("h", "min"))
    days = seconds / 86400
    text = _trimmed(f"{days:.1f}") if days < 9.95 else f"{days:,.0f}"
    return f"{text}{NBSP}days"


def _two(amount: int, base: int, names: tuple[str, str]) -> str:
    large, small = divmod(amount, base)
    text = f"{large}{NBSP}{names[0]}"
    return f"{text}{NBSP}{small}{NBSP}{names[1]}" if small else text


def share(x: float) -> str:
    """A share of 1 in percent: no decimals, one under 1 % and over 99 %, never rounded to 0 or 100.

    Only an exact 0 or 1 is written as `0 %` or `100 %`. More than 1 is possible (use of a limit).
    """
    if not math.isfinite(x):
        return NOT_MEASURED
    if x < 0:
        return f"-{share(-x)}"
    return f"{_percent(x)}{NBSP}%"


def _percent(x: float) -> str:
    percent = x * 100
    if x in (0, 1):
        return f"{percent:.0f}"
    if percent < 0.1:
        return "under 0.1"
    if 99.9 < percent < 100:
        return "over 99.9"
    if percent < 0.95 or 99 < percent < 100:
        return _trimmed(f"{percent:.1f}")
    if 100 < percent < 101:
        return "over 100"
    return f"{percent:,.0f}"


def count(x: float) -> str:
    """A count: comma up to 9,999, then k, M; three digits where it is not whole."""
    if not math.isfinite(x):
        return NOT_MEASURED
    if x < 0:
        return f"-{count(-x)}"
    if round(x) <= 9999:
        return _digits(x)
    step = 1
    while step < len(_MANY) - 1 and x / 1000**step >= 999.5:
        step += 1
    scaled = x / 1000**step
    return f"{_digits(scaled)}{_MANY[step]}" if scaled < 999.5 else f"over 999{_MANY[step]}"


def _amount(value: float) -> str:
    """How many: whole from one on, for an extrapolated 6.93 things are 7."""
    return count(round(value) if 0.95 <= abs(value) <= 9999 else value)


def _size(value: float) -> str:
    if value < 0:
        return f"-{_size(-value)}"
    step = 0
    while step < len(_SIZES) - 1 and value >= 1023.5:
        value /= 1024
        step += 1
    text = _digits(value) if value < 1023.5 else "over 1,023"
    return f"{text}{NBSP}{_SIZES[step]}"


def _factor(value: float) -> str:
    """A ratio to the usual value, as a claim needs it: `x1.04`, `x0.8`, `x28`, `÷67`."""
    if value < 0:
        return f"-{_factor(-value)}"
    if value == 0:
        return "x0"
    if 0.9 <= value <= 1.1:
        return f"x{_trimmed(f'{value:.2f}')}"
    if value > 0.5:
        return f"x{_one_decimal(value)}"
    return f"÷{_one_decimal(1 / value)}" if math.isfinite(1 / value) else "x0"


def _one_decimal(value: float) -> str:
    """One decimal under 10, none above (a half goes down: nothing is overstated), then k and M."""
    return _trimmed(f"{value:.1f}") if value < 9.95 else count(math.ceil(value - 0.5))


def _digits(value: float) -> str:
    """At least three significant digits, no exponent, no trailing zeros."""
    size = abs(value)
    if size >= 99.95 or value == 0:
        return f"{value:,.0f}"
    if size < 0.0001:
        return "under 0.0001"
    decimals = 2 - math.floor(math.log10(size))
    return _trimmed(f"{value:.{decimals}f}")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def clock(at: datetime, *, seconds: bool = False) -> str:
    """`02:51 UTC`; seconds for verdicts and changes only. `at` is aware, UTC."""
    return f"{at:%H:%M:%S} UTC" if seconds else f"{at:%H:%M} UTC"


def day_clock(at: datetime, now: datetime, *, seconds: bool = False) -> str:
    """`02:51 UTC` today, else `29 Nov 03:38 UTC`, with the year where it is another one."""
    text = clock(at, seconds=seconds)
    if at.date() == now.date():
        return text
    year = f" {at.year}" if at.year != now.year else ""
    return f"{at.day} {at:%b}{year} {text}"


def date_clock(at: datetime) -> str:
    """`29 Nov 2026 03:38 UTC`, for what is read on any day."""
    return f"{at.day} {at:%b} {at.year} {clock(at)}"


def cut(text: str, limit: int = 60) -> str:
    """At most `limit` characters: head and tail around `…`; short text as it is."""
    if len(text) <= limit:
        return text
    if limit <= 1:
        return "…"[:limit]
    tail = min(6, (limit - 1) // 3)
    return text[: limit - 1 - tail] + "…" + (text[-tail:] if tail else "")


def fact(value: FactValue, unit: str = "none") -> str:
    """Any fact in words: `62 %`, `yes`, text cut to 60, `3 entries`, `not measured`."""
    if value is None:
        return NOT_MEASURED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value, unit)
    if isinstance(value, str):
        return cut(value) if value else '""'
    return f"{len(value)}{NBSP}entr{'y' if len(value) == 1 else 'ies'}"
