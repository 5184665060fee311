"""Which of the symptoms leads: the one that the alert names, else the one that grew most. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from tailhound.diagnosis.named import NOTHING, Named
from tailhound.diagnosis.symptom import Rows, latency_rows, told
from tailhound.model import Evidence
from tailhound.model.wording import NOT_MEASURED

_COMPARED = frozenset({"ttft", "itl", "pace", "e2e", "handling"})
"""Latencies that lead by their growth. A wait of next to nothing grows a thousandfold without
anybody noticing, and so does a share of failures; what an edge measures is at no pod. Those come
behind, unless the alert names them.
"""


def led(rows: Rows, named: Named = NOTHING) -> Rows:
    """The rows, the leading one first; as they came where nothing tells them apart."""
    return sorted(rows, key=lambda row: (not _is(row, named), -_growth(row)))


def unmeasured(evidence: Iterable[Evidence], named: Named) -> str:
    """`inter-token: not measured`: what the alert names, where only other latencies are measured;
    "" otherwise.
    """
    rows = latency_rows(evidence)
    if not named.title or not rows or any(_is(row, named) for row in rows):
        return ""
    return f"{named.title}: {NOT_MEASURED}"


def _is(row: Mapping[str, Any], named: Named) -> bool:
    return _kind(row) in named.kinds


def _kind(row: Mapping[str, Any]) -> str:
    return "errors" if "ratio" in row else str(row.get("symptom", ""))


def _growth(row: Mapping[str, Any]) -> float:
    """As people are told it: to two digits, so that it takes more than a rounding to lead."""
    if _kind(row) not in _COMPARED:
        return 0.0
    found = told(row, {})
    return float(f"{found.value / found.usual:.2g}") if found.usual else 0.0
