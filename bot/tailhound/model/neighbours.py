"""What was measured beside the symptom and is unlike its usual value: waiting requests, the KV
cache, the load. Facts for whoever looks further, and no suspects. Nothing here is escaped.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tailhound.model import reasons, weighing
from tailhound.model.evidence import Evidence, facts_of
from tailhound.model.facts import number_of
from tailhound.model.names import cause_name, plural
from tailhound.model.stages import slow_stages
from tailhound.model.symptomless import LATENCY
from tailhound.model.verdict import Cause, Diagnosis, Outlook, Part, Verdict
from tailhound.model.wording import count, number, times, with_usual
from tailhound.truth import Truth

FAR_TIMES = 1.5
"""Half as much again as usual is unusual. Our own default."""

_DEMAND, _REPLICAS, _SCALER = "prometheus.demand", "prometheus.replicas", "prometheus.autoscaler"
_QUEUE = ("queue",)
_TOKENS = ("queue", "prefill", "preprocessing and prefill", "decode")


@dataclass(frozen=True, slots=True)
class _Kind:
    """A fact that says something by itself: its words for one and for several, the least amount
    that anybody would notice, and the stages that it has to do with.
    """

    collector: str
    fact: str
    unit: str
    one: str
    more: str
    least: float
    stages: tuple[str, ...]


_KINDS = (
    _Kind(_DEMAND, "waiting_count", "count", "{} request waits", "{} requests wait", 1, _QUEUE),
    _Kind("prometheus.kv_cache", "usage_ratio", "ratio", "KV cache {} full", "KV cache {} full",
          0.5, _TOKENS),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Neighbour:
    """`text` is `120 requests wait (usually 0)`. `causes` are those that the same evidence rules
    out although the fact speaks for them.
    """

    text: str
    causes: tuple[Cause, ...] = ()


def neighbours(diagnosis: Diagnosis | None) -> tuple[Neighbour, ...]:
    """What is unlike its usual value beside the symptom, what fits the slow stage first.

    Told only while nothing is confirmed: beside a cause it would be a second suspect.
    """
    if diagnosis is None or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return ()
    slow = [stage.stage for stage in slow_stages(diagnosis)[:1]]
    kinds = sorted(_KINDS, key=lambda kind: not any(stage in kind.stages for stage in slow))
    found = [one for kind in kinds if (one := _neighbour(kind, diagnosis)) is not None]
    load = load_of(diagnosis)
    return (*found, Neighbour(load)) if load else tuple(found)


def is_told(collector: str, fact: str, diagnosis: Diagnosis) -> bool:
    """Whether a fact is told here, by itself."""
    return any(
        (kind.collector, kind.fact) == (collector, fact) and _neighbour(kind, diagnosis) is not None
        for kind in _KINDS
    )


def facts(diagnosis: Diagnosis | None) -> str:
    """`120 requests wait (usually 0) · load x3 (12/s, usually 4/s)`: all of it on one line."""
    return " · ".join(one.text for one in neighbours(diagnosis))


def ruled_out(diagnosis: Diagnosis | None) -> str:
    """`KV preemption is ruled out: there were no preemptions`; "" for none."""
    causes = {cause.runbook: cause for one in neighbours(diagnosis) for cause in one.causes}
    return "; ".join(
        f"{cause_name(cause.runbook)} is ruled out: {reasons.against_in_short(cause)}"
        for cause in causes.values()
    )


def load_of(diagnosis: Diagnosis) -> str:
    """`load x3 (12/s, usually 4/s)`; "" where it is as usual, or not known."""
    found = facts_of(LATENCY, diagnosis.evidence)
    ratio, now = number_of(found.get("requests_ratio")), number_of(found.get("requests_per_second"))
    if diagnosis.load not in ("up", "down") or ratio is None:
        return ""
    if ratio == 0:
        return "no requests arrive"
    told = f"load {times(ratio, 1.0) or number(ratio, 'times')}"
    if now is None or ratio < 0:
        return told
    return f"{told} ({number(now, 'per_second')}, usually {number(now / ratio, 'per_second')})"


def capacity(diagnosis: Diagnosis | None) -> str:
    """`load x3, 2 of 2 replicas in service`: what to compare while the load is up and requests
    wait, "" otherwise.
    """
    if diagnosis is None or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return ""
    waits = any(stage.stage in _QUEUE for stage in slow_stages(diagnosis)[:1]) or any(
        kind.collector == _DEMAND and _neighbour(kind, diagnosis) for kind in _KINDS
    )
    if diagnosis.load != "up" or not waits:
        return ""
    return ", ".join([load_of(diagnosis).partition(" (")[0], *_replicas(diagnosis.evidence)])


def _replicas(evidence: Iterable[Evidence]) -> Iterator[str]:
    evidence = tuple(evidence)
    found, scaler = facts_of(_REPLICAS, evidence), facts_of(_SCALER, evidence)
    ready, wanted = number_of(found.get("in_service_count")), number_of(found.get("desired_count"))
    if ready is not None and wanted:
        yield _in_service(round(ready), round(wanted))
    most = number_of(scaler.get("maximum_count"))
    if most is not None:
        yield f"the autoscaler may run {number(most, 'count')}"


def _in_service(ready: int, wanted: int) -> str:
    if ready > wanted:
        return f"{plural(ready, 'replica')} in service, {count(wanted)} wanted"
    return f"{count(ready)} of {plural(wanted, 'replica')} in service"


def is_far(value: float, usual: float, least: float = 0.0) -> bool:
    """Whether a value lies far above its usual one."""
    return value >= least and value > FAR_TIMES * usual


def _neighbour(kind: _Kind, diagnosis: Diagnosis) -> Neighbour | None:
    found = facts_of(kind.collector, diagnosis.evidence)
    value, usual = number_of(found.get(kind.fact)), number_of(found.get(f"{kind.fact}_usual"))
    if value is None or usual is None or not is_far(value, usual, kind.least):
        return None
    shown = min(value, 1.0) if kind.unit == "ratio" else value
    now, _, rest = with_usual(shown, usual, kind.unit).partition(", ")
    words = kind.one if now == "1" else kind.more
    usually = rest.partition(" (")[0]
    if kind.unit == "count" and 0 < usual < kind.least:
        usually = "usually under 1"
    return Neighbour(f"{words.format(now)} ({usually})", tuple(_against(kind, diagnosis)))


def _against(kind: _Kind, diagnosis: Diagnosis) -> Iterator[Cause]:
    """The causes that are ruled out by the evidence whose fact speaks for them."""
    names = {item.name for item in diagnosis.evidence if item.collector == kind.collector}
    for cause in diagnosis.causes:
        against = weighing.deciding(cause) if cause.verdict is Verdict.REFUTED else None
        if against is None or against.part is not Part.REFUTE:
            continue
        own = {f"{alias}.{kind.fact}": alias for alias in _aliases(names, cause)}
        held = [
            own[seen.name]
            for check in cause.checks
            if check.part in weighing.FOR and check.truth is Truth.TRUE
            for seen in check.seen
            if seen.name in own
        ]
        if any(seen.name.partition(".")[0] in held for seen in against.seen):
            yield cause


def _aliases(names: Iterable[str], cause: Cause) -> set[str]:
    """How a runbook calls its evidence, by the names in the plan: `kv`, `kv-preemption.kv`."""
    return {name.removeprefix(f"{cause.runbook}.") for name in names if name in cause.evidence}
