"""The message of a storm: how many incidents a channel has no room for, and the worst of them.

Each of the worst is a line with a button that gives it a message of its own. The rest is counted,
and stands in the list.
"""

from datetime import datetime
from typing import Final

from tailhound.model import Incident
from tailhound.model.names import plural
from tailhound.model.wording import clock, day_clock, duration
from tailhound.notifiers import Storm
from tailhound.slack.actions import OPEN_HELD, PAGE, value_of
from tailhound.slack.blocks import SlackMessage
from tailhound.slack.buttons import Offers
from tailhound.slack.ink import Ink
from tailhound.slack.kit import Block, actions, button, context, header, section
from tailhound.slack.limits import OUR_BYTES, URL
from tailhound.slack.texts import fitted
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
    shown = storm.worst[:ROWS]
    for length in ROW_LENGTHS:
        rows = tuple(_row(n, one, now, length, offers) for n, one in enumerate(shown, 1))
        drawn = (
            header("H", _head(storm)),
            section("S", _why(storm, channel_limit, offers), expand=True),
            *rows,
            actions("L", _links(list_url)),
            context("F", _foot(storm, now, bool(list_url))),
        )
        result = SlackMessage(text=_text(storm, now), blocks=_marked(drawn, storm))
        if result.bytes <= OUR_BYTES:
            break
    return result


def _marked(drawn: tuple[Block | None, ...], storm: Storm) -> tuple[Block, ...]:
    """The blocks with an id that changes when the storm does, as Slack wants it of an edit."""
    changed = sum(one.revision for one in storm.worst)
    mark = f"{storm.incidents}.{storm.held}.{changed}"
    return tuple({**block, "block_id": f"{block['block_id']}:{mark}"} for block in drawn if block)


def _head(storm: Storm) -> str:
    shown = storm.incidents - storm.held
    return f"⏸️ {_at_once(storm)}: {shown:,} shown, {storm.held:,} in this message"


def _at_once(storm: Storm) -> str:
    return f"{plural(storm.incidents, 'incident')} at once"


def _why(storm: Storm, channel_limit: tuple[int, float], offers: Offers) -> str:
    messages, seconds = channel_limit
    wish = ", or when you open it" if offers.interactive and storm.worst else ""
    lines = [
        f"*This channel takes {plural(messages, 'new message')} in {duration(seconds)}.* "
        "Each incident is checked all the same, and has its page.",
        f"It gets its own message when it is critical and its cause is confirmed{wish}.",
    ]
    if not storm.worst:
        lines.append("*None of them is open any more.*")
    return "\n".join(lines)


def _row(number: int, incident: Incident, now: datetime, length: int, offers: Offers) -> Block:
    text = fitted("R", lambda ink: _view(incident, now, ink), length)
    opens = (
        button(f"Open {_view(incident, now, Ink(10, 16, 0)).id}", OPEN_HELD,
               value=value_of(incident))
        if offers.interactive
        else None
    )  # fmt: skip
    return section(str(number), text, expand=True, accessory=opens) or {}


def _view(incident: Incident, now: datetime, ink: Ink) -> View:
    return View(incident=incident, now=now, ink=ink, page=True)


def _links(list_url: str) -> tuple[Block, ...]:
    return (button("All of them ↗", PAGE, url=list_url),) if list_url else ()


def _foot(storm: Storm, now: datetime, page: bool) -> str:
    """Since when, and how many are not shown; they are to be found somewhere in any case."""
    left = storm.held - min(len(storm.worst), ROWS)
    where = "in the list" if page else "in `tailhound incidents`"
    rest = f" · + {left:,} more {where}" if left > 0 else ""
    return f"Since {day_clock(storm.since, now)}{rest} · this message changes as they do"


def _text(storm: Storm, now: datetime) -> str:
    """`37 incidents at once. Worst: prod/llm-70b, ... 25 of them in one message, since ...`."""
    told = f"{storm.held:,} of them in one message, since {clock(storm.since)}."
    if not storm.worst:
        return f"{_at_once(storm)}. {told}"
    worst = fitted("RT", lambda ink: _view(storm.worst[0], now, ink), 140, _tells_at_once)
    return f"{_at_once(storm)}. Worst: {worst} {told}"


def _tells_at_once(text: str, view: View) -> bool:
    return view.where in text[:60]
