"""Incidents to Slack: one message per incident, posted once and edited from then on."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from tailhound.errors import SettingsError
from tailhound.model import State
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tailhound.slack.blocks import SlackMessage, message
from tailhound.slack.calls import Calls, Lost, No, Outcome, Said
from tailhound.slack.limits import SECTION_TEXT
from tailhound.slack.pace import AUTH, HISTORY, POST, UPDATE, Pace
from tailhound.slack.refusals import Meaning, is_dead, meaning_of, todo
from tailhound.slack.storm_view import storm_message

_LOG = logging.getLogger(__name__)

EVENT_TYPE: Final = "tailhound_incident"
"""The type of the metadata that each message carries: incident and revision."""

_PAGES_OF_HISTORY: Final = 5
_QUIET_SECONDS: Final = 60.0
_ATTEMPTS_AT_UNKNOWN_ERRORS: Final = 5

Result = Posted | Later | Refusal


@dataclass(frozen=True, slots=True)
class _Draft:
    """A message on its way: where to, and what it says."""

    delivery: Delivery
    shown: SlackMessage

    @property
    def arguments(self) -> dict[str, Any]:
        """What posting and editing have in common."""
        incident = self.delivery.incident
        payload: dict[str, str | int] = {"incident": incident.id, "revision": incident.revision}
        if self.delivery.part:
            payload["part"] = self.delivery.part
        return {
            "channel": self.delivery.place,
            "text": self.shown.text,
            "blocks": list(self.shown.blocks),
            "metadata": {"event_type": EVENT_TYPE, "event_payload": payload},
            "unfurl_links": False,
            "unfurl_media": False,
            "link_names": False,
            "parse": "none",
        }


class SlackNotifier:
    """Posts and edits through slack_sdk. It never raises for trouble of Slack.

    `public_url` is where tailhound's pages are reached ("" = nowhere). `token` reads the token once
    more: when Slack has refused the one in use, a new one works without a restart. `clock` is
    monotonic, `now` tells the time of day.
    """

    name = "slack"

    def __init__(  # noqa: PLR0913 - two of them are clocks
        self,
        web: WebClient,
        *,
        public_url: str = "",
        channel_limit: tuple[int, float] = (12, 600.0),
        token: Callable[[], str] | None = None,
        timeout_seconds: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._calls = Calls(web, timeout_seconds=timeout_seconds)
        self._pace = Pace(clock)
        self._channel_limit = channel_limit
        self._public_url, self._token = public_url.rstrip("/"), token
        self._clock, self._now = clock, now
        self._no_history = False
        self._dead: tuple[float, str] = (0.0, "")
        self._lost: dict[tuple[str, str, str], int] = {}
        self._plain: set[tuple[str, str, str]] = set()

    async def deliver(self, delivery: Delivery) -> Result:
        """Post the incident, or edit the message that stands."""
        until, why = self._dead
        if why and self._clock() < until:
            return Refusal(why)
        if why:
            self._revive()
        draft = _Draft(delivery, self._shown(delivery))
        if delivery.message:
            return await self._edit(draft, delivery.message)
        if self._posts_lost(delivery):
            return await self._look_then_post(draft)
        return await self._post(draft)

    def close(self) -> None:
        """Start no further call; those on their way end by themselves."""
        self._calls.close()

    def _revive(self) -> None:
        """Try again after a dead token, with the one that lies where it is configured by now."""
        self._dead = (0.0, "")
        try:
            if self._token is not None:
                self._calls.web.token = self._token()
        except SettingsError as error:
            _LOG.error("the token of Slack stays as it was: %s", error)

    def _shown(self, delivery: Delivery) -> SlackMessage:
        if delivery.storm is not None:
            return storm_message(
                delivery.storm,
                list_url=self._public_url and f"{self._public_url}/incidents",
                now=self._now(),
                channel_limit=self._channel_limit,
            )
        page = self._public_url and f"{self._public_url}/incidents/{delivery.incident.id}"
        return message(delivery.incident, page_url=page, now=self._now())

    def _posts_lost(self, delivery: Delivery) -> int:
        known = max(delivery.lost_posts, int(delivery.unsure))
        return max(known, self._lost.get(_key(delivery), 0))

    async def _look_then_post(self, draft: _Draft) -> Result:
        """An earlier post may stand: edit it if it is found, else post once more, never a third."""
        delivery = draft.delivery
        found = await self._find(delivery)
        if isinstance(found, Later):
            return found
        if found:
            return await self._edit(draft, found, anew=False)
        if found is None and self._posts_lost(delivery) > 1:
            return Refusal(
                f"two posts about incident {delivery.incident.id} to {delivery.place} were sent "
                "and never answered: look whether one stands there; with the scope "
                "channels:history tailhound looks by itself",
                only_this=True,
            )
        alive = await self._calls.ask(lambda web: web.auth_test())
        if isinstance(alive, Lost):
            return self._not_now(alive, AUTH, delivery, unsure=True)
        return await self._post(draft)

    async def _find(self, delivery: Delivery) -> str | Later | None:
        """The ts of the incident's message; "" when there is none, None when nobody can tell."""
        if self._no_history:
            return None
        oldest = f"{delivery.incident.received_at.timestamp() - 60:.6f}"
        cursor = ""
        for _ in range(_PAGES_OF_HISTORY):
            outcome = await self._calls.ask(_history(delivery.place, oldest, cursor))
            if isinstance(outcome, No) and meaning_of(outcome.error) is Meaning.REFUSED:
                self._no_history = True
                return None
            if not isinstance(outcome, Said):
                return self._not_now(outcome, HISTORY, delivery, unsure=True)
            found = _ts_of(outcome, delivery)
            cursor = str(outcome.data.get("response_metadata", {}).get("next_cursor") or "")
            if found or not cursor:
                return found
        return None

    async def _post(self, draft: _Draft) -> Result:
        delivery = draft.delivery
        wait = self._pace.before_post(delivery.place)
        unsure = self._was_lost(delivery)
        if wait > 0:
            why = "Slack takes one message a second in a channel"
            return Later(wait, why, unsure, lost_posts=self._posts_lost(delivery))
        outcome = await self._send(draft, lambda web, new: web.chat_postMessage(**new.arguments))
        if isinstance(outcome, Said):
            self._lost.pop(_key(delivery), None)
            place = str(outcome.data.get("channel") or delivery.place)
            return Posted(place=place, message=str(outcome.data.get("ts", "")))
        if isinstance(outcome, Lost) and outcome.sent:
            self._lost[_key(delivery)] = self._posts_lost(delivery) + 1
        return self._settled(outcome, POST, draft)

    async def _edit(self, draft: _Draft, ts: str, *, anew: bool = True) -> Result:
        """Edit the message; where it can't be edited, and `anew` allows it, post a new one."""
        delivery = draft.delivery
        urgent = delivery.incident.state is not State.INVESTIGATING
        wait = self._pace.before_update(ts, urgent=urgent)
        if wait > 0:
            why = "Slack takes 50 edits a minute, and one of a message in 2 s"
            return Later(wait, why, only_this=True)
        outcome = await self._send(draft, lambda web, new: web.chat_update(ts=ts, **new.arguments))
        if isinstance(outcome, Said):
            self._lost.pop(_key(delivery), None)
            return Posted(place=delivery.place, message=ts)
        gone = isinstance(outcome, No) and meaning_of(outcome.error) is Meaning.POST_ANEW
        if gone and anew:
            _LOG.warning("the message %s in %s can't be edited: a new one", ts, delivery.place)
            lost = self._posts_lost(delivery) > 0
            return await (self._look_then_post(draft) if lost else self._post(draft))
        return self._settled(outcome, UPDATE, draft)

    async def _send(
        self, draft: _Draft, call: Callable[[WebClient, _Draft], SlackResponse]
    ) -> Outcome:
        """The call with blocks; where Slack refuses those, at once again with text alone."""
        if not draft.delivery.holds():
            return Lost("another replica has taken the message over", sent=False)
        plain = _key(draft.delivery) in self._plain
        if not plain:
            outcome = await self._calls.ask(lambda web: call(web, draft))
            if not (isinstance(outcome, No) and meaning_of(outcome.error) is Meaning.SHORTEN):
                return outcome
            _LOG.error("Slack refused the blocks of a message, sending text alone: %s", outcome)
            self._plain.add(_key(draft.delivery))
        text = _Draft(draft.delivery, _text_only(draft.shown))
        return await self._calls.ask(lambda web: call(web, text))

    def _settled(self, outcome: Outcome, method: str, draft: _Draft) -> Later | Refusal:
        """What a call that did not do it means for the delivery."""
        delivery = draft.delivery
        if isinstance(outcome, No):
            meaning = meaning_of(outcome.error)
            tired = delivery.attempt >= _ATTEMPTS_AT_UNKNOWN_ERRORS
            strange = meaning in (Meaning.UNKNOWN, Meaning.SHORTEN, Meaning.POST_ANEW)
            if meaning is Meaning.REFUSED or (strange and tired):
                return self._refused(outcome, delivery.place)
        return self._not_now(outcome, method, delivery, unsure=self._was_lost(draft.delivery))

    def _refused(self, no: No, place: str) -> Refusal:
        why = todo(no, place)
        if is_dead(no.error):
            self._dead = (self._clock() + _QUIET_SECONDS, why)
        _LOG.error("%s", why)
        return Refusal(why)

    def _not_now(self, outcome: Outcome, method: str, delivery: Delivery, *, unsure: bool) -> Later:
        lost = 0 if delivery.message else self._posts_lost(delivery)
        if isinstance(outcome, No):
            if meaning_of(outcome.error) is Meaning.WAIT:
                seconds = outcome.retry_after or 30.0
                self._pace.hold(method, seconds)
                why = f"Slack's rate limit of {method}"
                return Later(seconds, why, unsure, method == UPDATE, lost)
            return Later(_pause(delivery), f"Slack answered {outcome.error}", unsure, False, lost)
        why = outcome.why if isinstance(outcome, Lost) else "no outcome"
        sent = isinstance(outcome, Lost) and outcome.sent
        return Later(_pause(delivery), why, unsure or (sent and method == POST), False, lost)

    def _was_lost(self, delivery: Delivery) -> bool:
        """Whether a post may stand that nobody has seen; of a message that is known, none."""
        return not delivery.message and self._posts_lost(delivery) > 0


def _key(delivery: Delivery) -> tuple[str, str, str]:
    return delivery.place, delivery.incident.id, delivery.part


def _text_only(shown: SlackMessage) -> SlackMessage:
    """The shortest message that still tells state, symptom and verdict."""
    parts = [shown.text]
    sections = [block for block in shown.blocks if block["type"] == "section"]
    for block in sections:
        text = block["text"]["text"]
        if len("\n".join([*parts, text])) <= SECTION_TEXT:
            parts.append(text)
    if len(sections) >= len(parts):
        parts.append("The rest is on the page.")
    return SlackMessage(text="\n".join(parts), blocks=())


def _history(channel: str, oldest: str, cursor: str) -> Callable[[WebClient], SlackResponse]:
    return lambda web: web.conversations_history(
        channel=channel,
        oldest=oldest,
        cursor=cursor or None,
        limit=200,
        include_all_metadata=True,
    )


def _ts_of(outcome: Said, delivery: Delivery) -> str:
    """The incident's message among those; not the one that is known and can't be edited."""
    for found in outcome.data.get("messages", ()):
        metadata = found.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        if (
            metadata.get("event_type") == EVENT_TYPE
            and payload.get("incident") == delivery.incident.id
            and payload.get("part", "") == delivery.part
        ):
            ts = str(found["ts"])
            if ts != delivery.message:
                return ts
    return ""


def _pause(delivery: Delivery) -> float:
    """Seconds before the next attempt: 1, 2, 4, ... at most 60."""
    return float(min(60, 2 ** min(6, max(0, delivery.attempt - 1))))
