"""Evidence -> diagnosis: each runbook judges for itself, then all of them are ranked. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from tailhound.diagnosis.before import beginning_of, changed_before
from tailhound.diagnosis.began import began
from tailhound.diagnosis.leading import led, unmeasured
from tailhound.diagnosis.named import NOTHING, Named
from tailhound.diagnosis.plan import Facts, Plan, inputs_of
from tailhound.diagnosis.rank import Ranked, rank
from tailhound.diagnosis.resolve import Resolved
from tailhound.diagnosis.resolved import blamed
from tailhound.diagnosis.scope import places_of, scope_of, where_of
from tailhound.diagnosis.symptom import (
    Rows,
    first_onset,
    grew_seconds,
    moved,
    shape_and_load,
    stages_of,
    symptom_of,
)
from tailhound.model import (
    Cause,
    Check,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Look,
    Outlook,
    Stage,
    Symptom,
    Verdict,
)
from tailhound.model.impossible import impossible
from tailhound.model.symptomless import LATENCY, NOTHING_KNOWN, symptomless
from tailhound.rules.judge import Judged, confidence, judge
from tailhound.rules.loading import Site
from tailhound.rules.looks import stands_out
from tailhound.rules.offers import Known, offers
from tailhound.rules.runbook import Runbook
from tailhound.rules.says import Says

Given: TypeAlias = tuple[Mapping[str, Any], Facts, Mapping[str, float]]
"""What a template is filled with: inputs, facts, thresholds."""

_NO_ANSWER = (
    EvidenceStatus.TIMEOUT,
    EvidenceStatus.UNREACHABLE,
    EvidenceStatus.FORBIDDEN,
    EvidenceStatus.SKIPPED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """When and how the verdict was reached, for people. `mode` decides about buttons.

    `since` is when the alert says that it began: what changed is looked for before that where no
    onset is known.
    """

    decided_at: datetime
    at_deadline: bool
    took_seconds: float
    mode: str
    since: datetime | None = None


def values_for(runbook: Runbook, site: Site) -> dict[str, float]:
    """A runbook's thresholds as they hold here."""
    return {**runbook.values, **site.thresholds.get(runbook.id, {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is judged: the runbooks with their plan, on what subject, by which site's numbers.

    `named` is what the alert is about: that symptom leads.
    """

    runbooks: tuple[Runbook, ...]
    plan: Plan
    resolved: Resolved
    site: Site
    named: Named = NOTHING


def diagnose(case: Case, evidence: Sequence[Evidence], when: Circumstances) -> Diagnosis:
    """The verdict of every runbook on this evidence, ranked."""
    rows = led(moved(evidence), case.named)
    symptom = _symptom(case, rows, evidence)
    places = places_of(rows, case.resolved)
    around = _Around(
        no_symptom="" if symptom else symptomless(evidence).reason,
        mode=when.mode,
        serves=any(
            item.collector == LATENCY and bool(item.facts.get("symptoms")) for item in evidence
        ),
        first_token_leads=bool(rows) and rows[0].get("symptom") == "ttft",
        names=where_of(places, case.resolved),
    )
    causes = [
        _cause(case, runbook, case.plan.facts_of(runbook, evidence), around)
        for runbook in case.runbooks
    ]
    ranked = rank(causes, {book.id: book.explained_by for book in case.runbooks}, symptom)
    shape, load = shape_and_load(evidence, rows, symptom)
    outlook, blind = _outlook(ranked, evidence)
    return Diagnosis(
        outlook=outlook,
        primary=ranked.primary,
        chain=ranked.chain,
        confidence=ranked.confidence,
        causes=ranked.causes,
        evidence=tuple(evidence),
        stages=stages_of(evidence),
        symptom=symptom,
        scope=scope_of(rows, evidence, case.resolved),
        shape=shape,
        load=load,
        blind=blind,
        decided_at=when.decided_at,
        at_deadline=when.at_deadline,
        took_seconds=when.took_seconds,
        changed=changed_before(
            evidence, first_onset(rows) or when.since, beginning_of(ranked.chain, ranked.causes)
        ),
        slow_pods=places.pods,
        slow_nodes=places.nodes,
        workload=case.resolved.owner,
        impossible=impossible(_names(case.resolved)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """What can be told before the verdict: what is measured, and which runbooks are refuted."""

    symptom: Symptom | None
    stages: tuple[Stage, ...]
    scope: str
    ruled_out: tuple[str, ...]


def sketch(case: Case, evidence: Sequence[Evidence]) -> Sketch:
    """The facts and exclusions of the evidence so far; no cause is named before all is weighed.

    What is ruled out here can become unknown when more comes in, and never confirmed.
    """
    rows = led(moved(evidence), case.named)
    refuted = (
        runbook.id
        for runbook in case.runbooks
        if judge(
            runbook, case.plan.facts_of(runbook, evidence), values_for(runbook, case.site)
        ).verdict
        is Verdict.REFUTED
    )
    return Sketch(
        symptom=_symptom(case, rows, evidence),
        stages=stages_of(evidence),
        scope=scope_of(rows, evidence, case.resolved),
        ruled_out=tuple(refuted),
    )


def _symptom(case: Case, rows: Rows, evidence: Sequence[Evidence]) -> Symptom | None:
    found = symptom_of(rows, case.site.slo, case.resolved.usual)
    if found is None:
        return None
    missed = unmeasured(evidence, case.named)
    return replace(found, unmeasured=missed, grew_seconds=grew_seconds(rows, evidence))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """What is so for each cause: why there is no symptom, the mode, whether latencies are known and
    the first token is what leads, and where to look at it by hand.
    """

    no_symptom: str
    mode: str
    serves: bool
    first_token_leads: bool
    names: Mapping[str, str]


def _cause(case: Case, runbook: Runbook, facts: Facts, around: _Around) -> Cause:
    thresholds, labels = values_for(runbook, case.site), case.resolved.labels
    judged = judge(runbook, facts, thresholds)
    onset = began(runbook, judged.checks, facts)
    sure, why = confidence(
        runbook,
        judged,
        no_onset=onset.why_not,
        no_symptom=around.no_symptom,
        why_open=lambda check: _why_open(case, runbook, check),
    )
    confirmed = judged.verdict is Verdict.CONFIRMED
    inputs = inputs_of(runbook, case.resolved)
    known = Known(
        facts=facts,
        thresholds=thresholds,
        mode=around.mode,
        inputs=inputs,
        serves=around.serves,
        first_token_leads=around.first_token_leads,
    )
    told = (runbook.cause, runbook.was)
    title, was = runbook.titles(inputs, facts, thresholds) if confirmed else told

    def _written(paragraph: Says | None) -> str:
        return paragraph.render(inputs, facts, thresholds) if paragraph else ""

    return Cause(
        runbook=runbook.id,
        title=title,
        was=was,
        look=_look(runbook, judged, (inputs, facts, thresholds)),
        unseen=_unseen(runbook, judged, facts, around.names),
        triggered=runbook.trigger.matches(labels.get("alertname", ""), labels),
        verdict=judged.verdict,
        because=judged.because,
        confidence=sure if confirmed else None,
        confidence_because=why if confirmed else "",
        says=_written(runbook.says) if confirmed else "",
        beware=_written(runbook.beware) if confirmed else "",
        onset=onset.at,
        checks=judged.checks,
        mitigations=offers(runbook, judged, known),
        leads_to=runbook.leads_to,
        evidence=tuple(case.plan.names[runbook.id, name] for name in runbook.evidence),
        owner=runbook.owner,
        slows=runbook.slows,
    )


def _names(resolved: Resolved) -> dict[str, str]:
    """What the labels of the alert name, by kind."""
    named = {"namespace": resolved.namespace, "pod": resolved.pod, "node": resolved.node}
    return {**resolved.labels, **named}


def _look(runbook: Runbook, judged: Judged, given: Given) -> Look | None:
    """What stands out of its evidence, and what to look at."""
    if runbook.look is None or not stands_out(judged.verdict, judged.checks):
        return None
    return runbook.look.render(*given)


def _unseen(
    runbook: Runbook, judged: Judged, facts: Facts, names: Mapping[str, str]
) -> Look | None:
    """How to see by hand what would decide."""
    if runbook.unseen is None or judged.verdict is not Verdict.UNKNOWN:
        return None
    return runbook.unseen.render(facts, names)


def _why_open(case: Case, runbook: Runbook, check: Check) -> str:
    """Why nobody could look at a claim about pods that the labels do not name; "" otherwise."""
    why = blamed(case.resolved.notes)
    names = {case.plan.names[runbook.id, fact.partition(".")[0]] for fact in check.missing}
    asked = [item.params for item in case.plan.evidence if item.name in names]
    if not why.startswith(NOTHING_KNOWN) or not any(getattr(one, "pods", 0) == () for one in asked):
        return ""
    return why.removeprefix(NOTHING_KNOWN).partition("Fix:")[0].strip().rstrip(".")


def _outlook(ranked: Ranked, evidence: Sequence[Evidence]) -> tuple[Outlook, str]:
    """BLIND when nothing is confirmed and Prometheus, which most causes need, gave no answer."""
    if ranked.outlook is not Outlook.NONE_CONFIRMED:
        return ranked.outlook, ""
    asked = [one for item in evidence for one in item.asked if one.backend == "prometheus"]
    if asked and all(one.status in _NO_ANSWER for one in asked):
        return Outlook.BLIND, "Prometheus"
    return Outlook.NONE_CONFIRMED, ""
