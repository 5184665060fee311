"""Evidence: what a collector found, or the typed reason why it found nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from typing_extensions import TypeAliasType

FactValue = TypeAliasType(
    "FactValue", "bool | int | float | str | tuple[Mapping[str, FactValue], ...] | None"
)
"""A fact: number, text, yes/no, a set of records, or None = nobody measured it.

A series (see `model.facts.Kind.SERIES`) is a set of records with the fields `at` (Unix seconds)
and `value`.
"""


class Reason(Enum):
    """Why a question has no answer. Each is shown to people together with its fix."""

    EMPTY = "empty"  # the backend answered: no such series, no such object
    TIMEOUT = "timeout"
    FORBIDDEN = "forbidden"  # RBAC, sudo, key refused: the detail names verb or rule
    UNREACHABLE = "unreachable"  # refused, no route, TLS or host key wrong
    TRUNCATED = "truncated"  # over the byte cap, or the backend said "partial"
    UNPARSABLE = "unparsable"
    NOT_APPLICABLE = "not-applicable"  # there is no such device or feature here
    SKIPPED = "skipped"  # not asked: breaker open, no slot in time, storm


@dataclass(frozen=True, slots=True)
class Missing:
    """No answer: `reason`, and `detail`, a sentence that says what happened and what would help."""

    reason: Reason
    detail: str


class EvidenceStatus(Enum):
    """COLLECTED, or the reason why nothing was."""

    COLLECTED = "collected"
    EMPTY = "empty"
    TIMEOUT = "timeout"
    FORBIDDEN = "forbidden"
    UNREACHABLE = "unreachable"
    TRUNCATED = "truncated"
    UNPARSABLE = "unparsable"
    NOT_APPLICABLE = "not-applicable"
    SKIPPED = "skipped"

    @property
    def word(self) -> str:
        """What people are told: `answered`, `not asked`. The value stands in JSON and metrics."""
        return _WORDS[self]


_WORDS = {
    EvidenceStatus.COLLECTED: "answered",
    EvidenceStatus.EMPTY: "answered, nothing there",
    EvidenceStatus.TIMEOUT: "did not answer in time",
    EvidenceStatus.FORBIDDEN: "refused",
    EvidenceStatus.UNREACHABLE: "not reached",
    EvidenceStatus.TRUNCATED: "answer too large, not used",
    EvidenceStatus.UNPARSABLE: "answer not understood",
    EvidenceStatus.NOT_APPLICABLE: "does not apply",
    EvidenceStatus.SKIPPED: "not asked",
}


ANSWERED = (EvidenceStatus.COLLECTED, EvidenceStatus.EMPTY, EvidenceStatus.NOT_APPLICABLE)
"""A question is answered also when the answer is that there is nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question that was asked: to show, and to repeat by hand.

    `question` is the full PromQL, API path or command line, redacted. `backend` is "prometheus",
    "kubernetes" or "ssh HOST". `detail` is "" when the status is COLLECTED. `answer` is a short
    redacted rendering of the answer (at most 400 characters), for the page.
    """

    question: str
    backend: str
    status: EvidenceStatus
    detail: str = ""
    took_seconds: float = 0.0
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one collector found for one investigation.

    `name` is the plan's key of the evidence (`cpu`, `spec`; unique within the investigation).
    `facts` holds each declared fact; a missing key and None mean the same: not measured.
    `status` is COLLECTED when at least one fact was measured; then `asked` may still hold questions
    that failed. `reason` is "" only when every question was answered.
    """

    name: str
    collector: str
    status: EvidenceStatus
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    reason: str = ""
    asked: tuple[Asked, ...] = ()
    took_seconds: float = 0.0

    @property
    def is_a_runbooks_own(self) -> bool:
        """Whether a runbook defines it (`promql dns.lost`): it alone knows what its facts mean."""
        return " " in self.collector


def facts_of(collector: str, evidence: Iterable[Evidence]) -> Mapping[str, FactValue]:
    """The facts of a collector that answered; none where it did not."""
    found = (
        one.facts
        for one in evidence
        if one.collector == collector and one.status is EvidenceStatus.COLLECTED
    )
    return next(found, {})
