"""The story in its parts: 86 compile threads on 6 cores, a CPU limit, tokens ten times as slow."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from tailhound.model import (
    Alert,
    AlertStatus,
    Asked,
    Evidence,
    EvidenceStatus,
    FactValue,
    Stage,
    Subject,
    SubjectKind,
    Symptom,
)

SINCE = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
"""When the alert began."""

NOW = SINCE + timedelta(minutes=4, seconds=30)


def at(minutes: float, seconds: float = 0.0) -> datetime:
    """A moment of the story, from the start of the alert."""
    return SINCE + timedelta(minutes=minutes, seconds=seconds)


# --- who is meant


def alert(**labels: str) -> Alert:
    """A firing alert of chat-json with more or other labels."""
    all_labels = {
        "alertname": "InferenceInterTokenLatencyHigh",
        "severity": "page",
        "namespace": "llm",
        "deployment": "chat-json",
        "cluster": "eu-1",
        "prometheus": "monitoring/k8s",
    } | labels
    return Alert(
        fingerprint=f"63f11fa9{labels.get('pod', '')}",
        name=all_labels["alertname"],
        labels=all_labels,
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


ALERTS = tuple(alert(pod=f"chat-json-{n}") for n in range(3))
SYMPTOM = Symptom(
    name="inter-token p50",
    value=0.080,
    unit="seconds",
    usual=0.008,
    usual_from=("1 h", "1 d", "7 d"),
    slo=0.020,
    onset=SINCE,
)
STAGES = (
    Stage(stage="ingress", seconds=0.004, usual_seconds=0.004),
    Stage(stage="preprocessing", seconds=0.013, usual_seconds=0.012),
    Stage(stage="queue", seconds=0.02, usual_seconds=0.02),
    Stage(stage="prefill", seconds=0.41, usual_seconds=0.38),
    Stage(stage="decode", seconds=4.1, usual_seconds=0.41),
    Stage(stage="post", seconds=None, usual_seconds=None),
)


# --- what was asked

QUERY = (
    'sum by (pod) (rate(container_cpu_cfs_throttled_periods_total{namespace="llm",'
    'pod=~"chat-json-0|chat-json-1|chat-json-2",container="main"}[5m])) / sum by (pod) '
    '(rate(container_cpu_cfs_periods_total{namespace="llm",pod=~"chat-json-0|chat-json-1|'
    'chat-json-2",container="main"}[5m]))'
)


def asked(
    question: str,
    backend: str = "prometheus",
    status: EvidenceStatus = EvidenceStatus.COLLECTED,
    detail: str = "",
    answer: str = "",
) -> Asked:
    """One question."""
    took = {EvidenceStatus.COLLECTED: 0.041, EvidenceStatus.TIMEOUT: 5.0}.get(status, 0.02)
    return Asked(
        question=question,
        backend=backend,
        status=status,
        detail=detail,
        took_seconds=took,
        answer=answer,
    )


def evidence(
    name: str, *questions: Asked, facts: Mapping[str, FactValue] | None = None
) -> Evidence:
    """One evidence; its status and reason are those of its first question."""
    return Evidence(
        name=name,
        collector=f"{questions[0].backend.partition(' ')[0]}.{name}",
        status=questions[0].status,
        facts=facts or {},
        reason=questions[0].detail,
        asked=questions,
        took_seconds=sum(question.took_seconds for question in questions),
    )


CPU = evidence(
    "cpu",
    asked(QUERY, answer='{pod="chat-json-2"} 1, {pod="chat-json-0"} 0.97'),
    asked(
        "GET /api/v1/namespaces/llm/pods?labelSelector=app%3Dchat-json",
        "kubernetes",
        answer="limits.cpu 6, requests.cpu 4",
    ),
    facts={"throttled_ratio": 1.0, "threads_count": 86},
)
LATENCY = evidence(
    "latency",
    asked('rate(vllm:inter_token_latency_seconds_sum{namespace="llm"}[5m])'),
    facts={"cpu_stage_times": 10.0},
)
SPEC = evidence(
    "spec",
    asked("GET /api/v1/namespaces/llm/pods/chat-json-2", "kubernetes"),
    facts={"ready_count": 3, "read": True, "cpu_limit_cores": 6.0},
)
NO_SERIES = "No such series in Prometheus: nginx_ingress_controller_requests."
INGRESS_SERIES = evidence(
    "ingress",
    asked(
        'rate(nginx_ingress_controller_requests{service="chat-json"}[5m])',
        status=EvidenceStatus.EMPTY,
        detail=NO_SERIES,
    ),
)
DNS_SERIES = evidence(
    "dns",
    asked("rate(coredns_dns_requests_total[5m])", status=EvidenceStatus.EMPTY, detail=NO_SERIES),
)
NO_SSH = "gpu-node-7 did not answer SSH within 5 s. Fix: tailhound doctor ssh gpu-node-7"
RDMA = evidence(
    "fabric",
    asked(
        "cat /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence",
        "ssh gpu-node-7",
        EvidenceStatus.TIMEOUT,
        NO_SSH,
    ),
)
EVENTS = evidence(
    "events",
    asked(
        "GET /api/v1/namespaces/llm/events?resourceVersion=0",
        "kubernetes",
        EvidenceStatus.FORBIDDEN,
        "may not list events in llm. Fix: kubectl apply -f deploy/rbac/read.yaml",
    ),
)
SILENT = evidence(
    "cpu",
    asked(
        QUERY,
        status=EvidenceStatus.TIMEOUT,
        detail="`prometheus:9090` accepted the connection and sent nothing for 10 s, 3 times.",
    ),
)
