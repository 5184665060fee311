"""The story of `story` in every state, and a list of incidents as a page shows it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tailhound.model import (
    AlertStatus,
    Confidence,
    Diagnosis,
    EvidenceStatus,
    Feedback,
    Happened,
    Incident,
    OnIt,
    Outlook,
    Progress,
    Queued,
    Rating,
    Recheck,
    Revised,
    Silenced,
    State,
    Subject,
    SubjectKind,
)
from tailhound.model.impossible import Impossible
from tailhound.model.verdict import Changed
from tailhound.notifiers import Storm
from tests.samples import causes
from tests.samples.causes import (
    DIAGNOSIS,
    DNS,
    DRAINED,
    FABRIC,
    INGRESS,
    MAYBE_DRAINED,
    NOT_HERE,
    OUT,
    THROTTLING,
    UNDECIDED,
)
from tests.samples.story import (
    ALERTS,
    CPU,
    EVENTS,
    INGRESS_SERIES,
    RDMA,
    SILENT,
    SINCE,
    SPEC,
    SYMPTOM,
    alert,
    asked,
    at,
    evidence,
    subject,
)

FIRST = Incident(
    id="8R5W",
    key="workload:eu-1/llm/chat-json",
    subject=subject(),
    state=State.INVESTIGATING,
    alerts=ALERTS,
    received_at=at(2),
    revision=1,
    causes_checked=14,
    verdict_by=at(2, 30),
)
COLLECTING = replace(
    FIRST,
    revision=2,
    progress=Progress(
        answered=31,
        waiting=15,
        failed=1,
        ruled_out=("cpu-oversubscription", "gpu-clocks", "dns-resolution", "node-drain", "a", "b"),
        symptom=SYMPTOM,
        stages=DIAGNOSIS.stages,
        scope="3 of 3 pods",
    ),
)
CONFIRMED = replace(
    FIRST,
    revision=3,
    state=State.DIAGNOSED,
    diagnosis=DIAGNOSIS,
    timeline=(
        Happened(at=SINCE, what="alert InferenceInterTokenLatencyHigh"),
        Happened(at=at(2), what="received; 14 causes are being checked"),
        Happened(at=at(4, 11), what="verdict: the CPU limit stops the engine, high confidence"),
    ),
)


def diagnosed(outlook: Outlook, **changes: Any) -> Diagnosis:
    """The diagnosis of the story with another outlook; nothing is named as the cause."""
    return replace(
        DIAGNOSIS, outlook=outlook, primary=None, chain=(), **({"confidence": None} | changes)
    )


MEDIUM = replace(
    CONFIRMED,
    diagnosis=replace(
        DIAGNOSIS,
        confidence=Confidence.MEDIUM,
        causes=(
            replace(
                THROTTLING,
                confidence=Confidence.MEDIUM,
                confidence_because="its onset is unknown",
                onset=None,
            ),
            *DIAGNOSIS.causes[1:],
        ),
        evidence=(*DIAGNOSIS.evidence, RDMA),
    ),
)
TWO_FIT = replace(
    CONFIRMED,
    diagnosis=diagnosed(
        Outlook.TWO_FIT, confidence=Confidence.MEDIUM, causes=(THROTTLING, DRAINED, *OUT)
    ),
)
UNKNOWN = replace(
    CONFIRMED,
    diagnosis=diagnosed(
        Outlook.NONE_CONFIRMED,
        causes=(UNDECIDED, INGRESS, *OUT, NOT_HERE),
        evidence=(
            evidence(
                "cpu",
                CPU.asked[0],
                asked(
                    'rate(container_cpu_cfs_throttled_seconds_total{pod="chat-json-2"}[5m])',
                    status=EvidenceStatus.TIMEOUT,
                    detail="prometheus:9090 did not answer within 5 s.",
                ),
                facts={"throttled_ratio": 0.15},
            ),
            INGRESS_SERIES,
        ),
        at_deadline=True,
        decided_at=at(2, 30),
    ),
)
NO_SYMPTOM = replace(
    CONFIRMED,
    diagnosis=diagnosed(
        Outlook.NONE_CONFIRMED,
        symptom=None,
        stages=(),
        causes=(replace(THROTTLING, confidence=Confidence.MEDIUM), *OUT),
    ),
)
NOTHING_LEFT = replace(CONFIRMED, diagnosis=diagnosed(Outlook.NONE_CONFIRMED, causes=OUT))
BLIND = replace(
    CONFIRMED,
    asked_until=at(17),
    diagnosis=diagnosed(
        Outlook.BLIND,
        symptom=None,
        stages=(),
        scope="",
        shape="",
        load="",
        blind="prometheus",
        causes=(
            UNDECIDED,
            INGRESS,
            DNS,
            causes.ruled_out("node-drain", DRAINED.title, "No node was drained."),
        ),
        evidence=(
            SILENT,
            evidence(
                "ingress",
                asked("up", status=EvidenceStatus.TIMEOUT, detail="nothing for 10 s."),
            ),
            SPEC,
        ),
        at_deadline=True,
        decided_at=at(2, 30),
    ),
)
REVISED = replace(
    CONFIRMED,
    revision=4,
    revised=Revised(
        at=at(3, 17),
        was_at=at(2, 30),
        was="No cause confirmed.",
        why="Prometheus answered after 47 s.",
    ),
)
RESOLVED = replace(
    CONFIRMED,
    revision=9,
    state=State.RESOLVED,
    resolved_at=at(38),
    alerts=tuple(
        replace(one, status=AlertStatus.RESOLVED, ends_at=at(38)) for one in CONFIRMED.alerts
    ),
)
RESOLVED_EARLY = replace(FIRST, revision=3, state=State.RESOLVED, resolved_at=at(3))
BACK = replace(
    CONFIRMED,
    revision=10,
    state=State.INVESTIGATING,
    episode=2,
    n=2,
    alerts=tuple(replace(one, starts_at=at(51)) for one in ALERTS),
    verdict_by=at(52, 30),
    previous_resolved_at=at(38),
)
AGAIN = replace(
    CONFIRMED,
    revision=5,
    n=2,
    state=State.INVESTIGATING,
    verdict_by=at(6),
    recheck=Recheck(n=2, since=at(5, 30), by="ana"),
)
SAME_AGAIN = replace(
    CONFIRMED,
    revision=6,
    n=2,
    recheck=Recheck(n=2, since=at(5, 30), by="ana", ended_at=at(5, 48), same=True),
)
FAILED_AGAIN = replace(
    AGAIN,
    revision=6,
    state=State.FAILED,
    recheck=Recheck(n=2, since=at(5, 30), by="ana", ended_at=at(5, 48)),
    failed_because="the database was full for 10 min.",
)
DEFERRED = replace(FIRST, state=State.DEFERRED, verdict_by=None)
JOINED = replace(FIRST, state=State.JOINED, joined_into="7F3K")
FAILED = replace(
    FIRST,
    revision=6,
    state=State.FAILED,
    failed_because="the database was full for 10 min.",
)
UNREADABLE = replace(
    FIRST,
    key="unreadable",
    alerts=(),
    subject=Subject(kind=SubjectKind.GROUP),
    unreadable="`alerts` is missing: this is no notification of Alertmanager, version 4.",
)
CHANGES = (
    Changed(at=at(-20), kind="rollout", what="rollout of chat-json", by="argocd"),
    Changed(at=at(-9), kind="node", what="node gpu-node-3 was cordoned"),
)
EVERY_FIELD = replace(
    REVISED,
    id="7F3K",
    n=3,
    episode=2,
    diagnosed_in=2,
    recheck=Recheck(n=3, since=at(16), by="ana", ended_at=at(17), same=True),
    progress=COLLECTING.progress,
    asked_until=at(17),
    resolved_at=at(38),
    previous_resolved_at=at(-600),
    truncated_alerts=2,
    repeats=5,
    mode="one-click",
    joined_into="9C1Q",
    unheard=True,
    failed_because=FAILED.failed_because,
    unreadable=UNREADABLE.unreadable,
    diagnosis=replace(
        DIAGNOSIS,
        blind="prometheus",
        at_deadline=True,
        changed=CHANGES,
        slow_pods=("chat-json-2",),
        slow_nodes=("cpu-17",),
        workload="deployment/chat-json",
        impossible=Impossible("pod", "chat_1"),
    ),
    on_it=OnIt(by="ben", since=at(3), person="U0BEN"),
    silences=(
        Silenced(id="s1", by="ana", until=at(130), alerts=3),
        Silenced(id="s2", by="ana", until=at(30), alerts=1, ended_at=at(12)),
    ),
    feedback=(
        Feedback(
            rating=Rating.PARTLY,
            cause="cpu-oversubscription",
            note="the threads came first",
            by="ana",
            at=at(60),
            said_primary="cpu-throttling",
            person="U0ANA",
        ),
    ),
    queued=Queued(place=27, incidents=37, alerts=412, seconds=60, starts_by=at(4)),
)
"""No state at all: every field holds something, for what writes and reads them back."""

STATES: Mapping[str, Incident] = {
    "first": FIRST,
    "collecting": COLLECTING,
    "confirmed": CONFIRMED,
    "medium": MEDIUM,
    "two-fit": TWO_FIT,
    "unknown": UNKNOWN,
    "no-symptom": NO_SYMPTOM,
    "nothing-left": NOTHING_LEFT,
    "blind": BLIND,
    "revised": REVISED,
    "resolved": RESOLVED,
    "resolved-early": RESOLVED_EARLY,
    "back": BACK,
    "again": AGAIN,
    "same-again": SAME_AGAIN,
    "failed-again": FAILED_AGAIN,
    "deferred": DEFERRED,
    "joined": JOINED,
    "failed": FAILED,
    "unreadable": UNREADABLE,
}
"""One incident in every state, under the state's name."""


# --- what people did, and what a storm does

QUEUED = replace(DEFERRED, queued=EVERY_FIELD.queued)
TAKEN = replace(
    CONFIRMED, revision=6, on_it=OnIt(by="ben", since=at(3), person="U0BEN"),
    silences=EVERY_FIELD.silences,
)  # fmt: skip
SAID_WRONG = Feedback(
    rating=Rating.WRONG,
    cause="node-drain",
    note="the drain came first",
    by="ana",
    at=at(40),
    said_primary="cpu-throttling",
    person="U0ANA",
)
SAID_RIGHT = replace(
    SAID_WRONG, rating=Rating.RIGHT, cause="", note="", by="ben", at=at(41), person="U0BEN"
)
DOUBTED = replace(CONFIRMED, revision=7, feedback=(replace(SAID_WRONG, at=at(4, 20)),))
CHANGED = replace(CONFIRMED, diagnosis=replace(DIAGNOSIS, changed=CHANGES))
WITH_PEOPLE: Mapping[str, Incident] = {
    "queued": QUEUED,
    "taken": TAKEN,
    "doubted": DOUBTED,
    "changed": CHANGED,
    "resolved-right": replace(RESOLVED, revision=11, feedback=(SAID_RIGHT,)),
    "resolved-wrong": replace(RESOLVED, revision=12, feedback=(SAID_WRONG,)),
    "resolved-two-said": replace(RESOLVED, revision=13, feedback=(SAID_WRONG, SAID_RIGHT)),
    "resolved-unknown": replace(UNKNOWN, revision=8, state=State.RESOLVED, resolved_at=at(38)),
    "back-doubted": replace(BACK, feedback=(SAID_WRONG,)),
}
"""States that people made, and a storm."""


# --- a list: other ids, other workloads

INVESTIGATING = replace(
    COLLECTING,
    id="7F3K",
    subject=subject("prod", "llm-70b"),
    alerts=(alert(alertname="LLMDHighTTFT", namespace="prod", deployment="llm-70b"),),
    received_at=at(4, 21),
    verdict_by=at(4, 51),
    timeline=(Happened(at=at(4, 21), what="alert LLMDHighTTFT"),),
)
NO_SHELL = replace(
    UNKNOWN,
    id="2H8D",
    subject=subject("storage", "db-1"),
    received_at=at(-14),
    diagnosis=diagnosed(
        Outlook.NONE_CONFIRMED,
        causes=(FABRIC, MAYBE_DRAINED, *OUT, NOT_HERE),
        evidence=(CPU, RDMA, EVENTS),
        stages=(),
        at_deadline=True,
        symptom=replace(SYMPTOM, name="write wait", value=0.0025, usual=0.001, slo=None),
    ),
)
LISTED = (
    INVESTIGATING,
    replace(CONFIRMED, truncated_alerts=2),
    NO_SHELL,
    replace(BLIND, id="4T6V", received_at=at(-20)),
    replace(RESOLVED, id="5B2M", received_at=at(-300)),
    replace(TWO_FIT, id="9C1Q", received_at=at(-360)),
    replace(DEFERRED, id="1Q9X", received_at=at(-420)),
    replace(JOINED, id="3M7N", joined_into="8R5W", received_at=at(-480)),
    replace(
        FAILED,
        id="6K0B",
        subject=INVESTIGATING.subject,
        alerts=INVESTIGATING.alerts,
        received_at=at(-540),
    ),
    replace(UNREADABLE, id="0A0A", received_at=at(-4320)),
)
"""The newest first, each of another id."""
STORM = Storm(
    since=at(2),
    incidents=37,
    held=25,
    worst=(
        LISTED[1],
        replace(LISTED[0], on_it=OnIt(by="ben", since=at(4), person="U0BEN")),
        LISTED[2],
        LISTED[3],
        LISTED[5],
    ),
)
"""A storm as its message shows it: five of them by name."""
