"""Steps that can be pasted: what is known stands in them, and nothing that a shell would act on."""

from dataclasses import replace
from typing import Any

import pytest

from tailhound.model import Cause, Evidence, EvidenceStatus, FactValue, Incident, Offer, Verdict
from tailhound.model.steps import steps
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
    assert steps(it, LOOK)[0] == "kubectl -n llm get pod chat-json-2 -c main"


def test_a_step_about_another_pod_than_the_incident_s_takes_nothing_from_its_labels() -> None:
    it = incident(
        "agent-1, which its node depends on, was stopped",
        found("cpu", pod="chat-json-2"),
        found("agent", pod="agent-1", namespace="kube-system"),
        container="main",
        node="gpu-node-3",
    )
    assert steps(it, LOOK) == (
        "kubectl -n kube-system get pod agent-1 -c CONTAINER",
        "drain NODE, lsblk /dev/DEVICE",
    )


def test_a_step_about_a_drive_names_it_and_its_node() -> None:
    it = incident("nvme0n1 is slow", found("disk", device="nvme0n1", node="db-1"))
    assert steps(it, LOOK)[1] == "drain db-1, lsblk /dev/nvme0n1"


STOP = replace(LOOK, steps=("-n CLIENT_NAMESPACE patch daemonset CLIENT_DAEMONSET CLIENT_CRONJOB",))


@pytest.mark.parametrize(
    ("suspect", "count", "told"),
    [
        ("DaemonSet telemetry/agent", 1, "-n telemetry patch daemonset agent CLIENT_CRONJOB"),
        ("CronJob ops/sweep", 1, "-n ops patch daemonset CLIENT_DAEMONSET sweep"),
        ("DaemonSet telemetry/agent", 2, STOP.steps[0]),
        ("DaemonSet telemetry/$(reboot)", 1, "-n telemetry " + STOP.steps[0].partition("E ")[2]),
        ("somebody", 1, STOP.steps[0]),
    ],
)
def test_the_one_suspected_client_is_named_where_its_kind_fits(
    suspect: str, count: int, told: str
) -> None:
    it = incident("They are slow", found("api", suspect=suspect, suspects_count=count))
    assert steps(it, STOP) == (told,)


def test_where_the_evidence_differs_a_placeholder_stays() -> None:
    it = incident(
        "nvme0n1 is slow",
        found("disk", device="nvme0n1", node="db-1"),
        found("drive", device="nvme0n1", node="db-2"),
    )
    assert steps(it, LOOK)[1] == "drain NODE, lsblk /dev/nvme0n1"


def test_a_name_that_is_but_a_part_of_another_is_not_meant() -> None:
    it = incident("nvme0n1 is slow", found("disk", device="nvme0"), found("cpu", pod="n1"))
    assert "DEVICE" in steps(it, LOOK)[1]
    assert "POD" in steps(it, LOOK)[0]


@pytest.mark.parametrize("name", ["a; rm -rf /", "$(id)", "-n", "x\ny", "`id`", "a b", "ä", "a'"])
def test_a_label_that_is_more_than_a_name_is_never_put_into_a_step(name: str) -> None:
    it = incident("it is slow", namespace=name, pod=name, container=name, node=name)
    assert steps(it, LOOK) == LOOK.steps


def test_without_a_verdict_the_labels_alone_are_filled_in() -> None:
    step = steps(replace(FIRST, subject=replace(FIRST.subject, pod="chat-json-0")), LOOK)[0]
    assert step.startswith("kubectl -n llm get pod chat-json-0 ")


def test_a_deployment_is_named_only_where_a_label_says_that_it_is_one() -> None:
    offer = replace(LOOK, steps=("kubectl get deployment DEPLOYMENT",))
    assert steps(FIRST, offer) == ("kubectl get deployment chat-json",)
    model = replace(FIRST, subject=replace(FIRST.subject, workload_label="model_name"))
    assert steps(model, offer) == offer.steps
