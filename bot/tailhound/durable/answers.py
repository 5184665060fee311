"""What was asked and what came of it, as people read it: short, redacted, with its reason."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tailhound.flow import Request
from tailhound.model import ANSWERED, Asked, Evidence, EvidenceStatus, FactValue, Missing, Reason
from tailhound.model.redaction import plain, redacted
from tailhound.requests import Labelled, Output, Ranged

ANSWER_AT_MOST = 400
QUESTION_AT_MOST = 4000

_TELLING = (
    Reason.FORBIDDEN,
    Reason.UNREACHABLE,
    Reason.TIMEOUT,
    Reason.TRUNCATED,
    Reason.UNPARSABLE,
    Reason.SKIPPED,
    Reason.NOT_APPLICABLE,
    Reason.EMPTY,
)
"""Which reason stands for several: first what a person can mend, last what is no failure."""


def note(request: Request[Any], reply: Any, seconds: float) -> Asked:
    """The record of one question."""
    missing = reply if isinstance(reply, Missing) else None
    return Asked(
        question=plain(redacted(request.shown), QUESTION_AT_MOST),
        backend=request.backend,
        status=EvidenceStatus(missing.reason.value) if missing else EvidenceStatus.COLLECTED,
        detail=missing.detail if missing else "",
        took_seconds=round(seconds, 3),
        answer="" if missing else plain(redacted(shown(reply)), ANSWER_AT_MOST),
    )


def filled(
    blank: Evidence,
    facts: Mapping[str, FactValue],
    asked: Sequence[Asked],
    broken: Missing | None,
) -> Evidence:
    """The evidence with what its collector found. `broken` says why it did not come to its end.

    COLLECTED when a fact was measured and not every question failed (a set can hold records of
    which nothing is known), else the most telling reason of what failed. The facts of
    what failed stay None: not measured.
    """
    failed = [one for one in asked if one.status is not EvidenceStatus.COLLECTED]
    worst = min(failed, key=lambda one: _TELLING.index(Reason(one.status.value)), default=None)
    told = _partly(failed, worst, len(asked))
    broke = [one for one in failed if one.status not in ANSWERED]
    if any(value is not None for value in facts.values()) and not 0 < len(asked) == len(broke):
        status = EvidenceStatus.COLLECTED
        reason = _partly(broke, worst, len(asked)) if broke else ""
    elif broken is not None:
        status, reason = EvidenceStatus(broken.reason.value), broken.detail
    elif worst is not None:
        status, reason = worst.status, told
    else:
        status, reason = EvidenceStatus.EMPTY, "the answers held nothing that could be measured"
    return replace(blank, status=status, facts=facts, reason=reason, asked=tuple(asked))


def _partly(failed: Sequence[Asked], worst: Asked | None, total: int) -> str:
    """One sentence on the questions that failed; "" when none did."""
    if worst is None:
        return ""
    if total == 1:
        return worst.detail
    silent = [one for one in failed if one.status not in ANSWERED]
    if not silent:
        return f"{len(failed)} of {total} questions found nothing: {worst.detail}"
    empty = len(failed) - len(silent)
    beside = f", {empty} found nothing" if empty else ""
    return f"{len(silent)} of {total} questions had no answer{beside}: {worst.detail}"


def shown(reply: Any) -> str:
    """An answer in few words: the values, the output, the names of the objects."""
    if isinstance(reply, Output):
        return _output(reply)
    if isinstance(reply, Mapping):
        return _object(reply)
    if not isinstance(reply, tuple):
        return str(reply)[: 2 * ANSWER_AT_MOST]
    if not reply:
        return "none"
    if isinstance(reply[0], Labelled | Ranged):
        lines = [_series(item) for item in reply[:40]]
    else:
        lines = [_object(item) for item in reply[:40]]
    more = f"\n… {len(reply):,} in all" if len(reply) > len(lines) else ""
    text = "\n".join(lines)
    return f"{len(reply):,} in all:\n{text}" if len(text) > ANSWER_AT_MOST else text + more


def _output(reply: Output) -> str:
    text = reply.stdout.strip() or reply.stderr.strip() or "no output"
    head = "" if reply.exit_code == 0 else f"exit {reply.exit_code}: "
    if reply.second is not None:
        again = _output(reply.second)[: ANSWER_AT_MOST // 2 - 30]
        return f"{head}{text[: ANSWER_AT_MOST // 2]}\n{reply.gap_seconds:g} s later: {again}"
    return head + text[: 2 * ANSWER_AT_MOST]


def _series(item: Labelled | Ranged) -> str:
    labels = ",".join(f'{name}="{value[:80]}"' for name, value in item.labels[:8])
    where = f"{{{labels}}} " if labels else ""
    if isinstance(item, Labelled):
        return f"{where}{item.value:g}"
    last = f", last {item.samples[-1].value:g}" if item.samples else ""
    return f"{where}{len(item.samples)} samples{last}"


def _object(item: Any) -> str:
    """Kind and name of a Kubernetes object."""
    metadata = item.get("metadata") if isinstance(item, Mapping) else None
    if not isinstance(metadata, Mapping):
        return str(item)[:200]
    parts = [metadata.get("namespace"), metadata.get("name")]
    name = "/".join(str(part)[:100] for part in parts if part)
    kind = item.get("kind")
    return f"{kind} {name}" if isinstance(kind, str) else name
