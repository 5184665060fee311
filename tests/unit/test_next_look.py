"""Where to look next without a cause: only what was measured says so, and no suspect is named."""

from dataclasses import replace
from typing import Any

import pytest

from tailhound.cli.text import rows
from tailhound.model import (
    Asked,
    Bound,
    Cause,
    Check,
    Evidence,
    EvidenceStatus,
    FactValue,
    Incident,
    Look,
    Outlook,
    Part,
    Seen,
    Stage,
    Subject,
    SubjectKind,
    Symptom,
    Verdict,
)
from tailhound.model.impossible import Impossible
from tailhound.model.next_look import next_look
from tailhound.model.symptomless import LATENCY, symptomless
from tailhound.slack.blocks import message
from tailhound.truth import Truth
from tests.samples.hostile import HOSTILE
from tests.samples.incidents import CONFIRMED, TWO_FIT, UNKNOWN
from tests.samples.story import NOW
from tests.unit.no_cause import wrongs
from tests.unit.test_neighbours import DEMAND, LOAD, QUEUE
from tests.unit.web.test_incident_page import html_of, text_of

QUIET = Stage(stage="decode", seconds=3.0, usual_seconds=3.0)
SHARE = Symptom(name="error share at the ingress", value=0.32, unit="ratio", usual=0.0)


def evidence(collector: str, **facts: FactValue) -> Evidence:
    return Evidence(
        name=collector, collector=collector, status=EvidenceStatus.COLLECTED, facts=facts
    )


def pods(*ready: bool | None, **more: Any) -> Evidence:
    states = tuple(
        {"pod": f"api-{at}", "ready": one, "starting": False, "disrupted": False} | more
        for at, one in enumerate(ready)
    )
    return evidence(
        "kubernetes.rollout",
        pods=states,
        pods_count=len(ready),
        ready_count=sum(one is True for one in ready),
    )


def stuck(count: int | None, node: str = "ci-3") -> Incident:
    """An alert about a node, without a cause."""
    assert UNKNOWN.diagnosis is not None
    found = evidence("prometheus.node_agents", stuck_pods_count=count)
    subject = Subject(kind=SubjectKind.NODE, node=node)
    return replace(
        UNKNOWN, subject=subject, diagnosis=replace(UNKNOWN.diagnosis, evidence=(found,))
    )


def test_containers_that_a_node_cannot_create_send_one_to_that_node() -> None:
    look = next_look(stuck(2))
    assert look is not None
    assert look.measured == "2 pods of ci-3 can't create containers"
    assert look.command == "kubectl get pods -A -o wide --field-selector spec.nodeName=ci-3"
    assert "journalctl -u containerd" in look.then
    hostile = next_look(stuck(2, node="ci-3; reboot"))
    assert hostile is not None
    assert hostile.command == ""
    for count in (0, None):
        other = next_look(stuck(count))
        assert other is None or "create containers" not in other.measured


def replicas(missing: int | None, wanted: int | None = 3) -> Evidence:
    served = None if missing is None or wanted is None else wanted - missing
    return evidence(
        "prometheus.replicas",
        missing_count=missing,
        desired_count=wanted,
        in_service_count=served,
    )


IDLE = evidence("prometheus.autoscaler", exists=True, asked_count=0)
FAILING = evidence(LATENCY, error_source="the ingress", error_ratio=0.32)
THREE = evidence("tailhound.subject", pods_count=3)


def incident(*found: Evidence, **more: Any) -> Incident:
    asked = UNKNOWN.diagnosis
    assert asked is not None
    plain: dict[str, Any] = {"slow_pods": (), "slow_nodes": (), "scope": "", "stages": (QUIET,)}
    diagnosis = replace(asked, causes=(), evidence=found, **(plain | more))
    subject = Subject(kind=UNKNOWN.subject.kind, namespace="web", workload="api")
    return replace(UNKNOWN, diagnosis=diagnosis, subject=subject)


def told(*found: Evidence, **more: Any) -> str:
    look = next_look(incident(*found, **more))
    return look.text if look else ""


# --- pods that are not ready


def test_a_pod_that_is_not_ready_is_described_by_its_name() -> None:
    assert told(pods(True, False, False)) == (
        "2 of 3 pods are not ready: kubectl -n web describe pod api-1"
    )
    assert told(pods(True, False)).startswith("1 of 2 pods is not ready: ")
    assert told(pods(True, True, True)) == ""


def test_a_pod_whose_readiness_nobody_knows_or_that_starts_is_no_unready_one() -> None:
    assert told(pods(True, None)) == ""
    assert told(pods(True, False, starting=True)) == ""
    assert told(pods(True, False, disrupted=True)) == ""
    failed = replace(pods(True, False), status=EvidenceStatus.TIMEOUT)
    assert told(failed) == ""


@pytest.mark.parametrize(
    ("facts", "asks"),
    [
        ({"exists": True, "asked_count": 0}, True),
        ({"exists": True, "asked_count": 2}, False),
        ({"exists": True, "asked_count": None}, False),
        ({"exists": False, "asked_count": 0}, False),
        ({}, False),
    ],
)
def test_that_the_autoscaler_asked_for_no_more_is_told_where_it_is_known(
    facts: dict[str, FactValue], asks: bool
) -> None:
    text = told(pods(True, False), evidence("prometheus.autoscaler", **facts))
    assert ("and the autoscaler asked for no more: kubectl" in text) is asks


def test_without_kubernetes_the_replicas_that_are_missing_are_told() -> None:
    assert told(replicas(2)) == "2 of 3 replicas are not in service: kubectl -n web get pods"
    for missing, wanted in ((0, 3), (None, 3), (2, None), (2, 0)):
        assert told(replicas(missing, wanted)) == ""
    assert told(replicas(2), pods(True, False, starting=True)) == "", "Kubernetes knows better"


@pytest.mark.parametrize("name", [HOSTILE, "-n", "--all", "a b", "$(id)", "a;b", "API", ""])
def test_a_hostile_name_is_put_into_no_command(name: str) -> None:
    hostile = incident(pods(True, False, pod=name))
    assert next_look(hostile) == Look("1 of 2 pods is not ready", "why they are not")
    subject = replace(hostile.subject, namespace=name)
    elsewhere = replace(incident(pods(True, False)), subject=subject)
    assert next_look(elsewhere) == Look("1 of 2 pods is not ready", "why they are not")


# --- requests that fail in front of the pods


def front(*found: Evidence, **more: Any) -> str:
    return told(*found, **({"symptom": SHARE} | more))


def test_failing_requests_in_front_of_well_pods_lead_to_the_ingress() -> None:
    assert (
        front(FAILING, replicas(0))
        == front(FAILING, pods(True, True))
        == (
            "requests fail at the ingress while all pods are ready and no stage is slower: which "
            "status it answers, and its limits"
        )
    )


def test_the_ingress_is_named_only_where_pods_and_stages_are_known_to_be_as_usual() -> None:
    assert front(FAILING) == "", "nobody knows whether the pods are ready"
    assert "requests fail" not in front(FAILING, pods(True, False))
    assert front(FAILING, replicas(None)) == ""
    slow = Stage(stage="queue", seconds=3.0, usual_seconds=0.1)
    young = Stage(stage="queue", seconds=3.0, usual_seconds=None)
    for stages in ((QUIET, slow), (QUIET, young), ()):
        assert "requests fail" not in front(FAILING, replicas(0), stages=stages)
    assert front(replace(FAILING, facts={"error_source": "the engine"}), replicas(0)) == ""
    assert told(FAILING, replicas(0), symptom=replace(SHARE, unit="seconds")) == ""


def test_pods_that_fail_requests_themselves_are_not_passed_over() -> None:
    for ratio, is_front in ((0.3, False), (0.0, True), (None, True)):
        rows_ = ({"source": "the engine", "ratio": ratio},)
        own = replace(FAILING, facts={**FAILING.facts, "errors": rows_})
        assert bool(front(own, replicas(0))) is is_front


# --- one of several


def test_one_slow_pod_of_several_is_named_with_its_logs() -> None:
    assert told(THREE, slow_pods=("api-2",)) == (
        "one of 3 pods is slow, api-2: kubectl -n web logs api-2"
    )
    assert told(slow_pods=("api-2",)) == "", "nobody knows how many there are"
    assert told(THREE, slow_pods=("api-0", "api-1", "api-2")) == ""
    assert told(replace(THREE, facts={"pods_count": 1}), slow_pods=("api-2",)) == ""


def test_slow_pods_on_one_node_lead_to_that_node_where_others_run_elsewhere() -> None:
    two: dict[str, Any] = {"slow_pods": ("api-1", "api-2"), "slow_nodes": ("gpu-1",)}
    assert told(THREE, **two, scope="2 of 3 pods, all on gpu-1") == (
        "2 of 3 pods are slow, all on gpu-1: kubectl describe node gpu-1"
    )
    assert told(THREE, **two, scope="2 of 3 pods") == ""
    assert told(THREE, **(two | {"slow_nodes": ("gpu-1", "gpu-2")}), scope="2 of 3 pods") == ""


# --- load, and nothing at all


def test_load_that_is_up_while_requests_wait_is_compared_with_capacity() -> None:
    assert told(DEMAND, LOAD, stages=(QUEUE,), load="up") == ("compare load with capacity: load x3")
    assert "capacity" not in told(DEMAND, LOAD, stages=(QUEUE,), load="flat")


def test_where_nothing_was_measured_nothing_is_said() -> None:
    nothing = incident()
    assert next_look(nothing) is None
    assert "Look next" not in str(message(nothing, page_url="", now=NOW).blocks)
    assert "Look next" not in text_of(nothing)
    assert "No change is offered" in text_of(nothing)
    assert "You can" not in text_of(nothing)


def test_beside_a_cause_that_was_found_nothing_else_is_looked_at() -> None:
    for found in (CONFIRMED, TWO_FIT):
        assert found.diagnosis is not None
        diagnosis = replace(found.diagnosis, evidence=(pods(True, False),))
        assert next_look(replace(found, diagnosis=diagnosis)) is None
    blind = replace(incident(pods(True, False)).diagnosis, outlook=Outlook.BLIND)  # type: ignore[type-var]
    assert next_look(replace(UNKNOWN, diagnosis=blind)) is None


# --- where people read it


def test_message_page_and_terminal_tell_it_alike() -> None:
    it = incident(pods(True, False, False), IDLE)
    command = "kubectl -n web describe pod api-1"
    slack = str(message(it, page_url="", now=NOW).blocks).replace("\\xa0", " ")
    measured = "2 of 3 pods are not ready, and the autoscaler asked for no more"
    assert f"*Look next:* {measured}: `{command}`" in slack
    page = text_of(it)
    assert f"Look next: {measured}:" in " ".join(page.split())
    assert f"<code>{command}</code>" in html_of(it)
    assert "You can" in page
    terminal = "\n".join(rows(it, NOW)).replace("\u00a0", " ")
    assert f"look next {measured}" in terminal
    assert command in terminal
    assert wrongs(it, NOW) == []


# --- what a runbook says stands out

DRIVE = Look(
    "nvme0n1 on db-1: reads take x9 their usual time", "on db-1: who reads it",
    command="iostat -x nvme0n1 1", then="on db-1: who reads it",
)  # fmt: skip


def cause(verdict: Verdict = Verdict.UNKNOWN, look: Look | None = DRIVE) -> Cause:
    read = Seen(name="disk.reads", value=9.0, unit="times")
    slow = Bound(fact="disk.reads", comparison=">", value=5, unit="times")
    long = Check(
        claim="Its queue is short", condition="q < 9", part=Part.CONFIRM, truth=Truth.FALSE,
        otherwise="its queue is long", seen=(Seen(name="disk.queue", value=40, unit="count"),),
    )  # fmt: skip
    holds = Check(
        claim="Reads take long", condition="r > 5", part=Part.CONFIRM, truth=Truth.TRUE,
        seen=(read,), needs=(slow,),
    )  # fmt: skip
    return Cause(
        runbook="ssd-garbage-collection", title="The drive collects garbage", verdict=verdict,
        because="It is so.", checks=(holds, long), look=look,
    )  # fmt: skip


def of(*causes: Cause) -> Incident:
    it = incident()
    assert it.diagnosis is not None
    return replace(it, diagnosis=replace(it.diagnosis, causes=causes))


def test_the_nearest_open_cause_says_what_stands_out_and_what_to_look_at() -> None:
    found = next_look(of(cause(look=None), cause()))
    assert found == DRIVE
    assert DRIVE.text == f"{DRIVE.measured}: {DRIVE.command}, {DRIVE.then}"
    assert next_look(of(cause(look=None))) is None


BY_HAND = Look(
    "nobody measured how long the drives of db-1 take", "on db-1: r_await",
    command="iostat -x 1", then="on db-1: r_await",
)  # fmt: skip


def dark(**more: Any) -> Cause:
    """A cause of which nothing was measured, and that a person can look at."""
    return replace(cause(look=None), checks=(), unseen=BY_HAND, **more)


def test_a_cause_that_fits_and_that_nobody_measured_is_looked_at_by_hand() -> None:
    slow = Stage(stage="decode", seconds=9.0, usual_seconds=3.0)
    it = of(dark(slows=("decode",)))
    assert it.diagnosis is not None
    fits = replace(it, diagnosis=replace(it.diagnosis, stages=(slow,)))
    assert next_look(fits) == BY_HAND
    for verdict in (Verdict.REFUTED, Verdict.NOT_APPLICABLE):
        assert next_look(of(dark(slows=("decode",), verdict=verdict))) is None


@pytest.mark.parametrize(
    ("stage", "grew", "told"),
    [
        (Stage(stage="decode", seconds=9.0, usual_seconds=3.0), 6.0, False),
        (Stage(stage="decode", seconds=9.0, usual_seconds=3.0), 60.0, True),
        (Stage(stage="decode", seconds=3.0, usual_seconds=3.0), None, True),
        (Stage(stage="decode", seconds=None, usual_seconds=None), None, True),
    ],
)
def test_where_nobody_knows_what_is_slow_any_cause_that_nobody_measured_is_looked_at(
    stage: Stage, grew: float | None, told: bool
) -> None:
    slow = Symptom(name="first token p99", value=9.0, unit="seconds", usual=1.0, grew_seconds=grew)

    def looked(cause: Cause, symptom: Symptom = slow) -> bool:
        found = of(cause).diagnosis
        assert found is not None
        found = replace(found, stages=(stage,), symptom=symptom)
        return next_look(replace(UNKNOWN, diagnosis=found)) == BY_HAND

    assert looked(dark(slows=("queue",))) is told
    assert looked(dark(slows=())) is told
    assert not looked(dark(), replace(slow, unit="ratio")), "failing requests are not slow ones"
    assert not looked(dark(verdict=Verdict.REFUTED))


def test_a_cause_that_the_alert_is_about_goes_first_and_a_measured_one_not_at_all() -> None:
    elsewhere = replace(BY_HAND, measured="nobody measured how often it is stopped")
    calm = Check(
        claim="Reads take long", condition="r > 5", part=Part.CONFIRM, truth=Truth.FALSE,
        seen=(Seen(name="disk.reads", value=1.0, unit="times"),),
    )  # fmt: skip

    def looked(*causes: Cause) -> Look | None:
        found = of(*causes).diagnosis
        assert found is not None
        return next_look(replace(UNKNOWN, diagnosis=replace(found, symptom=None)))

    cpu = dark(triggered=True)
    cpu = replace(cpu, runbook="cpu-throttling", unseen=elsewhere)
    assert looked(dark(), cpu) == elsewhere
    assert looked(dark(), replace(cpu, triggered=False)) == BY_HAND
    measured = replace(dark(), checks=(calm,))
    assert looked(measured) is None
    assert looked(replace(measured, triggered=True)) == BY_HAND


def test_what_had_no_answer_is_asked_again_and_not_seen_in_another_way() -> None:
    found = of(dark(triggered=True, evidence=("drive",))).diagnosis
    assert found is not None
    silent = Asked(question="nvme list", backend="ssh db-1", status=EvidenceStatus.FORBIDDEN)
    drive = Evidence(
        name="drive", collector="ssh.drive_health", status=EvidenceStatus.TIMEOUT, asked=(silent,)
    )
    for evidence_, expected in (((drive,), None), ((), BY_HAND)):
        unmeasured = replace(found, symptom=None, evidence=evidence_)
        assert next_look(replace(UNKNOWN, diagnosis=unmeasured)) == expected


def test_nothing_is_looked_at_by_hand_of_what_cannot_exist() -> None:
    found = of(dark(triggered=True)).diagnosis
    assert found is not None
    unmeasured = replace(found, symptom=None)
    assert next_look(replace(UNKNOWN, diagnosis=unmeasured)) == BY_HAND
    wrong = replace(unmeasured, impossible=Impossible("pod", "web 1"))
    assert next_look(replace(UNKNOWN, diagnosis=wrong)) is None


def test_a_slow_stage_that_no_known_cause_explains_leads_to_the_log_of_its_pod() -> None:
    slow = Stage(stage="preprocessing", seconds=1.9, usual_seconds=0.3, remainder="what is left")
    found = told(stages=(slow,), slow_pods=("api-0",))
    assert found == (
        "no known cause explains the time before prefill: kubectl -n web logs --since=10m api-0, "
        "what a request waits for there: its router, its KV cache on the way, tokens"
    )
    decode = Stage(stage="decode", seconds=9.0, usual_seconds=3.0)
    assert told(stages=(decode,)).startswith("no known cause explains the decode: how many")
    assert "kubectl" not in told(stages=(decode,), slow_pods=("api; reboot",))
    assert told(stages=(decode,), symptom=None) == ""
    for unsaid in (QUIET, replace(decode, stage="handling"), replace(decode, seconds=None)):
        assert told(stages=(unsaid,), slow_pods=("api-0",)) == ""


def test_where_nothing_is_slow_the_alert_is_looked_at_and_nothing_by_hand() -> None:
    series = tuple({"at": 60.0 * at, "value": 1.0} for at in range(50))
    row: dict[str, Any] = {
        "symptom": "ttft", "title": "first token p99", "seconds": 1.0, "usual_seconds": 1.0,
        "series": series, "usual_series": series,
    }  # fmt: skip
    calm = evidence(LATENCY, symptoms=(row,))
    found = of(dark(triggered=True)).diagnosis
    assert found is not None
    found = replace(found, symptom=None, evidence=(calm,))
    assert symptomless(found.evidence).nothing_grew
    look = next_look(replace(UNKNOWN, diagnosis=found))
    assert look is not None
    assert look.text == ("nothing takes longer than usual: see the alert's own query and threshold")
    young: dict[str, Any] = {"source": "the engine", "ratio": 0.0, "usual_ratio": None}
    failing = evidence(LATENCY, symptoms=(row,), errors=(young,))
    assert not symptomless((failing,)).nothing_grew
    assert next_look(replace(UNKNOWN, diagnosis=replace(found, evidence=(failing,)))) == look
    alone = replace(found, causes=(), evidence=(evidence(LATENCY, errors=(young,)),))
    assert next_look(replace(UNKNOWN, diagnosis=alone)) is None, "no time was measured"
    unknown = replace(found, evidence=())
    assert next_look(replace(UNKNOWN, diagnosis=unknown)) == BY_HAND


def test_what_was_measured_goes_before_what_nobody_measured() -> None:
    slow = Stage(stage="decode", seconds=9.0, usual_seconds=3.0)
    with_sign = replace(cause(look=None), unseen=BY_HAND)
    one_of: dict[str, Any] = {"evidence": (THREE,), "slow_pods": ("api-2",), "stages": (slow,)}
    for found, measured in (
        (of(cause(), dark(slows=("decode",))), DRIVE.measured),
        (of(with_sign), BY_HAND.measured),
        (of(dark(slows=("decode",))), "one of 3 pods is slow, api-2"),
    ):
        assert found.diagnosis is not None
        look = next_look(replace(found, diagnosis=replace(found.diagnosis, **one_of)))
        assert look is not None
        assert look.measured == measured


def test_every_surface_tells_what_a_person_can_look_at() -> None:
    it = of(replace(cause(look=None), unseen=BY_HAND))
    shown = message(it, page_url="https://bot/i/1", now=NOW)
    slots = {b["block_id"][0]: b["text"]["text"] for b in shown.blocks if "text" in b}
    assert slots["D"].startswith(
        f"*Look next:* {BY_HAND.measured}: `{BY_HAND.command}`, {BY_HAND.then}"
    )
    for text in (text_of(it), "\n".join(rows(it, NOW))):
        for part in (BY_HAND.measured, BY_HAND.command, "r_await"):
            assert part in text


def test_every_surface_tells_what_stands_out_why_it_is_open_and_what_to_look_at() -> None:
    it = of(cause())
    shown = message(it, page_url="https://bot/i/1", now=NOW)
    slots = {b["block_id"][0]: b["text"]["text"] for b in shown.blocks if "text" in b}
    assert DRIVE.measured in slots["W"]
    assert "1 claim holds, 1 does not: its queue is long: 40" in slots["W"]
    assert slots["D"].startswith(f"*Look next:* `{DRIVE.command}`, {DRIVE.then}"), "told once"
    for text in (text_of(it), "\n".join(rows(it, NOW))):
        assert DRIVE.measured in text
        assert "1 does not: its queue is long: 40" in text
        assert DRIVE.command in text
        assert "who reads it" in text


def test_each_unknown_cause_stands_once_under_the_number_of_the_first_line() -> None:
    bare = replace(cause(look=None), runbook="rdma-fabric", checks=())
    shown = message(of(cause(), bare), page_url="https://bot/i/1", now=NOW)
    (verdict,) = (b["text"]["text"] for b in shown.blocks if b["block_id"][0] == "W")
    assert "2 unknown" in verdict
    assert "0 confirmed.* Unknown (2):\n1. " in verdict
    assert verdict.count("SSD garbage collection") == 1
    assert verdict.count("RDMA fabric") == 1
    alone = message(of(bare), page_url="https://bot/i/1", now=NOW)
    assert "*Unknown (1), not measured:* RDMA fabric." in str(alone.blocks)


def test_a_host_that_does_not_answer_is_looked_at_before_what_is_on_it() -> None:
    found = of(cause())
    assert found.diagnosis is not None
    for status, first in ((EvidenceStatus.TIMEOUT, True), (EvidenceStatus.COLLECTED, False)):
        asked = Asked(backend="ssh db-1", question="nvme list", status=status)
        host = replace(evidence("ssh.drive_health"), asked=(asked,), status=status)
        diagnosis = replace(found.diagnosis, evidence=(*found.diagnosis.evidence, host))
        look = next_look(replace(found, diagnosis=diagnosis))
        assert look is not None
        assert (look.command == "kubectl describe node db-1") is first
        assert ("whether db-1 is up, for it does not answer SSH; then" in look.text) is first
        assert "iostat -x nvme0n1 1" in look.text
