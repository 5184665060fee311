"""What the runbooks say of the story, and the diagnosis over all of them."""

from tailhound.model import (
    Bound,
    Cause,
    Check,
    Confidence,
    Diagnosis,
    FactValue,
    Offer,
    Outlook,
    Part,
    Seen,
    Verdict,
)
from tailhound.truth import Truth
from tests.samples.story import (
    CPU,
    DNS_SERIES,
    INGRESS_SERIES,
    LATENCY,
    SPEC,
    STAGES,
    SYMPTOM,
    at,
)


def check(
    claim: str,
    value: FactValue,
    unit: str = "ratio",
    *,
    name: str = "cpu.throttled_ratio",
    needs: tuple[str, float] | None = None,
    truth: Truth = Truth.TRUE,
    part: Part = Part.CONFIRM,
    usual: float | None = None,
) -> Check:
    """One claim over one value; None = nobody measured it."""
    bounds = (Bound(fact=name, comparison=needs[0], value=needs[1], unit=unit),) if needs else ()
    measured = value is not None
    return Check(
        claim=claim,
        condition=f"{name} {needs[0]} {needs[1]}" if needs else name,
        part=part,
        truth=truth if measured else Truth.UNKNOWN,
        seen=(Seen(name=name, value=value, unit=unit, usual=usual),) if measured else (),
        missing=() if measured else (name,),
        needs=bounds,
    )


RAISE = Offer(
    id="raise-limit",
    title="Raise the CPU limit by half",
    mode="suggested",
    offered=True,
    why_not=None,
    risk="medium",
    risk_of="its neighbours get less CPU",
    helps="inter-token p99; no published figure",
    ttft="better",
    cost="none while the node has idle CPU",
    complexity="low",
    when="the node has idle CPU",
    steps=("Look first: kubectl -n NAMESPACE get pod POD", "Then look again after 5 minutes"),
)
MATCH = Offer(
    id="match-threads",
    title="Match the thread pools to the limit",
    mode="suggested",
    offered=True,
    why_not=None,
    risk="low",
    risk_of="the pods restart",
    helps="the cause itself: fewer threads burn the quota more evenly",
    cost="none",
    complexity="medium",
    when="the process starts more threads than the limit has cores",
    steps=("OpenMP: set OMP_NUM_THREADS",),
)
UNCORDON = Offer(
    id="uncordon",
    title="Uncordon `gpu-node-3`",
    mode="one-click",
    offered=False,
    why_not="no changing account is configured",
    risk="low",
    cost="none",
)
LOST = "cpu.lost_seconds_per_second"
STAGE = "latency.cpu_stage_times"
THROTTLING = Cause(
    runbook="cpu-throttling",
    title="The CPU limit stops the engine",
    was="The CPU limit stopped the engine",
    verdict=Verdict.CONFIRMED,
    because="All 3 claims hold. Stopped in more than a tenth of its periods: 100 % (needs 10 %).",
    confidence=Confidence.HIGH,
    says="chat-json-2 was stopped in 100 % of its periods (usually 2 %); its limit is 6 cores; "
    "decode takes x10 its usual time.",
    onset=at(-1),
    checks=(
        check("Stopped in more than a tenth of its periods", 1.0, needs=(">", 0.10), usual=0.02),
        check(
            "Loses real time, not just idle bursts",
            1.4,
            "seconds_per_second",
            needs=(">", 0.05),
            name=LOST,
        ),
        check(
            "A stage that runs on the CPU got slower",
            10.0,
            "times",
            needs=(">", 1.5),
            name=STAGE,
        ),
        check(
            "Stopped in more than a quarter of its periods",
            1.0,
            needs=(">", 0.25),
            part=Part.OPTIONAL,
            usual=0.02,
        ),
        check("Hardly ever stopped", 1.0, needs=("<", 0.05), part=Part.REFUTE, truth=Truth.FALSE),
        check(
            "The stages that run on the CPU are as fast as usual",
            10.0,
            "times",
            needs=("<", 1.1),
            part=Part.REFUTE,
            truth=Truth.FALSE,
            name=STAGE,
        ),
    ),
    mitigations=(RAISE, MATCH),
    evidence=("cpu", "latency", "spec"),
    owner="sre-platform",
    slows=("decode",),
)
THREADS = Cause(
    runbook="cpu-oversubscription",
    title="More threads run than the container has cores",
    verdict=Verdict.CONFIRMED,
    because="More threads than cores: 86.",
    confidence=Confidence.HIGH,
    says="86 compile threads share 6 cores.",
    onset=at(-2),
    leads_to=("cpu-throttling",),
    evidence=("cpu",),
    checks=(check("More threads than cores", 86, "count", name="cpu.threads_count"),),
)
DRAINED = Cause(
    runbook="node-drain",
    title="A drain left too few copies",
    verdict=Verdict.CONFIRMED,
    because="A pod was evicted: gpu-node-3.",
    confidence=Confidence.MEDIUM,
    says="gpu-node-3 was drained; 1 of 4 copies stopped before the next had the model.",
    onset=at(-1),
    checks=(
        check("A pod was evicted", "by the drain of gpu-node-3", "none", name="pods.evicted_by"),
        check("Ready pods fell", 0.75, needs=("<", 0.8), name="pods.ready_ratio"),
    ),
    mitigations=(UNCORDON,),
    evidence=("spec",),
    slows=("queue",),
)
UNDECIDED = Cause(
    runbook="cpu-throttling",
    title=THROTTLING.title,
    verdict=Verdict.UNKNOWN,
    because=f"Evidence is missing: {LOST}, {STAGE}.",
    checks=(
        check("Stopped in more than a tenth of its periods", 0.15, needs=(">", 0.10)),
        check("Loses real time, not just idle bursts", None, needs=(">", 0.05), name=LOST),
        check("Hardly ever stopped", 0.15, needs=("<", 0.05), part=Part.REFUTE, truth=Truth.FALSE),
        check("As fast as usual", None, part=Part.REFUTE, name=STAGE),
    ),
    evidence=THROTTLING.evidence,
)
INGRESS = Cause(
    runbook="ingress-path",
    title="The way in is slow",
    verdict=Verdict.UNKNOWN,
    because="Evidence is missing: ingress.extra_seconds.",
    checks=(
        check("More fail at the ingress", 0.03, needs=(">", 0.01), name="ingress.error_ratio"),
        check("Slower at the ingress", None, name="ingress.extra_seconds"),
    ),
    evidence=("ingress",),
)
DNS = Cause(
    runbook="dns-resolution",
    title="Names resolve slowly",
    verdict=Verdict.UNKNOWN,
    because="Evidence is missing: dns.answer_seconds.",
    checks=(check("Names resolve more slowly than usual", None, name="dns.answer_seconds"),),
    evidence=("dns",),
)
FABRIC = Cause(
    runbook="rdma-fabric",
    title="The RDMA fabric drops or retransmits",
    verdict=Verdict.UNKNOWN,
    because="Evidence is missing: fabric.out_of_sequence.",
    checks=(check("Packets arrive out of order", None, name="fabric.out_of_sequence"),),
    evidence=("fabric",),
)
MAYBE_DRAINED = Cause(
    runbook="node-drain",
    title=DRAINED.title,
    verdict=Verdict.UNKNOWN,
    because="Evidence is missing: events.evictions_count.",
    evidence=("events",),
)


def ruled_out(runbook: str, title: str, because: str, *checks: Check) -> Cause:
    """A cause that is out."""
    return Cause(
        runbook=runbook,
        title=title,
        verdict=Verdict.REFUTED,
        because=because,
        evidence=("cpu",),
        checks=checks,
    )


OUT = (
    ruled_out(
        "queue-saturation",
        "Requests wait for a slot",
        "GPU hardly busy: 7 % (refuted under 50 %).",
        check("GPU hardly busy", 0.07, needs=("<", 0.5), part=Part.REFUTE, name="gpu.busy_ratio"),
    ),
    ruled_out("gpu-clocks", "The GPU runs slower than it could", "Clocks as usual."),
    ruled_out("kv-preemption", "The KV cache is full", "No request was preempted."),
    ruled_out("long-prompt", "Prompts are longer than usual", "Prompts as long as usual."),
    ruled_out("batching-delay", "Requests wait for a batch", "Batches as usual."),
    ruled_out("host-memory", "The host swaps or reclaims", "No swap, no reclaim."),
    ruled_out("disk-saturation", "The disk is asked for too much", "Queue 50, usually 50."),
    ruled_out("probe-failure", "A probe hides healthy pods", "No restart, 3 of 3 ready."),
)
NOT_HERE = Cause(
    runbook="nvmeof-queue",
    title="The NVMe-oF queue is full",
    verdict=Verdict.NOT_APPLICABLE,
    because="It has no NVMe-oF device.",
)
DIAGNOSIS = Diagnosis(
    outlook=Outlook.CAUSE_FOUND,
    primary="cpu-throttling",
    chain=("cpu-oversubscription", "cpu-throttling"),
    confidence=Confidence.HIGH,
    causes=(THROTTLING, THREADS, INGRESS, DNS, *OUT, NOT_HERE),
    evidence=(CPU, LATENCY, SPEC, INGRESS_SERIES, DNS_SERIES),
    stages=STAGES,
    symptom=SYMPTOM,
    scope="3 of 3 pods",
    shape="step",
    load="flat",
    decided_at=at(4, 11),
    took_seconds=7.8,
)
