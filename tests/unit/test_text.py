"""The words of the terminal."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tailhound.cli.text import markdown, rows
from tailhound.model import (
    Asked,
    Bound,
    Cause,
    Check,
    Confidence,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Outlook,
    Part,
    Seen,
    Verdict,
    claims,
    gaps,
    needs,
    telling,
    weighing,
)
from tailhound.model.verdict import Changed
from tailhound.truth import Truth
from tests.samples.causes import DIAGNOSIS
from tests.samples.incidents import CONFIRMED
from tests.samples.story import NOW


@pytest.mark.parametrize("length", [10, 40, 46, 47, 60, 120])
def test_a_title_of_any_length_stays_apart_from_the_confidence(length: int) -> None:
    found = DIAGNOSIS
    title = "x" * length
    causes = tuple(
        replace(one, title=title) if one.runbook == found.primary else one for one in found.causes
    )
    told = rows(replace(CONFIRMED, diagnosis=replace(found, causes=causes)), NOW)
    assert f"{title}  " in told[1]
    assert told[1].endswith(("  high confidence", "  medium confidence", "  low confidence"))


def test_what_changed_before_the_symptom_is_told_with_who_did_it_and_nothing_gets_out() -> None:
    changed = (
        Changed(at=NOW - timedelta(minutes=20), kind="rollout", what="rollout of chat", by="argo"),
        Changed(at=NOW - timedelta(minutes=9), kind="node", what="node a\x1b[31m --token=hunter2x"),
    )
    incident = replace(CONFIRMED, diagnosis=replace(DIAGNOSIS, changed=changed))
    lines = rows(incident, NOW)
    at = next(number for number, line in enumerate(lines) if line.startswith("  changed"))
    assert lines[at].endswith(" rollout of chat (by argo)")
    assert lines[at + 1].startswith("            ")
    assert "\x1b" not in lines[at + 1]
    assert "hunter2x" not in lines[at + 1]
    assert "rollout of chat (by argo)" in markdown(incident, NOW)
    assert not [line for line in rows(CONFIRMED, NOW) if line.startswith("  changed")]


def causes_with(runbook: str, **changes: object) -> tuple[Cause, ...]:
    return tuple(
        replace(one, **changes) if one.runbook == runbook else one  # type: ignore[arg-type]
        for one in DIAGNOSIS.causes
    )


def lines_of(diagnosis: Diagnosis) -> list[str]:
    return rows(replace(CONFIRMED, diagnosis=diagnosis), NOW)


def test_what_lowers_the_confidence_stands_below_the_headline() -> None:
    assert DIAGNOSIS.primary is not None
    less = {"confidence": Confidence.MEDIUM, "confidence_because": "Its onset is unknown"}
    causes = causes_with(DIAGNOSIS.primary, **less)
    assert lines_of(replace(DIAGNOSIS, causes=causes))[2] == (
        "  medium confidence: its onset is unknown"
    )


SEEN = (Seen(name="queue.wait_seconds", value=3.0, unit="seconds"),)


def check(claim: str, truth: Truth, **more: object) -> Check:
    return Check(claim=claim, condition="c", part=Part.CONFIRM, truth=truth, **more)  # type: ignore[arg-type]


UNKNOWN = Cause(
    runbook="queue-wait",
    title="Requests wait",
    verdict=Verdict.UNKNOWN,
    because="Evidence is missing",
    evidence=("queue",),
    checks=(
        check("They wait", Truth.TRUE, seen=SEEN),
        check("Longer than usual", Truth.UNKNOWN, missing=("queue.wait_seconds_ratio",)),
        check("It is not at a limit", Truth.TRUE),
    ),
)
YOUNG = Evidence(
    name="queue",
    collector="promql queue-wait.queue",
    status=EvidenceStatus.COLLECTED,
    facts={"wait_seconds": 3.0, "wait_seconds_usual": None, "wait_seconds_ratio": None},
)


def test_of_an_unknown_cause_what_holds_is_told_and_why_a_value_is_missing() -> None:
    found = replace(DIAGNOSIS, causes=(UNKNOWN,), primary=None, evidence=(YOUNG,))
    told = rows(replace(CONFIRMED, diagnosis=found), NOW, verbose=True)
    at = told.index("    queue-wait: Evidence is missing")
    assert [row.replace("\u00a0", " ") for row in told[at + 1 : at + 3]] == [
        "      yes  They wait: 3 s",
        "      ?    Longer than usual: missing queue.wait_seconds_ratio "
        "(no usual value yet: nothing 1 h, 1 d or 7 d ago)",
    ]
    assert not [row for row in told if "It is not at a limit" in row], "nobody measured that"


def test_a_cause_that_has_nothing_to_compare_with_is_told_so_and_no_series_is_missed() -> None:
    absent = Asked(
        question="q # 3600 s ago",
        backend="prometheus",
        status=EvidenceStatus.EMPTY,
        detail="no series",
    )
    rows: Any = ({"stage": "prefill", "seconds": 3.0, "usual_seconds": None},)
    for facts in (YOUNG.facts, {"stages": rows}):
        item = replace(YOUNG, facts=facts, asked=(absent,))
        found = replace(DIAGNOSIS, causes=(UNKNOWN,), primary=None, evidence=(item,))
        (gap,) = gaps.left_open(found).causes
        assert gap.reason == "no usual value yet: nothing 1 h, 1 d or 7 d ago"
        assert "an hour of history" in gap.fix
    measured: Any = ({**rows[0], "usual_seconds": 0.2},)
    found = replace(found, evidence=(replace(item, facts={"stages": measured}),))
    assert gaps.left_open(found).causes == {
        gaps.Gap("no series", "check that its series are scraped"): ("queue wait (in part)",)
    }


def test_evidence_without_an_answer_is_told_in_words_with_its_cause_and_a_fix() -> None:
    asked = Asked(
        question="q", backend="prometheus", status=EvidenceStatus.TIMEOUT, detail="No answer"
    )
    decided = replace(UNKNOWN, verdict=Verdict.REFUTED)
    for name, collector, told in (
        ("queue", "promql queue-wait.queue", "queue (queue wait)"),
        ("effects", "prometheus.control_plane_effects", "control plane effects"),
        ("subject", "subject", "the pods and nodes that it is about"),
    ):
        item = replace(
            YOUNG, name=name, collector=collector, asked=(asked,), status=EvidenceStatus.TIMEOUT
        )
        rows = lines_of(replace(DIAGNOSIS, causes=(decided,), primary=None, evidence=(item,)))
        at = rows.index("COULD NOT CHECK  1:")
        assert rows[at + 1] == (
            f"    {told}: no answer. Fix: check that Prometheus is up, then check again"
        )


def test_markdown_has_the_mitigations_with_steps_and_what_could_not_be_checked() -> None:
    text = markdown(CONFIRMED, NOW)
    offered = next(cause for cause in DIAGNOSIS.causes if cause.mitigations)
    assert "### What can be done" in text
    for offer in offered.mitigations:
        assert f"**{offer.title}**" in text
        assert offer.risk in text


@pytest.mark.parametrize(
    ("comparison", "told"),
    [("==", "refuted at none"), ("<=", "refuted at none"), ("<", "refuted under 0"),
     (">", "refuted by one"), ("!=", "refuted by one")],
)  # fmt: skip
def test_a_bound_of_a_refuting_claim_reads_as_a_sentence(comparison: str, told: str) -> None:
    bound = Bound(fact="a.b", comparison=comparison, value=0, unit="count")
    assert needs.needed([bound], Part.REFUTE) == told


def test_what_does_not_apply_is_told_by_the_claim_that_says_so() -> None:
    applies = replace(check("It has a disk", Truth.FALSE), part=Part.APPLIES)
    fast = replace(check("The drive is as fast as usual", Truth.TRUE), part=Part.REFUTE)
    cause = replace(UNKNOWN, verdict=Verdict.NOT_APPLICABLE, checks=(applies, fast))
    assert weighing.deciding(cause) is applies
    assert weighing.deciding(replace(cause, verdict=Verdict.REFUTED)) is fast


@pytest.mark.parametrize(
    ("status", "detail", "told"),
    [
        (EvidenceStatus.TIMEOUT, "x", "Prometheus does not answer"),
        (EvidenceStatus.FORBIDDEN, "x", "Prometheus refuses"),
        (EvidenceStatus.SKIPPED, "not asked: Prometheus is not configured", "is not configured"),
        (EvidenceStatus.SKIPPED, "not asked: breaker open", "Prometheus was not asked"),
    ],
)
def test_a_blind_verdict_says_how_it_is_blind(
    status: EvidenceStatus, detail: str, told: str
) -> None:
    asked = Asked(question="q", backend="prometheus", status=status, detail=detail)
    found = replace(
        DIAGNOSIS,
        outlook=Outlook.BLIND,
        blind="Prometheus",
        primary=None,
        evidence=(replace(YOUNG, asked=(asked,)),),
    )
    assert told in telling.blind(found)
    assert told in lines_of(found)[1]


def test_two_values_that_are_alike_are_told_by_their_names() -> None:
    names = ("replicas.missing_count", "replicas.short_count")
    found = replace(
        check("All were in service", Truth.TRUE),
        part=Part.REFUTE,
        seen=tuple(
            Seen(name=name, value=0, unit="count", collector="prometheus.replicas")
            for name in names
        ),
        needs=tuple(Bound(fact=name, comparison="==", value=0, unit="count") for name in names),
    )
    assert claims.told(found) == "none missing, short 0"


def test_an_unknown_cause_takes_one_line_unless_more_is_asked_for() -> None:
    rows = lines_of(replace(DIAGNOSIS, causes=(UNKNOWN,), primary=None, evidence=(YOUNG,)))
    at = rows.index("UNKNOWN    1:")
    assert rows[at + 1 : at + 3] == ["    queue-wait: Evidence is missing", rows[-2]]
    assert "--verbose" in rows[-1]


def test_without_a_cause_the_gaps_and_the_next_step_stand_below_the_headline() -> None:
    asked = Asked(
        question="up", backend="prometheus", status=EvidenceStatus.FORBIDDEN, detail="may not read"
    )
    item = replace(YOUNG, status=EvidenceStatus.FORBIDDEN, facts={}, asked=(asked,))
    found = replace(
        DIAGNOSIS,
        outlook=Outlook.NONE_CONFIRMED,
        causes=(UNKNOWN,),
        primary=None,
        chain=(),
        evidence=(item,),
    )
    rows = lines_of(found)
    assert [row.partition("  ")[0] for row in rows[1:3]] == [
        "NO CAUSE CONFIRMED",
        "COULD NOT CHECK",
    ]
    assert rows[4:7] == [
        "  you can   ask by hand what had no answer:",
        "            Prometheus:",
        "            up",
    ]
    nothing = lines_of(replace(found, evidence=()))
    assert "  you can   look at what was measured: --format md" in nothing


def test_who_is_silent_is_to_be_checked_first() -> None:
    found = replace(
        DIAGNOSIS, outlook=Outlook.BLIND, blind="prometheus", causes=(UNKNOWN,), primary=None
    )
    rows = lines_of(replace(found, chain=(), evidence=()))
    step = (
        "  you can   check Prometheus itself (tailhound doctor prometheus); it may be part of this"
    )
    assert f"{step} incident" in rows


def test_the_steps_of_the_first_option_stand_in_the_terminal_with_their_names() -> None:
    rows = lines_of(DIAGNOSIS)
    at = next(number for number, row in enumerate(rows) if row.startswith("  you can "))
    steps = [row.strip() for row in rows[at:] if row.strip().startswith(("a. ", "b. "))]
    assert steps[0] == "a. Find what is not known here: POD (kubectl -n llm get pods)"
    assert steps[1].startswith("b. Look first: kubectl -n llm get pod")
    assert len(steps) == 2, "of the first option only"


def test_what_must_not_be_done_stands_above_what_can() -> None:
    first, *others = DIAGNOSIS.causes
    told = lines_of(replace(DIAGNOSIS, causes=(replace(first, beware="do not drain"), *others)))
    at = told.index("  beware    do not drain")
    assert told[at + 1].startswith("  you can ")
