"""What changed before the symptom began."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.diagnosis.before import CHANGES, TOLD_AT_MOST, beginning_of, changed_before
from tailhound.model import Evidence, EvidenceStatus
from tests.samples.causes import THREADS, THROTTLING

ONSET = datetime(2026, 9, 1, 10, 0, tzinfo=UTC)


def row(minutes: float, what: str = "rollout of chat", **more: Any) -> dict[str, Any]:
    at = (ONSET + timedelta(minutes=minutes)).timestamp()
    return {"at": at, "kind": "rollout", "what": what, "by": None, **more}


def evidence(*rows: Any, collector: str = CHANGES) -> list[Evidence]:
    return [
        Evidence(
            name="recent_changes",
            collector=collector,
            status=EvidenceStatus.COLLECTED,
            facts={"changes": rows},
        )
    ]


def told(*rows: Any) -> list[str]:
    return [one.what for one in changed_before(evidence(*rows), ONSET)]


def test_what_changed_within_the_hour_before_is_told_in_the_order_of_time() -> None:
    assert told(row(-1, "later"), row(-59, "earlier")) == ["earlier", "later"]


def test_what_changed_long_before_or_after_the_onset_is_not_told() -> None:
    assert told(row(-61, "long ago"), row(1, "after"), row(0, "at once")) == ["at once"]


def test_who_did_it_is_told_where_it_is_known() -> None:
    by = row(-5, by="argocd-controller")
    (found,) = changed_before(evidence(by), ONSET)
    assert (found.by, found.kind, found.at) == (
        "argocd-controller",
        "rollout",
        ONSET - timedelta(minutes=5),
    )
    (nobody,) = changed_before(evidence(row(-5)), ONSET)
    assert nobody.by == ""


@pytest.mark.parametrize(("minute", "is_told"), [(-7, True), (-6, True), (-5, True), (-4, False)])
def test_what_changed_after_the_first_cause_began_came_of_it(minute: int, is_told: bool) -> None:
    began = ONSET - timedelta(minutes=6)
    found = changed_before(evidence(row(minute)), ONSET, began)
    assert bool(found) is is_told


def test_a_chain_begins_with_its_first_link_that_has_an_onset() -> None:
    first, late = (
        replace(cause, onset=at)
        for cause, at in zip(
            (THROTTLING, THREADS), (ONSET - timedelta(minutes=3), ONSET), strict=True
        )
    )
    chain = (late.runbook, first.runbook)
    assert beginning_of(chain, (late, first)) == first.onset
    assert beginning_of(chain[:1], (late, first)) == ONSET
    assert beginning_of(chain, (replace(first, onset=None), replace(late, onset=None))) is None
    assert beginning_of((), (late, first)) is None


def test_only_the_nearest_are_told() -> None:
    found = told(*(row(-minute, f"{minute}") for minute in range(1, 30)))
    assert found == [str(minute) for minute in range(TOLD_AT_MOST, 0, -1)]


def test_without_an_onset_nothing_came_before_it() -> None:
    assert changed_before(evidence(row(-5)), None) == ()


def test_other_evidence_is_not_read() -> None:
    assert changed_before(evidence(row(-5), collector="kubernetes.rollout"), ONSET) == ()
    assert changed_before([], ONSET) == ()


VALUE = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9)


@given(st.lists(st.dictionaries(st.sampled_from(["at", "kind", "what", "by"]), VALUE) | VALUE))
def test_rows_that_hold_anything_are_no_error(rows: list[Any]) -> None:
    for one in changed_before(evidence(*rows), ONSET):
        assert one.at is None or ONSET - timedelta(hours=1) <= one.at <= ONSET


def test_what_still_holds_since_nobody_knows_when_is_told_last() -> None:
    cordoned = row(0, "node gpu-1 is cordoned", at=None)
    assert told(cordoned, row(-1, "rollout")) == ["rollout", "node gpu-1 is cordoned"]
    assert changed_before(evidence(cordoned), ONSET)[0].at is None
