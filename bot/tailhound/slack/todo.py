"""What a person can do now: suggestions with their price, questions to ask by hand. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from tailhound.model import Asked, Evidence, EvidenceStatus, Offer, telling
from tailhound.model.facts import number_of, unit_of
from tailhound.model.names import backend_name, capital, plural, small
from tailhound.model.wording import fact
from tailhound.slack import escape
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import Ink
from tailhound.slack.limits import PHONE_WIDTH

_HELPS, _WHEN, _COMPLEXITY, _COST, _RISK, _FIRST_RISK = range(1, 7)
"""How terse a suggestion is that goes without each of these, the least important first. A whole
title of one more suggestion tells more. What may go wrong is told of the first suggestion as long
as there is room for its title, and of those that may do more than a little harm.
"""

_TITLE = 60
"""Characters of a title that is never cut: no shipped one is longer."""

_ROOM_FOR_A_NAME = 60
"""With as much room for a value, a longer name of what it is done to is cut inside; with less it
goes whole.
"""

_BRIEF = 8
"""Characters of a cost that takes no room: `high`, `GPUs`."""

_TELLING = {
    "ready_count": "ready pods",
    "in_service_count": "pods in service",
    "desired_count": "pods wanted",
    "failing_count": "failing pods",
    "cpu_limit_cores": "CPU limit",
}
"""The facts that are told by themselves, and their words."""


def offers(
    found: Sequence[Offer], ink: Ink, *, shadow: bool, page_url: str = ""
) -> tuple[Mrkdwn, ...]:
    """One numbered line for each mitigation, in the runbook's order, which is best first.

    The last line says where the steps are; it leads there where `page_url` is one. What to do first
    is told in any case, by its title alone where there is no room for lines.
    """
    shown = found[: min(4, ink.lines)]
    if found and not shown:
        return (_first_alone(found, ink, page_url),)
    lines = [
        Mrkdwn(f"{number}. {_offer(offer, ink, shadow=shadow, first=number == 1)}")
        for number, offer in enumerate(shown, 1)
    ]
    left = telling.more_offers(found[len(shown) :])
    if found:
        comma = "," if left.endswith("apply") else ""
        where = f"+ {left}{comma} {ink.rest}, with all steps" if left else f"Steps: {ink.rest}."
        lines.append(_linked(where, page_url))
    return tuple(lines)


def _first_alone(found: Sequence[Offer], ink: Ink, page_url: str) -> Mrkdwn:
    """`1. Let it load, and do not restart it. + 4 more`: two lines of a phone at most."""
    left = f"+ {len(found) - 1} more" if found[1:] else "Steps"
    where = left if page_url else f"{left} {ink.rest}"
    room = 2 * PHONE_WIDTH - len(f"1. . {where}")
    title = escape.said(found[0].title.rstrip("."), min(_TITLE, room))
    return Mrkdwn(f"1. {title}. {_linked(where, page_url)}")


def _linked(text: str, page_url: str) -> Mrkdwn:
    return Mrkdwn(f"<{escape.escaped(page_url)}|{text}>" if page_url else text)


def titles(found: Sequence[Offer], ink: Ink) -> tuple[Mrkdwn, ...]:
    """What can be done, by its title alone."""
    shown = [_named(offer, ink, lead=False) for offer in found[: min(3, ink.lines)]]
    left = ink.more(len(found) - len(shown))
    return (*shown, Mrkdwn(left)) if left else tuple(shown)


def _offer(offer: Offer, ink: Ink, *, shadow: bool, first: bool) -> str:
    parts: list[str] = [_named(offer, ink)]
    parts += [_risk(offer, ink, first=first)] if offer.risk else []
    price = ", ".join(_price(offer, ink))
    parts += [capital(price)] if price else []
    if offer.helps and ink.terse < _HELPS:
        parts.append(f"Helps: {ink.said(small(offer.helps.partition(';')[0].rstrip('.')))}")
    if offer.when and ink.terse < _WHEN:
        parts.append(f"When {ink.said(small(offer.when.rstrip('.')))}")
    if not offer.offered and offer.why_not:
        parts.append(f"Not now: {ink.sentence(small(offer.why_not.rstrip('.')))}")
    if shadow and offer.offered and offer.mode == "one-click":
        parts.append("Shadow: tailhound would have offered this change")
    return "".join(f"{part}. " for part in parts).strip()


def _named(offer: Offer, ink: Ink, *, lead: bool = True) -> Mrkdwn:
    """The title, and what it is done to; `lead`: it begins a sentence. A title of usual length is
    whole wherever it stands; half of what it is done to is told only where there is much room.
    """
    title = offer.title.rstrip(".")
    room = max(_TITLE if ink.lines else 0, ink.sentence_length)
    told = escape.said(title if lead else small(title), room)
    fits = offer.of and (len(offer.of) <= ink.value_length or ink.value_length >= _ROOM_FOR_A_NAME)
    return Mrkdwn(f"{told} ({ink.name(offer.of)})") if fits else told


def _risk(offer: Offer, ink: Ink, *, first: bool) -> str:
    """`Medium risk: the pods restart one by one`."""
    weighs = first or (offer.offered and offer.risk != "low")
    with_harm = ink.terse < (_FIRST_RISK if weighs else _RISK)
    return ink.whole(capital(telling.risk(offer.risk, offer.risk_of if with_harm else "")))


def _price(offer: Offer, ink: Ink) -> Iterator[str]:
    """What it costs; that it makes the first token worse, or a cost of one word, is told anyway."""
    if offer.ttft and (ink.terse < _COST or offer.ttft.startswith("worse")):
        yield f"first token: {ink.said(offer.ttft)}"
    brief = len(offer.cost) <= _BRIEF and offer.cost != "none"
    if offer.cost and (brief or ink.terse < _COST):
        yield f"cost: {ink.said(offer.cost)}"
    if offer.complexity and ink.terse < _COMPLEXITY:
        yield f"{ink.said(offer.complexity)} complexity"


def by_hand(failed: Sequence[Asked], ink: Ink) -> tuple[Mrkdwn, ...]:
    """At most two questions that would decide, with whom to ask them: whole, to be pasted.

    One that there is no room for is counted; half a query helps nobody.
    """
    whole = [asked for asked in failed if _is_whole(asked.question, ink)]
    shown = whole[: min(2, ink.lines)]
    lines = [
        Mrkdwn(f"{ink.value(backend_name(a.backend))}: {ink.command(a.question)}") for a in shown
    ]
    if failed and not lines:
        verb = "stands" if len(failed) == 1 else "stand"
        return (Mrkdwn(f"{plural(len(failed), 'question')} {verb} {ink.rest}"),)
    left = ink.more(len(failed) - len(shown))
    return (*lines, Mrkdwn(left)) if left else tuple(lines)


def _is_whole(question: str, ink: Ink) -> bool:
    """Whether a question is shown as it is: it fits, and nothing of it had to be replaced."""
    return ink.command(question) == f"`{escape.escaped(question)}`"


def known(evidence: Iterable[Evidence], ink: Ink) -> Mrkdwn:
    """What helps without the backend that is silent: `ready pods 3 · CPU limit 6 cores`.

    Pods and their limits, each once; "" where nothing of the pods was measured: a limit alone tells
    nobody anything. Other facts mean nothing without their claim, nor do those that a runbook
    defines itself, whatever their names.
    """
    evidence = tuple(item for item in evidence if not item.is_a_runbooks_own)
    measured = {key for found in evidence for key, item in found.facts.items() if item is not None}
    if not measured & (_TELLING.keys() - {"cpu_limit_cores"}):
        return Mrkdwn("")
    told = list(
        dict.fromkeys(
            f"{ink.value(_TELLING[key])} {ink.value(fact(item, unit_of(key)))}"
            for found in evidence
            if found.status is EvidenceStatus.COLLECTED
            for key, item in found.facts.items()
            if key in _TELLING and number_of(item) is not None
        )
    )
    shown = told[: min(6, ink.lines)]
    left = ink.more(len(told) - len(shown))
    return Mrkdwn(" · ".join([*shown, left] if left else shown))
