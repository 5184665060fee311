"""Which questions without an answer a person may ask by hand, and of which host first."""

import re
from collections.abc import Iterable
from dataclasses import replace

from tailhound.model.candidates import explaining, without_sign
from tailhound.model.evidence import ANSWERED, Asked
from tailhound.model.symptomless import LATENCY
from tailhound.model.unanswered import down, worth_asking
from tailhound.model.verdict import Cause, Diagnosis

_SSH = "ssh "
_PATH = re.compile(r"/[\w/.?=&%:,~+-]*")
"""A path that a shell takes as it is within quotes."""


def by_hand(diagnosis: Diagnosis | None) -> tuple[Asked, ...]:
    """Questions without an answer that would decide about what could explain this incident.

    Only those that a person may get answered, each once (see `unanswered.worth_asking`): what was
    answered with "there is no such series" has no other answer. Where the slow hosts are known,
    no other host is named. Where the alert names what can't exist, there is nothing to ask of it.
    """
    if diagnosis is None or diagnosis.impossible is not None:
        return ()
    return _of(explaining(diagnosis), diagnosis)


def is_asked(cause: Cause, diagnosis: Diagnosis) -> bool:
    """Whether a question about a cause had no answer that a person may get."""
    return bool(_of([cause], diagnosis))


def to_check(diagnosis: Diagnosis | None) -> tuple[Asked, ...]:
    """The same of the unknown causes of which no sign was measured; no question stands in both."""
    return tuple(dict.fromkeys(one for _, found in checkable(diagnosis) for one in found))


def checkable(diagnosis: Diagnosis | None) -> tuple[tuple[Cause, tuple[Asked, ...]], ...]:
    """Those causes with what to ask of each; without one of which nothing shows that there is
    anything of it here: nothing of what it is about was measured.
    """
    if diagnosis is None or diagnosis.impossible is not None:
        return ()
    before = by_hand(diagnosis)
    found = (
        (cause, tuple(one for one in _of([cause], diagnosis) if one not in before))
        for cause in without_sign(diagnosis)
        if _is_here(cause, diagnosis)
    )
    return tuple((cause, asked) for cause, asked in found if asked)


def _is_here(cause: Cause, diagnosis: Diagnosis) -> bool:
    """Whether anything was measured of what a cause alone looks at, apart from the requests."""
    wanted = {name for other in diagnosis.causes if other is not cause for name in other.evidence}
    return any(
        value not in (None, False, "", ())
        for item in diagnosis.evidence
        if item.name in cause.evidence and item.name not in wanted and item.collector != LATENCY
        for value in item.facts.values()
    )


def _of(causes: Iterable[Cause], diagnosis: Diagnosis) -> tuple[Asked, ...]:
    wanted = [key for cause in causes for key in cause.evidence]
    items = [item for item in diagnosis.evidence if item.name in wanted]
    found = worth_asking(
        (
            asked
            for item in sorted(items, key=lambda item: wanted.index(item.name))
            for asked in item.asked
            if asked.status not in ANSWERED and asked.question
        ),
        down(diagnosis.evidence),
    )
    elsewhere = _elsewhere(diagnosis)
    return tuple(_to_paste(one) for one in found if one.backend not in elsewhere)


def _to_paste(asked: Asked) -> Asked:
    """A question as people ask it: of Kubernetes with kubectl."""
    path = asked.question.removeprefix("GET ")
    if asked.backend != "kubernetes" or path == asked.question or not _PATH.fullmatch(path):
        return asked
    return replace(asked, question=f"kubectl get --raw '{path}'")


def _elsewhere(diagnosis: Diagnosis) -> frozenset[str]:
    """The hosts that are not slow, as backends; none where nobody can tell which are slow, or none
    of those is asked by its name.
    """
    asked = {one.backend for item in diagnosis.evidence for one in item.asked}
    hosts = {backend for backend in asked if backend.startswith(_SSH)}
    slow = {f"{_SSH}{node}" for node in diagnosis.slow_nodes}
    return frozenset(hosts - slow) if hosts & slow else frozenset()
