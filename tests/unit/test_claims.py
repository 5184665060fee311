"""A claim in words: the same on every surface."""

from dataclasses import replace

import pytest

from tailhound.cli.text import rows
from tailhound.diagnosis.report import as_json
from tailhound.model import Bound, Check, Part, Seen, claims, telling
from tailhound.model.names import backend_name, capital, cause_name, listed, plural, small
from tailhound.slack.blocks import message
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
    assert plainly(claims.needs(needing(*bounds))) == text


def test_a_refuting_claim_says_what_would_refute() -> None:
    under = needing(bound(5, comparison="<"), part=Part.REFUTE)
    assert plainly(claims.needs(under)) == "refuted under 5 s"
    assert plainly(claims.needs(needing(bound(5), part=Part.REFUTE))) == "refuted from 5 s"


def test_each_value_stands_beside_what_is_needed_of_it() -> None:
    seen = (
        Seen(name="kv.usage", value=0.99, unit="ratio", usual=0.61),
        Seen(name="kv.waiting", value=41, unit="count", usual=3),
        Seen(name="kv.pod", value="llm-0"),
        Seen(name="kv.usage", value=0.97, unit="ratio", of="llm-1"),
    )
    both = needing(bound(5, fact="kv.usage"), seen=seen)
    assert plainly(claims.told(both, 9)) == (
        "usage 99 % (needs 5 s), waiting 41, usually 3 (x14), pod llm-0, usage 97 % on llm-1"
    )
    assert plainly(claims.told(both, 1)) == "usage 99 % (needs 5 s)"
    assert plainly(claims.told(both, 1, with_needs=False)) == "usage 99 %"
    assert [value.figure for value in claims.values(both, 9)] == [True, True, False, True]


def test_what_nobody_measured_is_said_with_what_it_would_have_to_be() -> None:
    open_ = check("Cool enough", None, needs=("<", 0.7))
    assert plainly(claims.told(open_)) == "not measured (needs under 70 %)"
    assert claims.sentence(open_) == "not measured"
    half = replace(check("Hot", 0.9, needs=(">", 0.7)), missing=("b.c",))
    assert plainly(claims.told(half)) == "90 % (needs 70 %), the rest not measured"


def test_a_yes_is_told_beside_its_claim_and_left_out_of_a_sentence() -> None:
    yes = check("No limit is set", value=True, unit="none")
    assert claims.told(yes) == "yes"
    assert claims.sentence(yes) == ""
    assert (claims.mark(yes), claims.says(yes)) == ("✓", "holds")


def test_what_speaks_against_a_cause() -> None:
    assert claims.against(THROTTLING.checks).sentence() == (
        "Nothing speaks against it (2 of 2 checked)."
    )
    half = claims.against(UNDECIDED.checks)
    assert half.sentence(half.open) == (
        "Nothing speaks against it (1 of 2 checked; As fast as usual: not measured)."
    )
    refuting = [replace(one, truth=Truth.TRUE) for one in THROTTLING.checks]
    assert claims.against(refuting).sentence() == ""
    assert len(claims.against(refuting).holding) == 2
    dark = [replace(one, truth=Truth.UNKNOWN) for one in THROTTLING.checks]
    assert claims.against(dark).sentence() == (
        "Whether something speaks against it is not known (0 of 2 checked)."
    )
    assert claims.against(()).sentence() == ""


def test_the_claim_that_ruled_a_cause_out() -> None:
    assert claims.deciding(OUT[0]) == OUT[0].checks[0]
    failed = replace(THROTTLING.checks[0], truth=Truth.FALSE)
    assert claims.deciding(replace(THROTTLING, checks=(failed,))) == failed
    assert claims.deciding(DNS) is None


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


def test_the_terminal_lists_values_and_needs_in_columns() -> None:
    lines = [plainly(line).strip() for line in rows(CONFIRMED, NOW)]
    first = next(line for line in lines if "more than a tenth" in line)
    assert first.split("  ")[0] == "yes"
    assert first.endswith("100 %   needs 10 %")
    assert "nothing speaks against it (2 of 2 checked)" in lines


def test_the_report_keeps_its_own_words() -> None:
    causes = {one["runbook"]: one for one in as_json(CONFIRMED)["causes"]}
    assert causes["cpu-throttling"]["because"] == THROTTLING.because
