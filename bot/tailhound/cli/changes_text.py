"""What a replay changed, as lines for a terminal and as JSON. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.cli.safely import safe
from tailhound.cli.width import WIDTH, fitted
from tailhound.diagnosis.changes import CauseChange, Changes, ClaimChange
from tailhound.diagnosis.said import Against, against, newest
from tailhound.model import Check, Diagnosis, Feedback, Incident, Rating, claims, needs
from tailhound.model.redaction import plain, redacted
from tailhound.model.wording import clock, cut
from tailhound.truth import Truth

_MARKS = {Truth.TRUE: "yes", Truth.FALSE: "no", Truth.UNKNOWN: "?"}
SHOWN = 5
"""Questions that the recording lacks, told one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One incident, judged again. `changes` is None, and `was` "", with nothing to compare with.

    `was` says by whom the old verdicts are. `reused` counts the answers that were asked for again,
    `not_asked` are the questions of today that the recording does not hold.
    """

    incident: Incident
    was: str
    now: Diagnosis
    changes: Changes | None
    reused: int
    not_asked: tuple[str, ...] = ()

    @property
    def said(self) -> Feedback | None:
        """What people said it was, the newest word."""
        return newest(self.incident.feedback)

    @property
    def against(self) -> Against | None:
        """How the new diagnosis stands to that, compared with the old one; None = nobody knows."""
        if self.changes is None or self.said is None:
            return None
        return against(self.said, self.changes.old, self.changes.new)


def lines(replayed: Replayed) -> list[str]:
    """The changes, in 80 columns; only their count for what is as it was."""
    return fitted(_lines(replayed))


def _lines(replayed: Replayed) -> list[str]:
    told = [_head(replayed.incident), f"  feedback: {_said(replayed.said)}"]
    if replayed.changes is None:
        told += _verdicts(replayed.now)
        told.append("Nobody had decided when this was recorded: there is nothing to compare with.")
    else:
        told += [line for cause in replayed.changes.causes for line in _cause(cause)]
        told += _whole(replayed.changes, _mark_of(replayed))
    return [*told, *_last(replayed)]


def as_json(replayed: Replayed) -> dict[str, Any]:
    """The same as plain values; `same` is null with nothing to compare with."""
    found = replayed.changes
    old = found.old if found else None
    return {
        "incident": replayed.incident.id,
        "compared_with": replayed.was or None,
        "same": found.is_same if found else None,
        "feedback": _said_json(replayed.said),
        "against_feedback": _value(replayed.against) if replayed.against else None,
        "primary": {"old": old.primary if old else None, "new": replayed.now.primary},
        "confidence": {"old": _value(old.confidence) if old else None}
        | {"new": _value(replayed.now.confidence)},
        "chain": {"old": list(old.chain) if old else None, "new": list(replayed.now.chain)},
        "causes": [_cause_json(cause) for cause in found.causes] if found else [],
        "unchanged": found.unchanged if found else None,
        "verdicts": {cause.runbook: cause.verdict.value for cause in replayed.now.causes},
        "answers_reused": replayed.reused,
        "not_asked_then": list(replayed.not_asked),
    }


def _head(incident: Incident) -> str:
    since = incident.since
    when = f"{since.day} {since:%b} {clock(since)}"
    return f"{incident.id}  {safe(incident.name)}  {safe(incident.subject.where)}  {when}"


def _cause(cause: CauseChange) -> list[str]:
    if not cause.is_known_to_both:
        told = f"only in the new rules: {_value(cause.new)}"
        gone = f"only in the old rules: {_value(cause.old)}"
        mark = "  CHANGED" if cause.counts else ""
        return [f"  {cause.runbook:<21} {told if cause.old is None else gone}{mark}"]
    first = _arrow(cause.runbook, _value(cause.old), _value(cause.new))
    if cause.old is cause.new:
        sure = f"{_value(cause.old_confidence)} -> {_value(cause.new_confidence)}"
        same_confidence = cause.old_confidence is cause.new_confidence
        verdict = f"still {_value(cause.new)}" + ("" if same_confidence else f", {sure}")
        first = f"  {cause.runbook:<21} {verdict:<23}  CHANGED"
    return [first, *(line for claim in cause.claims for line in _claim(claim))]


def _claim(change: ClaimChange) -> list[str]:
    """`    Loses real time   1.4   yes -> no   needed 0.05, now needs 2`."""
    truths = f"{_mark(change.old)} -> {_mark(change.new)}"
    both = [check for check in (change.old, change.new) if check]
    values = dict.fromkeys(safe(claims.told(check, with_needs=False), 80) for check in both)
    old, new = (needs.needs(check) if check else "" for check in (change.old, change.new))
    bounds = new
    if change.old and change.new and old != new:
        bounds = f"{old.replace('needs', 'needed', 1) or 'needed nothing'}, now {new or 'nothing'}"
    elif not change.new:
        bounds = old.replace("needs", "needed", 1)
    seen = " -> ".join(values)
    told = f"    {change.claim:<44} {seen}   {truths}   {bounds}".rstrip()
    if len(told) <= WIDTH:
        return [told]
    return [f"    {change.claim}   {truths}", f"      {seen}   {bounds}".rstrip()]


def _mark(check: Check | None) -> str:
    return _MARKS[check.truth] if check else "(not there)"


def _said(said: Feedback | None) -> str:
    """`right: cpu-throttling`, `wrong: it was node-drain`, `none`."""
    if said is None:
        return "none"
    shown = safe(said.said_primary, 80) or "no cause"
    if said.rating is Rating.RIGHT:
        return f"right: {shown}"
    was = f"it was {safe(said.cause, 80)}" if said.cause else "its cause is in no runbook"
    if said.rating is Rating.PARTLY:
        return f"right: {shown}, but not the whole story" + (f"; {was}" if said.cause else "")
    return f"wrong: not {shown}; {was}"


def _mark_of(replayed: Replayed) -> str:
    """`BETTER` and `WORSE` only against what people said."""
    if replayed.against in (Against.BETTER, Against.WORSE):
        return f"{replayed.against.value.upper()} than the feedback"
    return "CHANGED"


def _whole(found: Changes, mark: str) -> list[str]:
    """What changed in the diagnosis over all causes; `mark` stands where the causes are named."""
    told = []
    if found.primary_changed:
        told.append(
            _arrow("primary", found.old.primary or "none", found.new.primary or "none", mark)
        )
    if found.confidence_changed:
        told.append(
            _arrow("confidence", _value(found.old.confidence), _value(found.new.confidence))
        )
    if found.chain_changed and not found.primary_changed:
        told.append(_arrow("chain", _chain(found.old.chain), _chain(found.new.chain)))
    if found.outlook_changed and not found.primary_changed:
        told.append(_arrow("headline", found.old.outlook.value, found.new.outlook.value, mark))
    return told


def _chain(chain: Sequence[str]) -> str:
    return ", ".join(chain) or "none"


def _arrow(what: str, old: str, new: str, mark: str = "CHANGED") -> str:
    return f"  {what:<21} {f'{old} -> {new}':<23}  {mark}"


def _verdicts(now: Diagnosis) -> list[str]:
    return [f"  {cause.runbook:<21} {cause.verdict.value}" for cause in now.causes]


def _last(replayed: Replayed) -> list[str]:
    told = []
    answers = _counted(replayed.reused, "answer")
    if replayed.changes is None:
        told.append(f"{answers} reused, nothing was asked")
    else:
        causes = _counted(replayed.changes.unchanged, "cause", "other cause")
        if not replayed.changes.causes:
            causes = _counted(replayed.changes.unchanged, "cause")
        told.append(f"{causes} as {replayed.was}; {answers} reused, nothing was asked")
    lacking = replayed.not_asked
    if lacking:
        verb = "was" if len(lacking) == 1 else "were"
        what = f"{_counted(len(lacking), 'question')} {verb} not asked then"
        told.append(f"{what}: what they would tell stays unknown")
        told += [f"  {cut(plain(redacted(one), 4000), 76)}" for one in lacking[:SHOWN]]
        more = len(lacking) - SHOWN
        told += [f"  and {more} more: --format json"] if more > 0 else []
    return told


def _counted(count: int, noun: str, other: str = "") -> str:
    return f"{count} {other or noun}{'' if count == 1 else 's'}"


def _said_json(said: Feedback | None) -> dict[str, Any] | None:
    if said is None:
        return None
    return {
        "rating": said.rating.value,
        "said_primary": said.said_primary or None,
        "cause": said.cause or None,
    }


def _cause_json(cause: CauseChange) -> dict[str, Any]:
    return {
        "runbook": cause.runbook,
        "old": cause.old.value if cause.old else None,
        "new": cause.new.value if cause.new else None,
        "changed": cause.counts,
        "claims": [
            {
                "claim": claim.claim,
                "part": claim.part.value,
                "old": _check_json(claim.old),
                "new": _check_json(claim.new),
            }
            for claim in cause.claims
        ],
    }


def _check_json(check: Check | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return {
        "truth": check.truth.value,
        "seen": {item.name: item.value for item in check.seen},
        "missing": list(check.missing),
        "needs": [f"{bound.fact} {bound.comparison} {bound.value:g}" for bound in check.needs],
    }


def _value(value: Any) -> str:
    return str(value.value) if value is not None else "none"
