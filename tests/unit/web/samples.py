"""Incidents made by hand, one for each thing that a page can show, and a reader that holds them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tailhound.diagnosis.report import as_json
from tailhound.errors import StoreUnavailable
from tailhound.model import (
    Alert,
    AlertStatus,
    Asked,
    Bound,
    Cause,
    Check,
    Confidence,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Happened,
    Incident,
    Offer,
    Outlook,
    Part,
    Progress,
    Seen,
    Stage,
    State,
    Subject,
    SubjectKind,
    Symptom,
    Verdict,
)
from tailhound.settings import Settings
from tailhound.truth import Truth
from tailhound.web.metrics import Metrics
from tailhound.web.parts import Counts, HealthLine, Parts, RunbookLine

NOW = datetime(2026, 11, 30, 3, 9, 0, tzinfo=UTC)
SINCE = datetime(2026, 11, 30, 3, 0, 12, tzinfo=UTC)
HOSTILE = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}{% raw %}\u202e\x1b[31m"
)


def alert(**labels: str) -> Alert:
    """A firing alert of chat-json with more or other labels."""
    return Alert(
        fingerprint="63f11fa9b7354ae8",
        name=labels.get("alertname", "InferenceInterTokenLatencyHigh"),
        labels={
            "alertname": "InferenceInterTokenLatencyHigh",
            "severity": "page",
            "namespace": "llm",
            "deployment": "chat-json",
            "cluster": "eu-1",
            "prometheus": "monitoring/k8s",
        }
        | labels,
        annotations={"summary": "p50 ITL 68-93 ms, objective 20 ms"},
        status=AlertStatus.FIRING,
        starts_at=SINCE,
    )


def subject(namespace: str = "llm", workload: str = "chat-json") -> Subject:
    """What an incident is about."""
    return Subject(
        kind=SubjectKind.WORKLOAD,
        namespace=namespace,
        workload=workload,
        workload_label="deployment",
    )


QUERY = (
    'sum by (pod) (rate(container_cpu_cfs_throttled_periods_total{namespace="llm",'
    'pod=~"chat-json-0|chat-json-1|chat-json-2",container="main"}[5m])) / sum by (pod) '
    '(rate(container_cpu_cfs_periods_total{namespace="llm",pod=~"chat-json-0|chat-json-1|'
    'chat-json-2",container="main"}[5m]))'
)

CPU = Evidence(
    name="cpu",
    collector="prometheus.container_cpu",
    status=EvidenceStatus.COLLECTED,
    facts={"throttled_ratio": 1.0},
    asked=(
        Asked(
            question=QUERY,
            backend="prometheus",
            status=EvidenceStatus.COLLECTED,
            took_seconds=0.041,
            answer='{pod="chat-json-2"} 1, {pod="chat-json-0"} 0.97, {pod="chat-json-1"} 0.98',
        ),
        Asked(
            question="GET /api/v1/namespaces/llm/pods?labelSelector=app%3Dchat-json",
            backend="kubernetes",
            status=EvidenceStatus.COLLECTED,
            took_seconds=0.09,
            answer="limits.cpu 6, requests.cpu 4",
        ),
    ),
    took_seconds=0.131,
)
RDMA = Evidence(
    name="fabric",
    collector="ssh.rdma",
    status=EvidenceStatus.TIMEOUT,
    reason="gpu-node-7 did not answer SSH within 5 s. Fix: tailhound doctor ssh gpu-node-7",
    asked=(
        Asked(
            question="cat /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence",
            backend="ssh gpu-node-7",
            status=EvidenceStatus.TIMEOUT,
            detail="gpu-node-7 did not answer SSH within 5 s. Fix: tailhound doctor ssh gpu-node-7",
            took_seconds=5.0,
        ),
    ),
    took_seconds=5.0,
)
EVENTS = Evidence(
    name="events",
    collector="kubernetes.events",
    status=EvidenceStatus.FORBIDDEN,
    reason="may not list events in llm",
    asked=(
        Asked(
            question="GET /api/v1/namespaces/llm/events?resourceVersion=0",
            backend="kubernetes",
            status=EvidenceStatus.FORBIDDEN,
            detail="may not list events in llm. Fix: kubectl apply -f deploy/rbac/read.yaml",
            took_seconds=0.02,
        ),
    ),
)

THROTTLING = Cause(
    runbook="cpu-throttling",
    title="The CPU limit stops the engine's threads in mid-request",
    verdict=Verdict.CONFIRMED,
    because="stopped in 100 % of periods, usually 2 %; loses 1.4 s per second",
    confidence=Confidence.HIGH,
    says="The kernel stops every thread of the container once its quota of a period is used up.",
    onset=SINCE - timedelta(seconds=70),
    evidence=("cpu",),
    leads_to=(),
    checks=(
        Check(
            claim="Stopped in more than a quarter of its periods",
            condition="cpu.throttled_ratio > strong",
            part=Part.CONFIRM,
            truth=Truth.TRUE,
            seen=(Seen(name="cpu.throttled_ratio", value=1.0, unit="ratio", usual=0.02),),
            needs=(Bound(fact="cpu.throttled_ratio", comparison=">", value=0.25, unit="ratio"),),
        ),
        Check(
            claim="Loses real time, not just idle bursts",
            condition="cpu.throttled_seconds_per_second > lost",
            part=Part.CONFIRM,
            truth=Truth.TRUE,
            seen=(Seen(name="cpu.lost", value=1.4, unit="seconds_per_second"),),
            needs=(Bound(fact="cpu.lost", comparison=">", value=0.05, unit="seconds_per_second"),),
        ),
        Check(
            claim="The GPU waits",
            condition="gpu.busy_ratio < idle",
            part=Part.OPTIONAL,
            truth=Truth.UNKNOWN,
            missing=("gpu.busy_ratio",),
            needs=(Bound(fact="gpu.busy_ratio", comparison="<", value=0.5, unit="ratio"),),
        ),
        Check(
            claim="Hardly ever stopped",
            condition="cpu.throttled_ratio < rare",
            part=Part.REFUTE,
            truth=Truth.FALSE,
            seen=(Seen(name="cpu.throttled_ratio", value=1.0, unit="ratio", usual=0.02),),
            needs=(Bound(fact="cpu.throttled_ratio", comparison="<", value=0.05, unit="ratio"),),
        ),
    ),
    mitigations=(
        Offer(
            id="raise-limit",
            title="Raise the CPU limit",
            mode="one-click",
            offered=False,
            why_not="no changing account is configured",
            risk="medium",
            helps="inter-token p99; no published figure",
            ttft="better",
            cost="none",
            complexity="low",
            when="the node has idle CPU",
            steps=(
                "kubectl -n llm set resources deployment/chat-json --limits=cpu=9",
                "Watch the throttled periods for 5 minutes",
            ),
        ),
        Offer(
            id="match-threads",
            title="Cap the compile threads to the limit",
            mode="suggested",
            offered=True,
            why_not=None,
            risk="low",
            helps="the lasting fix",
            cost="a restart",
            complexity="medium",
        ),
    ),
)
THREADS = Cause(
    runbook="cpu-oversubscription",
    title="More threads run than the container has cores",
    verdict=Verdict.CONFIRMED,
    because="86 compile threads on 6 cores",
    confidence=Confidence.HIGH,
    onset=SINCE - timedelta(seconds=130),
    leads_to=("cpu-throttling",),
    evidence=("cpu",),
    checks=(
        Check(
            claim="More threads than cores",
            condition="cpu.threads > cpu.limit_cores * crowded",
            part=Part.CONFIRM,
            truth=Truth.TRUE,
            seen=(Seen(name="cpu.threads", value=86, unit="count"),),
        ),
    ),
)
FABRIC = Cause(
    runbook="rdma-fabric",
    title="The RDMA fabric drops or retransmits",
    verdict=Verdict.UNKNOWN,
    because="evidence is missing",
    evidence=("fabric",),
    checks=(
        Check(
            claim="Packets arrive out of order",
            condition="fabric.out_of_sequence > some",
            part=Part.CONFIRM,
            truth=Truth.UNKNOWN,
            missing=("fabric.out_of_sequence",),
        ),
    ),
)
DRAIN = Cause(
    runbook="node-drain",
    title="A node is being drained",
    verdict=Verdict.UNKNOWN,
    because="evidence is missing",
    evidence=("events",),
)
_REFUTED = (
    ("queue-saturation", "Requests wait for a slot", "148 of 256 slots in use"),
    ("gpu-clocks", "The GPU runs slower than it could", "clocks as usual"),
    ("long-prompt", "Prompts are longer than usual", "p95 21k tokens, as usual"),
    ("kv-preemption", "The KV cache is full", "61 % used, 0 preemptions"),
    ("dns-resolution", "DNS answers late", "4 ms, as usual"),
    ("host-memory", "The host swaps or reclaims", "no swap, no reclaim"),
    ("disk-saturation", "The disk is asked for more than it can", "queue 50, usually 50"),
    ("probe-failure", "A probe kills or hides healthy pods", "0 restarts, 3 of 3 ready"),
)


def _refuted(runbook: str, title: str, because: str) -> Cause:
    return Cause(
        runbook=runbook,
        title=title,
        verdict=Verdict.REFUTED,
        because=because,
        evidence=("cpu",),
        checks=(
            Check(
                claim="Within its usual band",
                condition="x.value < high",
                part=Part.REFUTE,
                truth=Truth.TRUE,
                seen=(Seen(name="x.value", value=0.61, unit="ratio", usual=0.6),),
            ),
        ),
    )


NOT_HERE = Cause(
    runbook="nvmeof-queue",
    title="The NVMe-oF queue is full",
    verdict=Verdict.NOT_APPLICABLE,
    because="no NVMe-oF device on these nodes",
)
SYMPTOM = Symptom(
    name="inter-token p50",
    value=0.080,
    unit="seconds",
    usual=0.008,
    usual_from=("1 h", "1 d", "7 d"),
    slo=0.020,
    onset=SINCE,
)
DIAGNOSIS = Diagnosis(
    outlook=Outlook.CAUSE_FOUND,
    primary="cpu-throttling",
    chain=("cpu-oversubscription", "cpu-throttling"),
    confidence=Confidence.HIGH,
    causes=(
        THROTTLING,
        THREADS,
        FABRIC,
        DRAIN,
        *(_refuted(*item) for item in _REFUTED),
        NOT_HERE,
    ),
    evidence=(CPU, RDMA, EVENTS),
    stages=(
        Stage(stage="ingress", seconds=0.004, usual_seconds=0.004),
        Stage(stage="preprocessing", seconds=0.09, usual_seconds=0.012),
        Stage(stage="queue", seconds=0.35, usual_seconds=0.02),
        Stage(stage="prefill", seconds=0.41, usual_seconds=0.38),
        Stage(stage="decode", seconds=3.4, usual_seconds=0.6),
        Stage(stage="post", seconds=None, usual_seconds=None),
    ),
    symptom=SYMPTOM,
    scope="3 of 3 pods",
    shape="step",
    load="flat",
    decided_at=SINCE + timedelta(seconds=239),
    took_seconds=7.8,
)

INVESTIGATING = Incident(
    id="7F3K",
    key="workload:llm/chat-json",
    subject=subject("prod", "llm-70b"),
    state=State.INVESTIGATING,
    alerts=(alert(alertname="LLMDHighTTFT", namespace="prod", deployment="llm-70b"),),
    received_at=NOW - timedelta(seconds=9),
    revision=41,
    causes_checked=14,
    verdict_by=NOW + timedelta(seconds=21),
    progress=Progress(answered=31, waiting=15, failed=1, ruled_out=("CPU throttling", "DNS")),
    timeline=(Happened(at=NOW - timedelta(seconds=9), what="alert LLMDHighTTFT"),),
)
FOUND = Incident(
    id="8R5W",
    key="workload:llm/chat-json",
    subject=subject(),
    state=State.DIAGNOSED,
    alerts=(alert(pod="chat-json-0"), alert(pod="chat-json-1"), alert(pod="chat-json-2")),
    received_at=SINCE + timedelta(seconds=15),
    revision=40,
    causes_checked=14,
    diagnosis=DIAGNOSIS,
    truncated_alerts=2,
    timeline=(
        Happened(at=SINCE, what="alert InferenceInterTokenLatencyHigh"),
        Happened(at=SINCE + timedelta(seconds=15), what="received; 14 causes are being checked"),
        Happened(
            at=SINCE + timedelta(seconds=239), what="verdict: CPU throttling, high confidence"
        ),
    ),
)
UNKNOWN = replace(
    FOUND,
    id="2H8D",
    subject=subject("storage", "db-1"),
    received_at=NOW - timedelta(minutes=14),
    truncated_alerts=0,
    diagnosis=replace(
        DIAGNOSIS,
        outlook=Outlook.NONE_CONFIRMED,
        primary=None,
        chain=(),
        confidence=None,
        causes=DIAGNOSIS.causes[2:],
        stages=(),
        at_deadline=True,
        symptom=replace(SYMPTOM, name="write wait", value=0.0025, usual=0.001, slo=None),
    ),
)
BLIND = replace(
    FOUND,
    id="4T6V",
    received_at=NOW - timedelta(minutes=20),
    diagnosis=replace(
        DIAGNOSIS,
        outlook=Outlook.BLIND,
        primary=None,
        chain=(),
        confidence=None,
        causes=DIAGNOSIS.causes[2:],
        stages=(),
        symptom=None,
        scope="",
        blind="prometheus",
    ),
)
RESOLVED = replace(
    FOUND,
    id="5B2M",
    state=State.RESOLVED,
    received_at=NOW - timedelta(hours=5),
    resolved_at=SINCE + timedelta(minutes=8),
    alerts=tuple(
        replace(a, status=AlertStatus.RESOLVED, ends_at=SINCE + timedelta(minutes=8))
        for a in FOUND.alerts
    ),
)
TWO_FIT = replace(
    FOUND,
    id="9C1Q",
    received_at=NOW - timedelta(hours=6),
    diagnosis=replace(
        DIAGNOSIS, outlook=Outlook.TWO_FIT, primary=None, chain=(), confidence=Confidence.MEDIUM
    ),
)
DEFERRED = replace(
    INVESTIGATING,
    id="1Q9X",
    state=State.DEFERRED,
    progress=None,
    received_at=NOW - timedelta(hours=7),
)
JOINED = replace(
    FOUND,
    id="3M7N",
    state=State.JOINED,
    joined_into="8R5W",
    diagnosis=None,
    received_at=NOW - timedelta(hours=8),
)
FAILED = replace(
    INVESTIGATING,
    id="6K0B",
    state=State.FAILED,
    failed_because="the database was full",
    received_at=NOW - timedelta(hours=9),
)
UNREADABLE = Incident(
    id="0A0A",
    key="unreadable",
    subject=Subject(kind=SubjectKind.GROUP),
    state=State.DIAGNOSED,
    alerts=(),
    received_at=NOW - timedelta(days=3),
    unreadable="version: must be the text \"4\" of Alertmanager's webhook, but is '1'",
)
EVERYTHING = (
    INVESTIGATING,
    FOUND,
    UNKNOWN,
    BLIND,
    RESOLVED,
    TWO_FIT,
    DEFERRED,
    JOINED,
    FAILED,
    UNREADABLE,
)


def hostile(text: str = HOSTILE) -> Incident:
    """An incident in which every text that can come from outside is hostile."""
    evidence = replace(
        RDMA,
        reason=text,
        asked=(replace(RDMA.asked[0], question=text, detail=text, answer=text, backend=text),),
    )
    check = replace(THROTTLING.checks[0], seen=(Seen(name="x", value=text, of=text),))
    cause = replace(
        THROTTLING,
        because=text,
        checks=(check, replace(FABRIC.checks[0], missing=(text,))),
        evidence=("fabric",),
    )
    return replace(
        FOUND,
        id="BAD1",
        subject=subject(text, text),
        alerts=(alert(alertname=text, severity=text, **{text: text}),),
        unreadable="",
        diagnosis=replace(
            DIAGNOSIS,
            causes=(cause, replace(FABRIC, because=text)),
            chain=("cpu-throttling",),
            evidence=(evidence,),
            stages=(Stage(stage=text, seconds=1.0, usual_seconds=0.5),),
            symptom=replace(SYMPTOM, name=text),
            scope=text,
        ),
        timeline=(Happened(at=NOW, what=text),),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A raw output as the store gives it."""

    question: str
    text: str
    size: int
    truncated: bool = False


@dataclass(slots=True)
class Shelf:
    """A reader that holds incidents in memory; `down` = it refuses like a database that is gone."""

    incidents: tuple[Incident, ...] = EVERYTHING
    outputs: tuple[Output, ...] = (Output(question=QUERY, text="chat-json-2 1\n", size=14),)
    at: int = 41
    down: bool = False
    asked: list[str] = field(default_factory=list)

    def list(
        self,
        *,
        limit: int = 50,
        states: Sequence[State] = (),
        text: str = "",
        before: datetime | None = None,
        after: str = "",
    ) -> tuple[Incident, ...]:
        """As IncidentReader.list."""
        self._ask("list")
        found = [
            incident
            for incident in sorted(
                self.incidents, key=lambda one: (-one.received_at.timestamp(), one.id)
            )
            if (not states or incident.state in states)
            and text.lower() in f"{incident.id} {incident.subject.where} {incident.name}".lower()
            and (before is None or _is_behind(incident, before, after))
        ]
        return tuple(found[:limit])

    def get(self, id: str) -> Incident | None:
        """As IncidentReader.get."""
        self._ask("get")
        return next((one for one in self.incidents if one.id == id.upper()), None)

    def raw(self, id: str) -> tuple[Output, ...]:
        """As IncidentReader.raw."""
        self._ask("raw")
        return self.outputs if id.upper() == "8R5W" else ()

    def revision(self) -> int:
        """As IncidentReader.revision."""
        self._ask("revision")
        return self.at

    def counts(self) -> Counts:
        """How many incidents there are of each state."""
        self._ask("counts")
        states = [incident.state for incident in self.incidents]
        return Counts(
            incidents={state: states.count(state) for state in State},
            outbox_waiting=3,
            outbox_oldest_seconds=1.5,
        )

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.down:
            raise StoreUnavailable("tailhound.db is locked")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an intake answers."""

    incidents: tuple[str, ...] = ("7F3K",)
    new: int = 1
    repeats: int = 0
    dropped: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Intake:
    """An intake that remembers the bodies it was given."""

    bodies: list[bytes] = field(default_factory=list)
    receipt: Receipt = Receipt()
    raises: Exception | None = None

    async def accept(self, body: bytes) -> Receipt:
        """As Intake.accept."""
        if self.raises is not None:
            raise self.raises
        self.bodies.append(body)
        return self.receipt


RUNBOOKS = (
    RunbookLine(id="cpu-throttling", title=THROTTLING.title, owner="sre-platform", tests="7 of 7"),
    RunbookLine(
        id="kv-preemption",
        title="The KV cache is full",
        owner="llm-serving",
        status="draft",
        tests="9 of 9",
        trouble="cpu_throttling.yaml:25:52: no field on cpu named 'throttle_ratio'",
    ),
)
HEALTH = (
    HealthLine(name="Prometheus", state="answers", works=True, detail="40 ms"),
    HealthLine(
        name="SSH to gpu-node-7",
        state="times out",
        works=False,
        effect="1 cause can't be checked there",
        fix="tailhound doctor ssh gpu-node-7",
    ),
)


def parts(shelf: Shelf | None = None, intake: Intake | None = None, **changes: Any) -> Parts:
    """The parts of a web application on a shelf of incidents."""
    shelf = shelf or Shelf()
    wanted: dict[str, Any] = {
        "settings": Settings(),
        "accept": (intake or Intake()).accept,
        "reader": shelf,
        "as_json": as_json,
        "clock": lambda: NOW,
        "metrics": Metrics(),
        "counts": shelf.counts,
        "runbooks": lambda: RUNBOOKS,
        "health": lambda: HEALTH,
    }
    return Parts(**(wanted | changes))


def _is_behind(incident: Incident, before: datetime, after: str) -> bool:
    if incident.received_at == before:
        return bool(after) and incident.id > after
    return incident.received_at < before
