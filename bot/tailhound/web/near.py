"""Thresholds that values came close to: where a runbook may be too strict, or too loose."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tailhound.model import Bound, Check, Incident, Part
from tailhound.model.facts import number_of
from tailhound.model.wording import number

CLOSE = 0.1
"""A value within a tenth of its threshold is close: our own default."""
KNOWN_AT_MOST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """One claim that was decided by little: `values` as seen, in the incidents `incidents`.

    `held` counts how often it held, of `times`.
    """

    runbook: str
    claim: str
    needs: str
    values: tuple[str, ...]
    incidents: tuple[str, ...]
    held: int
    times: int


@dataclass(frozen=True, slots=True)
class _Seen:
    incident: str
    value: str
    needs: str
    holds: bool


def nearly_crossed(incidents: Iterable[Incident], most: int = KNOWN_AT_MOST) -> tuple[Near, ...]:
    """The claims decided by little in these incidents, the most frequent first."""
    found: dict[tuple[str, str], list[_Seen]] = {}
    for incident in incidents:
        for runbook, check in _checks(incident):
            close = _close(check)
            if close is not None:
                value, bound = close
                found.setdefault((runbook, check.claim), []).append(
                    _Seen(
                        incident.id,
                        number(value, bound.unit),
                        number(bound.value, bound.unit),
                        check.truth.value == "true",
                    )
                )
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(_near(runbook, claim, seen) for (runbook, claim), seen in ordered[:most])


def _checks(incident: Incident) -> Iterable[tuple[str, Check]]:
    causes = incident.diagnosis.causes if incident.diagnosis else ()
    for cause in causes:
        for check in cause.checks:
            if check.part is not Part.APPLIES:
                yield cause.runbook, check


def _close(check: Check) -> tuple[float, Bound] | None:
    """The value and the bound that it came close to; None when none did."""
    bounds: Mapping[str, Bound] = {bound.fact: bound for bound in check.needs}
    for seen in check.seen:
        bound = bounds.get(seen.name)
        value = number_of(seen.value)
        if bound is None or value is None or bound.value == 0:
            continue
        if abs(value - bound.value) <= CLOSE * abs(bound.value):
            return value, bound
    return None


def _near(runbook: str, claim: str, seen: list[_Seen]) -> Near:
    return Near(
        runbook=runbook,
        claim=claim,
        needs=seen[0].needs,
        values=tuple(dict.fromkeys(one.value for one in seen))[:3],
        incidents=tuple(dict.fromkeys(one.incident for one in seen))[:3],
        held=sum(one.holds for one in seen),
        times=len(seen),
    )
