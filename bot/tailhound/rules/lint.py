"""Small checks of a runbook that loads: what a reviewer would say."""

from collections.abc import Callable, Iterator

from tailhound.errors import Finding
from tailhound.rules.places import Place, follow
from tailhound.rules.runbook import Claim, Runbook
from tailhound.rules.selftest import facts_of

Check = Callable[[Runbook], Iterator[Finding]]
_TRADE_OFFS = ("helps", "ttft", "cost", "complexity")
LOW, HIGH = "low", "high"


def lint(runbook: Runbook) -> tuple[Finding, ...]:
    """All findings, in file order. Severity "error" is a mistake, "warning" an omission."""
    found = {finding for check in CHECKS for finding in check(runbook)}
    return tuple(sorted(found, key=lambda f: (f.line, f.column, f.message)))


def _top(runbook: Runbook, key: str) -> Place:
    node = runbook.root.key(key)
    return node.place if node else Place(runbook.path, 1, 1)


def _names_an_owner(runbook: Runbook) -> Iterator[Finding]:
    for key, why in (
        ("owner", "say who keeps it right"),
        ("docs", "say where to read more"),
        ("summary", "say how the cause works, in a few sentences"),
        ("says", "say what people read when it is confirmed"),
    ):
        if not getattr(runbook, key):
            yield _top(runbook, "runbook").finding(f"no `{key}:`; {why}", key, "warning")


def _can_be_triggered(runbook: Runbook) -> Iterator[Finding]:
    if not runbook.trigger.alerts:
        message = "no alert starts it first; list alert names in `trigger.alerts:`"
        yield _top(runbook, "trigger").finding(message, "trigger", "warning")


def _has_an_onset(runbook: Runbook) -> Iterator[Finding]:
    if not runbook.onset:
        message = "no `onset:`; without the mechanism's series its confidence is at most medium"
        yield _top(runbook, "runbook").finding(message, "onset", "warning")


def _can_be_refuted(runbook: Runbook) -> Iterator[Finding]:
    if not runbook.refute and not runbook.applies:
        message = "nothing refutes it; add `refute:` lines, so that it can be ruled out"
        yield _top(runbook, "confirm").finding(message, "refute", "error")


def _says_why_it_does_not_apply(runbook: Runbook) -> Iterator[Finding]:
    for claim in runbook.applies:
        if not claim.otherwise:
            message = "say in `otherwise:` what is so when this does not hold; people read it then"
            yield claim.place.finding(message, "otherwise", "warning")


def _says_what_is_so_instead(runbook: Runbook) -> Iterator[Finding]:
    """A claim with an `or` that does not hold is read in two ways, or needs four readings."""
    for claim in runbook.confirm:
        if " or " in claim.sentence and not claim.otherwise:
            message = "say in `otherwise:` what is so when neither holds; people read it then"
            yield claim.place.finding(message, "otherwise", "warning")


def _can_do_something(runbook: Runbook) -> Iterator[Finding]:
    if not runbook.mitigations:
        message = "no `mitigations:`; say at least what people can do by hand"
        yield _top(runbook, "runbook").finding(message, "mitigations", "warning")


def _names_its_numbers(runbook: Runbook) -> Iterator[Finding]:
    for claim in claims(runbook):
        source = claim.condition.source
        for bare in claim.condition.bare:
            place = source.at(bare.offset, bare.length)
            yield place.finding(bare.message, "bare-number", "error")


def _checks_its_queries(runbook: Runbook) -> Iterator[Finding]:
    for plan in runbook.evidence.values():
        for fact in plan.unchecked:
            place = follow(runbook.root, ("evidence", plan.name, "promql", fact, "promql")).place
            message = f"{plan.name}.{fact}: this query is not checked when the runbook loads"
            yield place.finding(message, "unchecked", "warning")


def _uses_what_it_names(runbook: Runbook) -> Iterator[Finding]:
    conditions = [claim.condition for claim in claims(runbook)]
    conditions += [plan.when for plan in runbook.evidence.values() if plan.when]
    whose = (one.of for one in runbook.mitigations)
    texts = (runbook.headline, runbook.says, runbook.beware, runbook.look, *whose)
    told = frozenset[str]().union(*(one.names for one in texts if one))
    thresholds = told.union(*(condition.used for condition in conditions))
    for name, threshold in runbook.thresholds.items():
        if name not in thresholds:
            message = f"the threshold {name!r} is used nowhere"
            yield threshold.place.finding(message, "unused", "warning")
    asked = {name for condition in conditions for name in condition.evidence}
    for name, plan in runbook.evidence.items():
        of = {fact.partition(".")[0] for fact in runbook.onset}
        if name not in asked | of and name not in told:
            message = f"the evidence {name!r} is used nowhere"
            yield plan.place.finding(message, "unused", "warning")


def _weighs_its_changes(runbook: Runbook) -> Iterator[Finding]:
    for mitigation in runbook.mitigations:
        lacking = [key for key in _TRADE_OFFS if not getattr(mitigation, key)]
        if lacking:
            what = ", ".join(f"`{key}:`" for key in lacking)
            message = f"{mitigation.id}: no {what}; people choose by these"
            yield mitigation.place.finding(message, "trade-offs", "warning")
        if mitigation.risk != LOW and not mitigation.risk_of:
            message = f"{mitigation.id}: {mitigation.risk} risk of what? Say it with `risk_of:`"
            yield mitigation.place.finding(message, "trade-offs", "warning")
        approval = mitigation.approval
        if mitigation.risk == HIGH and approval is not None and approval.count < 2:
            message = f"{mitigation.id}: a change of high risk needs two people: `count: 2`"
            yield mitigation.place.finding(message, "approval", "error")
        if approval is not None and mitigation.limit is None:
            message = f"{mitigation.id}: no `limit:`; nothing stops it from being done again"
            yield mitigation.place.finding(message, "limit", "warning")
        if approval is not None and not mitigation.guard:
            message = f"{mitigation.id}: no `guard:`; nothing is looked at right before the change"
            yield mitigation.place.finding(message, "guard", "warning")


def _is_tested(runbook: Runbook) -> Iterator[Finding]:
    if not runbook.baseline:
        message = "no `baseline:`; say what a healthy system looks like"
        yield _top(runbook, "runbook").finding(message, "baseline", "error")
    expected = {test.expect.value for test in runbook.tests}
    for verdict in ("confirmed", "refuted", "unknown"):
        if verdict not in expected:
            message = f"no test expects {verdict!r}"
            yield _top(runbook, "tests").finding(message, "tests", "error")


def _says_it_once(runbook: Runbook) -> Iterator[Finding]:
    seen: set[str] = set()
    for _, claim in runbook.claims:
        if claim.sentence in seen:
            yield claim.place.finding("a second claim with this sentence", "claim", "error")
        seen.add(claim.sentence)


def _is_tested_on_both_sides(runbook: Runbook) -> Iterator[Finding]:
    """Some test (or the baseline) must see a value under, and one over each threshold."""
    sides = _sides(runbook)
    for name, threshold in runbook.thresholds.items():
        lacking = {"under", "over"} - sides[name] if name in sides else set()
        for side in sorted(lacking):
            message = f"no test looks at a value {side} {name!r} ({threshold.value:g})"
            yield threshold.place.finding(message, "both-sides", "warning")


def _sides(runbook: Runbook) -> dict[str, set[str]]:
    """Per threshold of a claim: whether its facts were seen "under" and "over" it."""
    found: dict[str, set[str]] = {}
    thresholds = runbook.values
    for test in (None, *runbook.tests):
        facts = facts_of(runbook, test, thresholds)
        for claim in judged_claims(runbook):
            answer = claim.condition.answer(facts, thresholds, whole=True)
            seen = {item.name: item.value for item in answer.seen}
            for limit, bound in zip(claim.condition.limits, answer.needs, strict=True):
                value = seen.get(limit.fact)
                if limit.threshold:
                    side = found.setdefault(limit.threshold, set())
                    if isinstance(value, int | float):
                        side.add("under" if value < bound.value else "over")
    return found


def judged_claims(runbook: Runbook) -> Iterator[Claim]:
    """The claims that the tests of a runbook can reach: all but those of `verify:`."""
    yield from (claim for _, claim in runbook.claims)
    yield from (claim for mitigation in runbook.mitigations for claim in mitigation.guard)


def claims(runbook: Runbook) -> Iterator[Claim]:
    """Every claim of the file."""
    yield from judged_claims(runbook)
    for mitigation in runbook.mitigations:
        if mitigation.verify:
            yield from mitigation.verify.expect


CHECKS: tuple[Check, ...] = (
    _names_an_owner,
    _can_be_triggered,
    _has_an_onset,
    _can_be_refuted,
    _says_why_it_does_not_apply,
    _says_what_is_so_instead,
    _can_do_something,
    _names_its_numbers,
    _checks_its_queries,
    _uses_what_it_names,
    _weighs_its_changes,
    _is_tested,
    _says_it_once,
    _is_tested_on_both_sides,
)
