"""What `show` and `why` say of one incident: the slots of its message, for who asked. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from tailhound.model import Incident
from tailhound.slack import escape
from tailhound.slack.blocks import message
from tailhound.slack.buttons import Offers

SHOW: Final = "SWD"
"""The symptom, the verdict, what to do."""

WHY: Final = "EN"
"""The claims with their values, and what could not be checked."""

_NOTHING: Final = "There is no verdict yet, so no claim was decided."


def shown_text(incident: Incident, slots: str, *, address: str, page: str, now: datetime) -> str:
    """These slots below the headline, the way to the incident, and the next useful step.

    `address` is that of its message or page, `page` that of its page; "" where there is none.
    """
    made = message(incident, page_url=page, now=now, offers=Offers(interactive=False))
    told = {block["block_id"][0]: block["text"]["text"] for block in made.blocks if "text" in block}
    parts = [told[slot] for slot in slots if told.get(slot)]
    head = told.get("H", escape.value(incident.name))
    return "\n".join([f"*{head}*", *(parts or [_NOTHING]), _foot(incident, slots, (address, page))])


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
