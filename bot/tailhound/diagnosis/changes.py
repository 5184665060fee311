"""What differs between two diagnoses of the same evidence: verdicts, claims, primary, confidence.

A cause that only one of the two rule sets knows can't be compared: it is told, and counts as a
change only where it is confirmed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tailhound.model import Cause, Check, Confidence, Diagnosis, Part, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimChange:
    """One claim before and after; None = it was not there."""

    claim: str
    part: Part
    old: Check | None
    new: Check | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseChange:
    """One cause before and after; a verdict is None where the rules did not know the cause.

    `claims` are those whose truth differs.
    """

    runbook: str
    old: Verdict | None
    new: Verdict | None
    old_confidence: Confidence | None = None
    new_confidence: Confidence | None = None
    claims: tuple[ClaimChange, ...] = ()

    @property
    def is_known_to_both(self) -> bool:
        """Whether both rule sets have this runbook."""
        return self.old is not None and self.new is not None

    @property
    def counts(self) -> bool:
        """Whether this is a change, and no mere addition or removal that decided nothing."""
        return self.is_known_to_both or Verdict.CONFIRMED in (self.old, self.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a replay shows. `unchanged` counts the causes that are as they were."""

    old: Diagnosis
    new: Diagnosis
    causes: tuple[CauseChange, ...]
    unchanged: int

    @property
    def primary_changed(self) -> bool:
        """Whether another cause, or none, is to blame now."""
        return self.old.primary != self.new.primary

    @property
    def confidence_changed(self) -> bool:
        """Whether the diagnosis is surer or less sure."""
        return self.old.confidence is not self.new.confidence

    @property
    def chain_changed(self) -> bool:
        """Whether other causes lead to the symptom, or in another order."""
        return self.old.chain != self.new.chain

    @property
    def outlook_changed(self) -> bool:
        """Whether the headline says something else."""
        return self.old.outlook is not self.new.outlook

    @property
    def is_same(self) -> bool:
        """Whether people would read the same."""
        return not (
            self.primary_changed
            or self.confidence_changed
            or self.chain_changed
            or self.outlook_changed
            or any(cause.counts for cause in self.causes)
        )


def changes(old: Diagnosis, new: Diagnosis) -> Changes:
    """What differs, cause by cause in the order of their names."""
    before = {cause.runbook: cause for cause in old.causes}
    after = {cause.runbook: cause for cause in new.causes}
    found = [
        change
        for name in sorted({*before, *after})
        if (change := _cause(name, before.get(name), after.get(name))) is not None
    ]
    known = len({*before, *after})
    return Changes(old=old, new=new, causes=tuple(found), unchanged=known - len(found))


def _cause(name: str, old: Cause | None, new: Cause | None) -> CauseChange | None:
    claims = _claims(old.checks, new.checks) if old and new else ()
    change = CauseChange(
        runbook=name,
        old=old.verdict if old else None,
        new=new.verdict if new else None,
        old_confidence=old.confidence if old else None,
        new_confidence=new.confidence if new else None,
        claims=claims,
    )
    same = change.old is change.new and change.old_confidence is change.new_confidence
    return None if same and not claims else change


def _claims(old: Sequence[Check], new: Sequence[Check]) -> tuple[ClaimChange, ...]:
    """The claims whose truth differs, and those that only one side has.

    A claim is known by its sentence, and, when that was rewritten, by its condition.
    """
    left = list(new)
    found: list[ClaimChange] = []
    for check in old:
        partner = _partner(check, left)
        if partner is not None:
            left.remove(partner)
        if partner is None or partner.truth is not check.truth:
            said = partner or check
            found.append(ClaimChange(claim=said.claim, part=said.part, old=check, new=partner))
    found += [ClaimChange(claim=it.claim, part=it.part, old=None, new=it) for it in left]
    return tuple(found)


def _partner(check: Check, among: Iterable[Check]) -> Check | None:
    candidates = [other for other in among if other.part is check.part]
    by_sentence = (other for other in candidates if other.claim == check.claim)
    by_condition = (other for other in candidates if other.condition == check.condition)
    return next(by_sentence, None) or next(by_condition, None)
