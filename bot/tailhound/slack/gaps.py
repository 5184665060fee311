"""What was ruled out, what does not apply, and what could not be checked: each with its reason.

A question without an answer is counted and told with what would give one; nothing that failed is
passed over. The words are `model.gaps`'; here they are shortened to the room there is.
"""

from collections.abc import Mapping, Sequence

from tailhound.model import Cause, Diagnosis, Part, Verdict, reasons, telling, weighing
from tailhound.model.gaps import Gap, left_open
from tailhound.model.names import cause_name, small
from tailhound.model.stages import explained
from tailhound.slack.claims import value_seen
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import Ink


def not_confirmed(
    diagnosis: Diagnosis, ink: Ink, *, named: Sequence[Cause] = ()
) -> tuple[Mrkdwn, ...]:
    """The lines of slot N; empty when there is nothing to say. Of what is ruled out, first what
    slows the stage that grew. `named` are unknown causes that the message names already: where
    these are all, and one reason is that of all, they are not named again.
    """
    refuted = sorted(
        telling.of(diagnosis, Verdict.REFUTED), key=lambda one: explained(diagnosis, one) is None
    )
    absent = telling.of(diagnosis, Verdict.NOT_APPLICABLE)
    open_ = left_open(diagnosis)
    undecided, others = open_.undecided, _size(open_.evidence)
    names = {cause_name(cause.runbook) for cause in named}
    before = len(open_.causes) == 1 and all(set(one) == names for one in open_.causes.values())
    told = {gap: names[0] for gap, names in _shown(open_.causes, ink)}
    lines = (
        _causes(f"*Ruled out ({len(refuted)}):*", refuted, ink),
        _causes("*Not applicable:*", absent, ink, otherwise=" (it has no such part)"),
        _causes(f"*Neither confirmed nor ruled out ({len(undecided)}):*", undecided, ink),
        _gaps(f"*Could not check ({_size(open_.causes)}):*", open_.causes, ink, named=before),
        _gaps(f"*No answer ({others}):*", open_.evidence, ink, told),
    )
    return tuple(line for line in lines if line)


def summary(diagnosis: Diagnosis, ink: Ink) -> Mrkdwn:
    """Slot N when there is no room for it: the counts alone, and where the rest is."""
    unknown = telling.of(diagnosis, Verdict.UNKNOWN)
    refuted = telling.of(diagnosis, Verdict.REFUTED)
    return Mrkdwn(
        f"*Ruled out:* {len(refuted)}, *could not check:* {len(unknown)}; "
        f"names, reasons and fixes are {ink.rest}"
    )


def _causes(head: str, causes: Sequence[Cause], ink: Ink, *, otherwise: str = "") -> Mrkdwn:
    if not causes:
        return Mrkdwn("")
    shown = causes[: min(3, ink.lines)]
    texts = [
        f"{ink.value(cause_name(cause.runbook))}{_because(cause, ink) or otherwise}"
        for cause in shown
    ]
    rest = ink.more(len(causes) - len(shown))
    return Mrkdwn(f"{head} {', '.join([*texts, rest] if rest else texts)}")


def _because(cause: Cause, ink: Ink) -> str:
    check = weighing.deciding(cause)
    if check and any(seen.value is not None for seen in check.seen):
        if words := reasons.words(check):
            return f" ({ink.said(words)})"
        claim = ink.said(small(check.claim.rstrip(".")))
        seen = value_seen(check, ink)
        lead = "does not hold: " if check.part is not Part.REFUTE else ""
        return f" ({lead}{claim}{f': {seen}' if seen else ''})"
    because = telling.because(cause)
    return f" ({ink.sentence(because)})" if because else ""


def _size(gaps: Mapping[Gap, Sequence[str]]) -> int:
    return sum(map(len, gaps.values()))


def _gaps(
    head: str,
    gaps: Mapping[Gap, Sequence[str]],
    ink: Ink,
    told_before: Mapping[Gap, str] | None = None,
    *,
    named: bool = False,
) -> Mrkdwn:
    if not gaps:
        return Mrkdwn("")
    if named:
        return Mrkdwn(f"{head} {_why(next(iter(gaps)), ink)}")
    shown = _shown(gaps, ink)
    texts = [_told(gap, names, ink, (told_before or {}).get(gap, "")) for gap, names in shown]
    left = ink.more(_size(gaps) - sum(len(names) for _, names in shown))
    return Mrkdwn(f"{head} {' '.join([*texts, left] if left else texts)}")


def _shown(gaps: Mapping[Gap, Sequence[str]], ink: Ink) -> Sequence[tuple[Gap, Sequence[str]]]:
    return list(gaps.items())[: min(3, ink.lines)]


def _told(gap: Gap, names: Sequence[str], ink: Ink, like: str) -> str:
    """Names with their reason and fix; `like` names what both were told for already."""
    shown = [ink.value(item) for item in names[: max(1, ink.lines // 2)]]
    left = ink.more(len(names) - len(shown))
    listed = ", ".join([*shown, left] if left else shown)
    if like:
        return f"{listed}: for the same reason as {ink.value(like)}."
    return f"{listed}: {_why(gap, ink)}"


def _why(gap: Gap, ink: Ink) -> str:
    text = f"{ink.sentence(gap.reason)}."
    return f"{text} Fix: {ink.whole(gap.fix)}." if gap.fix else text
