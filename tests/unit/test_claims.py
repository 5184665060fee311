"""A claim in words: the same on every surface."""

from dataclasses import replace
from itertools import permutations

import pytest

from tailhound.cli.text import rows
from tailhound.diagnosis.report import as_json
from tailhound.model import (
    Asked,
    Bound,
    Cause,
    Check,
    Evidence,
    EvidenceStatus,
    Part,
    Seen,
    Verdict,
    claims,
    needs,
    telling,
    weighing,
)
from tailhound.model.gaps import Gaps, left_open
from tailhound.model.names import backend_name, capital, cause_name, listed, plural, small
from tailhound.model.stages import slow_stages
from tailhound.slack.blocks import message
from tailhound.slack.claims import claim_lines
from tailhound.slack.gaps import not_confirmed
from tailhound.slack.ink import INKS
from tailhound.truth import Truth
from tests.samples.causes import DNS, OUT, THROTTLING, UNDECIDED, check
from tests.samples.incidents import CONFIRMED, STATES, UNKNOWN
from tests.samples.story import NOW


def bound(value: float, alternative: int = 0, comparison: str = ">", fact: str = "a.b") -> Bound:
    return Bound(
        fact=fact, comparison=comparison, value=value, unit="seconds", alternative=alternative
    )


def needing(*needs: Bound, part: Part = Part.CONFIRM, seen: tuple[Seen, ...] = ()) -> Check:
    return Check(claim="c", condition="x", part=part, truth=Truth.TRUE, seen=seen, needs=needs)


OF = {
    "replicas": "prometheus.replicas",
    "kv": "prometheus.kv_cache",
    "batching": "prometheus.batching",
    "config": "kubernetes.batching_config",
}


def looked(name: str, value: float, unit: str = "count", usual: float | None = None) -> Seen:
    """A value of a shipped collector."""
    return Seen(
        name=name, value=value, unit=unit, usual=usual, collector=OF[name.partition(".")[0]]
    )


def plainly(text: str) -> str:
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ((), ""),
        ((bound(5),), "needs 5 s"),
        ((bound(5), bound(30, comparison="<")), "needs 5 s to 30 s"),
        ((bound(5, 1), bound(30, 2)), "needs 5 s or 30 s"),
        ((bound(5, 1), bound(30, 2, "<")), "needs 5 s or under 30 s"),
        ((bound(5, 1), bound(30, 2, fact="c.d")), "needs 5 s, or needs 30 s"),
        ((bound(5), bound(30, fact="c.d")), "needs 5 s, needs 30 s"),
        ((bound(5, 1), bound(5, 2, fact="c.d")), "needs 5 s"),
        ((bound(5, comparison="<="),), "needs 5 s or less"),
        ((bound(5, comparison="!="),), "needs other than 5 s"),
    ],
)
def test_what_a_claim_needs(bounds: tuple[Bound, ...], text: str) -> None:
    assert plainly(needs.needs(needing(*bounds))) == text


@pytest.mark.parametrize(("times", "text"), [(0.8, "under 80 %"), (0.9, "under x0.9")])
def test_what_is_told_as_a_share_of_the_usual_is_needed_as_one(times: float, text: str) -> None:
    below = replace(bound(times, comparison="<"), unit="times")
    assert plainly(needs.needs(needing(below))) == f"needs {text}"


def test_a_refuting_claim_says_what_would_refute() -> None:
    under = needing(bound(5, comparison="<"), part=Part.REFUTE)
    assert plainly(needs.needs(under)) == "refuted under 5 s"
    assert plainly(needs.needs(needing(bound(5), part=Part.REFUTE))) == "refuted over 5 s"


def test_each_value_stands_beside_what_is_needed_of_it() -> None:
    seen = (
        Seen(name="kv.usage", value=0.99, unit="ratio", usual=0.61),
        Seen(name="kv.waiting", value=41, unit="count", usual=3),
        Seen(name="kv.pod", value="llm-0"),
        Seen(name="kv.usage", value=0.97, unit="ratio", of="llm-1"),
    )
    both = needing(bound(5, fact="kv.usage"), seen=seen)
    assert plainly(claims.told(both, 9)) == (
        "usage 99 % (needs 5 s), waiting 41, usually 3 (x14), pod llm-0, usage 97 % for llm-1"
    )
    assert plainly(claims.told(both, 1)) == "usage 99 % (needs 5 s)"
    assert plainly(claims.told(both, 1, with_needs=False)) == "usage 99 %"
    assert [value.figure for value in claims.values(both, 9)] == [True, True, False, True]


def test_what_nobody_measured_is_said_to_be_so() -> None:
    open_ = check("Cool enough", None, needs=("<", 0.7))
    assert claims.told(open_) == claims.sentence(open_) == "not measured"
    half = replace(check("Hot", 0.1, needs=(">", 0.7)), truth=Truth.UNKNOWN, missing=("b.c",))
    assert plainly(claims.told(half)) == "10 % (needs 70 %), nothing else is known"


# --- said once, and as a sentence


def counted(value: float, comparison: str, bound_: float, part: Part = Part.CONFIRM) -> Check:
    seen = (looked("replicas.failing_count", value),)
    bounds = (Bound(fact=seen[0].name, comparison=comparison, value=bound_, unit="count"),)
    return Check(
        claim="It starts", condition="x", part=part, truth=Truth.TRUE, seen=seen, needs=bounds
    )


@pytest.mark.parametrize(
    ("value", "comparison", "bound_", "text"),
    [
        (0, "==", 0, "none failing"),
        (0, "<", 1, "none failing"),
        (2, "==", 0, "2 failing (needs none)"),
        (0, ">", 0, "none failing (needs one)"),
        (3, ">", 0, "3 failing"),
        (3, ">=", 1, "3 failing"),
        (75, ">", 5, "75 failing (needs over 5)"),
        (1, "==", 1, "1 failing"),
        (2, "==", 1, "2 failing (needs exactly 1)"),
    ],
)
def test_what_a_value_and_its_need_say_alike_is_said_once(
    value: float, comparison: str, bound_: float, text: str
) -> None:
    assert claims.told(counted(value, comparison, bound_)) == text


def test_a_claim_that_there_is_none_is_not_followed_by_none() -> None:
    none = counted(0, "==", 0, Part.REFUTE)
    assert (claims.sentence(none), claims.claimed(none)) == ("", "it starts")
    some = counted(2, ">", 0, Part.REFUTE)
    assert claims.claimed(some) == "it starts: 2 failing", "that one refutes it, the claim says"


def test_one_amount_from_two_places_is_told_once() -> None:
    twice = counted(0, "==", 0)
    other = replace(twice.seen[0], name="rollout.failing_count", collector="kubernetes.rollout")
    bounds = (replace(twice.needs[0], alternative=1),
              replace(twice.needs[0], fact=other.name, alternative=2))  # fmt: skip
    both = replace(twice, seen=(twice.seen[0], other), needs=bounds)
    assert claims.told(both) == "none failing"


def test_an_alternative_begins_with_or_where_it_is_told_behind_another() -> None:
    lost = looked("replicas.lost_count", 1)
    asked = looked("replicas.asked_count", 1)
    bounds = (
        Bound(fact=lost.name, comparison="==", value=0, unit="count", alternative=1),
        Bound(fact=asked.name, comparison=">", value=1, unit="count", alternative=2),
    )
    claim = needing(*bounds, seen=(lost, asked))
    assert claims.told(claim) == "1 taken away (needs none), or 1 asked for (needs over 1)"
    assert claims.told(replace(claim, seen=(asked,))) == "1 asked for (needs over 1)"


def test_neither_a_usual_value_nor_a_number_that_is_needed_is_told_twice() -> None:
    rate = looked("kv.preemptions_per_second", 0.25, "per_second", usual=0)
    usual = looked("kv.preemptions_per_second_usual", 0, "per_second")
    assert claims.told(needing(seen=(rate, usual))) == "0.25/s preempted, usually 0"
    pending = looked("batching.pending_count", 3)
    largest = looked("config.max_batch_count", 100)
    under = Bound(fact=pending.name, comparison="<", value=100, unit="count")
    assert claims.told(needing(under, seen=(pending, largest))) == "3 waiting (needs under 100)"


def test_of_two_claims_that_hold_by_one_value_the_stricter_one_is_told() -> None:
    tenth = check("Over a tenth", 0.62, needs=(">", 0.1))
    quarter = check("Over a quarter", 0.62, needs=(">", 0.25), part=Part.OPTIONAL)
    assert [one.claim for one, _ in claims.block((tenth, quarter))] == ["Over a quarter"]
    quarter = check("Over a quarter", 0.62, needs=(">", 0.75), part=Part.OPTIONAL)
    short = replace(quarter, truth=Truth.FALSE)
    (first, seen), (second, again) = claims.block((tenth, short))
    assert (first.claim, second.claim) == ("Over a tenth", "Over a quarter")
    assert [one.text for one in seen] == ["62\u00a0%"]
    assert [(one.text, plainly(one.needs)) for one in again] == [("", "needs 75 %")]


@pytest.mark.parametrize("order", list(permutations((0.1, 0.25, 0.5))))
def test_of_three_claims_that_hold_by_one_value_the_strictest_alone_is_told(
    order: tuple[float, ...],
) -> None:
    tiers = [check(f"Over {tier}", 0.62, needs=(">", tier)) for tier in order]
    assert [one.claim for one, _ in claims.block(tiers)] == ["Over 0.5"]
    low = [check(f"Under {tier}", 0.05, needs=("<", tier)) for tier in order]
    assert [one.claim for one, _ in claims.block(low)] == ["Under 0.1"]
    missed = [
        replace(one, truth=Truth.FALSE if "0.5" in one.claim else Truth.TRUE) for one in tiers
    ]
    assert {one.claim for one, _ in claims.block(missed)} == {"Over 0.25", "Over 0.5"}


def test_claims_of_which_nothing_is_known_share_a_line_that_says_why() -> None:
    gone = Asked(question="up", backend="prometheus", status=EvidenceStatus.EMPTY, detail="x")
    item = Evidence(name="kv", collector="p.kv", status=EvidenceStatus.EMPTY, asked=(gone,))
    open_ = [
        replace(check(name, None), missing=("kv.usage_ratio",)) for name in ("It is full", "Rises")
    ]
    surer = replace(open_[0], claim="To the brim", part=Part.OPTIONAL)
    settled = replace(open_[0], claim="Assumed", taken=Truth.TRUE)
    cause = replace(UNDECIDED, checks=(*open_, surer, settled), evidence=("kv",))
    told = [*claim_lines([("", cause)], INKS[0], evidence=(item,), against=False)]
    assert told == [
        "? Not known of CPU throttling (no such series in Prometheus): it is full; rises",
        "? Not known of CPU throttling (no such series in Prometheus), would make this surer: "
        "to the brim",
    ]
    silent = replace(item, asked=(replace(gone, status=EvidenceStatus.TIMEOUT),))
    (first, *_) = claim_lines([("", cause)], INKS[0], evidence=(silent,), against=False)
    assert first.startswith("? Not known of CPU throttling (Prometheus did not answer): ")
    (bare, *_) = claim_lines([("", cause)], INKS[0], against=False)
    assert bare.startswith("? Not known of CPU throttling: ")


def test_a_claim_that_does_not_hold_is_told_by_what_is_so_instead() -> None:
    no = replace(
        check("No rollout replaces its pods", value=False, unit="none"),
        part=Part.OPTIONAL,
        truth=Truth.FALSE,
        otherwise="a rollout replaces its pods",
    )
    (line,) = claim_lines([("", replace(UNDECIDED, checks=(no,)))], INKS[0], against=False)
    assert line == "✗ A rollout replaces its pods"


def test_a_yes_is_told_beside_its_claim_and_left_out_of_a_sentence() -> None:
    yes = check("No limit is set", value=True, unit="none")
    assert claims.told(yes) == "yes"
    assert claims.sentence(yes) == ""
    assert (claims.mark(yes), claims.says(yes)) == ("✓", "holds")


def test_what_speaks_against_a_cause() -> None:
    assert weighing.against(THROTTLING.checks).sentence() == (
        "Nothing speaks against it (2 of 2 checked)."
    )
    half = weighing.against(UNDECIDED.checks)
    assert half.sentence(half.open) == (
        "Nothing speaks against it (1 of 2 checked; not known whether As fast as usual)."
    )
    refuting = [replace(one, truth=Truth.TRUE) for one in THROTTLING.checks]
    assert weighing.against(refuting).sentence() == ""
    assert len(weighing.against(refuting).holding) == 2
    dark = [replace(one, truth=Truth.UNKNOWN) for one in THROTTLING.checks]
    assert weighing.against(dark).sentence() == (
        "Whether something speaks against it is not known (0 of 2 checked)."
    )
    assert weighing.against(()).sentence() == ""


def test_the_claim_that_ruled_a_cause_out() -> None:
    assert weighing.deciding(OUT[0]) == OUT[0].checks[0]
    failed = replace(THROTTLING.checks[0], truth=Truth.FALSE)
    assert weighing.deciding(replace(THROTTLING, checks=(failed,))) == failed
    assert weighing.deciding(DNS) is None


@pytest.mark.parametrize(
    ("id", "told"),
    [
        ("cpu-throttling", "CPU throttling"),
        ("nvmeof-queue", "NVMe-oF queue"),
        ("nvme-timeout", "NVMe timeout"),
        ("apiserver-saturation", "API server saturation"),
        ("pcie_link", "PCIe link"),
        ("cold-start", "cold start"),
    ],
)
def test_a_cause_has_one_name_everywhere(id: str, told: str) -> None:
    assert cause_name(id) == told


def test_names_in_sentences() -> None:
    assert backend_name("ssh db-1") == "SSH to db-1"
    assert backend_name("kubernetes") == "Kubernetes"
    assert backend_name("") == ""
    assert (small("The GPU"), small("GPU busy"), small("")) == ("the GPU", "GPU busy", "")
    assert capital("node drain") == "Node drain"
    assert capital("x3 the usual wait") == "x3 the usual wait"
    assert (plural(1, "pod"), plural(12_000, "pod")) == ("1 pod", "12k pods")
    assert listed(("a", "b", "c", "d")) == "a, b, c + 1 more"


# --- every surface says what stands here


def slack_text(state: str) -> str:
    blocks = message(STATES[state], page_url="https://x.example/1", now=NOW).blocks
    return plainly("\n".join(block["text"]["text"] for block in blocks if "text" in block))


def test_slack_and_terminal_tell_the_chain_in_the_runbooks_words() -> None:
    assert CONFIRMED.diagnosis is not None
    shown = slack_text("confirmed")
    lines = plainly("\n".join(rows(CONFIRMED, NOW)))
    for cause in telling.chain(CONFIRMED.diagnosis):
        words = plainly(telling.link(cause)).rstrip(".")
        assert cause.says
        assert words in shown
        assert words in lines


def test_a_cause_whose_runbook_says_nothing_is_told_by_its_claims() -> None:
    assert telling.link(replace(THROTTLING, says=" \n")) == telling.because(THROTTLING)


def test_slack_and_terminal_count_alike() -> None:
    assert UNKNOWN.diagnosis is not None
    counted = telling.counts(UNKNOWN.diagnosis)
    assert counted == ("11 causes checked: 8 ruled out, 2 unknown, 1 not applicable, 0 confirmed")
    assert counted in slack_text("unknown")
    assert counted in "\n".join(rows(UNKNOWN, NOW))


def test_of_what_is_ruled_out_that_which_slows_the_slow_stage_is_told_first() -> None:
    assert UNKNOWN.diagnosis is not None
    stage = slow_stages(UNKNOWN.diagnosis)[0].stage
    *others, last = OUT
    found = replace(UNKNOWN.diagnosis, causes=(*others, replace(last, slows=(stage,))))
    told = not_confirmed(found, INKS[0])[0]
    assert told.startswith(f"*Ruled out ({len(OUT)}):* {cause_name(last.runbook)}")


def test_what_could_not_be_checked_is_told_with_its_cause_and_each_reason_once() -> None:
    assert UNKNOWN.diagnosis is not None
    found = replace(UNKNOWN.diagnosis, causes=(*OUT, DNS), evidence=(), stages=())
    told = "\n".join(not_confirmed(found, INKS[0], unknown_above=True))
    assert "\n*Could not check (1):* " in told
    assert cause_name(DNS.runbook) not in told, "the verdict above names it"
    partly = replace(DNS, checks=(check("It is slow", 0.6), *DNS.checks))
    told = "\n".join(
        not_confirmed(replace(found, causes=(*OUT, partly)), INKS[0], unknown_above=True)
    )
    assert f"*Could not check (1):* {cause_name(DNS.runbook)} (in part): " in told
    gone = Asked(question="up", backend="prometheus", status=EvidenceStatus.EMPTY, detail="none")
    items = tuple(
        Evidence(name=name, collector=f"p.{name}", status=EvidenceStatus.EMPTY, asked=(gone,))
        for name in ("dns", "kv", "gpu")
    )
    known = replace(DNS, evidence=("dns",))
    told = "\n".join(not_confirmed(replace(found, causes=(known,), evidence=items), INKS[0]))
    name = cause_name(DNS.runbook)
    wanted = f"*Could not check (1):* {name}: none.\n*No answer (2):* KV, GPU: for the same reason."
    assert told == wanted


def test_what_has_no_answer_about_decided_causes_alone_stands_on_the_page_alone() -> None:
    known = UNKNOWN.diagnosis
    assert known is not None
    gone = Asked(question="up", backend="prometheus", status=EvidenceStatus.EMPTY, detail="none")
    item = Evidence(name="kv", collector="p.kv", status=EvidenceStatus.EMPTY, asked=(gone,))
    out = replace(OUT[0], evidence=("kv",))

    def asked_for(*causes: Cause) -> Gaps:
        return left_open(replace(known, causes=causes, evidence=(item,), stages=()))

    assert asked_for(out).evidence
    assert not asked_for(out).open_evidence
    confirmed = replace(out, runbook="kv", verdict=Verdict.CONFIRMED)
    for found in (asked_for(out, confirmed), asked_for(confirmed), asked_for()):
        assert found.open_evidence == found.evidence != {}


def test_of_two_reasons_that_stand_above_the_one_that_is_meant_is_told() -> None:
    assert UNKNOWN.diagnosis is not None
    why = {"dns": "none", "kv": "none", "gpu": "no such series in Prometheus"}
    items = tuple(
        Evidence(
            name=name,
            collector=f"p.{name}",
            status=EvidenceStatus.EMPTY,
            asked=(
                Asked(
                    question="up", backend="prometheus", status=EvidenceStatus.EMPTY, detail=told
                ),
            ),
        )
        for name, told in (*why.items(), ("disk", "none"))
    )
    causes = (replace(DNS, evidence=("dns",)), replace(DNS, runbook="gpu", evidence=("gpu",)))
    found = replace(UNKNOWN.diagnosis, causes=causes, evidence=items, stages=())
    told = "\n".join(not_confirmed(found, INKS[0], unknown_above=True))
    assert "as above" not in told
    assert told.endswith("*No answer (2):* KV, disk: none.")


def test_an_unknown_cause_of_which_all_was_measured_is_told_under_the_same_name() -> None:
    assert UNKNOWN.diagnosis is not None
    failed = check("Its queue is short or as usual", False)
    failed = replace(failed, otherwise="its queue is long", condition="q < 9")
    sure = replace(UNDECIDED, checks=(failed,), because="It is not so.", evidence=())
    found = replace(UNKNOWN.diagnosis, causes=(sure, DNS), evidence=(), stages=())
    told = not_confirmed(found, INKS[0])
    assert told[0].startswith(f"*Unknown (2):* {cause_name(sure.runbook)} (")
    assert told[0].endswith("), and 1 that could not be checked")
    assert told[1].startswith("*Could not check (1):* ")
    (only,) = not_confirmed(found, INKS[0], unknown_above=True)
    assert only == told[1], "the verdict names it"


def test_the_terminal_lists_values_and_needs_in_columns() -> None:
    lines = [plainly(line).strip() for line in rows(CONFIRMED, NOW)]
    first = next(line for line in lines if "more than a quarter" in line)
    assert first.split("  ")[0] == "yes"
    assert first.endswith("100 %   needs 25 %")
    assert not any("more than a tenth" in line for line in lines), "the stricter claim says it"
    assert "nothing speaks against it (2 of 2 checked)" in lines


def test_the_report_keeps_its_own_words() -> None:
    causes = {one["runbook"]: one for one in as_json(CONFIRMED)["causes"]}
    assert causes["cpu-throttling"]["because"] == THROTTLING.because
