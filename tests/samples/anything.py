"""Any incident at all: hostile texts, absurd numbers, empty lists and very long ones."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from tailhound.model import (
    Alert,
    AlertStatus,
    Asked,
    Bound,
    Cause,
    Check,
    Confidence,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Feedback,
    Incident,
    Look,
    Offer,
    OnIt,
    Outlook,
    Part,
    Progress,
    Queued,
    Rating,
    Recheck,
    Revised,
    Seen,
    Silenced,
    Stage,
    State,
    Subject,
    SubjectKind,
    Symptom,
    Verdict,
)
from tailhound.model.impossible import Impossible
from tailhound.model.verdict import Changed
from tailhound.truth import Truth
from tests.samples.story import SINCE

NASTY = (
    "<!channel>",
    "<!here> <@U0123> <!subteam^S1> <#C1>",
    "<https://evil.example|click>",
    "https://evil.example/x",
    "ana@example.com",
    "&amp;lt;",
    "```\n*bold*\n```",
    "`",
    "*_~",
    ":fire::fire:",
    "{{ 7 * 7 }} {% raw %} $(reboot)",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "\u202eevil\u2066\u200b\ufeff",
    "\ud800",
    "\x00\x01\r\n\u2028",
    "𝕏" * 300,
    "<" * 5_000,
    "&" * 70,
    "ﷺ" * 1_000,
    "",
    "a" * 1_000_000,
    "one two " * 500,
)
text = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=80),
    st.text(alphabet="<>&*_~`:@|! \n", max_size=120),
    st.text(alphabet="𝔘𝕏🎯", max_size=120),
)
number = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, 1.0, 0.62, 12.4, 1e12, -3.0]),
)
moment = st.integers(-600, 600).map(lambda minutes: SINCE + timedelta(minutes=minutes))
unit = st.sampled_from(["ratio", "seconds", "times", "cores", "bytes", "none", "count"])
status = st.sampled_from(list(EvidenceStatus))


def some(strategy: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """A few, or very many of the same."""
    few = st.lists(strategy, max_size=3).map(tuple)
    many = st.tuples(strategy, st.just(most)).map(lambda pair: (pair[0],) * pair[1])
    return st.one_of(few, many)


seen = st.builds(
    Seen,
    name=text,
    value=st.one_of(st.none(), st.booleans(), number, text, st.just(({"a": 1},))),
    unit=unit,
    usual=st.one_of(st.none(), number),
    of=text,
)
bound = st.builds(
    Bound, fact=text, comparison=st.sampled_from([">", "<", "==", "!="]), value=number, unit=unit
)
check = st.builds(
    Check,
    claim=text,
    condition=text,
    part=st.sampled_from(list(Part)),
    truth=st.sampled_from(list(Truth)),
    seen=some(seen, 20),
    missing=some(text, 20),
    needs=some(bound, 10),
)
offer = st.builds(
    Offer,
    id=text,
    title=text,
    mode=st.sampled_from(["suggested", "one-click"]),
    offered=st.booleans(),
    why_not=st.one_of(st.none(), text),
    risk=text,
    helps=text,
    cost=text,
    when=text,
    steps=some(text, 20),
)
runbook = st.one_of(st.sampled_from(["cpu-throttling", "kv-preemption", "dns-resolution"]), text)
cause = st.builds(
    Cause,
    runbook=runbook,
    title=text,
    verdict=st.sampled_from(list(Verdict)),
    because=text,
    confidence=st.one_of(st.none(), st.sampled_from(list(Confidence))),
    confidence_because=text,
    says=text,
    beware=text,
    onset=st.one_of(st.none(), moment),
    checks=some(check, 30),
    mitigations=some(offer, 20),
    evidence=some(text, 5),
    look=st.one_of(st.none(), st.builds(Look, measured=text, at=text, command=text, then=text)),
)
asked = st.builds(
    Asked,
    question=text,
    backend=st.one_of(text, st.sampled_from(["prometheus", "kubernetes", "ssh db-1"])),
    status=status,
    detail=text,
)
found = st.builds(
    Evidence,
    name=text,
    collector=text,
    status=status,
    facts=st.dictionaries(text, st.one_of(st.none(), st.booleans(), number, text), max_size=12),
    reason=text,
    asked=some(asked, 30),
)
symptom = st.builds(
    Symptom,
    name=text,
    value=number,
    unit=unit,
    usual=st.one_of(st.none(), number),
    usual_from=some(text, 3),
    slo=st.one_of(st.none(), number),
    onset=st.one_of(st.none(), moment),
    at_least=st.booleans(),
)


@st.composite
def diagnoses(draw: st.DrawFn) -> Diagnosis:
    """Any diagnosis; a headline's cause is one that is confirmed."""
    causes = draw(some(cause, 60))
    outlook = draw(st.sampled_from(list(Outlook)))
    confirmed = [item for item in causes if item.verdict is Verdict.CONFIRMED]
    if not confirmed and outlook in (Outlook.CAUSE_FOUND, Outlook.TWO_FIT):
        confirmed = [replace(draw(cause), verdict=Verdict.CONFIRMED)]
        causes = (*confirmed, *causes)
    named = outlook in (Outlook.CAUSE_FOUND, Outlook.TWO_FIT)
    return Diagnosis(
        outlook=outlook,
        primary=confirmed[0].runbook if named else None,
        chain=tuple(item.runbook for item in confirmed) if named else (),
        confidence=draw(st.sampled_from(list(Confidence))) if named else None,
        causes=causes,
        evidence=draw(some(found, 40)),
        stages=draw(some(st.builds(Stage, stage=text, seconds=number, usual_seconds=number), 10)),
        symptom=draw(st.one_of(st.none(), symptom)),
        scope=draw(st.one_of(text, st.just("10,000 of 10,000 pods"))),
        shape=draw(st.sampled_from(["step", "ramp", "comb", "", "odd"])),
        load=draw(st.sampled_from(["flat", "up", "down", ""])),
        blind=draw(text) if outlook is Outlook.BLIND else "",
        decided_at=draw(st.one_of(st.none(), moment)),
        at_deadline=draw(st.booleans()),
        changed=draw(some(st.builds(Changed, at=moment, kind=text, what=text, by=text), 40)),
        slow_pods=draw(some(text, 10_000)),
        slow_nodes=draw(some(text, 10_000)),
        impossible=draw(st.one_of(st.none(), st.builds(Impossible, kind=text, name=text))),
    )


alerts = some(
    st.builds(
        Alert,
        fingerprint=text,
        name=text,
        labels=st.dictionaries(st.sampled_from(["severity", "pod"]), text, max_size=2),
        annotations=st.dictionaries(st.sampled_from(["summary", "description"]), text, max_size=2),
        status=st.just(AlertStatus.FIRING),
        starts_at=moment,
    ),
    10_000,
)
incidents = st.builds(
    Incident,
    id=st.text(alphabet="0123456789ABCDEF", min_size=1, max_size=12),
    key=text,
    subject=st.builds(
        Subject,
        kind=st.sampled_from(list(SubjectKind)),
        namespace=text,
        workload=text,
        pod=text,
        node=text,
    ),
    state=st.sampled_from(list(State)),
    alerts=alerts,
    received_at=moment,
    revision=st.integers(0, 10**9),
    episode=st.integers(1, 200),
    diagnosed_in=st.integers(0, 3),
    recheck=st.one_of(
        st.none(),
        st.builds(
            Recheck,
            n=st.integers(0, 5),
            since=moment,
            by=text,
            ended_at=st.one_of(st.none(), moment),
            same=st.booleans(),
        ),
    ),
    causes_checked=st.integers(0, 60),
    verdict_by=st.one_of(st.none(), moment),
    progress=st.one_of(
        st.none(),
        st.builds(
            Progress,
            answered=st.integers(0, 10**6),
            waiting=st.integers(0, 10**6),
            failed=st.integers(0, 10**6),
            ruled_out=some(text, 60),
        ),
    ),
    diagnosis=st.one_of(st.none(), diagnoses()),
    revised=st.one_of(st.none(), st.builds(Revised, at=moment, was_at=moment, was=text, why=text)),
    resolved_at=st.one_of(st.none(), moment),
    previous_resolved_at=st.one_of(st.none(), moment),
    joined_into=text,
    failed_because=text,
    unreadable=st.one_of(st.just(""), text),
    truncated_alerts=st.integers(0, 10**6),
    mode=st.sampled_from(["observe", "shadow", "one-click"]),
    on_it=st.one_of(st.none(), st.builds(OnIt, by=text, since=moment, person=text)),
    silences=some(
        st.builds(
            Silenced,
            id=text,
            by=text,
            until=moment,
            alerts=st.integers(0, 10**6),
            ended_at=st.one_of(st.none(), moment),
            trouble=st.one_of(st.just(""), text),
        ),
        20,
    ),
    feedback=some(
        st.builds(
            Feedback,
            rating=st.sampled_from(list(Rating)),
            cause=st.one_of(st.just(""), runbook),
            note=text,
            by=text,
            at=moment,
            said_primary=text,
            person=text,
        ),
        50,
    ),
    queued=st.one_of(
        st.none(),
        st.builds(
            Queued,
            place=st.integers(1, 10**5),
            incidents=st.integers(1, 10**5),
            alerts=st.integers(1, 10**7),
            seconds=st.integers(1, 10**5),
            starts_by=moment,
        ),
    ),
)
