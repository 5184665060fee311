"""Where the answers of all runbooks meet."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tailhound.diagnosis.rank import rank
from tailhound.model import Cause, Confidence, Outlook, Symptom, Verdict

T0 = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)


def symptom(onset: datetime | None = T0) -> Symptom:
    return Symptom(name="inter-token p99", value=0.08, unit="seconds", usual=0.008, onset=onset)


def cause(
    name: str,
    minutes: float | None = 0,
    verdict: Verdict = Verdict.CONFIRMED,
    leads_to: tuple[str, ...] = (),
    sure: Confidence = Confidence.HIGH,
) -> Cause:
    return Cause(
        runbook=name,
        title=name,
        verdict=verdict,
        because="",
        confidence=sure if verdict is Verdict.CONFIRMED else None,
        onset=None if minutes is None else T0 + timedelta(minutes=minutes),
        leads_to=leads_to,
    )


def test_a_chain_runs_from_trigger_to_effect() -> None:
    ranked = rank(
        [cause("kv-preemption", -2), cause("long-prompt", -4, leads_to=("kv-preemption",))],
        {},
        symptom(),
    )
    assert ranked.chain == ("long-prompt", "kv-preemption")
    assert ranked.primary == "long-prompt"
    assert ranked.outlook is Outlook.CAUSE_FOUND


def test_a_cause_that_began_after_its_effect_is_ruled_out() -> None:
    ranked = rank([cause("cpu-throttling", 10)], {}, symptom())
    assert ranked.primary is None
    assert ranked.causes[0].verdict is Verdict.REFUTED
    assert "after the symptom" in ranked.causes[0].because


def test_a_mechanism_may_begin_after_the_first_symptom_that_its_trigger_slowed() -> None:
    later = replace(symptom(), half_grown=T0 + timedelta(minutes=9))
    assert rank([cause("kv-preemption", 10)], {}, later).primary == "kv-preemption"
    assert rank([cause("kv-preemption", 20)], {}, later).primary is None


def test_an_unknown_onset_never_acquits() -> None:
    assert rank([cause("cpu-throttling", None)], {}, symptom()).primary == "cpu-throttling"


def test_one_cause_is_acquitted_in_favour_of_another() -> None:
    ranked = rank(
        [cause("gc-pause"), cause("cpu-throttling")], {"gc-pause": ["cpu-throttling"]}, symptom()
    )
    verdicts = {c.runbook: c.verdict for c in ranked.causes}
    assert verdicts == {"cpu-throttling": Verdict.CONFIRMED, "gc-pause": Verdict.REFUTED}


def test_a_cause_that_is_not_confirmed_acquits_nobody() -> None:
    ranked = rank(
        [cause("gc-pause"), cause("cpu-throttling", verdict=Verdict.UNKNOWN)],
        {"gc-pause": ["cpu-throttling"]},
        symptom(),
    )
    assert ranked.primary == "gc-pause"


def test_context_is_primary_only_when_alone() -> None:
    both = rank([cause("node-drain", -5), cause("cpu-throttling", -1)], {}, symptom())
    assert both.primary == "cpu-throttling"
    assert rank([cause("node-drain", -5)], {}, symptom()).primary == "node-drain"


def test_two_causes_fit_when_neither_leads_to_the_other_and_both_began_together() -> None:
    ranked = rank([cause("queue-saturation", -1), cause("cpu-throttling", 0)], {}, symptom())
    assert ranked.outlook is Outlook.TWO_FIT
    assert ranked.confidence is Confidence.MEDIUM


def test_the_earlier_of_two_unrelated_causes_is_primary() -> None:
    ranked = rank([cause("queue-saturation", -1), cause("cpu-throttling", -9)], {}, symptom())
    assert (ranked.primary, ranked.outlook) == ("cpu-throttling", Outlook.CAUSE_FOUND)


def test_without_a_symptom_only_a_fault_is_primary() -> None:
    ranked = rank([cause("cpu-throttling"), cause("gpu-fault")], {}, None)
    assert ranked.primary == "gpu-fault"
    assert rank([cause("cpu-throttling")], {}, None).primary is None


def test_where_nothing_is_in_service_no_latency_is_needed_for_a_cold_start() -> None:
    assert rank([cause("cold-start")], {}, None).primary == "cold-start"


def test_nothing_confirmed_is_said_so() -> None:
    ranked = rank([cause("cpu-throttling", verdict=Verdict.UNKNOWN)], {}, symptom())
    assert (ranked.outlook, ranked.primary, ranked.confidence) == (
        Outlook.NONE_CONFIRMED,
        None,
        None,
    )


NAMES = ("a", "b", "c", "d", "node-drain")
CAUSES = st.lists(
    st.builds(
        cause,
        st.sampled_from(NAMES),
        st.none() | st.integers(-30, 30),
        st.sampled_from(Verdict),
        st.lists(st.sampled_from(NAMES), max_size=3).map(tuple),
        st.sampled_from(Confidence),
    ),
    unique_by=lambda c: c.runbook,
)


@given(
    CAUSES, st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES))), st.booleans()
)
def test_any_verdicts_with_any_links_give_a_sound_ranking(
    causes: list[Cause], explained: dict[str, list[str]], has_symptom: bool
) -> None:
    ranked = rank(causes, explained, symptom() if has_symptom else None)
    assert sorted(c.runbook for c in ranked.causes) == sorted(c.runbook for c in causes)
    confirmed = {c.runbook for c in ranked.causes if c.verdict is Verdict.CONFIRMED}
    assert set(ranked.chain) <= confirmed
    assert ranked.primary is None or ranked.primary in ranked.chain
    assert (ranked.primary is None) == (ranked.confidence is None)
