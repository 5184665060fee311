"""The rows of a thread's evidence: what a claim needs and saw, whole or not at all."""

from dataclasses import replace

import pytest

from tailhound.model import Bound, Cause, Check, Part, Seen, Verdict, needs
from tailhound.slack import thread
from tailhound.truth import Truth
from tests.samples.incidents import UNKNOWN
from tests.samples.story import NOW

EFFECTS = "prometheus.control_plane_effects"


def bound(fact: str, comparison: str, value: float, unit: str, alternative: int = 0) -> Bound:
    return Bound(fact=fact, comparison=comparison, value=value, unit=unit, alternative=alternative)


LATE = bound("effects.own_late_nodes_count", ">", 0, "count", 1)
UNREADY = bound("effects.unready_pods_count", ">", 0, "count", 2)
STAYS = bound("effects.leaving_pods_count", "==", 0, "count", 2)
RARE = bound("cpu.throttled_ratio", "<", 0.05, "ratio")
HELD_UP = bound("agent.held_up_count", "==", 0, "count", 1)


def claim(part: Part, *bounds: Bound, seen: tuple[Seen, ...] = ()) -> Check:
    return Check(claim="c", condition="x", part=part, truth=Truth.UNKNOWN, seen=seen, needs=bounds)


@pytest.mark.parametrize(
    ("part", "bounds", "text"),
    [
        (Part.REFUTE, (RARE, HELD_UP), "refuted under 5 %"),
        (Part.REFUTE, (HELD_UP,), "refuted at none"),
        (Part.REFUTE, (LATE, HELD_UP), ""),
        (Part.CONFIRM, (UNREADY, STAYS), ""),
        (Part.CONFIRM, (LATE, UNREADY), "one"),
        (Part.CONFIRM, (LATE,), "one"),
    ],
)
def test_a_need_without_a_number_is_left_out_where_nobody_could_tell_of_what_it_is(
    part: Part, bounds: tuple[Bound, ...], text: str
) -> None:
    names = [one.fact for one in bounds]
    assert needs.bounds(claim(part, *bounds), names).replace("\u00a0", " ") == text


def test_only_what_is_needed_of_a_value_that_is_told_stands_beside_it() -> None:
    check = claim(Part.REFUTE, RARE, HELD_UP)
    assert needs.bounds(check, ["agent.held_up_count"]) == "refuted at none"
    assert needs.bounds(check, []) == ""


def test_what_was_seen_is_told_in_whole_values() -> None:
    seen = (
        Seen(name="effects.unready_pods_count", value=2, unit="count", collector=EFFECTS),
        Seen(name="effects.leaving_pods_count", value=0, unit="count", collector=EFFECTS),
    )
    check = claim(Part.OPTIONAL, LATE, UNREADY, STAYS, seen=seen)
    cause = Cause(runbook="a", title="t", verdict=Verdict.UNKNOWN, because="", checks=(check,))
    assert UNKNOWN.diagnosis is not None
    incident = replace(UNKNOWN, diagnosis=replace(UNKNOWN.diagnosis, causes=(cause,)))
    text = str([one.blocks for one in thread.evidence(incident, NOW)]).replace("\\xa0", " ")
    assert "2 of its pods not ready, nothing else is known" in text
    assert "none of its" not in text
