"""What is unusual, told by what was measured: never as a choice between two things."""

from dataclasses import replace
from typing import Any

import pytest

from tailhound.model import (
    Bound,
    Cause,
    Check,
    Evidence,
    EvidenceStatus,
    Part,
    Seen,
    Verdict,
    unusual,
)
from tailhound.slack.blocks import message
from tailhound.truth import Truth
from tests.samples.incidents import UNKNOWN
from tests.samples.story import NOW
from tests.unit.no_cause import wrongs

MEASURED_BY = {
    "batching": "prometheus.batching",
    "cpu": "prometheus.container_cpu",
    "disk": "prometheus.disk_io",
    "replicas": "prometheus.replicas",
}


def claim(sentence: str, fact: str, value: float, unit: str, **more: Any) -> Check:
    collector = MEASURED_BY.get(fact.partition(".")[0], "")
    bound = Bound(fact=fact, comparison=">", value=more.pop("needs", 0.0), unit=unit, alternative=1)
    return Check(
        claim=sentence,
        condition="x or y",
        part=Part.CONFIRM,
        truth=Truth.TRUE,
        seen=(Seen(name=fact, value=value, unit=unit, collector=collector, **more),),
        needs=(bound,),
    )


LONG = claim(
    "Replicas were missing for more than a minute, or the service started from zero",
    "replicas.missing_seconds",
    315.0,
    "seconds",
    needs=60.0,
)
NOW_MISSING = claim(
    "They are missing now, or were minutes ago while requests waited",
    "replicas.missing_count",
    2,
    "count",
    usual=0.0,
)
NOBODY_NEW = Check(
    claim="Nothing was asked for, started or woken",
    condition="x",
    part=Part.REFUTE,
    truth=Truth.TRUE,
    otherwise="no pod is new, asked for or woken",
)
REPLICAS = Evidence(
    name="replicas",
    collector="prometheus.replicas",
    status=EvidenceStatus.COLLECTED,
    facts={"desired_count": 3, "missing_count": 2},
)
COLD = Cause(
    runbook="cold-start",
    title="t",
    verdict=Verdict.REFUTED,
    because="",
    checks=(LONG, NOW_MISSING, NOBODY_NEW),
    evidence=("replicas",),
)
ASKED = UNKNOWN.diagnosis
assert ASKED is not None
DIAGNOSIS = replace(ASKED, causes=(COLD,), evidence=(REPLICAS,), stages=())


def told(*checks: Check, **more: Any) -> tuple[str, ...]:
    cause = replace(COLD, checks=(*checks, NOBODY_NEW))
    lines = unusual.told(replace(DIAGNOSIS, causes=(cause,), **more))
    return tuple(line.replace("\u00a0", " ") for line in lines)


def test_claims_with_an_or_are_one_line_of_what_was_measured() -> None:
    assert told(LONG, NOW_MISSING) == (
        "2 of 3 replicas missing (usually 0), missing for 5 min 15 s. But cold start is ruled out: "
        "no pod is new, asked for or woken",
    )


def test_of_how_many_is_left_out_where_nobody_counted_them() -> None:
    for facts in ({}, {"desired_count": None}, {"desired_count": 1}, {"desired_count": True}):
        (line,) = told(NOW_MISSING, evidence=(replace(REPLICAS, facts=facts),))
        assert line.startswith("2 replicas missing (usually 0). But")


def test_a_claim_without_an_or_keeps_its_sentence() -> None:
    plain = replace(NOW_MISSING, needs=(replace(NOW_MISSING.needs[0], alternative=0),))
    (line,) = told(plain)
    assert line.startswith("They are missing now, or were minutes ago")


def test_a_fact_without_words_keeps_the_sentence_of_its_claim() -> None:
    (line,) = told(claim("It is odd, or new", "own.oddness_count", 9, "count", usual=1.0))
    assert line.startswith("It is odd, or new: 9, usually 1 (x9). But")


@pytest.mark.parametrize(
    ("fact", "value", "unit", "words"),
    [
        ("disk.read_seconds_ratio", 5.6, "times", "x5.6 the usual time to read"),
        ("cpu.throttled_ratio", 0.62, "ratio", "Stopped in 62 % of its CPU periods (usually 1 %)"),
        ("batching.wait_ratio", 3.0, "times", "x3 the usual wait for a batch"),
    ],
)
def test_the_branch_that_holds_reads_by_itself(
    fact: str, value: float, unit: str, words: str
) -> None:
    usual = 0.01 if unit == "ratio" else None
    (line,) = told(claim("It is one, or the other", fact, value, unit, usual=usual))
    assert line.startswith(f"{words}. But")


def test_message_and_page_tell_the_same_of_it() -> None:
    incident = replace(UNKNOWN, diagnosis=DIAGNOSIS)
    assert not wrongs(incident, NOW)
    blocks = str(message(incident, page_url="", now=NOW).blocks)
    assert "or the service started from zero" not in blocks
