"""Why a diagnosis has no symptom: nothing grew, or nobody could tell; not the same at all."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.model.evidence import Evidence, EvidenceStatus
from tailhound.model.facts import number_of
from tailhound.model.names import listed, small
from tailhound.model.wording import AS_USUAL, NOT_MEASURED, no_usual, number, times, with_usual

LATENCY = "prometheus.request_latency"
"""The collector whose evidence every latency incident gets, whatever the runbooks ask."""

LOOKED_BACK_SECONDS = 2600.0
"""The collectors look back for 45 minutes; a series that begins later is younger than that."""

NOTHING_KNOWN = "no pods are known: "
"""How a reason begins where the labels, not a backend, are why nobody can tell."""

SAMPLES = 3
"""An onset needs three scrapes outside the band; with fewer nobody can tell."""

_FINE = (EvidenceStatus.COLLECTED, EvidenceStatus.EMPTY, EvidenceStatus.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class Symptomless:
    """`nothing_grew` is true only when every latency that was measured could be compared with its
    usual value, and every question about it was answered; `as_fast` when that is so of every time,
    whatever is known of failures. `text` is for the middle of a sentence:
    `unknown (no usual value yet: first token 700 ms)`, `unknown, but no time grew: ..`.
    """

    nothing_grew: bool
    text: str
    as_fast: bool = False

    @property
    def reason(self) -> str:
        """Why nobody can be sure of a cause: a sentence without its full stop."""
        if self.nothing_grew:
            return "no latency or error series left its usual band"
        return f"the symptom is {self.text}"


@dataclass(frozen=True, slots=True)
class _Row:
    """One latency or share of failures that was measured; `compared` = its usual band is known."""

    name: str
    value: float
    usual: float | None
    unit: str
    compared: bool
    history_seconds: float | None = None

    @property
    def beside_usual(self) -> str:
        return f"{self.name} {with_usual(self.value, self.usual, self.unit)}"


def symptomless(evidence: Iterable[Evidence]) -> Symptomless:
    """What can be said of the symptom where none was found."""
    items = [item for item in evidence if item.collector == LATENCY]
    rows = [row for item in items for row in _rows(item)]
    silent = _silent(items)
    if not rows:
        why = silent or "no latency or error series of it in Prometheus"
        return Symptomless(False, f"unknown ({why})")
    young = [row for row in rows if not row.compared]
    ages = [row.history_seconds for row in young if row.history_seconds is not None]
    told = f"{no_usual(max(ages, default=None))}: {_listed(young)}" if young else ""
    latencies = [row for row in rows if row.unit == "seconds"]
    as_fast = bool(latencies) and not silent and all(row.compared for row in latencies)
    if not young and not silent:
        none = f"none grew: {_as_usual(rows)}"
        return Symptomless(True, none, as_fast)
    why = "; ".join(part for part in (told, silent) if part)
    if as_fast:
        none = f"no time grew: {_as_usual(latencies)}"
        return Symptomless(False, f"unknown, but {none} ({why})", as_fast)
    if len(young) < len(rows):
        why = f"nothing grew that could be compared; {why}"
    return Symptomless(False, f"unknown ({why})", as_fast)


def _as_usual(rows: Sequence[_Row]) -> str:
    """`first token 700 ms, inter-token 20 ms, all as usual`; each with its usual value where one
    is not quite so.
    """
    if all(times(row.value, row.usual) == AS_USUAL for row in rows):
        return f"{_listed(rows)}, all as usual"
    return listed([row.beside_usual for row in rows])


def _listed(rows: Sequence[_Row]) -> str:
    return listed([f"{row.name} {number(row.value, row.unit)}" for row in rows])


def history_seconds(series: Any) -> float | None:
    """How old a series is that began within the time that was looked at; None for an older one."""
    samples = [one for one in series if isinstance(one, Mapping)] if _length(series) else []
    times = [at for one in samples if (at := number_of(one.get("at"))) is not None]
    age = max(times) - min(times) if times else math.inf
    return age if age < LOOKED_BACK_SECONDS else None


def _silent(items: Sequence[Evidence]) -> str:
    """Why questions about latency had no answer; "" when all had one."""
    if not items:
        return f"latency was {NOT_MEASURED}: nobody asked"
    for item in items:
        failed = next((one.detail for one in item.asked if one.status not in _FINE), "")
        why = failed or (item.reason if item.status not in _FINE else "")
        if why:
            told = small(why.partition("Fix:")[0].strip().rstrip("."))
            return told.removeprefix("not asked: ").removeprefix(NOTHING_KNOWN)
    return ""


def _rows(item: Evidence) -> Iterator[_Row]:
    for fact in ("symptoms", "errors"):
        records = item.facts.get(fact)
        for record in records if isinstance(records, tuple | list) else ():
            row = _row(record) if isinstance(record, Mapping) else None
            if row is not None:
                yield row


def _row(record: Mapping[str, Any]) -> _Row | None:
    """None for what nobody measured."""
    key = "ratio" if "ratio" in record else "seconds"
    value, usual = number_of(record.get(key)), number_of(record.get(f"usual_{key}"))
    if value is None:
        return None
    shares = key == "ratio"
    return _Row(
        name=f"error share at {record.get('source')}" if shares else str(record.get("title")),
        value=value,
        usual=usual,
        unit="ratio" if shares else "seconds",
        compared=usual is not None
        and _length(record.get("series")) >= SAMPLES
        and _length(record.get("usual_series")) > 0,
        history_seconds=history_seconds(record.get("series")),
    )


def _length(series: Any) -> int:
    return len(series) if isinstance(series, tuple | list) else 0
