"""Where no cause is confirmed: the nearest ones, and what is unusual all the same."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tailhound.cli.text import rows
from tailhound.model import (
    Also,
    Bound,
    Cause,
    Check,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Outlook,
    Part,
    Seen,
    Stage,
    Verdict,
    candidates,
    claims,
    telling,
    unusual,
    weighing,
)
from tailhound.model.gaps import unknown_claims
from tailhound.model.names import fact_name
from tailhound.slack.blocks import message
from tailhound.truth import Truth
from tailhound.web import words
from tests.samples.incidents import CONFIRMED, UNKNOWN
from tests.samples.story import NOW
from tests.unit.web.test_incident_page import text_of

SLOW = Check(
    claim="Reads take several times as long as usual",
    condition="disk.read_seconds_ratio > slow",
    part=Part.CONFIRM,
    truth=Truth.TRUE,
    seen=(
        Seen(
            name="disk.read_seconds_ratio", value=5.6, unit="times", collector="prometheus.disk_io"
        ),
    ),
    needs=(Bound(fact="disk.read_seconds_ratio", comparison=">", value=3, unit="times"),),
)
HOT = Check(
    claim="It is at its temperature limit",
    condition="disk.temperature_celsius >= disk.limit_celsius",
    part=Part.REFUTE,
    truth=Truth.TRUE,
    seen=(
        Seen(
            name="disk.temperature_celsius",
            value=76,
            unit="celsius",
            collector="prometheus.disk_io",
        ),
    ),
)
DRIVE = Cause(
    runbook="ssd-garbage-collection",
    title="The drive collects garbage",
    verdict=Verdict.REFUTED,
    because="It is at its temperature limit: 76 °C.",
    checks=(SLOW, HOT),
    evidence=("disk",),
)
BLANK = Cause(
    runbook="kv-preemption",
    title="The KV cache is full",
    verdict=Verdict.UNKNOWN,
    because="",
    checks=(
        replace(SLOW, seen=(), needs=()),
        replace(SLOW, truth=Truth.UNKNOWN, seen=(), missing=("kv.usage_ratio",)),
    ),
)
DISK = Evidence(
    name="disk",
    collector="prometheus.disk_io",
    status=EvidenceStatus.COLLECTED,
    facts={"device": "nvme0n1", "node": "db-1"},
)
SAID = (
    "Reads take several times as long as usual: x5.6 the usual time to read (needs x3), nvme0n1 "
    "on db-1. But SSD garbage collection is ruled out: it is at its temperature limit: 76 °C"
)
LIKELY = replace(SLOW, claim="Its peers are slow, too", part=Part.OPTIONAL, truth=Truth.FALSE)
OPEN = replace(SLOW, truth=Truth.UNKNOWN, seen=(), missing=("kv.usage_ratio",))
TOO_SLOW = replace(SLOW, seen=(Seen(name="latency.ttft_seconds_ratio", value=4, unit="times"),))
LATENCY = Evidence(
    name="latency",
    collector="prometheus.request_latency",
    status=EvidenceStatus.COLLECTED,
    facts={"ttft_seconds_ratio": 4},
)


def diagnosis(*causes: Cause, outlook: Outlook = Outlook.NONE_CONFIRMED) -> Diagnosis:
    assert UNKNOWN.diagnosis is not None
    evidence = (*UNKNOWN.diagnosis.evidence, DISK)
    return replace(UNKNOWN.diagnosis, causes=causes, evidence=evidence, outlook=outlook)


def told(found: Diagnosis) -> list[str]:
    return [text.replace("\u00a0", " ") for text in unusual.told(found)]


def test_a_cause_of_which_nothing_was_measured_is_not_near() -> None:
    assert candidates.nearest(diagnosis(BLANK)) == ()
    near = replace(BLANK, runbook="dns", checks=(SLOW, *BLANK.checks))
    assert candidates.nearest(diagnosis(BLANK, near)) == (near,)
    assert candidates.standing(near) == "1 claim holds, 1 unknown"


def test_what_would_decide_is_told_by_its_claim() -> None:
    near = replace(BLANK, checks=(SLOW, replace(BLANK.checks[1], claim="The cache got full")))
    (found,) = candidates.not_known(diagnosis(near))
    assert (found.cause, found.claims) == (near, ("The cache got full",))


def test_the_same_claims_are_open_wherever_they_are_told() -> None:
    open_ = replace(BLANK.checks[1], claim="The cache got full")
    against = replace(open_, claim="It is idle", part=Part.REFUTE)
    surer = replace(open_, claim="To the brim", part=Part.OPTIONAL)
    applies = replace(open_, claim="It has a cache", part=Part.APPLIES)
    settled = replace(open_, claim="Nobody can tell", taken=Truth.TRUE)
    near = replace(BLANK, checks=(SLOW, open_, against, surer, applies, settled))
    (found,) = candidates.not_known(diagnosis(near))
    assert found.claims == ("The cache got full", "It is idle", "It has a cache")
    assert candidates.standing(near) == "1 claim holds, 3 unknown"
    told = [(one.decides, one.claims) for one in unknown_claims(near, ())]
    assert told == [(True, ("The cache got full",)), (False, ("To the brim",))]
    assert weighing.against(near.checks).open == "It is idle", "what is against it is told apart"


def test_where_nothing_is_near_an_open_cause_is_not_said_to_be_none() -> None:
    assert candidates.not_known(diagnosis(BLANK)) == ()
    assert candidates.without_sign(diagnosis(BLANK)) == (BLANK,)
    (told,) = candidates.by_name(diagnosis(BLANK))
    assert told == "not measured: KV preemption"
    bare = replace(BLANK, checks=())
    assert not unusual.is_beyond(diagnosis(bare))
    assert not unusual.is_beyond(diagnosis(DRIVE))
    assert unusual.is_beyond(diagnosis(replace(DRIVE, checks=(HOT,))))
    it = replace(UNKNOWN, diagnosis=diagnosis(bare))
    assert "none of those" not in text_of(it)
    assert "none of those" not in str(message(it, page_url="https://bot/i/1", now=NOW).blocks)


def test_what_is_slow_although_its_cause_is_ruled_out_is_told() -> None:
    assert told(diagnosis(DRIVE)) == [SAID]


def test_what_is_as_usual_is_not_unusual() -> None:
    """Replicas that are missing, and were as a rule, say nothing of this incident."""
    names = ("replicas.missing_peak_count", "replicas.missing_count_usual")
    more = replace(
        SLOW,
        claim="More are missing than as a rule",
        truth=Truth.FALSE,
        seen=tuple(Seen(name=name, value=2, unit="count") for name in names),
        needs=(),
    )
    assert told(diagnosis(replace(DRIVE, checks=(SLOW, more, HOT)))) == []
    unmeasured = replace(more, seen=(more.seen[0],))
    assert told(diagnosis(replace(DRIVE, checks=(SLOW, unmeasured, HOT)))) == [SAID]


def test_every_surface_tells_what_is_unusual_all_the_same() -> None:
    it = replace(UNKNOWN, diagnosis=diagnosis(DRIVE))
    shown = str(message(it, page_url="https://bot/i/1", now=NOW).blocks)
    for text in (shown, " ".join(rows(it, NOW)), text_of(it)):
        plain = " ".join(text.replace("\u00a0", " ").split()).replace("\\xa0", " ")
        assert "nusual all the same" in plain
        assert "eads take several times as long as usual: x5.6" in plain


@pytest.mark.parametrize(
    "first",
    [
        replace(SLOW, truth=Truth.FALSE),
        replace(SLOW, seen=()),
        replace(SLOW, needs=(replace(SLOW.needs[0], comparison="<"),)),
        replace(SLOW, needs=(SLOW.needs[0], replace(SLOW.needs[0], comparison="<=", value=9))),
    ],
)
def test_what_is_within_its_bounds_or_not_measured_is_not_unusual(first: Check) -> None:
    assert told(diagnosis(replace(DRIVE, checks=(first, HOT)))) == []


def test_beside_a_cause_that_was_found_nothing_else_is_called_unusual() -> None:
    assert told(diagnosis(DRIVE, outlook=Outlook.CAUSE_FOUND)) == []


@pytest.mark.parametrize(("truth", "text"), [(Truth.TRUE, "yes"), (Truth.FALSE, "no")])
def test_a_yes_or_no_is_that_of_the_claim_not_of_what_it_looks_at(truth: Truth, text: str) -> None:
    seen = (Seen(name="spec.exclusive", value=truth is not Truth.TRUE),)
    shared = Check(
        claim="Its CPUs are shared",
        condition="not spec.exclusive",
        part=Part.APPLIES,
        truth=truth,
        seen=seen,
    )
    assert claims.told(shared) == text
    assert claims.told(replace(shared, seen=())) == text
    assert claims.told(replace(shared, truth=Truth.UNKNOWN)) == "not measured"


def test_the_value_of_an_alternative_says_of_what_it_is() -> None:
    bound = Bound(
        fact="replicas.from_zero_count", comparison=">", value=0, unit="count", alternative=1
    )
    seen = (
        Seen(
            name="replicas.from_zero_count", value=5, unit="count", collector="prometheus.replicas"
        ),
    )
    missing = replace(SLOW, seen=seen, needs=(bound,))
    assert claims.told(missing) == "5 starts from zero"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kv.preemptions_count", "preemptions"),
        ("replicas.from_zero_count", "from zero"),
        ("disk.read_seconds_ratio", "read"),
        ("cpu.lost_seconds_per_second", "lost"),
        ("latency.cpu_stage_ratio", "CPU stage"),
        ("s.seconds", ""),
        ("a.b_seconds / c.d_seconds", ""),
    ],
)
def test_a_fact_as_people_say_it(name: str, text: str) -> None:
    assert fact_name(name) == text


def test_a_cause_later_than_the_first_slowness_stands_before_half_of_the_growth() -> None:
    assert CONFIRMED.diagnosis is not None
    assert CONFIRMED.diagnosis.symptom is not None
    first = telling.chain(CONFIRMED.diagnosis)[0]
    early = NOW - timedelta(minutes=12)
    late = replace(first, onset=early + timedelta(minutes=7))
    symptom = replace(
        CONFIRMED.diagnosis.symptom, onset=early, half_grown=early + timedelta(minutes=8)
    )
    found = replace(
        CONFIRMED.diagnosis,
        symptom=symptom,
        chain=(late.runbook,),
        causes=(late, *(c for c in CONFIRMED.diagnosis.causes if c is not first)),
    )
    remark = f"half grown; slow since {early:%H:%M}"
    assert telling.effect(found) == (symptom.half_grown, remark)
    before = replace(late, onset=early - timedelta(minutes=1))
    as_usual = replace(found, causes=(before, *found.causes[1:]))
    assert telling.effect(as_usual) == (early, "")
    it = replace(CONFIRMED, diagnosis=found)
    shown = str(message(it, page_url="https://bot/i/1", now=NOW).blocks)
    for text in (shown, " ".join(rows(it, NOW)), text_of(it)):
        assert remark in text
        assert f"{symptom.half_grown:%H:%M}" in text


def test_where_no_stage_is_longer_the_page_says_so() -> None:
    found = diagnosis(DRIVE)
    same = Stage(stage="queue", seconds=0.00005, usual_seconds=0.00001)
    longer = Stage(stage="decode", seconds=4.0, usual_seconds=1.0)
    assert words.growth(replace(found, stages=(same,))) == "no stage grew"
    assert words.growth(replace(found, stages=(same, longer))) == "decode +3\u00a0s"
    assert words.growth(replace(found, stages=())) == ""


def test_page_and_terminal_say_what_a_remainder_is_and_how_little_it_explains() -> None:
    left = "first token less queue and prefill"
    rest = Stage(stage="preprocessing", seconds=0.444, usual_seconds=0.197, remainder=left)
    found = CONFIRMED.diagnosis
    assert found is not None
    assert found.symptom is not None
    little = replace(found, stages=(rest,), symptom=replace(found.symptom, grew_seconds=2.98))
    assert words.growth(little) == "+0.25\u00a0s of +2.98\u00a0s before prefill"
    (bar,) = words.bars(little.stages)
    assert bar.stage == "before prefill"
    assert bar.text.endswith(f"; {left}")
    told = "\n".join(rows(replace(CONFIRMED, diagnosis=little), NOW))
    assert "before prefill 444\u00a0ms, usually 197\u00a0ms" in told
    assert f"({left})" in told
    assert "preprocessing" not in told


def test_page_and_terminal_say_what_else_grew_and_what_nobody_measured() -> None:
    found = CONFIRMED.diagnosis
    assert found is not None
    assert found.symptom is not None
    also = Also(name="end to end", value=4.88, unit="seconds", usual=1.9)
    symptom = replace(found.symptom, also=(also,), unmeasured="error share: not measured")
    it = replace(CONFIRMED, diagnosis=replace(found, symptom=symptom))
    for told in ("\n".join(rows(it, NOW)), text_of(it)):
        assert "lso end to end x2.6" in told
        assert "rror share: not measured" in told


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ((OPEN,), "not measured"),
        ((OPEN, LIKELY), "not measured"),
        ((OPEN, LIKELY, TOO_SLOW), "not measured"),
        ((OPEN, LIKELY, replace(TOO_SLOW, truth=Truth.FALSE)), "not measured"),
        ((OPEN, replace(SLOW, part=Part.REFUTE, truth=Truth.FALSE)), "not measured"),
        ((OPEN, LIKELY, replace(SLOW, truth=Truth.FALSE)), "without a sign"),
    ],
)
def test_no_sign_is_said_only_where_what_decides_was_measured(
    checks: tuple[Check, ...], told: str
) -> None:
    """What would make one surer, what speaks against a cause, and the symptom decide nothing."""
    open_ = replace(BLANK, checks=checks, evidence=("latency",))
    found = diagnosis(open_)
    found = replace(found, evidence=(*found.evidence, LATENCY))
    assert candidates.by_name(found) == (f"{told}: KV preemption",)
