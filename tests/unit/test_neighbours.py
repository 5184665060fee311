"""What was measured beside the symptom, and what nobody knows, where no cause is confirmed."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tailhound.cli.text import rows
from tailhound.model import (
    Asked,
    Bound,
    Cause,
    Check,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    FactValue,
    Outlook,
    Part,
    Seen,
    Stage,
    Verdict,
    by_hand,
    candidates,
    neighbours,
    unusual,
)
from tailhound.model.gaps import next_gap
from tailhound.model.symptomless import LATENCY
from tailhound.slack.blocks import message
from tailhound.truth import Truth
from tests.samples.incidents import UNKNOWN
from tests.samples.story import NOW
from tests.unit.no_cause import wrongs
from tests.unit.web.test_incident_page import text_of

QUEUE = Stage(stage="queue", seconds=2.4, usual_seconds=0.001)
DECODE = Stage(stage="decode", seconds=9.0, usual_seconds=3.0)


def evidence(name: str, collector: str, *asked: Asked, **facts: FactValue) -> Evidence:
    return Evidence(
        name=name,
        collector=collector,
        status=EvidenceStatus.COLLECTED if facts else EvidenceStatus.EMPTY,
        facts=facts,
        asked=asked,
    )


KV = evidence("kv", "prometheus.kv_cache", usage_ratio=0.995, usage_ratio_usual=0.5)
DEMAND = evidence("demand", "prometheus.demand", waiting_count=120.0, waiting_count_usual=0.0)
LOAD = evidence("latency", LATENCY, requests_ratio=3.0, requests_per_second=12.0)
REPLICAS = evidence("replicas", "prometheus.replicas", in_service_count=2, desired_count=2)
NOBODY = Asked(question="ibstat", backend="ssh gpu-1", status=EvidenceStatus.SKIPPED)


def check(name: str, value: FactValue, **more: Any) -> Check:
    known = value is not None
    made = Check(
        claim=f"{name} is high (a remark)",
        condition=name,
        part=Part.CONFIRM,
        truth=Truth.TRUE if known else Truth.UNKNOWN,
        seen=(Seen(name=name, value=value),) if known else (),
        missing=() if known else (name,),
        needs=(Bound(fact=name, comparison=">", value=0.9, unit="none"),),
    )
    return replace(made, **more)


NONE = check("kv.preemptions_count", 0, claim="There were none", part=Part.REFUTE)
FULL = check("kv.usage_ratio", 0.995, claim="The cache got full")
PREEMPTION = Cause(
    runbook="kv-preemption",
    title="Requests are thrown out",
    verdict=Verdict.REFUTED,
    because="There were none.",
    checks=(FULL, NONE),
    evidence=("kv",),
    slows=("decode",),
)
FABRIC = Cause(
    runbook="rdma-fabric",
    title="The fabric loses packets",
    verdict=Verdict.UNKNOWN,
    because="",
    checks=(check("host.down_count", None, claim="A link is down (by its port)"),),
    evidence=("host",),
    slows=("decode",),
)


def diagnosis(*causes: Cause, stage: Stage = QUEUE, **changes: Any) -> Diagnosis:
    assert UNKNOWN.diagnosis is not None
    given: dict[str, Any] = {
        "causes": causes or (PREEMPTION, FABRIC),
        "evidence": (KV, DEMAND, LOAD, REPLICAS),
        "stages": (stage,),
        "load": "up",
        "outlook": Outlook.NONE_CONFIRMED,
    }
    return replace(UNKNOWN.diagnosis, **(given | changes))


def facts(found: Diagnosis) -> list[str]:
    return neighbours.facts(found).replace("\u00a0", " ").split(" · ")


def test_what_is_unlike_its_usual_value_is_told_what_fits_the_slow_stage_first() -> None:
    waits, full, load = facts(diagnosis())
    assert waits == "120 requests wait (usually 0)"
    assert full == "KV cache 99.5 % full (usually 50 %)"
    assert load == "load x3 (12/s, usually 4/s)"
    assert facts(diagnosis(stage=DECODE))[0] == full


def test_what_is_as_usual_or_not_measured_or_not_to_be_compared_is_not_told() -> None:
    items = (
        evidence("kv", "prometheus.kv_cache", usage_ratio=0.995, usage_ratio_usual=0.98),
        evidence("demand", "prometheus.demand", waiting_count=0.4, waiting_count_usual=0.0),
        evidence("latency", LATENCY, requests_ratio=None),
    )
    assert facts(diagnosis(evidence=items, load="")) == [""]
    young = (evidence("demand", "prometheus.demand", waiting_count=120.0),)
    assert facts(diagnosis(evidence=young, load="")) == [""]


def test_without_any_load_nothing_is_multiplied() -> None:
    none = (evidence("latency", LATENCY, requests_ratio=0.0),)
    assert facts(diagnosis(evidence=none, load="down")) == ["no requests arrive"]


def test_beside_a_cause_that_was_found_no_fact_is_told_as_unusual() -> None:
    found = diagnosis(outlook=Outlook.CAUSE_FOUND)
    assert facts(found) == [""]
    assert neighbours.capacity(found) == ""


def test_a_cause_that_the_same_evidence_rules_out_is_told_beside_its_fact() -> None:
    assert neighbours.ruled_out(diagnosis()) == "KV preemption is ruled out: there were none"
    other = replace(NONE, seen=(Seen(name="replicas.missing_count", value=0),))
    found = diagnosis(replace(PREEMPTION, checks=(FULL, other)))
    assert neighbours.ruled_out(found) == ""


def test_load_is_compared_with_capacity_only_while_it_is_up_and_requests_wait() -> None:
    assert neighbours.capacity(diagnosis()) == "load x3, 2 of 2 replicas in service"
    assert neighbours.capacity(diagnosis(load="flat")) == ""
    assert neighbours.capacity(diagnosis(stage=DECODE, evidence=(KV, LOAD))) == ""
    unknown = diagnosis(evidence=(DEMAND, LOAD))
    assert neighbours.capacity(unknown) == "load x3", "nobody knows how many replicas there are"


@pytest.mark.parametrize(
    ("ready", "wanted", "told"),
    [
        (0, 2, "0 of 2 replicas in service"),
        (1, 1, "1 of 1 replica in service"),
        (3, 2, "3 replicas in service, 2 wanted"),
        (2, 1, "2 replicas in service, 1 wanted"),
        (2, 0, ""),
        (True, 2, ""),
        (None, 2, ""),
    ],
)
def test_more_replicas_than_are_wanted_are_not_a_part_of_them(
    ready: FactValue, wanted: int, told: str
) -> None:
    items = evidence("r", "prometheus.replicas", in_service_count=ready, desired_count=wanted)
    found = neighbours.capacity(diagnosis(evidence=(KV, DEMAND, LOAD, items)))
    assert found == (f"load x3, {told}" if told else "load x3")


def test_a_claim_that_holds_on_any_day_is_not_unusual() -> None:
    idle = check("node.idle_ratio", 0.95)
    cause = replace(PREEMPTION, checks=(replace(NONE, part=Part.CONFIRM, needs=()), idle, NONE))
    assert unusual.unusual(diagnosis(cause)) == ()
    odd = Seen(name="node.idle_ratio", value=0.95, usual=0.2)
    cause = replace(cause, checks=(cause.checks[0], replace(idle, seen=(odd,)), NONE))
    (told,) = unusual.unusual(diagnosis(cause))
    assert told.point == "node.idle_ratio is high (a remark): 0.95, usually 0.2 (x4.7)"


def test_the_time_of_a_slow_stage_is_not_told_a_second_time() -> None:
    wait = check("batching.wait_seconds", 2.4)
    seen = Seen(name="batching.wait_seconds", value=2.4, unit="seconds", usual=0.001)
    cause = replace(PREEMPTION, checks=(replace(wait, seen=(seen,)), NONE))
    assert unusual.unusual(diagnosis(cause)) == ()
    assert len(unusual.unusual(diagnosis(cause, stage=DECODE))) == 1


def test_the_slow_pod_is_named_so_and_when_it_was_so_is_told_by_the_clock() -> None:
    late = check("replicas.missing_seconds", 120, claim="A replica was missing")
    items = evidence("replicas", "prometheus.replicas", pod="chat-1", short_ago_seconds=1200.0)
    cause = replace(PREEMPTION, checks=(late, NONE), evidence=("replicas",))
    found = diagnosis(
        cause,
        evidence=(items,),
        slow_pods=("chat-1",),
        decided_at=datetime(2026, 11, 30, 18, 3, tzinfo=UTC),
    )
    (told,) = unusual.unusual(found)
    assert told.place == "chat-1, the slow pod, last 17:43 UTC"
    (other,) = unusual.unusual(replace(found, slow_pods=("chat-0", "chat-1")))
    assert other.place == "chat-1, last 17:43 UTC"


@pytest.mark.parametrize(
    ("collector", "fact"),
    [
        ("prometheus.replicas", "asked_count"),
        ("prometheus.replicas", "load_slowdown_ratio"),
        ("promql dns.replicas", "missing_seconds"),
        ("acme.replicas", "missing_seconds"),
    ],
)
def test_the_time_of_one_thing_is_not_told_of_another(collector: str, fact: str) -> None:
    claim = check(f"replicas.{fact}", 120, claim="Something is odd")
    items = evidence("replicas", collector, pod="chat-1", short_ago_seconds=1200.0)
    cause = replace(PREEMPTION, checks=(claim, NONE), evidence=("replicas",))
    now = datetime(2026, 11, 30, 18, 3, tzinfo=UTC)
    (told,) = unusual.unusual(diagnosis(cause, evidence=(items,), decided_at=now))
    assert told.place == "chat-1"


# --- what nobody knows


def test_a_cause_that_slows_another_stage_and_shows_no_sign_is_only_named() -> None:
    assert candidates.explaining(diagnosis()) == ()
    assert candidates.without_sign(diagnosis()) == (FABRIC,)
    assert candidates.explaining(diagnosis(stage=DECODE)) == (FABRIC,)
    assert candidates.without_sign(diagnosis(stage=DECODE)) == ()


def test_that_something_is_slow_is_a_sign_of_no_cause() -> None:
    slow = check("latency.slowdown_ratio", 7.0)
    cause = replace(FABRIC, checks=(slow, *FABRIC.checks), evidence=("host", "latency"))
    assert candidates.nearest(diagnosis(cause)) == ()
    measured = check("host.waits_count", 7.0)
    cause = replace(cause, checks=(slow, measured, *FABRIC.checks))
    assert candidates.nearest(diagnosis(cause)) == (cause,)


def test_what_would_decide_is_told_without_its_remark_and_with_its_cause() -> None:
    (found,) = candidates.not_known(diagnosis(stage=DECODE))
    assert (found.cause, found.claims) == (FABRIC, ("A link is down",))
    it = replace(UNKNOWN, diagnosis=diagnosis(stage=DECODE))
    shown = str(message(it, page_url="https://bot/i/1", now=NOW).blocks)
    for text in (shown, " ".join(rows(it, NOW)), text_of(it)):
        bare = "not measured"
        wanted = rf"RDMA fabric\W+{bare}\W+[nN]ot known[^“]*“a link is down”"
        assert re.search(wanted, _bare(text))


def _bare(text: str) -> str:
    return re.sub(r"</?\w+>", "", text)


def hosts(*names: str, slow: tuple[str, ...], stage: Stage = DECODE) -> Diagnosis:
    asked = tuple(replace(NOBODY, backend=f"ssh {name}") for name in names)
    host = evidence("host", "ssh.rdma_ports", *asked)
    return diagnosis(evidence=(host, DEMAND, LOAD), slow_nodes=slow, stage=stage)


@pytest.mark.parametrize(
    ("slow", "told"),
    [
        (("gpu-2",), ["ssh gpu-2"]),
        ((), ["ssh gpu-1", "ssh gpu-2"]),
        (("gpu-2", "gpu-1"), ["ssh gpu-1", "ssh gpu-2"]),
        (("another-name",), ["ssh gpu-1", "ssh gpu-2"]),
    ],
)
def test_only_the_slow_host_is_asked_by_hand_where_it_is_known(
    slow: tuple[str, ...], told: list[str]
) -> None:
    found = hosts("gpu-1", "gpu-2", slow=slow)
    assert [one.backend for one in by_hand.by_hand(found)] == told


def test_what_shows_no_sign_is_asked_by_hand_only_on_the_page() -> None:
    port = evidence("host", "ssh.rdma_ports", NOBODY, port="mlx5_0")
    found = diagnosis(evidence=(port, DEMAND, LOAD), slow_nodes=(), stage=QUEUE)
    assert by_hand.by_hand(found) == ()
    assert [one.question for one in by_hand.to_check(found)] == ["ibstat"]
    it = replace(UNKNOWN, diagnosis=found)
    shown = message(it, page_url="https://bot/i/1", now=NOW)
    assert "ibstat" not in str(shown.blocks)
    told = "RDMA fabric can be checked by hand: 1 command on the page"
    assert f"https://bot/i/1#check|{told}" in str(shown.blocks).replace("\u00a0", " ")
    assert "ibstat" in text_of(it)
    assert wrongs(it, NOW) == []


def test_a_series_that_nobody_scrapes_is_no_next_step_for_who_is_paged() -> None:
    absent = Asked(question="up", backend="prometheus", status=EvidenceStatus.EMPTY)
    silent = replace(absent, status=EvidenceStatus.TIMEOUT, detail="Prometheus did not answer")
    for asked, is_next in ((absent, False), (silent, True)):
        item = evidence("host", "ssh.rdma_ports", asked)
        found = diagnosis(evidence=(item, DEMAND, LOAD), stage=DECODE)
        assert (next_gap(found) is not None) is is_next


def test_every_surface_tells_the_facts_and_what_to_compare() -> None:
    it = replace(UNKNOWN, diagnosis=diagnosis())
    shown = str(message(it, page_url="https://bot/i/1", now=NOW).blocks)
    for text in (shown, " ".join(rows(it, NOW)), text_of(it)):
        plain = " ".join(text.replace("\\xa0", " ").replace("\u00a0", " ").split())
        assert "nusual all the same:" in plain
        assert "120 requests wait (usually 0) · KV cache 99.5 % full (usually 50 %)" in plain
        assert "load with capacity: load x3, 2 of 2 replicas in service" in plain
        assert "KV preemption is ruled out: there were none" in plain
    assert wrongs(it, NOW) == []


def test_what_nothing_shows_to_be_here_is_not_offered_to_be_checked() -> None:
    found = hosts("gpu-1", slow=(), stage=QUEUE)
    assert by_hand.to_check(found) == ()
    it = replace(UNKNOWN, diagnosis=found)
    shown = str(message(it, page_url="https://bot/i/1", now=NOW).blocks)
    assert "by hand" not in shown
    assert "ibstat" not in text_of(it)
