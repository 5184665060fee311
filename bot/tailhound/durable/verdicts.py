"""What an investigation does to its incident: pure edits of the record."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tailhound.durable.asking import TIMELINE_AT_MOST, noted
from tailhound.model import (
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Happened,
    Incident,
    Progress,
    Revised,
    State,
)
from tailhound.model.verdict import Changed
from tailhound.model.wording import duration
from tailhound.store import codec
from tailhound.store.records import Record

CHECKPOINT_AT_MOST = 256 * 1024
"""Bytes of the evidence that one step hands on."""

_KEEPS = frozenset({State.RESOLVED, State.JOINED, State.MITIGATING})


def progressed(record: Record, n: int, progress: Progress) -> Record | None:
    """The record with the progress of its investigation `n`, unless that is over."""
    it = record.incident
    if it.n != n or record.done >= n or it.state is not State.INVESTIGATING:
        return None
    return record.edited(progress=progress)


def diagnosed(record: Record, n: int, diagnosis: Diagnosis, now: datetime) -> Record | None:
    """The record with the verdict of investigation `n`, unless that one has ended already."""
    if record.done >= n:
        return None
    it = record.incident
    after = replace(record, done=n).edited(
        state=it.state if it.state in _KEEPS else State.DIAGNOSED,
        diagnosis=diagnosis,
        progress=None,
        revised=None,
        failed_because="",
    )
    return noted(_with_changes(after, diagnosis), now, f"Verdict: {headline(diagnosis)}")


def _with_changes(record: Record, diagnosis: Diagnosis) -> Record:
    """The record with what changed before the symptom in its timeline, each once, at its time."""
    timeline = record.incident.timeline
    found = [Happened(at=one.at, what=_told(one)) for one in diagnosis.changed if one.at]
    new = [one for one in found if one not in timeline]
    if not new:
        return record
    whole = sorted((*timeline, *new), key=lambda one: one.at)
    return record.edited(timeline=tuple(whole[-TIMELINE_AT_MOST:]))


def _told(one: Changed) -> str:
    return f"{one.what} (by {one.by})" if one.by else one.what


def failed(record: Record, n: int, why: str, now: datetime) -> Record | None:
    """The record after tailhound itself failed at investigation `n`."""
    if record.done >= n:
        return None
    it = record.incident
    after = replace(record, done=n).edited(
        state=it.state if it.state in _KEEPS else State.FAILED,
        progress=None,
        failed_because=why[:400],
    )
    return noted(after, now, f"tailhound itself failed: {why[:200]}")


def revised(record: Record, old: Diagnosis, new: Diagnosis, why: str, now: datetime) -> Record:
    """The record after late evidence: the old verdict is named only when the new one differs."""
    if _essence(old) == _essence(new):
        return _with_changes(record.edited(diagnosis=new), new)
    note = Revised(at=now, was_at=old.decided_at or now, was=headline(old), why=why)
    line = f"Verdict revised: {headline(new)}; it was: {headline(old)}"
    after = _with_changes(record.edited(diagnosis=new, revised=note), new)
    return noted(after, now, line)


def headline(diagnosis: Diagnosis) -> str:
    """The verdict in a few words: `cause found: the CPU limit stops the engine`."""
    if diagnosis.primary is None:
        return diagnosis.outlook.value
    titles = {cause.runbook: cause.title for cause in diagnosis.causes}
    return f"{diagnosis.outlook.value}: {titles.get(diagnosis.primary, diagnosis.primary)}"


def _essence(diagnosis: Diagnosis) -> tuple[Any, ...]:
    return diagnosis.outlook, diagnosis.primary, diagnosis.chain, diagnosis.confidence


def unanswered(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The names of the evidence to ask again: none unless a question ran out of time; then also
    what was not asked, for want of a slot, of time or of a subject.
    """
    if not any(map(_timed_out, evidence)):
        return ()
    return tuple(item.name for item in evidence if not is_whole(item))


def _timed_out(item: Evidence) -> bool:
    return item.status is EvidenceStatus.TIMEOUT or any(
        asked.status is EvidenceStatus.TIMEOUT for asked in item.asked
    )


def merged(old: Sequence[Evidence], new: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The evidence with newer answers in place of older ones, by name, in the old order."""
    newer = {item.name: item for item in new}
    kept = tuple(newer.pop(item.name, item) for item in old)
    return kept + tuple(newer.values())


def is_whole(item: Evidence) -> bool:
    """Whether all that this evidence asks was answered, be it with "there is none"."""
    open_ended = (EvidenceStatus.TIMEOUT, EvidenceStatus.SKIPPED)
    return item.status not in open_ended and not any(a.status in open_ended for a in item.asked)


def answered_late(new: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The new evidence that brought an answer."""
    return tuple(
        item for item in new if not _timed_out(item) and item.status is not EvidenceStatus.SKIPPED
    )


def why_late(
    old: Sequence[Evidence], new: Sequence[Evidence], since: datetime, now: datetime
) -> str:
    """Who did not answer before and does now: `ssh db-1 answered after 47 s`."""
    was_late = {
        asked.backend
        for item in old
        for asked in item.asked
        if asked.status is EvidenceStatus.TIMEOUT
    }
    backends = dict.fromkeys(
        asked.backend
        for item in new
        for asked in item.asked
        if asked.status is EvidenceStatus.COLLECTED and asked.backend in was_late
    )
    who = ", ".join(backends) or "the late questions"
    return f"{who} answered after {duration((now - since).total_seconds())}"


def fitted(collected: Mapping[str, Any]) -> dict[str, Any]:
    """What a step hands on, cut to what a checkpoint holds: the largest evidence goes first.

    Evidence that goes is `truncated`, with a reason: unknown, never healthy.
    """
    evidence = list(codec.evidence_from_plain(collected.get("evidence", [])))
    sizes = [len(codec.evidence_to_json((item,)).encode()) for item in evidence]
    while sum(sizes) > CHECKPOINT_AT_MOST:
        largest = sizes.index(max(sizes))
        evidence[largest] = _emptied(evidence[largest], sizes[largest])
        smaller = len(codec.evidence_to_json((evidence[largest],)).encode())
        if smaller >= sizes[largest]:
            evidence.pop(largest)
            sizes.pop(largest)
        else:
            sizes[largest] = smaller
    return {**collected, "evidence": codec.evidence_to_plain(tuple(evidence))}


def _emptied(item: Evidence, size: int) -> Evidence:
    if any(asked.answer for asked in item.asked):
        return replace(item, asked=tuple(replace(asked, answer="") for asked in item.asked))
    return replace(
        item,
        status=EvidenceStatus.TRUNCATED,
        facts={},
        asked=item.asked[:3],
        reason=f"its facts take {size // 1024} KiB, more than an investigation keeps; narrow it",
    )


def is_over(incident: Incident, n: int) -> bool:
    """Whether investigation `n` has been followed by another one."""
    return incident.n != n
