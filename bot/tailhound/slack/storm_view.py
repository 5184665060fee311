"""The message of a storm: how many incidents a channel has no room for, and the worst of them.

Each of the worst is a line with a button that gives it a message of its own. The rest is counted,
and stands in the list.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from tailhound.model import Incident
from tailhound.model.names import plural
from tailhound.model.wording import clock, day_clock, duration
from tailhound.notifiers import Storm
from tailhound.slack.actions import OPEN_HELD, PAGE, value_of
from tailhound.slack.blocks import SlackMessage
from tailhound.slack.buttons import Offers
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import IN_THREAD, ON_PAGE, Ink
from tailhound.slack.kit import Block, actions, button, context, header, section
from tailhound.slack.limits import OUR_BYTES, URL
from tailhound.slack.texts import fitted, written
from tailhound.slack.view import View

ROWS: Final = 5
"""So many incidents are shown, each in one line with its button."""

ROW_LENGTHS: Final = (240, 120)
"""Characters of a line, and of a shorter one where all are over the hard stop in bytes."""


def storm_message(
    storm: Storm,
    *,
    list_url: str,
    now: datetime,
    channel_limit: tuple[int, float],
    offers: Offers = Offers(),  # noqa: B008 - frozen
) -> SlackMessage:
    """A storm as it stands. `list_url` is "" where the pages have no address.

    `channel_limit` is how many new messages the channel takes in how many seconds.
    """
    list_url = list_url if len(list_url) <= URL else ""
    shown, page = storm.worst[:ROWS], bool(list_url)
    see = partial(_view, now=now, page=page)
    for length in ROW_LENGTHS:
        rows = tuple(
            _row(n, one, partial(see, one), length, offers) for n, one in enumerate(shown, 1)
        )
        drawn = (
            header("H", _head(storm)),
            section("S", _why(storm, channel_limit, offers, page=page), expand=True),
            *rows,
            actions("L", _links(list_url)),
            context("F", _foot(storm, now, page=page)),
        )
        result = SlackMessage(text=_text(storm, see), blocks=_marked(drawn, storm))
        if result.bytes <= OUR_BYTES:
            break
    return result


def _marked(drawn: tuple[Block | None, ...], storm: Storm) -> tuple[Block, ...]:
    """The blocks with an id that changes when the storm does, as Slack wants it of an edit."""
    changed = sum(one.revision for one in storm.worst)
    mark = f"{storm.incidents}.{storm.held}.{changed}"
    return tuple({**block, "block_id": f"{block['block_id']}:{mark}"} for block in drawn if block)


def _head(storm: Storm) -> str:
    return written(
        "storm_head",
        incidents=plural(storm.incidents, "incident"),
        shown=f"{storm.incidents - storm.held:,}",
        held=f"{storm.held:,}",
    )


def _why(storm: Storm, channel_limit: tuple[int, float], offers: Offers, *, page: bool) -> str:
    messages, seconds = channel_limit
    return written(
        "storm_why",
        messages=plural(messages, "new message"),
        within=duration(seconds),
        page=page,
        opens=offers.interactive and bool(storm.worst),
        worst=bool(storm.worst),
    )


def _row(
    number: int, incident: Incident, see: Callable[[Ink], View], length: int, offers: Offers
) -> Block:
    text, tight = fitted("R", see, length), see(Ink(10, 16, 0))
    opens = button(f"Open {tight.id}", OPEN_HELD, value=value_of(incident))
    given = opens if offers.interactive else None
    return section(str(number), text, expand=True, accessory=given) or {}


def _view(incident: Incident, ink: Ink, *, now: datetime, page: bool) -> View:
    told = replace(ink, rest=ON_PAGE if page else IN_THREAD)
    return View(incident=incident, now=now, ink=told, page=page)


def _links(list_url: str) -> tuple[Block, ...]:
    return (button("All of them ↗", PAGE, url=list_url),) if list_url else ()


def _foot(storm: Storm, now: datetime, *, page: bool) -> str:
    """Since when, and how many are not shown; they are to be found somewhere in any case."""
    left = storm.held - min(len(storm.worst), ROWS)
    return written(
        "storm_foot",
        since=day_clock(storm.since, now),
        left=f"{left:,}" if left > 0 else "",
        page=page,
    )


def _text(storm: Storm, see: Callable[[Incident, Ink], View]) -> str:
    """`37 incidents at once. Worst: prod/llm-70b, ... 25 of them in one message, since ...`."""
    worst = ""
    if storm.worst:
        first = storm.worst[0]
        worst = fitted("RT", partial(see, first), 140, _tells_at_once)
    return written(
        "storm_notice",
        incidents=plural(storm.incidents, "incident"),
        worst=Mrkdwn(worst),
        held=f"{storm.held:,}",
        since=clock(storm.since),
    )


def _tells_at_once(text: str, view: View) -> bool:
    return view.where in text[:60]
