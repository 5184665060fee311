"""What `show` and `why` say of one incident: the slots of its message, for who asked. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from tailhound.model import Incident, Outlook, State
from tailhound.slack import escape
from tailhound.slack.blocks import whole_texts

SHOW: Final = "SWD"
"""The symptom, the verdict, what to do."""

WHY: Final = "EN"
"""The claims with their values, and what could not be checked; first, without a cause, what was
unusual."""

_NOTHING: Final = "There is no verdict yet, so no claim was decided."


def shown_text(incident: Incident, slots: str, *, address: str, page: str, now: datetime) -> str:
    """These slots, uncut, below the headline, the way to the incident, and the next useful step.

    `address` is that of its message or page, `page` that of its page; "" where there is none.
    """
    told = whole_texts(incident, page_url=page, now=now)
    parts = [told[slot] for slot in slots if told.get(slot)]
    if slots == WHY:
        parts = [*_near(incident, page, now), *parts]
    head = told.get("H", escape.value(incident.name))
    return "\n".join([f"*{head}*", *(parts or [_NOTHING]), _foot(incident, slots, (address, page))])


def _near(incident: Incident, page: str, now: datetime) -> list[str]:
    """What was unusual, and what is near, with values: the why of a verdict without a cause, and
    told of one that is over as it was.
    """
    diagnosis = incident.diagnosis
    if diagnosis is None or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return []
    if not incident.verdict_stands or incident.state is State.JOINED:
        return []
    then = replace(incident, state=State.DIAGNOSED)
    told = whole_texts(then, page_url=page, now=now).get("W")
    return [told] if told else []


def _foot(incident: Incident, slots: str, addresses: Sequence[str]) -> str:
    """`Incident 8R5W · page ↗ · why: `/tailhound why 8R5W``."""
    address, page = addresses
    id = escape.value(incident.id)
    other = "why" if slots == SHOW else "show"
    ways = [f"Incident {escape.link(address, id)}"]
    ways += [escape.link(page, "its page ↗")] if page and page != address else []
    ways += [f"`/tailhound {other} {id}`", f"`/tailhound recheck {id}`"]
    return " · ".join(ways)
