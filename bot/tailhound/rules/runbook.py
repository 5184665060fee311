"""A runbook, checked and compiled: one cause, what confirms and refutes it, and what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tailhound.flow import Collector
from tailhound.model import Confidence, EvidenceStatus, FactValue, Part, Verdict
from tailhound.model.facts import Schema
from tailhound.model.names import capital
from tailhound.rules.expression import Condition, Facts
from tailhound.rules.inputs import Input
from tailhound.rules.looks import Looks
from tailhound.rules.places import Pairs, Place
from tailhound.rules.says import Says
from tailhound.rules.unseen import Unseen
from tailhound.rules.where import Where
from tailhound.truth import Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A named number: `source` says where it comes from."""

    name: str
    value: float
    unit: str
    source: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence that people read, and the condition that the machine reads.

    `otherwise` says what is so where the claim speaks against its cause: one that does not hold, a
    refuting one that does; "" where nobody wrote it.
    """

    sentence: str
    condition: Condition
    place: Place
    otherwise: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePlan:
    """One evidence to collect: `with_` are literal parameters, the inputs fill the rest by name.

    `when` makes it wait for a second wave: it is asked when the condition holds on the first.
    `schema` are its facts. `unchecked` names facts whose PromQL was not parsed.
    """

    name: str
    collector: Collector[Any, Any]
    schema: Schema
    place: Place
    with_: Mapping[str, Any] = field(default_factory=dict)
    when: Condition | None = None
    unchecked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Which alerts start the runbook first, and the chat command for it."""

    alerts: tuple[str, ...] = ()
    where: Mapping[str, Where] = field(default_factory=dict)
    command: str = ""

    def matches(self, alert: str, labels: Mapping[str, str]) -> bool:
        """Whether an alert starts it: the name is listed, and every label matcher fits."""
        return alert in self.alerts and all(
            where.fits(labels.get(label, "")) for label, where in self.where.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Who may approve, how many of them, and for how many seconds it counts."""

    by: str
    count: int
    expires_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most so many per value of the input `per` and window, over all runbooks."""

    at_most: int
    per: str
    window_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Do:
    """An action, by name, with literal parameters."""

    action: str
    with_: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """When to look again, at what, and what must hold before `within_seconds` are over."""

    after_seconds: float
    within_seconds: float
    collect: tuple[str, ...]
    expect: tuple[Claim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mitigation:
    """What can be done: steps to read ("suggested"), or a change that is approved ("one-click").

    `of` tells what it is done to: whose limit, which drive.
    """

    id: str
    title: str
    mode: str
    risk: str
    place: Place
    risk_of: str = ""
    helps: str = ""
    ttft: str = ""
    cost: str = ""
    complexity: str = ""
    when: str = ""
    of: Says | None = None
    while_it_lasts: bool = False
    steps: tuple[str, ...] = ()
    guard: tuple[Claim, ...] = ()
    approval: Approval | None = None
    limit: Limit | None = None
    do: Do | None = None
    verify: Verify | None = None
    undo: Do | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A case that the runbook carries. `given` holds what differs from the baseline: facts of an
    evidence, or the reason why there are none.
    """

    __test__ = False

    name: str
    given: Mapping[str, Mapping[str, FactValue] | EvidenceStatus]
    expect: Verdict
    place: Place
    offers: tuple[str, ...] | None = None
    missing: tuple[str, ...] | None = None
    says: str | None = None
    title: str | None = None
    look: str | None = None
    confidence: Confidence | None = None


HEADLINE_AT_MOST, WAS_AT_MOST, OF_AT_MOST = 74, 54, 60
"""Characters of a headline, of one in the past, and of what a mitigation is of: what the header of
a message holds behind `Cause found:` and `Resolved after 1 h 20 min. Cause:`, and a line of it
behind a title.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runbook:
    """One cause. `path` and `source` are the file's name and text. `was` is the cause in the past,
    `headline` what both are in one incident.

    `at_most` caps the confidence, `at_most_because` says why. `onset` holds the mechanism's facts
    (`cpu.throttled_ratio`), one for each way in which the cause is confirmed; the series of one are
    `<fact>_series` and `<fact>_usual_series`.
    """

    id: str
    cause: str
    path: str
    source: str
    root: Pairs
    was: str = ""
    owner: str = ""
    docs: str = ""
    summary: str = ""
    trigger: Trigger = Trigger()
    inputs: Mapping[str, Input] = field(default_factory=dict)
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    evidence: Mapping[str, EvidencePlan] = field(default_factory=dict)
    onset: tuple[str, ...] = ()
    applies: tuple[Claim, ...] = ()
    confirm: tuple[Claim, ...] = ()
    optional: tuple[Claim, ...] = ()
    refute: tuple[Claim, ...] = ()
    leads_to: tuple[str, ...] = ()
    slows: tuple[str, ...] = ()
    explained_by: tuple[str, ...] = ()
    at_most: Confidence | None = None
    at_most_because: str = ""
    headline: Says | None = None
    says: Says | None = None
    beware: Says | None = None
    look: Looks | None = None
    unseen: Unseen | None = None
    mitigations: tuple[Mitigation, ...] = ()
    active: bool = True
    baseline: Mapping[str, Mapping[str, FactValue]] = field(default_factory=dict)
    tests: tuple[Test, ...] = ()

    @property
    def values(self) -> dict[str, float]:
        """The thresholds' values, before any profile."""
        return {name: threshold.value for name, threshold in self.thresholds.items()}

    def titles(
        self, inputs: Mapping[str, Any], facts: Facts, thresholds: Mapping[str, float]
    ) -> tuple[str, str]:
        """What this cause is called in one incident that it is confirmed in, now and once it is
        over: by its headline, else as in every incident.
        """
        if self.headline is None:
            return self.cause, self.was
        told = self.headline.line(inputs, facts, thresholds, most=HEADLINE_AT_MOST)
        was = self.headline.line(inputs, facts, thresholds, most=WAS_AT_MOST, over=True)
        return capital(told) or self.cause, capital(was) or self.was

    @property
    def claims(self) -> tuple[tuple[Part, Claim], ...]:
        """All claims with the list they stand in, in the order they are judged."""
        lists: Sequence[tuple[Part, tuple[Claim, ...]]] = (
            (Part.APPLIES, self.applies),
            (Part.CONFIRM, self.confirm),
            (Part.OPTIONAL, self.optional),
            (Part.REFUTE, self.refute),
        )
        return tuple((part, claim) for part, claims in lists for claim in claims)

    @property
    def required(self) -> frozenset[str]:
        """The evidence that a verdict may need: that of applies, confirm and refute."""
        return frozenset(
            name
            for part, claim in self.claims
            if part is not Part.OPTIONAL
            for name in claim.condition.evidence
        )

    def collector(self, name: str) -> str:
        """Whose fact `evidence.fact` is; "" for a computed value, which is no fact of anybody."""
        plan = self.evidence.get(name.partition(".")[0])
        return plan.collector.name if plan and name.replace(".", "").isidentifier() else ""

    def wanted(self, name: str, facts: Facts, thresholds: Mapping[str, float]) -> Truth:
        """Whether an evidence is to be asked, given the facts of the first wave."""
        when = self.evidence[name].when
        return Truth.TRUE if when is None else when.truth(facts, thresholds)

    def mitigation(self, id: str) -> Mitigation:
        """One mitigation; KeyError without it."""
        for mitigation in self.mitigations:
            if mitigation.id == id:
                return mitigation
        raise KeyError(id)
