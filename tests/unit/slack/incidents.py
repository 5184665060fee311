"""Incidents made by hand, one for each state that a message can show.

They follow one story: too few CPU cores for a chat model (recorded case 01), seen at each moment.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

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
    Incident,
    Offer,
    Outlook,
    Part,
    Progress,
    Revised,
    Seen,
    Stage,
    State,
    Subject,
    SubjectKind,
    Symptom,
    Verdict,
)
from tailhound.truth import Truth

NOON = datetime(2025, 11, 29, 3, 0, tzinfo=UTC)
"""When the alert began."""

NOW = NOON + timedelta(minutes=4, seconds=30)


def at(minutes: float, seconds: float = 0.0) -> datetime:
    """A moment of the story, from the start of the alert."""
    return NOON + timedelta(minutes=minutes, seconds=seconds)


ALERT = Alert(
    fingerprint="f1",
    name="InferenceInterTokenLatencyHigh",
    labels={"namespace": "llm", "service": "chat-json", "severity": "page"},
    annotations={"summary": "p50 ITL 68-93 ms, objective 20 ms"},
    status=AlertStatus.FIRING,
    starts_at=NOON,
)
SUBJECT = Subject(
    kind=SubjectKind.WORKLOAD, namespace="llm", workload="chat-json", workload_label="service"
)
SYMPTOM = Symptom(
    name="inter-token p50",
    value=0.080,
    unit="seconds",
    usual=0.008,
    usual_from=("1 h", "1 d", "7 d"),
    slo=0.020,
    onset=at(0),
)
STAGES = (
    Stage(stage="queue", seconds=0.02, usual_seconds=0.02),
    Stage(stage="decode", seconds=4.1, usual_seconds=0.41),
    Stage(stage="prefill", seconds=None, usual_seconds=None),
)
RAISE = Offer(
    id="raise-limit",
    title="Raise the CPU limit by half",
    mode="suggested",
    offered=True,
    why_not=None,
    risk="medium",
    helps="inter-token p99; no published figure",
    cost="none while the node has idle CPU",
    complexity="low",
    when="the node has idle CPU",
    steps=("Look first: kubectl -n NAMESPACE get pod POD",),
)
THREADS = Offer(
    id="match-threads",
    title="Match the thread pools to the limit",
    mode="suggested",
    offered=True,
    why_not=None,
    risk="low",
    helps="the cause itself: fewer threads burn the quota more evenly",
    cost="none",
    when="the process starts more threads than the limit has cores",
    steps=("OpenMP: set OMP_NUM_THREADS",),
)


def check(
    claim: str,
    value: float | bool | None,
    unit: str = "ratio",
    *,
    needs: tuple[str, float] | None = None,
    truth: Truth = Truth.TRUE,
    part: Part = Part.CONFIRM,
    name: str = "cpu.throttled_ratio",
    usual: float | None = None,
) -> Check:
    """One claim over one value."""
    bounds = (Bound(fact=name, comparison=needs[0], value=needs[1], unit=unit),) if needs else ()
    seen = (Seen(name=name, value=value, unit=unit, usual=usual),) if value is not None else ()
    return Check(
        claim=claim,
        condition=f"{name} ...",
        part=part,
        truth=truth,
        seen=seen,
        missing=() if value is not None else (name,),
        needs=bounds,
    )


THROTTLING = Cause(
    runbook="cpu-throttling",
    title="The CPU limit stops the engine",
    verdict=Verdict.CONFIRMED,
    because="Stopped in 100 % of its periods, usually 2 %.",
    confidence=Confidence.HIGH,
    onset=at(-1),
    checks=(
        check(
            "Stopped in more than a tenth of its periods",
            1.0,
            needs=(">", 0.10),
            usual=0.02,
        ),
        check(
            "Loses real time, not just idle bursts",
            1.4,
            "seconds_per_second",
            needs=(">", 0.05),
            name="cpu.lost_seconds_per_second",
        ),
        check(
            "A stage that runs on the CPU got slower",
            10.0,
            "times",
            needs=(">", 1.5),
            name="latency.cpu_stage_times",
        ),
        check(
            "Stopped in more than a quarter of its periods",
            1.0,
            needs=(">", 0.25),
            part=Part.OPTIONAL,
        ),
        check("Hardly ever stopped", 1.0, needs=("<", 0.05), part=Part.REFUTE, truth=Truth.FALSE),
        check(
            "The stages that run on the CPU are as fast as usual",
            10.0,
            "times",
            needs=("<", 1.1),
            part=Part.REFUTE,
            truth=Truth.FALSE,
            name="latency.cpu_stage_times",
        ),
    ),
    mitigations=(RAISE, THREADS),
    evidence=("cpu", "latency", "spec"),
    owner="sre-platform",
)


def ruled_out(runbook: str, because: str) -> Cause:
    """A cause that is out."""
    return Cause(runbook=runbook, title=runbook, verdict=Verdict.REFUTED, because=because)


OUT = (
    Cause(
        runbook="queue-saturation",
        title="The queue is full",
        verdict=Verdict.REFUTED,
        because="The GPU is busy in 7 % of the time.",
        checks=(
            check(
                "GPU hardly busy",
                0.07,
                needs=("<", 0.5),
                part=Part.REFUTE,
                name="gpu.busy_ratio",
            ),
        ),
    ),
    ruled_out("gpu-clocks", "Clocks as usual"),
    ruled_out("kv-preemption", "No request was preempted"),
    ruled_out("long-prompt", "Prompts as long as usual"),
    ruled_out("batching-delay", "Batches as usual"),
)
NO_HPA = Cause(
    runbook="autoscaling",
    title="Scaling comes too late",
    verdict=Verdict.NOT_APPLICABLE,
    because="No HPA scales it.",
)
INGRESS = Cause(
    runbook="ingress-path",
    title="The way in is slow",
    verdict=Verdict.UNKNOWN,
    because="ingress.requests_per_second was not measured",
    checks=(
        check("Slower at the ingress", None, truth=Truth.UNKNOWN, name="ingress.extra_seconds"),
    ),
    evidence=("ingress",),
)
DNS = replace(INGRESS, runbook="dns-resolution", title="Names resolve slowly", evidence=("dns",))


def asked(
    backend: str = "prometheus",
    status: EvidenceStatus = EvidenceStatus.COLLECTED,
    detail: str = "",
    question: str = "sum(rate(container_cpu_cfs_throttled_periods_total[5m]))",
) -> Asked:
    """One question."""
    return Asked(question=question, backend=backend, status=status, detail=detail)


def evidence(name: str, *questions: Asked, facts: Mapping[str, float] | None = None) -> Evidence:
    """One evidence; its status is that of its first question."""
    first = questions[0]
    return Evidence(
        name=name,
        collector=f"prometheus.{name}",
        status=first.status,
        facts=facts or {},
        reason=first.detail,
        asked=questions,
    )


NO_SERIES = "No such series in Prometheus: nginx_ingress_controller_requests."
EVIDENCE = (
    evidence("cpu", asked(), asked(), facts={"throttled_ratio": 1.0}),
    evidence("latency", asked(), facts={"cpu_stage_times": 10.0}),
    evidence("spec", asked("kubernetes"), facts={"cpu_limit_cores": 6.0}),
    evidence("ingress", asked(status=EvidenceStatus.EMPTY, detail=NO_SERIES)),
    evidence("dns", asked(status=EvidenceStatus.EMPTY, detail=NO_SERIES)),
)
DIAGNOSIS = Diagnosis(
    outlook=Outlook.CAUSE_FOUND,
    primary="cpu-throttling",
    chain=("cpu-throttling",),
    confidence=Confidence.HIGH,
    causes=(THROTTLING, INGRESS, DNS, *OUT, NO_HPA),
    evidence=EVIDENCE,
    stages=STAGES,
    symptom=SYMPTOM,
    scope="3 of 3 pods",
    shape="step",
    load="flat",
    decided_at=at(4, 11),
    took_seconds=8.1,
)
FIRST = Incident(
    id="8R5W",
    key="llm/chat-json",
    subject=SUBJECT,
    state=State.INVESTIGATING,
    alerts=(ALERT,),
    received_at=at(2),
    revision=1,
    causes_checked=9,
    verdict_by=at(2, 30),
)
COLLECTING = replace(
    FIRST,
    revision=2,
    progress=Progress(
        answered=31,
        waiting=15,
        failed=1,
        ruled_out=("cpu-oversubscription", "gpu-clocks", "dns-resolution", "node-drain", "a", "b"),
    ),
)
CONFIRMED = replace(FIRST, revision=3, state=State.DIAGNOSED, diagnosis=DIAGNOSIS)
MEDIUM = replace(
    CONFIRMED,
    diagnosis=replace(
        DIAGNOSIS,
        confidence=Confidence.MEDIUM,
        causes=(
            replace(
                THROTTLING,
                confidence=Confidence.MEDIUM,
                confidence_because="its onset is not known",
                onset=None,
            ),
            *DIAGNOSIS.causes[1:],
        ),
        evidence=(
            *EVIDENCE,
            evidence(
                "node",
                asked(
                    "ssh gpu-node-7",
                    EvidenceStatus.TIMEOUT,
                    "gpu-node-7 did not answer SSH within 5 s.",
                ),
            ),
        ),
    ),
)
OVERSUBSCRIBED = replace(
    THROTTLING,
    runbook="node-drain",
    title="A drain left too few copies",
    because="gpu-node-3 was drained at 02:58",
    mitigations=(replace(THREADS, id="uncordon", title="Uncordon `gpu-node-3`"),),
)
TWO_FIT = replace(
    CONFIRMED,
    diagnosis=replace(
        DIAGNOSIS,
        outlook=Outlook.TWO_FIT,
        confidence=Confidence.MEDIUM,
        causes=(THROTTLING, OVERSUBSCRIBED, *OUT),
    ),
)
OPEN = replace(
    THROTTLING,
    verdict=Verdict.UNKNOWN,
    confidence=None,
    onset=None,
    mitigations=(),
    because="Between its thresholds: stopped in 15 % of its periods.",
    checks=(
        check("Stopped in more than a tenth of its periods", 0.15, needs=(">", 0.10)),
        check(
            "Loses real time, not just idle bursts",
            None,
            truth=Truth.UNKNOWN,
            name="cpu.lost_seconds_per_second",
        ),
        check("Hardly ever stopped", 0.15, needs=("<", 0.05), part=Part.REFUTE, truth=Truth.FALSE),
        check(
            "As fast as usual",
            None,
            part=Part.REFUTE,
            truth=Truth.UNKNOWN,
            name="latency.cpu_stage_times",
        ),
    ),
)
UNKNOWN = replace(
    CONFIRMED,
    diagnosis=replace(
        DIAGNOSIS,
        outlook=Outlook.NONE_CONFIRMED,
        primary=None,
        chain=(),
        confidence=None,
        causes=(OPEN, INGRESS, *OUT, NO_HPA),
        evidence=(
            evidence(
                "cpu",
                asked(),
                asked(
                    status=EvidenceStatus.TIMEOUT,
                    detail="prometheus:9090 did not answer within 5 s.",
                    question='rate(container_cpu_cfs_throttled_seconds_total{pod="chat-json-2"}[5m])',
                ),
                facts={"throttled_ratio": 0.15},
            ),
            EVIDENCE[3],
        ),
        at_deadline=True,
        decided_at=at(2, 30),
    ),
)
BLIND = replace(
    CONFIRMED,
    diagnosis=replace(
        DIAGNOSIS,
        outlook=Outlook.BLIND,
        primary=None,
        chain=(),
        confidence=None,
        symptom=None,
        stages=(),
        scope="",
        shape="",
        load="",
        blind="prometheus",
        causes=(OPEN, INGRESS, DNS, ruled_out("node-drain", "No node was drained")),
        evidence=(
            evidence(
                "cpu",
                asked(
                    status=EvidenceStatus.TIMEOUT,
                    detail="`prometheus:9090` accepted the connection and sent nothing for 10 s, "
                    "3 times.",
                ),
            ),
            evidence("ingress", asked(status=EvidenceStatus.TIMEOUT, detail="nothing for 10 s.")),
            evidence(
                "spec",
                asked("kubernetes"),
                facts={"ready_pods": 3, "restarts": 0, "cpu_limit_cores": 6.0},
            ),
        ),
        at_deadline=True,
        decided_at=at(2, 30),
    ),
)
REVISED = replace(
    CONFIRMED,
    revision=4,
    revised=Revised(
        at=at(3, 17),
        was_at=at(2, 30),
        was="No cause confirmed.",
        why="Prometheus answered after 47 s.",
    ),
)
RESOLVED = replace(CONFIRMED, revision=9, state=State.RESOLVED, resolved_at=at(38))
RESOLVED_EARLY = replace(FIRST, revision=3, state=State.RESOLVED, resolved_at=at(3))
BACK = replace(
    CONFIRMED,
    revision=10,
    state=State.INVESTIGATING,
    episode=2,
    n=2,
    alerts=(replace(ALERT, starts_at=at(51)),),
    verdict_by=at(52, 30),
    previous_resolved_at=at(38),
)
AGAIN = replace(CONFIRMED, revision=5, n=2, state=State.INVESTIGATING, verdict_by=at(6))
DEFERRED = replace(FIRST, state=State.DEFERRED, verdict_by=None)
JOINED = replace(FIRST, state=State.JOINED, joined_into="7F3K")
FAILED = replace(
    FIRST,
    revision=6,
    state=State.FAILED,
    failed_because="the database was full for 10 min.",
)
UNREADABLE = replace(
    FIRST,
    alerts=(),
    subject=Subject(kind=SubjectKind.GROUP),
    unreadable="`alerts` is missing: this is no notification of Alertmanager, version 4.",
)
NO_SYMPTOM = replace(
    CONFIRMED,
    diagnosis=replace(
        DIAGNOSIS,
        outlook=Outlook.NONE_CONFIRMED,
        primary=None,
        chain=(),
        confidence=None,
        symptom=None,
        stages=(),
        causes=(replace(THROTTLING, confidence=Confidence.MEDIUM), *OUT),
    ),
)
NOTHING_LEFT = replace(
    UNKNOWN,
    diagnosis=replace(
        DIAGNOSIS,
        outlook=Outlook.NONE_CONFIRMED,
        primary=None,
        chain=(),
        confidence=None,
        causes=OUT,
    ),
)

STATES: Mapping[str, Incident] = {
    "first": FIRST,
    "collecting": COLLECTING,
    "confirmed": CONFIRMED,
    "medium": MEDIUM,
    "two-fit": TWO_FIT,
    "unknown": UNKNOWN,
    "no-symptom": NO_SYMPTOM,
    "nothing-left": NOTHING_LEFT,
    "blind": BLIND,
    "revised": REVISED,
    "resolved": RESOLVED,
    "resolved-early": RESOLVED_EARLY,
    "back": BACK,
    "again": AGAIN,
    "deferred": DEFERRED,
    "joined": JOINED,
    "failed": FAILED,
    "unreadable": UNREADABLE,
}
