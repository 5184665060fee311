"""Incidents to Slack: one message per incident, edited as it goes on, and a thread below it."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from slack_sdk import WebClient

from tailhound.charts.painter import Painter
from tailhound.durable.ops import Notice
from tailhound.model import Incident
from tailhound.notifiers import Delivery, Storm
from tailhound.slack.blocks import SlackMessage, message
from tailhound.slack.buttons import Offers
from tailhound.slack.calls import Calls
from tailhound.slack.draft import Draft, is_reply
from tailhound.slack.ink import IN_THREAD, ON_PAGE
from tailhound.slack.instead import in_place_of
from tailhound.slack.limits import SECTION_TEXT
from tailhound.slack.ops import OpsPosts, ops_message
from tailhound.slack.pace import Pace
from tailhound.slack.sender import Result, Sender
from tailhound.slack.storm_view import storm_message
from tailhound.slack.thread_posts import ThreadPosts, Written
from tailhound.slack.uploads import Uploads

_TEXT_ROOM: Final = SECTION_TEXT


Notes = Callable[[Incident], Sequence[str]]


class SlackNotifier:
    """Posts and edits through slack_sdk. It never raises for trouble of Slack.

    `public_url` is where tailhound's pages are reached ("" = nowhere). `channel_limit` is how many
    new messages a channel takes in how many seconds, `offers` says which buttons work. `written`
    tells all evidence of an incident as Markdown, for the file in its thread; None = there is no
    file. `notes` are what else the last line of an incident's message says. `clock` is monotonic,
    `now` tells the time of day.
    """

    name = "slack"

    def __init__(  # noqa: PLR0913 - each is the place's, and told by its name
        self,
        web: WebClient,
        *,
        public_url: str = "",
        channel_limit: tuple[int, float] = (12, 600.0),
        offers: Callable[[], Offers] = Offers,
        written: Written | None = None,
        notes: Notes = lambda _incident: (),
        painter: Painter | None = None,
        timeout_seconds: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._calls = Calls(web, timeout_seconds=timeout_seconds)
        self._pace = Pace(clock)
        self._sender = Sender(self._calls, self._pace, clock=clock)
        self._thread = ThreadPosts(
            self._sender,
            Uploads(self._calls, self._pace),
            painter=painter or Painter(),
            written=written,
            now=now,
            clock=clock,
            page=bool(public_url),
        )
        self._ops = OpsPosts(self._calls, self._pace)
        self._channel_limit, self._offers = channel_limit, offers
        self._public_url, self._now = public_url.rstrip("/"), now
        self._notes = notes

    async def deliver(self, delivery: Delivery) -> Result:
        """Post the incident, one of the posts in its thread, or a storm; or edit what stands."""
        dead = self._sender.dead()
        if dead is not None:
            return dead
        if is_reply(delivery):
            return await self._thread.deliver(delivery)
        storm = delivery.storm
        shown = self._storm(storm) if storm else self._own(delivery, delivery.mention)
        anew = self._own(delivery, "") if delivery.mention and delivery.message else shown
        wordings, instead = self._wordings(shown), self._wordings(anew)
        buried = bool(delivery.thread) and delivery.incident.is_page
        draft = Draft(delivery, wordings, broadcast=buried, anew=instead)
        return await self._sender.send(draft)

    async def notice(self, channel: str, told: Notice, *, is_new: bool) -> Result:
        """Post what is wrong with tailhound itself, or edit the message that stands."""
        shown = ops_message(told, self._now())
        dead = self._sender.dead()
        if dead is not None:
            return dead
        if is_new:
            return await self._ops.post(channel, shown)
        return await self._ops.edit(channel, told.message, shown)

    def close(self) -> None:
        """Start no further call; those on their way end by themselves."""
        self._calls.close()
        self._thread.close()

    def _wordings(self, shown: SlackMessage) -> tuple[SlackMessage, ...]:
        return (shown, _text_only(shown, ON_PAGE if self._public_url else IN_THREAD))

    def _own(self, delivery: Delivery, mention: str) -> SlackMessage:
        """The incident's own message. `mention` is left out where it would notify once more."""
        page = self._public_url and f"{self._public_url}/incidents/{delivery.incident.id}"
        now = self._now()
        first = 0.0 if delivery.message else now.timestamp()
        shown = message(
            delivery.incident,
            page_url=page,
            now=now,
            mention=mention,
            posted_at=delivery.posted_at if delivery.posted_at > 0 else first,
            delayed_by=delivery.delayed_by,
            notes=self._notes(delivery.incident),
            like=delivery.like,
            offers=self._offers(),
        )
        return in_place_of(shown, delivery.instead_of)

    def _storm(self, storm: Storm) -> SlackMessage:
        return storm_message(
            storm,
            list_url=self._public_url and f"{self._public_url}/incidents",
            now=self._now(),
            channel_limit=self._channel_limit,
            offers=self._offers(),
        )


def _text_only(shown: SlackMessage, rest: str) -> SlackMessage:
    """The shortest message that still tells state, symptom and verdict."""
    parts = [shown.text]
    sections = [block for block in shown.blocks if block["type"] == "section"]
    for block in sections:
        text = block["text"]["text"]
        if len("\n".join([*parts, text])) <= _TEXT_ROOM:
            parts.append(text)
    if len(sections) >= len(parts):
        parts.append(f"The rest is {rest}.")
    return SlackMessage(text="\n".join(parts), blocks=())
