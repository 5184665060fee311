"""The two rows of buttons of an incident's message: what to do about it, and how to look. Pure.

Only buttons that work are drawn. The rows stay where they are, whatever happens to the incident.
"""

from dataclasses import dataclass
from urllib.parse import quote, urljoin

from tailhound.model import Incident, Outlook, Rating
from tailhound.slack import escape
from tailhound.slack.actions import (
    CHECK_NOW,
    ON_IT,
    PAGE,
    POSTMORTEM,
    RECHECK,
    RIGHT,
    SILENCE,
    WRONG,
    agreeing,
    value_of,
)
from tailhound.slack.kit import Block, button
from tailhound.slack.limits import URL
from tailhound.slack.look import Look, look_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """What works here. `interactive`: clicks reach tailhound; without it, only links are drawn.

    `can_silence`: there is an Alertmanager in which a silence can be set.
    """

    interactive: bool = True
    can_silence: bool = False


ANSWER = "Add or change an answer"
"""What the button says by which people say another word, or their first one."""

_CHECKABLE = frozenset({Look.CONFIRMED, Look.TWO_FIT, Look.UNKNOWN, Look.BLIND, Look.FAILED})
_ARGUABLE = frozenset({Look.CONFIRMED, Look.TWO_FIT, Look.UNKNOWN})
_NAME = 8
_QUIET = frozenset({Look.RESOLVED, Look.JOINED, Look.UNREADABLE})
"""There is nothing to silence."""


def to_do(incident: Incident, page_url: str, offers: Offers) -> tuple[Block, ...]:
    """Row A: who takes it on; of a resolved incident, what it was."""
    look, value = look_of(incident), value_of(incident)
    if look is Look.JOINED:
        return ()
    if look is Look.RESOLVED:
        draft = (button("Postmortem draft ↗", POSTMORTEM, url=f"{page_url}/postmortem"),)
        return (*(_asked(incident) if offers.interactive else ()), *(draft if page_url else ()))
    if not offers.interactive:
        return ()
    taken = button("Take over" if incident.on_it else "I'm on it", ON_IT, value=value)
    if look is Look.DEFERRED:
        return (taken, button("Check this one now", CHECK_NOW, value=value))
    return (taken,)


def _asked(incident: Incident) -> tuple[Block, ...]:
    """The answers to "Was this the cause?", as far as one was named."""
    verdict = incident.verdict
    if verdict is None or verdict.outlook is not Outlook.CAUSE_FOUND:
        return (_telling(incident),)
    agreed = any(one.rating is Rating.RIGHT for one in incident.feedback)
    yes = "Yes, for me too" if agreed else "Yes, that was it"
    return (button(yes, RIGHT, value=agreeing(incident)), _telling(incident))


def _telling(incident: Incident) -> Block:
    """What opens the form; once somebody has answered, what changes that too. Where no cause was
    named nothing can be wrong.
    """
    named = bool(incident.verdict and incident.verdict.named)
    label = "Wrong? Tell us the cause" if named else "Tell us the cause"
    text = ANSWER if incident.feedback else label
    return button(text, WRONG, value=value_of(incident))


def _to_the_other(incident: Incident, page_url: str) -> tuple[Block, ...]:
    """The incident that goes on with the alerts of one that joined it."""
    name = escape.clean(incident.joined_into)
    url = urljoin(page_url, quote(name, safe=""))
    if not page_url or not name or len(url) > URL:
        return ()
    return (button(f"Incident {escape.value(name, _NAME)} ↗", PAGE, url=url),)


def to_look(incident: Incident, page_url: str, offers: Offers) -> tuple[Block, ...]:
    """Row L: look again, silence, say that it is wrong, see everything."""
    look, value = look_of(incident), value_of(incident)
    if look is Look.JOINED:
        return _to_the_other(incident, page_url)
    if look is Look.RESOLVED:
        return (button("Full evidence ↗", PAGE, url=page_url),) if page_url else ()
    found = []
    if offers.interactive and look in _CHECKABLE:
        found.append(button("Re-check", RECHECK, value=value))
    if offers.interactive and offers.can_silence and look not in _QUIET and incident.firing:
        found.append(button("Silence…", SILENCE, value=value))
    if offers.interactive and look in _ARGUABLE:
        found.append(_telling(incident))
    if page_url:
        found.append(button("Full evidence ↗", PAGE, url=page_url))
    return tuple(found)
