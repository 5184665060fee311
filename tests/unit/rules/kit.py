"""A small runbook world: two collectors, a runbook with the whole grammar, shortcuts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailhound.errors import Finding
from tailhound.flow import Collector, Reading
from tailhound.model.facts import Fact, Kind, Series, fact
from tailhound.requests.argv import SHIPPED
from tailhound.rules import Runbook, compile_files
from tailhound.rules.expression import Condition, Vocabulary, compile_condition
from tailhound.rules.places import Place, Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuParams:
    namespace: str
    pods: tuple[str, ...]
    window: str = "5m"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRow:
    pod: str
    busy_ratio: float | None = None
    busy_ratio_usual: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    throttled_ratio: float | None = None
    throttled_ratio_usual: float | None = None
    lost: float | None = fact("seconds_per_second")
    has_limit: bool | None = None
    managed_by: str | None = None
    pods: tuple[PodRow, ...] | None = None
    throttled_ratio_series: Series | None = None
    throttled_ratio_usual_series: Series | None = None
    pressure_ratio: float | None = None
    pressure_ratio_series: Series | None = None


class CpuCollector:
    name = "test.cpu"
    params = CpuParams
    facts = Cpu

    def collect(self, params: CpuParams) -> Reading[Cpu]:
        yield from ()
        return Cpu()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeParams:
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    idle_ratio: float | None = None


class NodeCollector:
    name = "test.node"
    params = NodeParams
    facts = Node

    def collect(self, params: NodeParams) -> Reading[Node]:
        yield from ()
        return Node()


COLLECTORS: Mapping[str, Collector[Any, Any]] = {
    "test.cpu": CpuCollector(),
    "test.node": NodeCollector(),
}

RUNBOOK = """\
runbook: cpu-throttling
cause: The CPU limit stops the engine
owner: sre-platform
docs: https://runbooks.example.com/cpu-throttling
summary: >
  A container that has used up its CPU quota is stopped for the rest of each period.

trigger:
  alerts: [CPUThrottlingHigh]
  where: {severity: "critical|page"}
  command: throttling <namespace> <pod>

inputs:
  namespace: {from_label: namespace}
  pods: all pods of the workload
  node: the node

thresholds:
  lost: {value: 0.05, unit: seconds_per_second, source: our own default}
  strong: {value: 0.25, unit: ratio, source: kubernetes-mixin CPUThrottlingHigh}
  hardly: {value: 0.05, unit: ratio, source: our own default}
  room: {value: 0.1, unit: ratio, source: our own default}
  long: {value: 2, unit: times, source: our own default}

applies:
  - A CPU limit is set: cpu.has_limit

evidence:
  cpu: {collect: test.cpu, with: {window: 5m}}
  node_cpu: {collect: test.node, when: cpu.throttled_ratio > hardly}
  queue:
    promql:
      wait_seconds:
        query: 'sum(rate(q_sum{namespace="$namespace",pod=~"$pods"}[5m]))'
        unit: seconds
    compare_to: usual

onset: cpu.throttled_ratio

confirm:
  - Stopped in more than a quarter of its periods: cpu.throttled_ratio > strong
  - Loses real time: cpu.lost > lost
optional:
  - Requests wait longer: queue.wait_seconds_ratio > long
otherwise:
  A CPU limit is set: it has no CPU limit
refute:
  - Hardly ever stopped: cpu.throttled_ratio < hardly

leads_to: [probe-failure]
explained_by: [cpu-oversubscription]
confidence: {at_most: high, because: nothing caps it}

says: >
  {{ pods }} stopped in {{ cpu.throttled_ratio | percent }} of the periods, waiting takes
  {{ queue.wait_seconds_ratio | times }} as long.

mitigations:
  raise-limit:
    title: Raise the CPU limit
    mode: one-click
    helps: p99
    ttft: better
    cost: none
    complexity: low
    risk: medium
    risk_of: its neighbours get less CPU
    when: the node has idle CPU
    guard:
      - The node has room: node_cpu.idle_ratio > room
      - Nothing else would undo it: cpu.managed_by not in ['helm', 'argocd']
    approval: {by: sre-oncall, count: 1, expires: 30m}
    limit: {at_most: 3, per: namespace, window: 1h}
    do: {action: kubernetes.resize_cpu_limit, with: {factor: 1.5}}
    verify:
      after: 2m
      within: 10m
      collect: [cpu]
      expect:
        - No longer stopped: cpu.throttled_ratio < hardly
    undo: {action: kubernetes.restore_cpu_limit}
  match-threads:
    title: Match the thread pools to the limit
    mode: suggested
    helps: p99
    ttft: better
    cost: none
    complexity: medium
    risk: low
    steps: [Set OMP_NUM_THREADS to the limit.]

status: active

baseline:
  cpu: {throttled_ratio: 0.01, lost: 0.0, has_limit: true, managed_by: ""}
  node_cpu: {idle_ratio: 0.7}
  queue: {wait_seconds_ratio: 1.0}

tests:
  - name: throttled and slow
    given: {cpu: {throttled_ratio: 0.62, lost: 1.4}, queue: {wait_seconds_ratio: 3}}
    expect: confirmed
    offers: [raise-limit, match-threads]
    says: stopped in 62 % of the periods, waiting takes x3 as long
    confidence: high
  - name: just over a quarter of the periods, just over the lost time
    given: {cpu: {throttled_ratio: 0.26, lost: 0.06}}
    expect: confirmed
    confidence: medium
  - name: just under a quarter
    given: {cpu: {throttled_ratio: 0.24, lost: 0.06}, queue: {wait_seconds_ratio: 3}}
    expect: unknown
  - name: loses no time
    given: {cpu: {throttled_ratio: 0.62, lost: 0.04}}
    expect: unknown
  - name: just over hardly
    given: {cpu: {throttled_ratio: 0.06, lost: 0.06}}
    expect: unknown
  - name: hardly
    given: {cpu: {throttled_ratio: 0.04, lost: 0.06}}
    expect: refuted
  - name: waits a little longer than usual
    given: {cpu: {throttled_ratio: 0.62, lost: 1.4}, queue: {wait_seconds_ratio: 1.9}}
    expect: confirmed
    confidence: medium
  - name: waits twice as long
    given: {cpu: {throttled_ratio: 0.62, lost: 1.4}, queue: {wait_seconds_ratio: 2.1}}
    expect: confirmed
    confidence: high
  - name: no room on the node
    given: {cpu: {throttled_ratio: 0.62, lost: 1.4}, node_cpu: {idle_ratio: 0.09}}
    expect: confirmed
    offers: [match-threads]
  - name: just enough room on the node
    given: {cpu: {throttled_ratio: 0.62, lost: 1.4}, node_cpu: {idle_ratio: 0.11}}
    expect: confirmed
    offers: [raise-limit, match-threads]
  - name: owned by Argo CD
    given: {cpu: {throttled_ratio: 0.62, lost: 1.4, managed_by: argocd}}
    expect: confirmed
    offers: [match-threads]
  - name: no limit
    given: {cpu: {has_limit: false}}
    expect: not-applicable
  - name: Prometheus does not answer
    given: {cpu: timed out, queue: timed out}
    expect: unknown
    missing: [cpu.has_limit, cpu.throttled_ratio, cpu.lost]
"""


def load(text: str = RUNBOOK) -> Runbook:
    """The runbook of a text; the findings as the failure when it does not load."""
    runbooks, findings = compile_files({"r.yaml": text}, COLLECTORS, SHIPPED)
    assert not findings, "\n".join(map(str, findings))
    return runbooks[0]


def findings(text: str | bytes, path: str = "r.yaml") -> tuple[Finding, ...]:
    """What is wrong with a text."""
    _, found = compile_files({path: text}, COLLECTORS, SHIPPED)
    return found


def changed(*pairs: tuple[str, str]) -> str:
    """The runbook with some of its text replaced."""
    text = RUNBOOK
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def number(unit: str = "none") -> Fact:
    return Fact(Kind.NUMBER, unit)


VOCABULARY = Vocabulary(
    {
        "cpu": {
            "throttled_ratio": number("ratio"),
            "throttled_ratio_usual": number("ratio"),
            "lost": number("seconds_per_second"),
            "periods": number("count"),
            "slowdown": number("times"),
            "series": Fact(Kind.SERIES),
        },
        "spec": {"limited": Fact(Kind.YESNO), "owner": Fact(Kind.TEXT)},
        "queue": {
            "waiting": Fact(
                Kind.SET,
                fields={
                    "pod": Fact(Kind.TEXT),
                    "value": number("count"),
                    "value_usual": number("count"),
                    "ready": Fact(Kind.YESNO),
                },
            )
        },
    },
    {"strong": "ratio", "lost": "seconds_per_second", "busy": "count", "moved": "times"},
)
THRESHOLDS = {"strong": 0.25, "lost": 0.05, "busy": 4.0, "moved": 1.5}


def scalar(text: str) -> Scalar:
    """A condition as it would stand at line 25, column 52."""
    return Scalar(text, True, Place("x.yaml", 25, 52, len(text)))


def condition(text: str) -> Condition:
    """A condition that must be right."""
    compiled, found = compile_condition(scalar(text), VOCABULARY)
    assert compiled is not None, found
    return compiled


def wrong(text: str) -> str:
    """What is wrong with a condition: `column: message`, joined by lines."""
    compiled, found = compile_condition(scalar(text), VOCABULARY)
    assert compiled is None, text
    return "\n".join(f"{finding.column}: {finding.message}" for finding in found)
