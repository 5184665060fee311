"""An incident as plain lines for a terminal, and as Markdown. Pure: no colour, no clock of its own.

Words and order as in Slack; a colour that a terminal adds only repeats a word.
"""

from collections.abc import Sequence
from datetime import datetime

from tailhound.cli.open_text import MARKS, could_not_check, next_step, offers, unknown
from tailhound.cli.safely import safe
from tailhound.cli.width import WIDTH, fitted
from tailhound.model import (
    Cause,
    Check,
    Diagnosis,
    Incident,
    Offer,
    Outlook,
    Verdict,
    claims,
    neighbours,
    telling,
    unusual,
    weighing,
)
from tailhound.model.gaps import unknown_claims
from tailhound.model.impossible import LOOK
from tailhound.model.names import capital, grave, small
from tailhound.model.stages import name_of
from tailhound.model.steps import steps
from tailhound.model.wording import clock, duration, number, with_usual
from tailhound.truth import Truth

__all__ = ["markdown", "rows", "safe", "terminal"]
_HEADS = {
    Outlook.CAUSE_FOUND: "CONFIRMED",
    Outlook.TWO_FIT: "TWO CAUSES FIT",
    Outlook.NONE_CONFIRMED: "NO CAUSE CONFIRMED",
    Outlook.BLIND: "CANNOT SEE",
}


def terminal(
    incident: Incident, now: datetime, *, verbose: bool = False, page: str = ""
) -> list[str]:
    """The diagnosis as lines of 80 columns; hostile text is stripped and cut.

    Without a confirmed cause, what could not be checked and what to do come first. `verbose` tells
    of each unknown cause what is missing. `page` is where the incident is shown, "" where it is
    not. What is to be pasted is not wrapped.
    """
    first, *others = rows(incident, now, verbose=verbose, page=page)
    begins = [first] if len(first) <= WIDTH else "\n  ".join(_opening(incident, now)).split("\n")
    return fitted([*begins, *others])


def rows(incident: Incident, now: datetime, *, verbose: bool = False, page: str = "") -> list[str]:
    """The same, each line as wide as what it says."""
    diagnosis = incident.diagnosis
    lines = [_first(incident, now)]
    shown_at = [f"page: {page}"] if page else []
    if diagnosis is None:
        return [*lines, safe(incident.failed_because, 600) or "no diagnosis yet", *shown_at]
    if diagnosis.impossible is not None:
        lines.append(f"  {safe(capital(diagnosis.impossible.told), 300)}; {LOOK}")
    lines += [_headline(diagnosis), *_less_sure(diagnosis), *_unusual(diagnosis)]
    if not telling.headline_causes(diagnosis):
        lines += [*could_not_check(diagnosis), *next_step(incident, diagnosis)]
    lines += [*_alert(incident), *_symptom(diagnosis, incident.since), *_stages(diagnosis)]
    lines += [*_changed(diagnosis), *_chain(diagnosis)]
    for cause in diagnosis.causes:
        if cause.verdict is Verdict.CONFIRMED:
            lines += _claims(cause, diagnosis)
            lines += offers(incident, cause)
    lines += _group(diagnosis, Verdict.REFUTED, "RULED OUT")
    lines += _group(diagnosis, Verdict.NOT_APPLICABLE, "NOT APPLICABLE")
    lines += unknown(diagnosis, verbose=verbose)
    if telling.headline_causes(diagnosis):
        lines += could_not_check(diagnosis)
    more = "details: --verbose     questions, all steps: --format md"
    return [*lines, _last(diagnosis), more, *shown_at]


def _first(incident: Incident, now: datetime) -> str:
    return "   ".join(_opening(incident, now))


def _opening(incident: Incident, now: datetime) -> tuple[str, str]:
    """What fires where, and since when."""
    where = safe(incident.subject.where)
    severity = grave(safe(incident.severity, 20)) or "no severity"
    age = duration(max(0.0, (now - incident.since).total_seconds()))
    since = _span(incident, age)
    return f"{safe(incident.name)}   {where}   {severity}", since


def _span(incident: Incident, age: str) -> str:
    """`alerting since 03:00 UTC (9 min)`, `03:00 UTC, resolved 03:38 UTC`."""
    end = incident.resolved_at
    if end is None:
        return f"alerting since {clock(incident.since)} ({age})"
    return f"since {clock(incident.since)}, {telling.ended(incident)} {clock(end)}"


def _headline(diagnosis: Diagnosis) -> str:
    head = _HEADS[diagnosis.outlook]
    if diagnosis.outlook is Outlook.BLIND:
        return f"{head}  {safe(telling.blind(diagnosis))}"
    if diagnosis.primary is None:
        return f"{head}  {telling.counts(diagnosis)}"
    left = f"{head}  {safe(diagnosis.cause(diagnosis.primary).title, 200)}"
    return f"{left:<{WIDTH - 20}}  {telling.sure(diagnosis.confidence)}".rstrip()


def _less_sure(diagnosis: Diagnosis) -> list[str]:
    """`  medium confidence: its onset is unknown`: what lowers it, for each cause that is named."""
    return [
        f"  {telling.sure(cause.confidence)}: {safe(why, 300)}"
        for cause in telling.headline_causes(diagnosis)
        if (why := telling.less_sure_because(cause))
    ]


def _alert(incident: Incident) -> list[str]:
    """What the alert says of itself; its name stands on the first line."""
    notes = incident.worst.annotations if incident.worst else {}
    said = next((notes[key] for key in ("summary", "description") if notes.get(key)), "")
    return [f"  alert     “{safe(said, 200)}”"] if said else []


def _unusual(diagnosis: Diagnosis) -> list[str]:
    """What was measured beside the symptom and is unlike its usual value, on a line; what is out of
    the ordinary although its cause is ruled out, a line each.
    """
    facts, against = neighbours.facts(diagnosis), neighbours.ruled_out(diagnosis)
    told = [". ".join(part for part in (facts, capital(against)) if part)] if facts else []
    told += unusual.told(diagnosis)
    return [f"  unusual all the same: {safe(one, 600)}" for one in told]


def _symptom(diagnosis: Diagnosis, alert_began: datetime) -> list[str]:
    seen = diagnosis.symptom
    if seen is None:
        return [f"  symptom   {safe(telling.no_symptom(diagnosis), 300)}"]
    said = safe(telling.valued(seen), 300)
    slo = f", SLO {number(seen.slo, seen.unit)}" if seen.slo is not None else ""
    grew = "".join(f", {part}" for part in (diagnosis.scope, telling.shape(diagnosis)) if part)
    onset = telling.since(seen, alert_began)
    begun = f", {telling.slow(seen)} since {clock(onset)}" if onset else ""
    return [f"  symptom   {seen.name} {said}{slo}{grew}{begun}"]


def _stages(diagnosis: Diagnosis) -> list[str]:
    told = [
        f"{name_of(stage)} {with_usual(stage.seconds, stage.usual_seconds, 'seconds')}"
        f"{f' ({safe(stage.remainder)})' if stage.remainder else ''}"
        for stage in diagnosis.stages
        if stage.seconds is not None
    ]
    return [f"  {'stage' if at == 0 else '     '}     {text}" for at, text in enumerate(told)]


def _changed(diagnosis: Diagnosis) -> list[str]:
    """What changed before the symptom, a line each: `02:43 rollout of ... (by argocd)`."""
    return [
        f"  {'changed' if at == 0 else '       '}   "
        f"{_since(one.at) if one.at else 'still'} {safe(one.what, 200)}"
        f"{f' (by {safe(one.by)})' if one.by else ''}"
        for at, one in enumerate(diagnosis.changed)
    ]


def _chain(diagnosis: Diagnosis) -> list[str]:
    lines = []
    for cause in telling.chain(diagnosis):
        since = _since(cause.onset)
        lines.append(f"{since} {cause.runbook}: {telling.link(cause)}")
    if lines and diagnosis.symptom:
        at, remark = telling.effect(diagnosis)
        lines.append(f"{_since(at)} symptom{f' {remark}' if remark else ''}")
    return [f"  {'chain' if at == 0 else '     '}     {text}" for at, text in enumerate(lines)]


def _since(onset: datetime | None) -> str:
    return clock(onset).removesuffix(" UTC") if onset else "(since when is unknown)"


def _claims(cause: Cause, diagnosis: Diagnosis) -> list[str]:
    against = weighing.against(cause.checks)
    shown = [*claims.block(cause.checks), *((c, claims.values(c)) for c in against.holding)]
    told = [line for check, values in shown for line in _claim(check, values)]
    lines = [f"  {cause.runbook}", *told, *_not_known(cause, diagnosis)]
    said = small(against.sentence(small(against.open)).rstrip("."))
    return [*lines, f"    {said}"] if said else lines


def _not_known(cause: Cause, diagnosis: Diagnosis) -> list[str]:
    """`?    not known (no such series in Prometheus):`, and the claims below."""
    lines = []
    for one in unknown_claims(cause, diagnosis.evidence):
        why = f" ({safe(one.why)})" if one.why else ""
        surer = "" if one.decides else ", would make this surer"
        lines.append(f"    {MARKS[Truth.UNKNOWN]:<4} not known{why}{surer}:")
        lines += [f"             {claim}" for claim in one.claims]
    return lines


def _claim(check: Check, values: Sequence[claims.Value]) -> list[str]:
    """`yes  KV cache is full while requests wait  99 %   needs 95 %, 41`; the values stand below
    the claim where both don't fit into a line.
    """
    told = ", ".join(
        f"{value.text if value.figure else safe(value.text)}"
        f"{f' for {safe(value.of)}' if value.of else ''}"
        f"{f'   {value.needs}' if value.needs else ''}".strip()
        for value in values
    )
    if not told:
        return [f"    {MARKS[check.truth]:<4} {check.claim}"]
    if claims.is_by_branch(check):
        return [f"    {MARKS[check.truth]:<4} {capital(told)}"]
    line = f"    {MARKS[check.truth]:<4} {check.claim:<48} {told}"
    if len(line) > WIDTH:
        line = f"    {MARKS[check.truth]:<4} {check.claim}  {told}"
    if len(line) <= WIDTH:
        return [line]
    return [f"    {MARKS[check.truth]:<4} {check.claim}", f"             {told}"]


def _group(diagnosis: Diagnosis, verdict: Verdict, head: str) -> list[str]:
    causes = [cause for cause in diagnosis.causes if cause.verdict is verdict]
    if not causes:
        return []
    return [
        f"{head}  {len(causes)}:",
        *(f"    {cause.runbook}: {cause.because}" for cause in causes),
    ]


def _last(diagnosis: Diagnosis) -> str:
    asked = telling.answered(diagnosis) or "nothing was asked"
    at = ", at the deadline" if diagnosis.at_deadline else ""
    took = duration(diagnosis.took_seconds)
    return f"{asked}, {took}{at}"


def markdown(incident: Incident, now: datetime) -> str:
    """The same for a ticket or a postmortem: headings, a table of claims, the questions asked."""
    diagnosis = incident.diagnosis
    if diagnosis is None:
        return f"# {_md(_first(incident, now))}\n"
    parts = [f"# {_md(_headline(diagnosis))}", _md(_first(incident, now))]
    parts += ["\n".join(f"- {_md(line.strip())}" for line in _lines(incident, diagnosis))]
    for cause in diagnosis.causes:
        parts.append(f"## {cause.runbook}: {cause.verdict.value}\n\n{_md(cause.because)}")
        if cause.checks:
            parts.append("| claim | says | seen | condition |\n| --- | --- | --- | --- |")
            parts[-1] += "".join(map(_row, cause.checks))
        if cause.mitigations:
            done = "\n".join(_offered(incident, offer) for offer in cause.mitigations)
            parts.append(f"### What can be done\n\n{done}")
    parts.append("## Questions\n\n" + _questions(diagnosis))
    return "\n\n".join(parts) + "\n"


def _offered(incident: Incident, offer: Offer) -> str:
    """A mitigation with its trade-offs and steps; why it is not offered where it is not."""
    risk = f"{offer.risk} ({offer.risk_of})" if offer.risk_of else offer.risk
    price = {"risk": risk, "cost": offer.cost, "complexity": offer.complexity}
    told = [f"{name}: {value}" for name, value in price.items() if value]
    told += [f"helps: {offer.helps}"] if offer.helps else []
    told += [f"first token: {offer.ttft}"] if offer.ttft else []
    told += [f"when {offer.when}"] if offer.when else []
    told += [f"not offered: {offer.why_not}"] if offer.why_not else []
    lines = [f"- **{_md(telling.named(offer))}** ({offer.mode}); {_md('; '.join(told))}"]
    return "\n".join([*lines, *(f"    1. {_md(step)}" for step in steps(incident, offer))])


def _row(check: Check) -> str:
    cells = (_md(check.claim), check.truth.value, _md(claims.told(check)))
    return f"\n| {' | '.join(cells)} | `{_cell(check.condition)}` |"


def _lines(incident: Incident, diagnosis: Diagnosis) -> list[str]:
    before = [*_less_sure(diagnosis), *_unusual(diagnosis), *_symptom(diagnosis, incident.since)]
    after = (_stages, _changed, _chain, could_not_check)
    return [*before, *(line for tell in after for line in tell(diagnosis)), _last(diagnosis)]


def _questions(diagnosis: Diagnosis) -> str:
    return "\n".join(
        f"- {item.name}, {asked.backend}, {asked.status.value}: `{_cell(asked.question)}`"
        for item in diagnosis.evidence
        for asked in item.asked
    )


def _md(text: str) -> str:
    """Text with everything that Markdown or HTML would read as its own."""
    escaped = text.replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for mark in "`*_[]|#":
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped


def _cell(text: str) -> str:
    """Text inside a code span of a table."""
    return text.replace("`", "'").replace("|", "\\|").replace("\n", " ")
