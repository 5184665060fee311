"""What an investigation does to its incident: pure edits of the record."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from tailhound.durable import budget
from tailhound.durable.asking import TIMELINE_AT_MOST, Terms, noted
from tailhound.model import (
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Happened,
    Incident,
    Progress,
    Recheck,
    Revised,
    State,
)
from tailhound.model.unanswered import was_spared
from tailhound.model.verdict import Changed
from tailhound.model.wording import clock, duration
from tailhound.store import codec
from tailhound.store.records import Record

CHECKPOINT_AT_MOST = 256 * 1024
"""Bytes of the evidence that one step hands on."""

_SILENT = frozenset({EvidenceStatus.TIMEOUT, EvidenceStatus.UNREACHABLE})
"""Who did not answer, or was not there to be asked, may do so a moment later."""

_KEEPS = frozenset({State.RESOLVED, State.JOINED, State.MITIGATING})


TOO_LATE_SECONDS = 120.0
"""A verdict that is given so long after its deadline says so in the timeline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor:
    """One investigation as it was asked for: by which compiled set, when, and until when.

    `until` is when who was silent is asked for the last time, None when nobody is. `old` is the
    verdict that stands in this episode.
    """

    sha: str
    requested_at: datetime
    verdict_by: datetime
    until: datetime | None = None
    old: Diagnosis | None = None


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
    asked: AskedFor,
) -> Record | None:
    """The record with the verdict of investigation `n`, unless that one has ended already.

    `asked.old` is the verdict that stood until now: one that differs names it. Nobody is asked
    again when the incident has ended since.
    """
    if record.done >= n:
        return None
    it, old = record.incident, asked.old
    is_last = it.n != n or it.state is State.JOINED or has_ended(it, asked.requested_at)
    after = replace(record, done=n).edited(
        state=it.state if it.state in _KEEPS else State.DIAGNOSED,
        diagnosis=diagnosis,
        diagnosed_in=it.episode,
        progress=None,
        revised=_replaced((it, n), old, diagnosis, now) if old else None,
        recheck=_checked(it, n, old, diagnosis, now),
        asked_until=None if is_last else asked.until,
        failed_because="",
    )
    late = _came_late(it, asked, now)
    after = noted(after, now, late) if late else after
    same = old is not None and _essence(old) == _essence(diagnosis)
    word = "Checked again, same answer" if same else "Verdict"
    return noted(_with_changes(after, diagnosis), now, f"{word}: {headline(diagnosis)}")


def _replaced(
    checked: tuple[Incident, int], old: Diagnosis, new: Diagnosis, now: datetime
) -> Revised | None:
    """What investigation `n` makes of a verdict that stood: None where it came to the same.

    Who asked is named of this one alone: another one may wait behind it already.
    """
    it, n = checked
    if _essence(old) == _essence(new):
        return None
    at = new.decided_at or now
    by = it.recheck.by if it.recheck and it.recheck.n == n else ""
    why = f"checked again, asked by {by}" if by else "checked again"
    return Revised(at=at, was_at=old.decided_at or now, was=headline(old), why=why)


def _checked(
    it: Incident, n: int, old: Diagnosis | None, new: Diagnosis, now: datetime
) -> Recheck | None:
    """The check of the verdict that has ended; one that waits behind investigation `n` goes on."""
    found = it.recheck
    if found is None or found.n > n:
        return found
    if old is None:
        return None
    same = _essence(old) == _essence(new)
    return replace(found, ended_at=new.decided_at or now, same=same)


def _came_late(it: Incident, asked: AskedFor, now: datetime) -> str:
    """What people must know of a verdict that was given long after its time; "" = nothing."""
    late = (now - asked.requested_at).total_seconds()
    ended = has_ended(it, asked.requested_at)
    since = asked.requested_at if ended else asked.verdict_by
    if (now - since).total_seconds() <= TOO_LATE_SECONDS:
        return ""
    told = f"tailhound came to look {duration(late)} after it was asked for"
    if not ended:
        return told
    at = clock(asked.requested_at)
    return f"{told}: Prometheus was asked about {at}, Kubernetes and hosts about now"


def has_ended(incident: Incident, requested_at: datetime) -> bool:
    """Whether an incident has ended since an investigation of it was asked for."""
    ended = incident.state is State.RESOLVED
    return ended and (incident.resolved_at or requested_at) >= requested_at


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
    it, check = record.incident, record.incident.recheck
    after = replace(record, done=n).edited(
        state=it.state if it.state in _KEEPS else State.FAILED,
        progress=None,
        recheck=replace(check, ended_at=now) if check and check.n <= n else check,
        failed_because=why[:400],
    )
    return noted(after, now, f"tailhound itself failed: {why[:200]}")


def revised(
    record: Record, old: Diagnosis, new: Diagnosis, why: str, now: datetime
) -> Record | None:
    """The record after late evidence: the old verdict is named only when the new one differs.

    None when this very revision stands already.
    """
    if _essence(old) == _essence(new):
        return _with_changes(record.edited(diagnosis=new), new)
    at = new.decided_at or now
    note = Revised(at=at, was_at=old.decided_at or now, was=headline(old), why=why)
    if record.incident.revised == note:
        return None
    line = f"Verdict revised: {headline(new)}; it was: {headline(old)}"
    check = record.incident.recheck
    waits = check if check and check.ended_at is None else None  # the other one is old news
    after = _with_changes(record.edited(diagnosis=new, revised=note, recheck=waits), new)
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
    """The names of the evidence to ask again: none unless somebody was silent, could not be
    reached or was spared; then also what was not asked for want of a slot, of time or of a subject.
    """
    if not any(map(_met_silence, evidence)):
        return ()
    return tuple(item.name for item in evidence if not is_whole(item))


def ran_out_of_time(evidence: Sequence[Evidence]) -> bool:
    """Whether a question was still open when its time was over."""
    return any(EvidenceStatus.TIMEOUT in _ends(item) for item in evidence)


def _met_silence(item: Evidence) -> bool:
    return not _SILENT.isdisjoint(_ends(item)) or any(map(was_spared, item.asked))


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
    was_late = {
        asked.backend
        for item in old
        for asked in item.asked
        if asked.status in _SILENT or was_spared(asked)
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
    """What a step hands on, cut to what a checkpoint holds, as `durable.budget` cuts a wave.

    One wave fits already; answers of several passes together may not.
    """
    evidence = collected.get("evidence", [])
    if len(json.dumps(evidence, separators=(",", ":"))) <= CHECKPOINT_AT_MOST:
        return dict(collected)
    cut = budget.fitted(codec.evidence_from_plain(evidence))
    return {**collected, "evidence": codec.evidence_to_plain(cut)}


def is_over(incident: Incident, n: int) -> bool:
    """Whether investigation `n` was followed by another one, or its incident joined another."""
    return incident.n != n or incident.state is State.JOINED


def late_by(verdict_by: datetime, terms: Terms) -> datetime:
    """Until when who was silent is asked again. It counts from the moment from which the time until
    the verdict counts, which for an incident that waited its turn is when its turn came.
    """
    return verdict_by + timedelta(seconds=terms.late_seconds - terms.verdict_seconds)
