"""What people said an incident really was, and whether another diagnosis agrees more with it."""

from collections.abc import Iterable
from enum import Enum

from tailhound.model import Diagnosis, Feedback, Rating, telling


class Against(Enum):
    """How a new diagnosis stands to the feedback, compared with the old one."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"


def newest(feedback: Iterable[Feedback]) -> Feedback | None:
    """The newest word of anybody; "can't tell" is none."""
    known = [said for said in feedback if said.rating is not Rating.UNSURE]
    return max(known, key=lambda said: said.at, default=None)


def against(said: Feedback, old: Diagnosis, new: Diagnosis) -> Against | None:
    """Whether the new diagnosis names what people say it was where the old one did not.

    To name no cause is better than to name a wrong one. None where the feedback does not tell: it
    says only what it was not, and a cause is named of which nobody said anything.
    """
    before, after = _agrees(said, old), _agrees(said, new)
    if before is None or after is None:
        return None
    if before == after:
        return Against.SAME
    return Against.BETTER if after > before else Against.WORSE


def _agrees(said: Feedback, found: Diagnosis) -> int | None:
    """2: it names what it was; 1: it names nothing; 0: it names what it was not; None: unknown."""
    named = {cause.runbook for cause in telling.headline_causes(found)}
    was = _was(said)
    if named & was:
        return 2
    if not named:
        return 1
    is_wrong = said.rating is Rating.WRONG and said.said_primary in named
    return 0 if was or is_wrong else None


def _was(said: Feedback) -> set[str]:
    """The causes that it was, by this word; empty = it does not tell."""
    shown = set() if said.rating is Rating.WRONG else {said.said_primary}
    told = {said.cause} if said.rating is not Rating.RIGHT else set()
    if said.rating is Rating.WRONG:
        told -= {said.said_primary}
    return (shown | told) - {""}
