"""When a cause began, by the facts that its runbook names for that."""

from typing import Any

from tailhound.diagnosis.began import UNKNOWN, Began, began
from tailhound.rules.judge import judge
from tests.unit.diagnosis.test_onset import USUAL, at, series
from tests.unit.rules.kit import RUNBOOK, changed, findings, load
from tests.unit.rules.test_judge import facts

NAMED = "onset: cpu.throttled_ratio"
BOTH = changed((NAMED, "onset: [queue.wait_seconds, cpu.throttled_ratio]"))
STEP, EARLIER, ALL_ALONG = series(1, 1, 5, 5, 5), series(1, 5, 5, 5, 5), series(5, 5, 5, 5, 5)


def told(text: str = RUNBOOK, *, cpu: Any = STEP, queue: Any = (), usual: Any = USUAL) -> Began:
    """When it began, by what was seen of two facts."""
    runbook = load(text)
    found = facts(
        cpu={"throttled_ratio_series": cpu, "throttled_ratio_usual_series": usual},
        queue={"wait_seconds_series": queue, "wait_seconds_usual_series": usual},
    )
    return began(runbook, judge(runbook, found).checks, found)


def test_a_cause_began_with_the_fact_that_its_runbook_names() -> None:
    assert told() == Began(at(1030))
    assert told(queue=EARLIER) == Began(at(1030))


def test_of_several_facts_the_one_counts_by_which_the_cause_is_confirmed() -> None:
    assert told(BOTH, queue=EARLIER) == Began(at(1030))


def test_where_that_one_has_no_onset_another_has_it() -> None:
    assert told(BOTH, cpu=(), queue=EARLIER) == Began(at(1015))


def test_what_was_so_for_as_long_as_anybody_looked_says_so() -> None:
    began_before = told(cpu=ALL_ALONG)
    assert began_before.at is None
    assert began_before.why_not == "it has been so for all of the 60\u00a0s looked at"


def test_without_a_series_nobody_knows() -> None:
    assert told(cpu=()) == Began(None, UNKNOWN)
    assert told(cpu=STEP, usual=()) == Began(None, UNKNOWN)


def test_a_runbook_that_names_no_fact_owes_no_reason() -> None:
    assert told(changed((NAMED + "\n", ""))) == Began()


def test_each_fact_of_several_is_checked_where_it_stands() -> None:
    (one,) = findings(changed((NAMED, "onset: [cpu.throttled_ratio, cpu.lost]")))
    assert "cpu.lost has no series, so its onset can't be seen" in one.message
    (none,) = findings(changed((NAMED, "onset: []")))
    assert "onset" in str(none)
