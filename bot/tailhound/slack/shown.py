"""What `show` and `why` say of one incident: the slots of its message, for who asked. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from tailhound.model import Incident, Outlook, State
from tailhound.slack import escape
from tailhound.slack.blocks import whole_texts
from tailhound.slack.commands import verdict_text

SHOW: Final = "SWD"
"""The symptom, the verdict, what to do."""

WHY: Final = "EN"
"""The claims with their values, and what could not be checked; first, without a cause, what was
unusual."""


def shown_text(incident: Incident, slots: str, *, address: str, page: str, now: datetime) -> str:
    """These slots, uncut, below the headline, the way to the incident, and the next useful step.

    `address` is that of its message or page, `page` that of its page; "" where there is none.
    """
    told = whole_texts(incident, f"H{slots}", page_url=page, now=now)
    parts = [told[slot] for slot in slots if told.get(slot)]
    if slots == WHY:
        parts = [*_near(incident, page, now), *parts]
    head = told.get("H", escape.value(incident.name))
    parts = parts or [_nothing(incident)]
    return "\n".join([f"*{head}*", *parts, _foot(incident, slots, (address, page))])


def _nothing(incident: Incident) -> str:
    """Why there is no claim to show; what the verdict was last time, where there was one."""
    diagnosis = incident.diagnosis
    if diagnosis is None or incident.unreadable or incident.state is State.JOINED:
        return _why_none(incident)
    if incident.verdict_stands:
        return "No runbook decided a claim."
    return f"{_why_none(incident)} Last time: {verdict_text(diagnosis)}."


def _why_none(incident: Incident) -> str:
    if incident.unreadable:
        return "What came can't be read as an alert, so nothing was checked."
    match incident.state:
        case State.JOINED:
            other = escape.value(incident.joined_into)
            return f"It has joined incident {other}, so its claims are those of that one."
        case State.RESOLVED:
            return "It was over before there was a verdict, so no claim was decided."
        case State.FAILED:
            why = escape.sentence(incident.failed_because.rstrip("."))
            return f"tailhound itself failed ({why}), so no claim was decided."
        case State.DEFERRED:
            return "It waits its turn, so no claim was decided yet."
    since = " of this time" if incident.episode > 1 else ""
    return f"There is no verdict{since} yet, so no claim was decided."


def _near(incident: Incident, page: str, now: datetime) -> list[str]:
    """What was unusual, and what is near, with values: the why of a verdict without a cause, and
    told of one that is over as it was.
    """
    diagnosis = incident.diagnosis
    if not (diagnosis and diagnosis.causes) or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return []
    if not incident.verdict_stands or incident.state is State.JOINED:
        return []
    then = replace(incident, state=State.DIAGNOSED)
    told = whole_texts(then, "W", page_url=page, now=now).get("W")
    return [told] if told else []


def _foot(incident: Incident, slots: str, addresses: Sequence[str]) -> str:
    """`Incident 8R5W · page ↗ · why: `/tailhound why 8R5W``."""
    address, page = addresses
    id = escape.value(incident.id)
    other = "why" if slots == SHOW else "show"
    ways = [f"Incident {escape.link(address, id)}"]
    ways += [escape.link(page, "its page ↗")] if page and page != address else []
    ways += [f"`/tailhound {other} {id}`"]
    ways += [f"`/tailhound recheck {id}`"] if incident.is_open else []
    return " · ".join(ways)
