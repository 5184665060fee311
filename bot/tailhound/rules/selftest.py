"""The tests that a runbook carries, run on its rules alone: no backend, no clock.

Each test says what differs from the baseline. One more is added: on the baseline itself, a healthy
system, the cause must be refuted or not applicable. Evidence with a `when:` that does not hold is
not there, as in an investigation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailhound.model import EvidenceStatus, FactValue, Verdict, wording
from tailhound.rules.expression import Facts
from tailhound.rules.judge import Judged, confidence, judge
from tailhound.rules.looks import stands_out
from tailhound.rules.offers import ONE_CLICK, Known, offers
from tailhound.rules.places import Place, follow
from tailhound.rules.runbook import Runbook, Test
from tailhound.rules.unseen import HOLES
from tailhound.truth import Truth

BASELINE = "a healthy system (the baseline)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one test. `problems` is empty when it passed; `nowhere` are facts that neither
    the test nor the baseline gives.
    """

    name: str
    place: Place
    expected: str
    judged: Judged
    problems: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything came out as expected."""
        return not self.problems


def run_tests(runbook: Runbook, overrides: Mapping[str, float] | None = None) -> tuple[Result, ...]:
    """All tests of a runbook, the baseline first."""
    results = [_result(runbook, test, overrides or {}) for test in runbook.tests]
    return (_baseline(runbook, overrides or {}), *results)


def facts_of(runbook: Runbook, test: Test | None, thresholds: Mapping[str, float]) -> Facts:
    """The facts of a test (None: of the baseline)."""
    facts: dict[str, Mapping[str, FactValue]] = dict(runbook.baseline)
    for name, given in (test.given if test else {}).items():
        if isinstance(given, EvidenceStatus):
            facts.pop(name, None)
        else:
            facts[name] = {**facts.get(name, {}), **given}
    asked = {
        name: found
        for name, found in facts.items()
        if runbook.wanted(name, facts, thresholds) is Truth.TRUE
    }
    return asked


def _baseline(runbook: Runbook, overrides: Mapping[str, float]) -> Result:
    facts = facts_of(runbook, None, {**runbook.values, **overrides})
    judged = judge(runbook, facts, overrides)
    good = judged.verdict in (Verdict.REFUTED, Verdict.NOT_APPLICABLE)
    expected = "refuted or not-applicable"
    return Result(
        name=BASELINE,
        place=follow(runbook.root, ("baseline",)).place,
        expected=expected,
        judged=judged,
        problems=() if good else (f"expected {expected}, got {judged.verdict.value}",),
        nowhere=_nowhere(runbook, None, judged),
    )


def _result(runbook: Runbook, test: Test, overrides: Mapping[str, float]) -> Result:
    thresholds = {**runbook.values, **overrides}
    facts = facts_of(runbook, test, thresholds)
    judged = judge(runbook, facts, overrides)
    problems = [] if judged.verdict is test.expect else [
        f"expected {test.expect.value}, got {judged.verdict.value}"
    ]  # fmt: skip
    known = Known(facts=facts, thresholds=thresholds, mode=ONE_CLICK)
    problems += _offered(runbook, test, judged, known)
    problems += _looked(runbook, test, judged, known)
    problems += _missing(test, judged)
    problems += _said(runbook, test, facts, thresholds)
    problems += _titled(runbook, test, facts, thresholds)
    problems += _sure(runbook, test, judged)
    return Result(
        name=test.name,
        place=test.place,
        expected=test.expect.value,
        judged=judged,
        problems=tuple(problems),
        nowhere=_nowhere(runbook, test, judged),
    )


def _offered(runbook: Runbook, test: Test, judged: Judged, known: Known) -> list[str]:
    if test.offers is None:
        return []
    found = tuple(offer.id for offer in offers(runbook, judged, known) if offer.offered)
    if found == test.offers:
        return []
    return [f"expected to offer {_named(test.offers)}, offers {_named(found)}"]


def _missing(test: Test, judged: Judged) -> list[str]:
    if test.missing is None or set(test.missing) == set(judged.missing):
        return []
    return [f"expected {_named(test.missing)} to be missing, missing is {_named(judged.missing)}"]


def _said(runbook: Runbook, test: Test, facts: Facts, thresholds: Mapping[str, float]) -> list[str]:
    if test.says is None:
        return []
    text = _plain(runbook.says.render(_inputs(runbook), facts, thresholds)) if runbook.says else ""
    if _plain(test.says) in text:
        return []
    return [f"expected to say {test.says!r}, says {text!r}"]


def _titled(
    runbook: Runbook, test: Test, facts: Facts, thresholds: Mapping[str, float]
) -> list[str]:
    """A title that holds both what it is now and what it was is one that either fits."""
    if test.title is None:
        return []
    told = [_plain(text) for text in runbook.titles(_inputs(runbook), facts, thresholds) if text]
    if any(_plain(test.title) in text for text in told):
        return []
    return [f"expected the title {test.title!r}, it is {' or '.join(map(repr, told))}"]


def _inputs(runbook: Runbook) -> dict[str, Any]:
    """Inputs that are called as they are named."""
    return {name: (name,) if told.is_set else name for name, told in runbook.inputs.items()}


def _looked(runbook: Runbook, test: Test, judged: Judged, known: Known) -> list[str]:
    """What stands out where it is not confirmed, or can be seen by hand: "" expects nothing."""
    if test.look is None:
        return []
    look = None
    if runbook.look is not None and stands_out(judged.verdict, judged.checks):
        look = runbook.look.render(_inputs(runbook), known.facts, known.thresholds)
    if look is None and runbook.unseen is not None and judged.verdict is Verdict.UNKNOWN:
        look = runbook.unseen.render(known.facts, {hole: hole for hole in HOLES})
    text = _plain(look.text) if look else ""
    if _plain(test.look) in text and bool(test.look) is bool(text):
        return []
    return [f"expected to look at {test.look!r}, looks at {text!r}"]


def _plain(text: str) -> str:
    return " ".join(text.replace(wording.NBSP, " ").split())


def _sure(runbook: Runbook, test: Test, judged: Judged) -> list[str]:
    if test.confidence is None or judged.verdict is not Verdict.CONFIRMED:
        return []
    found, why = confidence(runbook, judged)
    if found is test.confidence:
        return []
    expected = f"expected {test.confidence.value} confidence, got {found.value}"
    return [f"{expected} ({why})" if why else expected]


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"


def _nowhere(runbook: Runbook, test: Test | None, judged: Judged) -> tuple[str, ...]:
    """Missing facts that neither `given` nor `baseline` mentions: most likely forgotten."""
    found = []
    for full in judged.missing:
        name, _, fact = full.partition(".")
        given = test.given.get(name, {}) if test else {}
        gone = isinstance(given, EvidenceStatus) or fact.partition(".")[0] in given
        if not gone and fact.partition(".")[0] not in runbook.baseline.get(name, {}):
            found.append(full)
    return tuple(found)
