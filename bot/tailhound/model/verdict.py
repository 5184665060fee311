"""What the rules say: checks, the verdict on one cause, and the diagnosis over all of them."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from tailhound.model.evidence import Evidence, FactValue
from tailhound.model.impossible import Impossible
from tailhound.truth import Truth


class Verdict(Enum):
    """One runbook's answer about its own cause."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not-applicable"


class Confidence(Enum):
    """How sure a confirmation is; never a number."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Part(Enum):
    """Which list of the runbook a claim stands in."""

    APPLIES = "applies"
    CONFIRM = "confirm"
    OPTIONAL = "optional"
    REFUTE = "refute"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A value that a condition looked at: `name` as written (`cpu.throttled_ratio`), its unit.

    `usual` is the usual value of the same fact where the evidence has it. `of` names the record of
    a set that decided (`llm-0`), "" for a plain fact. `collector` is whose fact it is, which tells
    what the name means; "" where it is of no single one.
    """

    name: str
    value: FactValue
    unit: str = "none"
    usual: float | None = None
    of: str = ""
    collector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One claim of a runbook, answered.

    `needs` are the bounds as (comparison, number, unit), to write "needs 25 %": they come from the
    named thresholds of the condition. `missing` names the facts that would decide. `taken` is what
    the verdict goes by where nothing of it was measured and the condition says what then holds; the
    claim itself is unknown. `otherwise` is how it is where the claim speaks against its cause: one
    that does not hold, a refuting one that does; "" where the runbook has no words for that.
    """

    claim: str
    condition: str
    part: Part
    truth: Truth
    seen: tuple[Seen, ...] = ()
    missing: tuple[str, ...] = ()
    needs: tuple["Bound", ...] = ()
    taken: Truth | None = None
    otherwise: str = ""

    @property
    def counts(self) -> Truth:
        """What the verdict goes by."""
        return self.truth if self.taken is None else self.taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A bound that a condition compares with: `>`, 0.25, "ratio".

    `alternative` is 0 for what must hold in any case; bounds with different numbers are
    alternatives (`or`), those with the same one belong together.
    """

    fact: str
    comparison: str
    value: float
    unit: str
    alternative: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A mitigation as this incident gets it: offered, or the reason why not.

    `of` names what it is done to (`security/agent-x7k2p`), "" where that is not known. `risk_of` is
    what may go wrong, "" where the runbook does not say. `while_it_lasts`: it makes no sense once
    the incident is over.
    """

    id: str
    title: str
    mode: str  # "suggested" | "one-click"
    offered: bool
    why_not: str | None
    risk: str
    risk_of: str = ""
    helps: str = ""
    ttft: str = ""
    cost: str = ""
    complexity: str = ""
    when: str = ""
    steps: tuple[str, ...] = ()
    while_it_lasts: bool = False
    of: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """What was measured, and what to look at, without a full stop; `command` shows that, "" where
    there is none, or a name in it is not known. `then` is what to look for beside the command.
    """

    measured: str
    at: str
    command: str = ""
    then: str = ""

    @classmethod
    def beside(cls, command: str, measured: str, at: str) -> "Look":
        """One whose command, where there is one, shows no more than where to look."""
        return cls(measured, at, command, then=at if command else "")

    @property
    def text(self) -> str:
        """`2 of 3 pods are not ready: kubectl -n web describe pod api-1`."""
        then = f", {self.then}" if self.command and self.then else ""
        return f"{self.measured}: {self.command or self.at}{then}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The verdict on one cause, with everything that led to it.

    `because` is one sentence. `says` is the runbook's paragraph, `beware` what must not be done
    meanwhile ("" for nothing), both only when confirmed. `onset` is None when unknown. `evidence`
    names the evidence it asked for. `slows` names the stages of a request that it can slow.
    `was` is the title once it is over, "" where the runbook has none. `look` is what stands out of
    its evidence and what to look at, where it is not confirmed and its first claim holds; `unseen`
    what a person can look at, where it is unknown because what decides was not measured.
    `triggered`: the alert is one of those that its runbook is for.
    """

    runbook: str
    title: str
    verdict: Verdict
    because: str
    confidence: Confidence | None = None
    confidence_because: str = ""
    says: str = ""
    beware: str = ""
    onset: datetime | None = None
    checks: tuple[Check, ...] = ()
    mitigations: tuple[Offer, ...] = ()
    leads_to: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    owner: str = ""
    slows: tuple[str, ...] = ()
    was: str = ""
    look: Look | None = None
    unseen: Look | None = None
    triggered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The mean seconds of one stage of a request, and its usual mean; None = not measured.

    `remainder` says of what is only left over what it is: "first token less queue and prefill".
    """

    stage: str
    seconds: float | None
    usual_seconds: float | None
    remainder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Also:
    """What left its usual band beside the symptom; its name without how that was measured."""

    name: str
    value: float
    unit: str
    usual: float | None
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """The latency or error series that left its usual band and leads: the one that the alert names,
    else the one that grew most.

    `name` is what people read ("inter-token p99"), `unit` as in `model.facts`. `at_least` is true
    for a quantile that is clipped by its top bucket. `usual_from` names the windows that made the
    usual value ("1 h", "1 d", "7 d"). `slo` is the configured objective, None without one.
    `thin_requests` is set for a lower quantile that stands in for p99: so few requests there were.
    `history_seconds` is set where there is no usual value because the series is so young.
    `half_grown` is when half of the growth had come, of whatever symptom grew last: a trigger may
    slow a little at once, and its mechanism much more later. `series` names what it was read from,
    `also` is what left its band beside it, `unmeasured` says of what the alert names that nobody
    measured it ("inter-token: not measured"). `grew_seconds` is by how much the mean time grew that
    its stages are parts of; None when unknown.
    """

    name: str
    value: float
    unit: str
    usual: float | None
    usual_from: tuple[str, ...] = ()
    slo: float | None = None
    onset: datetime | None = None
    at_least: bool = False
    half_grown: datetime | None = None
    thin_requests: float | None = None
    history_seconds: float | None = None
    series: str = ""
    also: tuple[Also, ...] = ()
    unmeasured: str = ""
    grew_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Something that changed before the symptom began: context, and no verdict.

    `kind` is "rollout" | "workload" | "scaling" | "configmap" | "node". `what` is one sentence, its
    words from outside. `by` is the manager that Kubernetes names, "" for none. `at` is None for
    what still holds, since nobody knows when: a node that is cordoned.
    """

    at: datetime | None
    kind: str
    what: str
    by: str = ""


class Outlook(Enum):
    """What the headline says."""

    CAUSE_FOUND = "cause found"
    TWO_FIT = "two causes fit"
    NONE_CONFIRMED = "no cause confirmed"
    BLIND = "cannot see"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All verdicts of one investigation, ranked.

    `chain` runs from trigger to effect and holds `primary`. `causes` has one entry per runbook of
    the compiled set, confirmed first, then unknown, refuted, not applicable. `blind` names the
    backend that does not answer when the outlook is BLIND. `scope` is "1 of 3 pods", `shape` is
    "step" | "ramp" | "comb" | "", `load` is "flat" | "up" | "down" | "". `changed` is what is known
    to have changed within the hour before the symptom, in the order of time. `slow_pods` and
    `slow_nodes` are where the symptom is, by name; empty when nobody can tell. `workload` is what
    owns the incident's pods, by its kind (`statefulset/gpu`), "" where that is not known.
    `impossible` is a name of the alert that nothing can have.
    """

    outlook: Outlook
    primary: str | None
    chain: tuple[str, ...]
    confidence: Confidence | None
    causes: tuple[Cause, ...]
    evidence: tuple[Evidence, ...]
    stages: tuple[Stage, ...] = ()
    symptom: Symptom | None = None
    scope: str = ""
    shape: str = ""
    load: str = ""
    blind: str = ""
    decided_at: datetime | None = None
    at_deadline: bool = False
    took_seconds: float = 0.0
    changed: tuple[Changed, ...] = ()
    slow_pods: tuple[str, ...] = ()
    slow_nodes: tuple[str, ...] = ()
    workload: str = ""
    impossible: Impossible | None = None

    @property
    def mark(self) -> str:
        """Eight letters that stand for the headline: another one, another mark."""
        said = " ".join((self.outlook.value, *(cause.runbook for cause in self.named)))
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:8]

    @property
    def named(self) -> tuple[Cause, ...]:
        """The causes that the headline names: the primary one, or the two that fit."""
        found = tuple(cause for cause in self.causes if cause.verdict is Verdict.CONFIRMED)
        if self.outlook is Outlook.TWO_FIT:
            return found[:2]
        return tuple(cause for cause in found if cause.runbook == self.primary)

    def cause(self, runbook: str) -> Cause:
        """The verdict of one runbook; KeyError without it."""
        for cause in self.causes:
            if cause.runbook == runbook:
                return cause
        raise KeyError(runbook)
