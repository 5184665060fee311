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

_SILENT = frozenset({EvidenceStatus.TIMEOUT, EvidenceStatus.UNREACHABLE})
"""Who did not answer, or was not there to be asked, may do so a moment later."""

_KEEPS = frozenset({State.RESOLVED, State.JOINED, State.MITIGATING})


def progressed(record: Record, n: int, progress: Progress) -> Record | None:
    """The record with the progress of its investigation `n`, unless that is over."""
    it = record.incident
    if it.n != n or record.done >= n or it.state is not State.INVESTIGATING:
        return None
    return record.edited(progress=progress)


def diagnosed(
    record: Record,
    n: int,
    diagnosis: Diagnosis,
    now: datetime,
    asked_until: datetime | None = None,
) -> Record | None:
    """The record with the verdict of investigation `n`, unless that one has ended already.

    `asked_until` is when who was silent is asked for the last time, None when nobody is.
    """
    if record.done >= n:
        return None
    it = record.incident
    after = replace(record, done=n).edited(
        state=it.state if it.state in _KEEPS else State.DIAGNOSED,
        diagnosis=diagnosis,
        progress=None,
        revised=None,
        asked_until=asked_until if it.n == n else None,
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


def late_is_over(record: Record, n: int) -> Record | None:
    """The record when nobody is asked again any more; None when that is shown already."""
    if is_over(record.incident, n) or record.incident.asked_until is None:
        return None
    return record.edited(asked_until=None)


def headline(diagnosis: Diagnosis) -> str:
    """The verdict in a few words: `cause found: the CPU limit stops the engine`."""
    if diagnosis.primary is None:
        return diagnosis.outlook.value
    titles = {cause.runbook: cause.title for cause in diagnosis.causes}
    return f"{diagnosis.outlook.value}: {titles.get(diagnosis.primary, diagnosis.primary)}"


def _essence(diagnosis: Diagnosis) -> tuple[Any, ...]:
    return diagnosis.outlook, diagnosis.primary, diagnosis.chain, diagnosis.confidence


def unanswered(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The names of the evidence to ask again: none unless somebody was silent or could not be
    reached; then also what was not asked, for want of a slot, of time or of a subject.
    """
    if not any(map(_met_silence, evidence)):
        return ()
    return tuple(item.name for item in evidence if not is_whole(item))


def ran_out_of_time(evidence: Sequence[Evidence]) -> bool:
    """Whether a question was still open when its time was over."""
    return any(EvidenceStatus.TIMEOUT in _ends(item) for item in evidence)


def _met_silence(item: Evidence) -> bool:
    return not _SILENT.isdisjoint(_ends(item))


def _ends(item: Evidence) -> set[EvidenceStatus]:
    return {item.status, *(asked.status for asked in item.asked)}


def merged(old: Sequence[Evidence], new: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The evidence with newer answers in place of older ones, by name, in the old order."""
    newer = {item.name: item for item in new}
    kept = tuple(newer.pop(item.name, item) for item in old)
    return kept + tuple(newer.values())


def is_whole(item: Evidence) -> bool:
    """Whether all that this evidence asks was answered, be it with "there is none"."""
    return not (_SILENT | {EvidenceStatus.SKIPPED}) & _ends(item)


def answered_late(new: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The new evidence that brought an answer."""
    return tuple(
        item for item in new if not _met_silence(item) and item.status is not EvidenceStatus.SKIPPED
    )


def why_late(
    old: Sequence[Evidence], new: Sequence[Evidence], since: datetime, now: datetime
) -> str:
    """Who did not answer before and does now: `ssh db-1 answered after 47 s`."""
    was_late = {asked.backend for item in old for asked in item.asked if asked.status in _SILENT}
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
