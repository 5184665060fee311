"""What was ruled out, what does not apply, and what could not be checked: each with its reason.

A question without an answer is counted and told with what would give one; nothing that failed is
passed over. The words are `model.gaps`'; here they are shortened to the room there is.
"""

from collections.abc import Iterable, Mapping, Sequence

from tailhound.model import Cause, Diagnosis, Part, Verdict, claims, reasons, telling, weighing
from tailhound.model.gaps import Gap, Gaps, left_open
from tailhound.model.names import cause_name, small
from tailhound.model.stages import explained
from tailhound.slack.claims import value_seen
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import Ink

_GROUPS = 2
"""Reasons that a line tells; the page has them all."""


def not_confirmed(
    diagnosis: Diagnosis, ink: Ink, *, unknown_above: bool = False
) -> tuple[Mrkdwn, ...]:
    """The lines of slot N; empty when there is nothing to say. Of what is ruled out, first what
    slows the stage that grew. `unknown_above`: the verdict names all unknown causes, so that only
    why some of them could not be checked is told here.
    """
    refuted = sorted(
        telling.of(diagnosis, Verdict.REFUTED), key=lambda one: explained(diagnosis, one) is None
    )
    absent = telling.of(diagnosis, Verdict.NOT_APPLICABLE)
    open_ = left_open(diagnosis)
    undecided = () if unknown_above else open_.undecided
    head = f"*Unknown ({len(undecided) + _size(open_.causes)}):*"
    lines = (
        _causes(f"*Ruled out ({len(refuted)}):*", refuted, ink),
        _causes(f"*Not applicable ({len(absent)}):*", absent, ink, otherwise=" (no such part)"),
        _causes(head, undecided, ink, left=_size(open_.causes)),
        _gaps(
            f"*Could not check ({_size(open_.causes)}):*",
            open_.causes,
            ink,
            named=unknown_above and _is_named(diagnosis, open_),
        ),
        _gaps(
            f"*No answer ({_size(open_.open_evidence)}):*", open_.open_evidence, ink, open_.causes
        ),
    )
    return tuple(line for line in lines if line)


def _is_named(diagnosis: Diagnosis, open_: Gaps) -> bool:
    """Whether the names of the unknown causes say all that could not be checked: it has one reason,
    and nothing of any of them was checked.
    """
    unknown = {cause_name(one.runbook) for one in telling.of(diagnosis, Verdict.UNKNOWN)}
    return [set(names) for names in open_.causes.values()] == [unknown]


def summary(diagnosis: Diagnosis, ink: Ink) -> Mrkdwn:
    """Slot N when there is no room for it: the counts alone, and where the rest is."""
    unknown = telling.of(diagnosis, Verdict.UNKNOWN)
    refuted = telling.of(diagnosis, Verdict.REFUTED)
    return Mrkdwn(
        f"*Ruled out:* {len(refuted)}, *could not check:* {len(unknown)}; "
        f"names, reasons and fixes are {ink.rest}"
    )


def _causes(
    head: str, causes: Sequence[Cause], ink: Ink, *, otherwise: str = "", left: int = 0
) -> Mrkdwn:
    """Causes with why; `left` is how many could not be checked, which the next line tells."""
    if not causes:
        return Mrkdwn("")
    shown = causes[: min(3, ink.lines)]
    texts = [
        f"{ink.value(cause_name(cause.runbook))}{_because(cause, ink) or otherwise}"
        for cause in shown
    ]
    texts += [more] if (more := ink.more(len(causes) - len(shown))) else []
    texts += [f"and {left} that could not be checked"] if left else []
    return Mrkdwn(f"{head} {', '.join(texts)}")


def _because(cause: Cause, ink: Ink) -> str:
    check = weighing.deciding(cause)
    if check and any(seen.value is not None for seen in check.seen):
        if words := reasons.words(check):
            return f" ({ink.said(words)})"
        claim = ink.said(small(claims.sentence_of(check).rstrip(".")))
        seen = value_seen(check, ink)
        if seen and claims.is_by_branch(check):
            return f" ({seen})"
        bare = check.part is not Part.REFUTE and not claims.words_against(check)
        lead = "does not hold: " if bare else ""
        return f" ({lead}{claim}{f': {seen}' if seen else ''})"
    because = telling.because(cause)
    return f" ({ink.sentence(because)})" if because else ""


def _size(gaps: Mapping[Gap, Sequence[str]]) -> int:
    return sum(map(len, gaps.values()))


def _gaps(
    head: str,
    gaps: Mapping[Gap, Sequence[str]],
    ink: Ink,
    told_before: Iterable[Gap] = (),
    *,
    named: bool = False,
) -> Mrkdwn:
    """What has no answer, by reason, each reason once, the largest group first. `named`: the
    verdict above names all of it, and nothing else.
    """
    if not gaps:
        return Mrkdwn("")
    before = tuple(told_before)
    ordered = sorted(gaps.items(), key=lambda one: (one[0] in before, -len(one[1])))
    shown = ordered[: min(_GROUPS, ink.lines)]
    texts = [_told(gap, () if named else names, ink, before) for gap, names in shown]
    left = ink.more(_size(gaps) - sum(len(names) for _, names in shown))
    return Mrkdwn(f"{head} {' '.join([*texts, left] if left else texts)}")


def _told(gap: Gap, names: Sequence[str], ink: Ink, before: Sequence[Gap]) -> str:
    """Names with their reason; the fix where it can help this night, and was not told before. Of
    several reasons that stand above nobody knows which one is meant.
    """
    shown = [ink.value(item) for item in names[: max(1, ink.lines // 2)]]
    left = ink.more(len(names) - len(shown))
    listed = ", ".join([*shown, left] if left else shown)
    if gap in before and len(before) == 1:
        return f"{listed}: for the same reason."
    why = ink.sentence(gap.reason)
    helps = gap.fix and not gap.for_later and gap not in before
    fix = f" Fix: {ink.whole(gap.fix)}." if helps else ""
    return f"{f'{listed}: ' if listed else ''}{why}.{fix}"
