"""The incidents that the mock-ups of the message tell of, as far as nothing is changed in them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from tailhound.model import (
    AlertStatus,
    Confidence,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Incident,
    Outlook,
    Part,
    Progress,
    Queued,
    Revised,
    Stage,
    State,
)
from tailhound.notifiers import Like
from tests.samples.mocking import (
    against,
    cause,
    claim,
    clock,
    incident,
    offer,
    out,
    questions,
    seconds,
    silent,
    unknown,
)
from tests.samples.story import asked

NO_SERIES = "No such series in Prometheus."

# --- 7F3K: long prompts

FIRST_TOKEN = seconds("first token p99", 12.4, 0.8, "02:51", 2.5)
QUEUE = Stage(stage="queue", seconds=3.1, usual_seconds=0.02)
FIRST = incident(
    "7F3K", "prod/llm-70b", ("LLMDHighTTFT", "critical", "TTFT p99 above 2.5 s for 2 minutes"),
    "02:51", received="02:53:00", by="02:53:30", count=3,
)  # fmt: skip
COLLECTING = replace(
    FIRST,
    progress=Progress(
        answered=31,
        waiting=15,
        failed=1,
        ruled_out=("CPU-throttling", "GPU-clocks", "dns", "node-drain", "a", "b"),
        symptom=FIRST_TOKEN,
        stages=(
            QUEUE,
            Stage(stage="prefill", seconds=1.9, usual_seconds=0.4),
            Stage(stage="decode", seconds=0.41, usual_seconds=0.4),
        ),
        scope="3 of 4 pods",
    ),
)
LONG_PROMPTS = cause(
    "long-prompts", "Long prompts fill the KV cache", "p95 98k tokens, usually 21k (x4.7)",
    "02:47",
    claim("Prompts are longer than usual", 4.7, "times", (">", 1.5)),
    claim("Each token still costs the same", 1.04, "times", (">=", 0.8), ("<=", 1.2)),
    *against(2),
    leads_to=("KV-cache-full",),
    mitigations=(
        offer("Lower `--max-num-seqs` 256 → 192: restarts 4 pods one by one, about 9 min", "high"),
        offer("Cap the prompt length at the gateway"),
    ),
)  # fmt: skip
CACHE_FULL = cause(
    "KV-cache-full", "The KV cache is full", "99 %, usually 61 %; 2.4 preemptions/s, usually 0",
    "02:49",
    claim("Requests are preempted", 0.31, "none", (">", 0.05)),
    claim("KV cache is full while requests wait", 0.99, "ratio", (">", 0.95)),
    *against(3),
)  # fmt: skip
CONFIRMED = replace(
    FIRST,
    state=State.DIAGNOSED,
    diagnosis=Diagnosis(
        outlook=Outlook.CAUSE_FOUND,
        primary="long-prompts",
        chain=("long-prompts", "KV-cache-full"),
        confidence=Confidence.HIGH,
        causes=(
            LONG_PROMPTS,
            CACHE_FULL,
            unknown("RDMA-fabric", claim("It loses", None)),
            *out(
                ("queue-saturation", "148 of 256 slots in use"),
                ("GPU-clocks", "as usual"),
                ("CPU-throttling", "stopped in 0.4 % of periods"),
                of=11,
            ),
        ),
        evidence=(
            questions(46),
            silent(
                "RDMA-fabric", "ssh gpu-node-7", EvidenceStatus.TIMEOUT,
                "gpu-node-7 did not answer SSH within 5 s. Fix: tailhound doctor ssh gpu-node-7",
            ),
        ),
        symptom=FIRST_TOKEN,
        stages=(QUEUE,),
        scope="3 of 4 pods",
        decided_at=clock("02:53:08"),
    ),
)  # fmt: skip

# --- 9C1Q: two causes

COMPETING = incident(
    "9C1Q", "mesh/predictor", ("PredictorSlow", "page", "slow"), "03:12", received="03:18:00",
    diagnosis=Diagnosis(
        outlook=Outlook.TWO_FIT,
        primary=None,
        chain=(),
        confidence=Confidence.MEDIUM,
        causes=(
            cause(
                "node-drain", "A drain left too few copies",
                "`gpu-node-3` drained 03:11; 1 of 4 copies stopped before the next had the model",
                "03:11",
                claim("A pod was evicted", "03:11:04, by the drain of gpu-node-3"),
                claim("Ready pods fell", 0.75, "ratio", ("<", 0.8)),
                mitigations=(offer("Uncordon `gpu-node-3`", "low"),),
                slows=("queue",),
            ),
            cause(
                "CPU-throttling", "The CPU limit stops the engine",
                "stopped in 68 % of periods, usually 1 %, since 03:11", "03:11",
                claim("Stopped in more than a quarter of its periods", 0.68, "ratio", (">", 0.25)),
                claim("Requests got slower too", 28, "times", (">", 1.5)),
                mitigations=(offer("Raise the CPU limit 4 → 6 on one pod", "medium"),),
                slows=("decode",),
            ),
            unknown("cold-start", claim("Replicas are missing", None)),
            *out(("queue-saturation", "3 of 4 replicas have spare capacity"), of=9),
        ),
        evidence=(
            questions(43),
            silent(
                "cold-start", "kubernetes", EvidenceStatus.UNREACHABLE,
                "no `Pulled` events left (kept 1 h). "
                "Fix: none now, events are recorded from the next alert on",
            ),
        ),
        symptom=seconds("latency p99", 25, 0.9, "03:12", 5),
        stages=(
            Stage(stage="queue", seconds=21.1, usual_seconds=0.1),
            Stage(stage="decode", seconds=3.4, usual_seconds=0.6),
        ),
        scope="3 of 4 pods ready",
        decided_at=clock("03:18:21"),
    ),
)  # fmt: skip

# --- 2H8D: nobody can look at the host

SLOWER = claim("Slower than twice its own usual", 2.5, "times", (">", 2))
NO_MORE = claim("The host asks for no more than usual", 0.98, "times", ("<=", 1.1))
FULL = claim("Nearly full, or not trimmed for a week", None)
COOL = claim("Cool enough", None, name="a.warm_celsius")
NO_ERRORS = claim("No media errors", None, name="a.errors_count")
REFUSED = "SSH to db-1 refused our key. Fix: tailhound doctor ssh db-1"
SSD = "SSD-garbage-collection"
UNKNOWN = incident(
    "2H8D", "storage/db-1", ("WritesSlow", "warning", "writes are slow"), "03:26",
    received="03:40:00",
    asked_until=clock("03:50"),
    diagnosis=Diagnosis(
        outlook=Outlook.NONE_CONFIRMED,
        primary=None,
        chain=(),
        confidence=None,
        causes=(
            unknown(SSD, SLOWER, NO_MORE, FULL, COOL, NO_ERRORS),
            unknown("nvme-timeouts", claim("The kernel saw timeouts", None)),
            *out(
                ("disk-saturation", "queue 50, usually 50"),
                ("host-memory", "no swap, no reclaim"),
                of=10,
            ),
        ),
        evidence=(
            questions(28),
            silent(SSD, "ssh db-1", EvidenceStatus.FORBIDDEN, REFUSED, 3),
            silent("nvme-timeouts", "ssh db-1", EvidenceStatus.FORBIDDEN, REFUSED, 2),
        ),
        symptom=seconds("write wait", 0.0025, 0.001, "03:26", None),
        scope="1 of 6 hosts",
        decided_at=clock("03:40:30"),
        at_deadline=True,
    ),
)  # fmt: skip

# --- 4T6V: Prometheus is silent

ITL = ("InferenceInterTokenLatencyHigh", "page", "p50 ITL 68-93 ms, objective 20 ms")
SILENCE = "`prometheus:9090` accepted the connection and sent nothing for 10 s, 3 times."
BLIND = incident(
    "4T6V", "llm/chat-json", ITL, "03:00", received="03:02:00",
    asked_until=clock("03:17"),
    diagnosis=Diagnosis(
        outlook=Outlook.BLIND,
        primary=None,
        chain=(),
        confidence=None,
        causes=(
            *(
                replace(unknown(f"cause-{n}", claim("It is", None)), evidence=("a",))
                for n in range(11)
            ),
            *out(("node-drain", ""), ("probe-failures", ""), ("cold-start", ""), of=3),
        ),
        evidence=(
            silent("a", "prometheus", EvidenceStatus.TIMEOUT, SILENCE, 35),
            Evidence(
                name="pods", collector="kubernetes.pods", status=EvidenceStatus.COLLECTED,
                facts={"ready_count": 3, "cpu_limit_cores": 6.0},
                asked=(asked("GET pods", "kubernetes"),) * 6,
            ),
        ),
        blind="prometheus",
        decided_at=clock("03:02:30"),
        at_deadline=True,
    ),
)  # fmt: skip

# --- 2H8D again: a late answer

BY_ELIMINATION = cause(
    SSD, "SSD garbage collection on db-1",
    "`nvme0n1` waits 2.5 ms at its usual load; 93 % full, last trim 92 days ago; 41 °C, no media "
    "errors", "03:26",
    SLOWER, NO_MORE,
    claim("Nearly full, or not trimmed for a week", 0.93, "ratio", (">", 0.85)),
    claim("Cool enough", 41, "celsius", ("<", 72)),
    claim("No media errors", 0, "count", ("<=", 0)),
    *against(4), replace(claim("It amplifies writes", None), part=Part.REFUTE),
    confidence=Confidence.MEDIUM,
    confidence_because="found by elimination; no drive counts it",
    mitigations=(
        offer("Trim the file system now: about 10 min, writes may slow meanwhile", "low"),
        offer("Trim weekly (`fstrim.timer`)"),
    ),
)  # fmt: skip
assert UNKNOWN.diagnosis is not None
REVISED = replace(
    UNKNOWN,
    asked_until=None,
    revised=Revised(
        at=clock("03:41:17"), was_at=clock("03:40:30"), was="No cause confirmed.",
        why="SSH answered after 47 s.",
    ),
    diagnosis=replace(
        UNKNOWN.diagnosis,
        outlook=Outlook.CAUSE_FOUND,
        primary=SSD,
        chain=(SSD,),
        confidence=Confidence.MEDIUM,
        causes=(
            BY_ELIMINATION,
            *out(
                ("nvme-timeouts", "none in the kernel log since boot"),
                ("disk-saturation", "queue 50, usually 50"),
                of=11,
            ),
        ),
        evidence=(
            questions(32),
            silent("wear", "ssh db-1", EvidenceStatus.NOT_APPLICABLE, "no such counter"),
        ),
        at_deadline=False,
    ),
)  # fmt: skip

# --- 8R5W: the CPU limit, from the proposal to the second time

INTER_TOKEN = seconds("inter-token p50", 0.080, 0.008, "03:00", 0.020)
THREADS = cause(
    "too-many-threads", "Too many threads", "86 compile threads on 6 cores", "02:58",
    leads_to=("CPU-limit",),
)  # fmt: skip
LIMIT = cause(
    "CPU-limit", "The CPU limit stops the engine", "stopped in 100 % of periods, usually 2 %",
    "02:59",
    claim("Stopped in more than a quarter of its periods", 1.0, "ratio", (">", 0.25)),
    claim("Loses real time, not just idle bursts", 1.4, "seconds_per_second", (">", 0.05)),
    claim("Requests got slower too", 10, "times", (">", 1.5)),
    *against(3),
    mitigations=(
        offer("Raise the CPU limit 6 → 9 on `chat-json-2`, in place, no restart", "medium"),
        offer("Cap the compile threads to the limit"),
    ),
    was="The CPU limit stopped the engine",
)  # fmt: skip
PROPOSED = incident(
    "8R5W", "llm/chat-json", ITL, "03:00", received="03:02:00",
    diagnosis=Diagnosis(
        outlook=Outlook.CAUSE_FOUND,
        primary="CPU-limit",
        chain=("too-many-threads", "CPU-limit"),
        confidence=Confidence.HIGH,
        causes=(
            LIMIT,
            THREADS,
            unknown("ingress-path", claim("It is slow", None)),
            unknown("dns", claim("It is slow", None)),
            *out(
                ("queue-saturation", "GPU 7 % busy"), ("GPU-clocks", ""), ("KV-preemption", ""),
                of=10,
            ),
        ),
        evidence=(
            questions(38),
            silent("ingress-path", "prometheus", EvidenceStatus.EMPTY, NO_SERIES),
            silent("dns", "prometheus", EvidenceStatus.EMPTY, NO_SERIES),
        ),
        symptom=INTER_TOKEN,
        stages=(Stage(stage="decode", seconds=4.1, usual_seconds=0.41),),
        scope="3 of 3 pods",
        decided_at=clock("03:04:11"),
    ),
)  # fmt: skip
RESOLVED = replace(
    PROPOSED,
    state=State.RESOLVED,
    resolved_at=clock("03:38"),
    alerts=tuple(
        replace(one, status=AlertStatus.RESOLVED, ends_at=clock("03:38")) for one in PROPOSED.alerts
    ),
)
REOPENED = replace(
    PROPOSED,
    state=State.INVESTIGATING,
    episode=2,
    n=2,
    alerts=tuple(replace(one, starts_at=clock("03:51")) for one in PROPOSED.alerts),
    verdict_by=clock("03:52:30"),
    previous_resolved_at=clock("03:38"),
)

# --- a storm

DEFERRED = replace(
    incident(
        "7F3K", "prod/llm-13b", ("LLMDHighTTFT", "warning", "TTFT p99 above 2.5 s for 2 minutes"),
        "02:51", received="02:53:00",
    ),
    state=State.DEFERRED,
    queued=Queued(
        place=27, incidents=37, alerts=412, seconds=60, starts_by=clock("02:54:10")
    ),
)  # fmt: skip

MOCKED: Mapping[str, tuple[Incident, datetime]] = {
    "first": (FIRST, clock("02:53")),
    "collecting": (COLLECTING, clock("02:53:05")),
    "confirmed": (CONFIRMED, clock("02:53:08")),
    "competing": (COMPETING, clock("03:18:21")),
    "unknown": (UNKNOWN, clock("03:40:30")),
    "blind": (BLIND, clock("03:02:30")),
    "revised": (REVISED, clock("03:41:17")),
    "proposed": (PROPOSED, clock("03:04:11")),
    "resolved": (RESOLVED, clock("03:38")),
    "reopened": (REOPENED, clock("03:52")),
    "deferred": (DEFERRED, clock("02:53")),
}
"""The incident of each mock-up that this version can show, and the time at which it is shown."""

LIKE: Mapping[str, Like] = {
    "confirmed": Like(id="5B2M", at=clock("02:00") - timedelta(days=16), cause="long-prompts")
}
"""The earlier incident that a mock-up's is like."""
