"""Steps that can be pasted: what is known stands in them, and nothing that a shell would act on."""

import re
from dataclasses import replace
from typing import Any

import pytest

from tailhound import app
from tailhound.model import (
    Cause,
    Evidence,
    EvidenceStatus,
    FactValue,
    Incident,
    Offer,
    Subject,
    Verdict,
)
from tailhound.model.steps import steps
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings
from tests.samples.incidents import CONFIRMED, FIRST

LOOK = Offer(
    id="look",
    title="Look",
    mode="suggested",
    offered=True,
    why_not=None,
    risk="low",
    steps=("kubectl -n NAMESPACE get pod POD -c CONTAINER", "drain NODE, lsblk /dev/DEVICE"),
)


def found(name: str, **facts: FactValue) -> Evidence:
    return Evidence(name=name, collector=f"p.{name}", status=EvidenceStatus.COLLECTED, facts=facts)


def incident(says: str, *evidence: Evidence, **subject: Any) -> Incident:
    cause = Cause(
        runbook="cpu-throttling",
        title="It is stopped",
        verdict=Verdict.CONFIRMED,
        because="All hold",
        says=says,
        evidence=tuple(item.name for item in evidence),
        mitigations=(LOOK,),
    )
    diagnosis = CONFIRMED.diagnosis
    assert diagnosis is not None
    return replace(
        CONFIRMED,
        subject=replace(CONFIRMED.subject, **subject),
        diagnosis=replace(diagnosis, causes=(cause,), evidence=evidence),
    )


def test_a_step_names_the_pod_that_the_cause_names_and_the_container_of_the_labels() -> None:
    it = incident(
        "chat-json-2 was stopped",
        found("cpu", pod="chat-json-2"),
        found("agent", pod="agent-1", namespace="kube-system"),
        container="main",
    )
    assert steps(it, LOOK)[1] == "kubectl -n llm get pod chat-json-2 -c main"


def test_a_step_about_another_pod_than_the_incident_s_takes_nothing_from_its_labels() -> None:
    it = incident(
        "agent-1, which its node depends on, was stopped",
        found("cpu", pod="chat-json-2"),
        found("agent", pod="agent-1", namespace="kube-system"),
        container="main",
        node="gpu-node-3",
    )
    assert steps(it, LOOK) == (
        "Find what is not known here: CONTAINER (kubectl -n kube-system describe pods); "
        "NODE (kubectl -n kube-system get pods -o wide); DEVICE (lsblk on the node)",
        "kubectl -n kube-system get pod agent-1 -c CONTAINER",
        "drain NODE, lsblk /dev/DEVICE",
    )


def test_a_step_about_a_drive_names_it_and_its_node() -> None:
    it = incident("nvme0n1 is slow", found("disk", device="nvme0n1", node="db-1"))
    assert steps(it, LOOK)[-1] == "drain db-1, lsblk /dev/nvme0n1"


def test_a_step_about_a_network_interface_names_it_and_its_node() -> None:
    look = replace(LOOK, steps=("On NODE: ethtool -S INTERFACE",))
    says = "Pause frames at gpu-node-3 eth2, x50 their usual"
    assert steps(incident(says, found("pause", port="gpu-node-3 eth2")), look) == (
        "On gpu-node-3: ethtool -S eth2",
    )
    hostile = incident("at gpu-node-3 eth2;id", found("pause", port="gpu-node-3 eth2;id"))
    assert "INTERFACE" in steps(hostile, look)[-1]


def test_a_step_about_an_rdma_port_names_its_node() -> None:
    says = "gpu-node-3 mlx5_0/1 stands out: lost packets"
    assert steps(incident(says, found("nic", port="gpu-node-3 mlx5_0/1")), LOOK)[-1].startswith(
        "drain gpu-node-3, "
    )
    bare = incident(says, found("nic", port="mlx5_0/1"))
    assert steps(bare, LOOK)[-1].startswith("drain NODE, ")


RAISE = replace(LOOK, steps=("kubectl -n NAMESPACE patch pod POD: CONTAINER cpu NEW_LIMIT",))
NO_LIMIT = "NEW_LIMIT (half over the limit that the container has)"
MAIN = found("cpu", pod="chat-json-2", container="main", limit_cores=6)
AGENT = found("agent", pod="agent-1", container="agent", namespace="kube-system", limit_cores=1)


def limited(*evidence: Evidence, says: str = "chat-json-2 was stopped") -> tuple[str, ...]:
    return steps(incident(says, *evidence, container="main"), RAISE)


@pytest.mark.parametrize(
    ("cores", "limit"),
    [
        *((6, "9000m"), (0.5, "750m"), (0.002, "3m")),
        *((0, ""), (0.0003, ""), (-1, ""), (None, ""), (True, ""), ("6", "")),
        *((1e30, ""), (float("nan"), ""), (float("inf"), "")),
    ],
)
def test_the_limit_that_is_to_be_set_is_half_over_the_one_that_is(
    cores: FactValue, limit: str
) -> None:
    told = limited(found("cpu", pod="chat-json-2", container="main", limit_cores=cores))
    step = f"kubectl -n llm patch pod chat-json-2: main cpu {limit or 'NEW_LIMIT'}"
    assert told == ((step,) if limit else (f"Find what is not known here: {NO_LIMIT}", step))


def test_the_limit_is_of_the_container_that_the_step_names() -> None:
    assert limited(MAIN, AGENT)[-1].endswith("pod chat-json-2: main cpu 9000m")
    says = "agent-1, which its node depends on, was stopped"
    assert limited(MAIN, AGENT, says=says) == (
        "kubectl -n kube-system patch pod agent-1: agent cpu 1500m",
    )


@pytest.mark.parametrize(
    "evidence",
    [
        (found("cpu", pod="chat-json-2", container="main"), AGENT),
        (found("cpu", pod="chat-json-2", container="main"), found("spec", cpu_limit_cores=6)),
        (found("cpu", pod="chat-json-2"), found("spec", container="main", limit_cores=6)),
        (found("cpu", pod="chat-json-2", limit_cores=6),),
        (MAIN, replace(MAIN, name="other", facts={**MAIN.facts, "limit_cores": 4})),
        (MAIN, replace(MAIN, name="other", facts={**MAIN.facts, "container": "side"})),
        (replace(MAIN, status=EvidenceStatus.TIMEOUT),),
    ],
)
def test_a_limit_of_another_container_or_of_several_pods_is_not_pasted(
    evidence: tuple[Evidence, ...],
) -> None:
    """The lowest limit of pods that differ could lower that of the pod that is meant."""
    told = limited(*evidence)
    assert told[-1].endswith("cpu NEW_LIMIT")
    assert NO_LIMIT in told[0]


@pytest.mark.parametrize("runbook", app.compiled(Settings()).runbooks, ids=lambda one: one.id)
def test_no_shipped_step_has_a_placeholder_of_which_nobody_says_where_to_find_it(
    runbook: Runbook,
) -> None:
    for one in runbook.mitigations:
        offer = replace(LOOK, steps=one.steps)
        nothing = replace(FIRST, subject=Subject(kind=FIRST.subject.kind))
        told = steps(nothing, offer)
        holes = {word for step in one.steps for word in re.findall(r"\b[A-Z][A-Z_]{2,}\b", step)}
        for hole in holes - _NO_PLACEHOLDERS:
            assert f"{hole} (" in told[0] or f"{hole}, " in told[0], (one.id, hole)


_NO_PLACEHOLDERS = {
    *("API", "BLAS", "CUDA", "ECMP", "ECN", "KEDA", "LVM", "NCCL", "NUMA", "PFC", "UCX"),
    *("NVIDIA", "SYMPTOM"),
    *("GOMAXPROCS", "LMCACHE_MAX_LOCAL_CPU_SIZE", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"),
    *("UCX_RC_ECE", "UCX_TLS", "DISC", "MAX", "FSTYPE", "OPTIONS", "TARGET"),
}
"""Abbreviations, variables of the environment, and columns that a tool is asked for."""


STOP = replace(
    LOOK,
    steps=(
        "-n CLIENT_NAMESPACE patch daemonset CLIENT_DAEMONSET",
        "-n CLIENT_NAMESPACE patch cronjob CLIENT_CRONJOB",
    ),
)
STOP_IT = ("-n telemetry patch daemonset agent",)


@pytest.mark.parametrize(
    ("suspect", "count", "told"),
    [
        ("DaemonSet telemetry/agent", 1, STOP_IT[:1]),
        ("CronJob ops/sweep", 1, ("-n ops patch cronjob sweep",)),
        ("DaemonSet telemetry/agent", 2, STOP.steps),
        (
            "DaemonSet telemetry/$(reboot)",
            1,
            tuple(step.replace("CLIENT_NAMESPACE", "telemetry") for step in STOP.steps),
        ),
        ("somebody", 1, STOP.steps),
    ],
)
def test_the_one_suspected_client_is_named_where_its_kind_fits(
    suspect: str, count: int, told: tuple[str, ...]
) -> None:
    it = incident("They are slow", found("api", suspect=suspect, suspects_count=count))
    shown = steps(it, STOP)
    assert shown[-len(told) :] == told
    assert (len(shown) > len(told)) is any("CLIENT_" in step for step in told)


def test_a_client_that_another_cause_s_evidence_suspects_is_not_named() -> None:
    it = incident("They are slow", found("api", suspect="DaemonSet telemetry/agent"))
    assert it.diagnosis is not None
    other = found("other", suspect="DaemonSet telemetry/agent", suspects_count=1)
    more = replace(it.diagnosis, evidence=(*it.diagnosis.evidence, other))
    assert steps(replace(it, diagnosis=more), STOP)[1:] == STOP.steps


def test_where_the_evidence_differs_a_placeholder_stays() -> None:
    it = incident(
        "nvme0n1 is slow",
        found("disk", device="nvme0n1", node="db-1"),
        found("drive", device="nvme0n1", node="db-2"),
    )
    assert steps(it, LOOK)[-1] == "drain NODE, lsblk /dev/nvme0n1"
    assert "NODE (kubectl -n llm get pods -o wide)" in steps(it, LOOK)[0]


def test_a_name_that_is_but_a_part_of_another_is_not_meant() -> None:
    it = incident("nvme0n1 is slow", found("disk", device="nvme0"), found("cpu", pod="n1"))
    assert "DEVICE" in steps(it, LOOK)[2]
    assert "POD" in steps(it, LOOK)[1]


@pytest.mark.parametrize("name", ["a; rm -rf /", "$(id)", "-n", "x\ny", "`id`", "a b", "ä", "a'"])
def test_a_label_that_is_more_than_a_name_is_never_put_into_a_step(name: str) -> None:
    it = incident("it is slow", namespace=name, pod=name, container=name, node=name)
    assert steps(it, LOOK)[1:] == LOOK.steps
    assert steps(it, LOOK)[0] == (
        "Find what is not known here: NAMESPACE (kubectl get pods -A); POD (kubectl -A get pods); "
        "CONTAINER (kubectl -A describe pods); NODE (kubectl -A get pods -o wide); "
        "DEVICE (lsblk on the node)"
    )


def test_without_a_verdict_the_labels_alone_are_filled_in() -> None:
    step = steps(replace(FIRST, subject=replace(FIRST.subject, pod="chat-json-0")), LOOK)[1]
    assert step.startswith("kubectl -n llm get pod chat-json-0 ")


OWNED = replace(LOOK, steps=("kubectl -n NAMESPACE get WORKLOAD", "look again: SYMPTOM as usual"))
UNKNOWN_OWNER = (
    "Find what is not known here: WORKLOAD (kubectl -n llm get deployments,statefulsets,daemonsets)"
)


def owned(it: Incident, workload: str) -> Incident:
    assert it.diagnosis is not None
    return replace(it, diagnosis=replace(it.diagnosis, workload=workload))


def test_a_step_names_what_owns_the_pods_by_its_kind() -> None:
    it = incident("chat-json-2 was stopped", found("cpu", pod="chat-json-2"), workload_label="pod")
    step = "kubectl -n llm get statefulset/chat-json"
    assert steps(owned(it, "statefulset/chat-json"), OWNED)[0] == step
    assert steps(it, OWNED)[:2] == (UNKNOWN_OWNER, "kubectl -n llm get WORKLOAD")
    labelled = incident("it is slow", workload="chat", workload_label="daemonset")
    assert steps(labelled, OWNED)[0] == "kubectl -n llm get daemonset/chat"


def test_what_owns_an_agent_is_not_what_owns_the_incident_s_pods() -> None:
    agent = found("agent", pod="agent-1", namespace="llm")
    it = owned(incident("agent-1 was stopped", agent), "deployment/chat-json")
    assert steps(it, OWNED)[:2] == (UNKNOWN_OWNER, "kubectl -n llm get WORKLOAD")
    told = found("agent", pod="agent-1", namespace="security", workload="daemonset/agent")
    it = owned(incident("agent-1 was stopped", told), "deployment/chat-json")
    assert steps(it, OWNED)[0] == "kubectl -n security get daemonset/agent"


@pytest.mark.parametrize("name", ["job/x", "statefulset/$(id)", "daemonset/a b", "x", "/x"])
def test_an_owner_that_is_more_than_a_kind_and_a_name_is_never_put_into_a_step(name: str) -> None:
    it = owned(incident("it is slow", workload_label="pod"), name)
    assert steps(it, OWNED)[0] == UNKNOWN_OWNER


def test_a_step_names_what_was_slow_or_stuck() -> None:
    it = incident("it is slow")
    assert it.diagnosis is not None
    assert it.diagnosis.symptom is not None
    assert steps(it, OWNED)[-1] == "look again: inter-token p50 as usual"
    errors = replace(it.diagnosis.symptom, name="Container creation errors")
    stuck = replace(it, diagnosis=replace(it.diagnosis, symptom=errors))
    assert steps(stuck, OWNED)[-1] == "look again: container creation errors as usual"
    for name in ("x; $(id)", "`id`", ""):
        odd = replace(errors, name=name)
        told = replace(it, diagnosis=replace(it.diagnosis, symptom=odd))
        assert steps(told, OWNED)[-1] == "look again: what the alert tells of as usual"
    unknown = replace(it, diagnosis=replace(it.diagnosis, symptom=None))
    assert steps(unknown, OWNED)[-1] == "look again: what the alert tells of as usual"


def test_a_deployment_is_named_only_where_a_label_says_that_it_is_one() -> None:
    offer = replace(LOOK, steps=("kubectl get deployment DEPLOYMENT",))
    assert steps(FIRST, offer) == ("kubectl get deployment chat-json",)
    model = replace(FIRST, subject=replace(FIRST.subject, workload_label="model_name"))
    assert steps(model, offer)[1:] == offer.steps
