"""The verdict on one cause, its confidence, and what is offered."""
# ruff: noqa: E501 - a table reads better with one line a case

import time
import timeit
from typing import Any

import pytest

from tailhound.model import Check, Confidence, Part, Verdict, claims
from tailhound.model.names import small
from tailhound.rules.judge import confidence, decided, judge
from tailhound.rules.lint import lint
from tailhound.rules.offers import Known, offers
from tailhound.truth import Truth

from .kit import RUNBOOK, changed, findings, load

T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN
CONFIRMED, REFUTED, UNKNOWN = Verdict.CONFIRMED, Verdict.REFUTED, Verdict.UNKNOWN
NOT_APPLICABLE = Verdict.NOT_APPLICABLE

NINE = [
    (T, F, CONFIRMED),
    (T, U, UNKNOWN),
    (T, T, UNKNOWN),
    (U, F, UNKNOWN),
    (U, U, UNKNOWN),
    (U, T, REFUTED),
    (F, F, UNKNOWN),
    (F, U, UNKNOWN),
    (F, T, REFUTED),
]


@pytest.mark.parametrize(("confirm", "refute", "verdict"), NINE)
def test_the_nine_cells(confirm: Truth, refute: Truth, verdict: Verdict) -> None:
    assert decided(T, confirm, refute) is verdict


@pytest.mark.parametrize(("confirm", "refute", "verdict"), NINE)
def test_applies_goes_first(confirm: Truth, refute: Truth, verdict: Verdict) -> None:
    assert decided(F, confirm, refute) is NOT_APPLICABLE
    expected = UNKNOWN if verdict is CONFIRMED else verdict
    assert decided(U, confirm, refute) is expected


CONFIRM: dict[Truth, float | None] = {T: 1.0, F: 0.0, U: None}
REFUTE = {T: "argocd", F: "nobody", U: None}
CELLS = changed(
    ("  - Stopped in more than a quarter of its periods: cpu.throttled_ratio > strong\n", ""),
    ("Hardly ever stopped: cpu.throttled_ratio < hardly", "Somebody owns it: cpu.managed_by == 'argocd'"),
)  # fmt: skip


@pytest.mark.parametrize(("confirm", "refute", "verdict"), NINE)
def test_a_runbook_gives_the_nine_cells(confirm: Truth, refute: Truth, verdict: Verdict) -> None:
    facts: Any = {
        "cpu": {"has_limit": True, "managed_by": REFUTE[refute], "lost": CONFIRM[confirm]}
    }
    judged = judge(load(CELLS), facts)
    assert judged.verdict is verdict
    assert judged.because.endswith(".")
    missing = [
        name for name, truth in (("cpu.lost", confirm), ("cpu.managed_by", refute)) if truth is U
    ]
    expected = missing if verdict is UNKNOWN else []
    assert list(judged.missing) == expected
    assert judged.missing_evidence == (("cpu",) if expected else ())


def facts(**changes: Any) -> Any:
    found = {name: dict(values) for name, values in load().baseline.items()}
    found["cpu"] |= {"throttled_ratio": 0.62, "throttled_ratio_usual": 0.01, "lost": 1.4}
    found["queue"] = {"wait_seconds_ratio": 3.0}
    for name, change in changes.items():
        found[name] = {**found.get(name, {}), **change} if change is not None else {}
    return found


def because(text: str = RUNBOOK, **changes: Any) -> str:
    return judge(load(text), facts(**changes)).because.replace("\u00a0", " ")


def test_one_sentence_says_why() -> None:
    assert because() == (
        "All 2 claims hold. Stopped in more than a quarter of its periods: 62 % (needs 25 %)."
    )
    lenient = RUNBOOK.replace("cpu.lost > lost\n", "cpu.lost > lost or not known(cpu.lost)\n")
    assert because(lenient, cpu={"lost": None}).startswith(
        "1 of 2 claims hold, the rest is not measured and not needed. Stopped in more"
    )
    assert because(cpu={"throttled_ratio": 0.02}) == "Hardly ever stopped: 2 % (refuted under 5 %)."
    assert because(cpu={"has_limit": False}) == "It has no CPU limit."
    assert because(cpu={"lost": None}) == "Evidence is missing for “Loses real time”."
    assert because(cpu={"throttled_ratio": 0.2}) == (
        "Decides neither way: nothing refutes it, but this does not hold: "
        "Stopped in more than a quarter of its periods: 20 % (needs 25 %)."
    )
    assert because(CELLS, cpu={"managed_by": "argocd"}) == (
        "The rules contradict each other: every claim holds, yet Somebody owns it: argocd."
    )


def test_a_check_carries_values_bounds_and_the_condition() -> None:
    check = judge(load(), facts()).part(Part.CONFIRM)[0]
    assert check.condition == "cpu.throttled_ratio > strong"
    assert (check.seen[0].value, check.seen[0].usual) == (0.62, 0.01)
    assert (check.needs[0].value, check.needs[0].unit) == (0.25, "ratio")


def test_a_check_carries_whose_facts_its_values_are() -> None:
    judged = judge(load(), {**facts(), "queue": {"wait_seconds_ratio": 3.0}})
    (optional,) = judged.part(Part.OPTIONAL)
    assert judged.part(Part.CONFIRM)[0].seen[0].collector == "test.cpu"
    assert optional.seen[0].collector == "promql cpu-throttling.queue"
    reckoned = changed(
        ("throttled_ratio > strong", "throttled_ratio - cpu.throttled_ratio_usual > strong")
    )
    seen = judge(load(reckoned), facts()).part(Part.CONFIRM)[0].seen
    assert {one.collector for one in seen if " - " in one.name} == {""}


def test_a_profile_moves_a_threshold() -> None:
    judged = judge(load(), facts(), {"strong": 0.7})
    assert judged.verdict is UNKNOWN
    assert judged.part(Part.CONFIRM)[0].needs[0].value == 0.7


def test_an_optional_line_changes_the_confidence_and_no_verdict() -> None:
    runbook = load()
    for ratio, level in (
        (3.0, Confidence.HIGH),
        (1.0, Confidence.MEDIUM),
        (None, Confidence.MEDIUM),
    ):
        judged = judge(runbook, facts(queue={"wait_seconds_ratio": ratio}))
        assert judged.verdict is CONFIRMED
        assert judged.missing == ()
        assert confidence(runbook, judged)[0] is level


def test_what_is_so_when_an_optional_claim_does_not_hold_is_told_in_the_authors_words() -> None:
    claim = load().optional[0].sentence
    told = RUNBOOK.replace("otherwise:\n", f'otherwise:\n  "{claim}": nobody waits longer.\n')
    unknown = f"not measured whether {small(claim)}"
    for ratio, why in ((1.0, "nobody waits longer"), (None, unknown)):
        runbook = load(told)
        judged = judge(runbook, facts(queue={"wait_seconds_ratio": ratio}))
        assert confidence(runbook, judged) == (Confidence.MEDIUM, why)


OTHERWISE = "otherwise:\n  A CPU limit is set: it has no CPU limit\n"


def test_a_claim_that_must_apply_is_never_told_as_a_no() -> None:
    bare = RUNBOOK.replace(OTHERWISE, "")
    assert because(bare, cpu={"has_limit": False}) == "“A CPU limit is set” does not hold."
    assert because(cpu={"has_limit": False}) == "It has no CPU limit."


def test_what_rules_a_cause_out_is_told_in_the_authors_words_where_they_have_some() -> None:
    told = RUNBOOK.replace("otherwise:\n", "otherwise:\n  Hardly ever stopped: no quota bites\n")
    assert because(told, cpu={"throttled_ratio": 0.02}) == "No quota bites."
    assert because(told).startswith("All 2 claims hold. Stopped in more")


def test_what_is_so_otherwise_belongs_to_a_claim_that_can_speak_against_the_cause() -> None:
    told = RUNBOOK.replace("otherwise:\n", "otherwise:\n  No such claim: nobody waits\n")
    assert any("no claim 'No such claim'" in one.message for one in findings(told))


WITH_OR = RUNBOOK.replace(
    "Stopped in more than a quarter of its periods: cpu.throttled_ratio > strong",
    "It is stopped, or loses time: cpu.throttled_ratio > strong or cpu.lost > lost",
)


def test_a_claim_with_an_or_that_does_not_hold_is_told_by_what_is_so_and_one_value() -> None:
    text = WITH_OR.replace("otherwise:\n", "otherwise:\n  It is stopped, or loses time: it runs\n")
    quiet = {"throttled_ratio": 0.2, "lost": 0.0}
    judged = judge(load(text), facts(cpu=quiet))
    check = next(one for one in judged.checks if one.claim == "It is stopped, or loses time")
    assert (
        claims.claimed(check).replace("\xa0", " ") == "it runs: throttled 20 %, usually 1 % (x20)"
    )
    assert judged.because.replace("\xa0", " ") == (
        "Decides neither way: nothing refutes it, but it runs: throttled 20 %, usually 1 % (x20)."
    )
    held = judge(load(text), facts())
    check = next(one for one in held.checks if one.claim == "It is stopped, or loses time")
    assert claims.claimed(check).startswith("it is stopped, or loses time: throttled 62")


def test_a_claim_with_an_or_is_asked_what_is_so_when_neither_holds() -> None:
    message = "say in `otherwise:` what is so when neither holds"
    assert any(message in one.message for one in lint(load(WITH_OR)))
    text = WITH_OR.replace("otherwise:\n", "otherwise:\n  It is stopped, or loses time: it runs\n")
    assert not any(message in one.message for one in lint(load(text)))


NOBODY = RUNBOOK.replace(
    "  - Stopped in more than a quarter of its periods: cpu.throttled_ratio > strong\n",
    "  - Nothing restarts it: not cpu.has_limit\n"
    "  - It does not lose time: not (cpu.lost > lost)\n",
)


def test_what_holds_only_because_nothing_was_measured_is_unknown_and_decides_as_before() -> None:
    """That there is no limit, and no time lost, where nothing of the container is known."""
    nothing = {"has_limit": False, "lost": 0.0, "throttled_ratio": None, "managed_by": ""}
    found = facts(cpu={**dict.fromkeys(facts()["cpu"]), **nothing})
    for check in judge(load(NOBODY), found).part(Part.CONFIRM)[:2]:
        assert (check.truth, check.taken) == (U, T)
    something = {**found, "cpu": {**found["cpu"], "throttled_ratio": 0.3}}
    for check in judge(load(NOBODY), something).part(Part.CONFIRM)[:2]:
        assert (check.truth, check.taken) == (T, None)


def test_that_there_is_no_such_thing_still_rules_a_cause_out() -> None:
    nothing = {**dict.fromkeys(facts()["cpu"]), "has_limit": False}
    judged = judge(load(), facts(cpu=nothing))
    assert judged.verdict is NOT_APPLICABLE
    assert judged.part(Part.APPLIES)[0].truth is F, "a finding, however little else is known"


def test_an_amount_of_none_speaks_against_a_claim_also_where_it_is_all_there_is() -> None:
    none = {**dict.fromkeys(facts()["cpu"]), "lost": 0.0}
    lost = next(c for c in judge(load(), facts(cpu=none)).checks if c.claim == "Loses real time")
    assert lost.truth is F


def test_an_optional_claim_that_is_unknown_says_why_where_that_is_known() -> None:
    runbook = load()
    judged = judge(runbook, facts(queue={"wait_seconds_ratio": None}))
    why = "no label of the alert names a workload"
    _, told = confidence(runbook, judged, why_open=lambda _: why)
    assert told.startswith(f"{why}, so it is not measured whether ")


def test_an_unknown_claim_that_denies_is_asked_about_without_a_double_no() -> None:
    claim = load().optional[0].sentence
    runbook = load(RUNBOOK.replace(f"{claim}:", "No rollout replaces its pods:"))
    judged = judge(runbook, facts(queue={"wait_seconds_ratio": None}))
    _, told = confidence(runbook, judged)
    assert told == "not measured whether any rollout replaces its pods"


def test_of_a_claim_that_was_measured_in_part_the_evidence_that_lacks_is_named() -> None:
    claim = load().optional[0].sentence
    runbook = load(
        changed(
            (
                f"{claim}: queue.wait_seconds_ratio > long",
                f"{claim}: queue.wait_seconds_ratio > long or node_cpu.idle_ratio > room",
            )
        )
    )
    judged = judge(runbook, facts(queue={"wait_seconds_ratio": 1.0}, node_cpu=None))
    assert confidence(runbook, judged) == (Confidence.MEDIUM, "node: not measured")
    nothing = judge(runbook, facts(queue={"wait_seconds_ratio": None}, node_cpu=None))
    assert confidence(runbook, nothing)[1].startswith("not measured whether ")


def test_what_lowers_the_confidence_is_told() -> None:
    runbook = load()
    judged = judge(runbook, facts())
    assert confidence(runbook, judged) == (Confidence.HIGH, "")
    assert confidence(runbook, judged, no_onset="its onset is unknown") == (
        Confidence.MEDIUM,
        "its onset is unknown",
    )
    assert confidence(runbook, judged, no_symptom="nobody measured one") == (
        Confidence.MEDIUM,
        "nobody measured one",
    )
    capped = load(changed(("{at_most: high, because: nothing", "{at_most: low, because: much")))
    assert confidence(capped, judged, no_onset="its onset is unknown") == (
        Confidence.LOW,
        "much caps it",
    )
    draft = load(changed(("status: active", "status: draft")))
    assert confidence(draft, judged) == (Confidence.MEDIUM, "the runbook is a draft")


def offered(text: str = RUNBOOK, mode: str = "one-click", **changes: Any) -> dict[str, str | None]:
    runbook, found = load(text), facts(**changes)
    known = Known(facts=found, thresholds=runbook.values, mode=mode)
    return {
        offer.id: None if offer.offered else (offer.why_not or "").replace("\u00a0", " ")
        for offer in offers(runbook, judge(runbook, found), known)
    }


def test_a_confirmed_cause_offers_what_its_guards_allow() -> None:
    assert offered() == {"raise-limit": None, "match-threads": None}
    assert offered(node_cpu={"idle_ratio": 0.04}) == {
        "raise-limit": "“The node has room” does not hold: 4 % (needs 10 %)",
        "match-threads": None,
    }
    assert offered(cpu={"managed_by": "helm"})["raise-limit"] == (
        "“Nothing else would undo it” does not hold: helm"
    )


@pytest.mark.parametrize("leads", [False, True])
def test_what_makes_the_first_token_worse_comes_last_where_that_is_the_symptom(leads: bool) -> None:
    runbook, found = (
        load(changed(("    ttft: better\n    cost", "    ttft: worse\n    cost"))),
        facts(),
    )
    known = Known(facts=found, thresholds=runbook.values, first_token_leads=leads)
    told = [offer.id for offer in offers(runbook, judge(runbook, found), known)]
    assert told == (["match-threads", "raise-limit"] if leads else ["raise-limit", "match-threads"])


def test_an_unknown_guard_is_no_permission() -> None:
    assert offered(node_cpu=None)["raise-limit"] == ("“The node has room” is unknown: not measured")


def test_nothing_is_offered_for_a_cause_that_is_not_confirmed() -> None:
    found = offered(cpu={"throttled_ratio": 0.01})
    assert set(found.values()) == {"the cause is not confirmed"}


@pytest.mark.parametrize("mode", ["observe", "shadow"])
def test_outside_of_one_click_nothing_may_be_changed(mode: str) -> None:
    assert offered(mode=mode) == {
        "raise-limit": f"mode {mode}: it changes nothing",
        "match-threads": None,
    }


def test_a_draft_never_offers_one_click() -> None:
    found = offered(changed(("status: active", "status: draft")))
    assert found["raise-limit"] == "the runbook is a draft: it changes nothing"
    assert found["match-threads"] is None


def test_a_change_with_steps_becomes_a_suggestion_where_nothing_may_be_changed() -> None:
    text = changed(("    guard:\n", "    steps: [Do it by hand.]\n    guard:\n"))
    runbook, found = load(text), facts()
    known = Known(facts=found, thresholds=runbook.values, mode="observe")
    offer = offers(runbook, judge(runbook, found), known)[0]
    assert (offer.mode, offer.offered, offer.why_not) == ("suggested", True, None)


def check(**more: Any) -> Check:
    return Check(**{"claim": "c", "condition": "x", "part": Part.CONFIRM, "truth": T, **more})


def test_bounds_in_words() -> None:
    runbook = load(
        changed(
            ("Loses real time: cpu.lost > lost", "Loses real time: lost <= cpu.lost <= lost * 3"),
            ("queue.wait_seconds_ratio > long", "queue.wait_seconds_ratio < long"),
        )
    )
    told = judge(runbook, facts(cpu={"lost": 0.1}))
    lines = [claims.sentence(one).replace("\u00a0", " ") for one in told.checks]
    assert "0.1 s per second (needs 0.05 s per second to 0.15 s per second)" in lines
    assert "x3 (needs under x2)" in lines


def test_a_claim_without_a_value_says_so_without_the_names_of_facts() -> None:
    names = ("a.b", "a.c", "a.d", "a.e")
    assert claims.sentence(check(truth=U, missing=names)) == "not measured"


def test_judging_takes_less_than_a_millisecond() -> None:
    runbook, found = load(), facts()
    assert (
        timeit.timeit(lambda: judge(runbook, found), timer=time.process_time, number=100) / 100
        < 0.001
    )


EITHER = "cpu.lost > lost or queue.wait_seconds_ratio > long"


def told_of(condition: str, **more: Any) -> list[str]:
    runbook = load(changed(("Loses real time: cpu.lost > lost", f"Loses real time: {condition}")))
    checks = judge(runbook, facts(**more)).checks
    return [
        claims.sentence(one).replace("\u00a0", " ") for one in checks if one.condition == condition
    ]


def test_alternatives_in_words() -> None:
    low = told_of(EITHER, cpu={"lost": 0.01}, queue={"wait_seconds_ratio": 1})
    assert low == ["lost 0.01 s per second (needs 0.05 s per second), or wait x1 (needs x2)"]
    high = told_of(EITHER, cpu={"lost": 0.01}, queue={"wait_seconds_ratio": 3})
    assert high == ["wait x3 (needs x2)"]


def test_two_bounds_of_one_value_are_a_range_only_where_both_must_hold() -> None:
    apart = "cpu.lost > lost * 3 or cpu.lost < lost"
    assert told_of(apart, cpu={"lost": 0.1}) == [
        "lost 0.1 s per second (needs 0.15 s per second or under 0.05 s per second)"
    ]


# --- what holds although nobody measured it


def test_a_claim_of_which_nothing_was_measured_is_unknown_and_counts_as_its_author_says() -> None:
    quiet = "  - No pressure: not (known(cpu.pressure_ratio) and cpu.pressure_ratio > strong)"
    runbook = load(RUNBOOK.replace("optional:\n", f"{quiet}\noptional:\n"))
    for ratio, truth, counts in ((None, U, T), (0.1, T, T), (0.5, F, F)):
        judged = judge(runbook, facts(cpu={"pressure_ratio": ratio}))
        found = next(one for one in judged.checks if one.claim == "No pressure")
        assert (found.truth, found.counts) == (truth, counts)
        assert judged.verdict is (CONFIRMED if counts is T else UNKNOWN)
    unmeasured = next(one for one in judge(runbook, facts()).checks if one.claim == "No pressure")
    assert claims.mark(unmeasured) == "?"
    assert claims.told(unmeasured).startswith("not measured")


def test_a_claim_about_what_is_known_is_answered_without_a_measurement() -> None:
    read = "  - Pressure is counted: known(cpu.pressure_ratio)"
    runbook = load(RUNBOOK.replace("optional:\n", f"optional:\n{read}\n"))
    found = judge(runbook, facts()).part(Part.OPTIONAL)[0]
    assert (found.truth, found.taken) == (F, None)
