"""One message to Slack: posted once, edited from then on, looked up where an answer was lost."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from tailhound.notifiers import Delivery, Later, Posted, Refusal, pause, uncalled
from tailhound.slack.blocks import SlackMessage
from tailhound.slack.calls import Calls, Lost, No, Outcome, Said
from tailhound.slack.draft import Draft, Key, is_reply, key_of
from tailhound.slack.lookup import Matches, is_by, is_of, reading, ts_of
from tailhound.slack.lost_posts import LostPosts
from tailhound.slack.pace import (
    AUTH,
    COMPLETE,
    HISTORY,
    POST,
    RATE_LIMIT,
    REPLIES,
    UPDATE,
    Pace,
    Rank,
)
from tailhound.slack.refusals import Meaning, is_dead, is_everywhere, meaning_of, todo

_LOG = logging.getLogger(__name__)

_PAGES_OF_HISTORY: Final = 5
_QUIET_SECONDS: Final = 60.0
_LONGEST_PAUSE: Final = 60.0
_ATTEMPTS_AT_UNKNOWN_ERRORS: Final = 5
_SEEN: Final = frozenset({POST, UPDATE, COMPLETE})
"""Methods whose effect people see: without an answer nobody knows whether it is there."""

_PASSED_AT_MOST: Final = 5
_NONE: Final[frozenset[str]] = frozenset()

Result = Posted | Later | Refusal
Call = Callable[[SlackMessage, WebClient], SlackResponse]
_Unread = str | Later | Refusal | None


class Sender:
    """Posts and edits through slack_sdk. It never raises for trouble of Slack.

    A token that Slack has refused rests for a minute, or until there is another. `clock` is
    monotonic.
    """

    def __init__(self, calls: Calls, pace: Pace, *, clock: Callable[[], float]) -> None:
        self._calls, self._pace, self._clock = calls, pace, clock
        self._unreadable: set[str] = set()
        self._dead: tuple[float, str, str | None] = (0.0, "", None)
        self.lost = LostPosts()
        self._self: tuple[str | None, frozenset[str]] = (None, frozenset())
        self._wording: dict[Key, int] = {}

    def dead(self) -> Refusal | None:
        """Why no call can succeed now; None when it is worth a try."""
        until, why, token = self._dead
        if why and self._clock() < until and token == self._calls.web.token:
            return Refusal(why, everywhere=True)
        if why:
            self._dead = (0.0, "", None)
            self._unreadable.clear()  # a new token may have other scopes
        return None

    async def send(self, draft: Draft) -> Result:
        """Post the message, or edit the one that stands where people would see a difference."""
        delivery = draft.delivery
        if delivery.message:
            if delivery.seen == draft.seen and not delivery.unsure:
                return uncalled(delivery)
            return await self._edit(draft, delivery.message)
        if self.lost.of(delivery):
            return await self._look_then_post(draft)
        return await self._post(draft)

    async def answers(self, delivery: Delivery) -> Later | None:
        """None once Slack answers again; a post that may be the last is kept until then."""
        wait = self._held(AUTH, delivery)
        if wait is not None:
            return wait
        alive = await self._calls.ask(lambda web: web.auth_test())
        limited = isinstance(alive, No) and meaning_of(alive.error) is Meaning.WAIT
        return self.later(alive, AUTH, delivery) if limited or isinstance(alive, Lost) else None

    async def _look_then_post(self, draft: Draft, passed: frozenset[str] = _NONE) -> Result:
        """An earlier post may stand: edit it if it is found, else post once more, never a third.

        `passed` are messages that were found and can't be edited.
        """
        delivery = draft.delivery
        found = await self.find(
            delivery, lambda told: is_of(told, delivery) and str(told.get("ts")) not in passed
        )
        if isinstance(found, Later | Refusal):
            return found
        if found:
            return await self._edit(draft, found, passed=passed | {found})
        refusal = self.lost.no_third(delivery) if found is None else None
        later = None if refusal else await self.answers(delivery)
        return refusal or later or await self._post(draft)

    async def find(self, delivery: Delivery, matches: Matches) -> str | Later | Refusal | None:
        """The ts of a message of ours that matches; "" when there is none, None when nobody can
        tell. What others post does not count, whatever its metadata and its files say.
        """
        if delivery.place in self._unreadable:
            return None
        ours = await self._ours(delivery)
        if not isinstance(ours, frozenset):
            return ours
        method = REPLIES if delivery.thread else HISTORY
        cursor = ""
        for _ in range(_PAGES_OF_HISTORY):
            wait = self._held(method, delivery)
            if wait is not None:
                return wait
            outcome = await self._calls.ask(reading(delivery, cursor))
            if not isinstance(outcome, Said):
                return self._unread(outcome, method, delivery)
            found = ts_of(outcome, delivery, lambda told: is_by(told, ours) and matches(told))
            cursor = str((outcome.data.get("response_metadata") or {}).get("next_cursor") or "")
            if found or not cursor:
                return found
        return None

    async def _ours(self, delivery: Delivery) -> frozenset[str] | Later | Refusal:
        """The ids by which Slack signs what this app posts; asked once for each token."""
        token = self._calls.web.token
        if self._self[1] and self._self[0] == token:
            return self._self[1]
        wait = self._held(AUTH, delivery)
        if wait is not None:
            return wait
        told = await self._calls.ask(lambda web: web.auth_test())
        if not isinstance(told, Said):
            return self.settled(told, AUTH, delivery)
        ids = frozenset(str(told.data.get(name) or "") for name in ("bot_id", "user_id")) - {""}
        if not ids:
            return self.later(Lost("auth.test did not tell who this is", False), AUTH, delivery)
        self._self = (token, ids)
        return ids

    def _unread(self, outcome: Outcome, method: str, delivery: Delivery) -> _Unread:
        """What it means that the messages of a place were not told.

        Only a scope that is missing stays missing, and each kind of channel has its own: such a
        place is not asked again with this token. An app that is no member may post all the same.
        """
        if isinstance(outcome, No) and outcome.error == "thread_not_found":
            return ""
        if isinstance(outcome, No) and meaning_of(outcome.error) is Meaning.REFUSED:
            if is_dead(outcome.error):
                return self._refused(outcome, delivery)
            if outcome.error == "missing_scope":
                self._unreadable.add(delivery.place)
            return None
        return self.later(outcome, method, delivery)

    def _held(self, method: str, delivery: Delivery) -> Later | None:
        """Slack has refused a method for a while: how long it still does."""
        wait = self._pace.held(method)
        if wait <= 0:
            return None
        why = f"{RATE_LIMIT} of {method}"
        lost = self.lost.of(delivery)
        return Later(wait, why, self.lost.is_unsure(delivery), only_this=True, lost_posts=lost)

    def before_post(self, delivery: Delivery, rank: Rank) -> Later | None:
        """None when a new message may go out now; else how long it has to wait.

        What leaves posts to others does not hold them up while it waits.
        """
        lost, unsure = self.lost.of(delivery), self.lost.is_unsure(delivery)
        if not delivery.holds():
            why = "another replica has taken the message over"
            return Later(pause(delivery, _LONGEST_PAUSE), why, unsure, lost_posts=lost)
        wait = self._pace.before_post(delivery.place, rank)
        alone = rank.leaves_in_channel > 0
        return Later(wait, "", unsure, only_this=alone, lost_posts=lost) if wait > 0 else None

    async def _post(self, draft: Draft) -> Result:
        delivery = draft.delivery
        wait = self.before_post(delivery, draft.rank)
        if wait is not None:
            return wait
        outcome = await self._call(
            draft, lambda wording, web: web.chat_postMessage(**draft.posting(wording))
        )
        if isinstance(outcome, Said):
            self.lost.forget(delivery)
            return await self._posted(draft, outcome)
        if isinstance(outcome, Lost) and outcome.sent:
            self.lost.add(delivery)
        return self.settled(outcome, POST, delivery)

    async def _posted(self, draft: Draft, outcome: Said) -> Posted:
        delivery, ts = draft.delivery, str(outcome.data.get("ts", ""))
        place = str(outcome.data.get("channel") or delivery.place)
        message = outcome.data.get("message") or {}
        if not is_reply(delivery) or message.get("thread_ts"):
            loose = bool(delivery.thread) and not message.get("thread_ts")
            return Posted(place, ts, draft.seen, loose=loose)
        _LOG.warning("the message of %s in %s is gone: a reply waits for a new one",
                     delivery.incident.id, place)  # fmt: skip
        await self._calls.ask(lambda web: web.chat_delete(channel=place, ts=ts))
        return Posted(delivery.place, "")

    async def _edit(self, draft: Draft, ts: str, *, passed: frozenset[str] = _NONE) -> Result:
        """Edit the message; where it can't be edited, post a new one. Where it was only `passed`
        while looking for a post that was lost, look on.
        """
        delivery = draft.delivery
        wait = self._pace.before_update(ts, draft.rank)
        if wait > 0:
            return Later(wait, "", delivery.unsure, only_this=True)
        outcome = await self._call(
            draft, lambda wording, web: web.chat_update(ts=ts, **draft.arguments(wording))
        )
        if isinstance(outcome, Said):
            self.lost.forget(delivery)
            return Posted(place=delivery.place, message=ts, seen=draft.seen)
        gone = isinstance(outcome, No) and meaning_of(outcome.error) is Meaning.POST_ANEW
        if gone and passed and len(passed) < _PASSED_AT_MOST:
            return await self._look_then_post(draft, passed)
        if gone and not passed:
            _LOG.warning("the message %s in %s can't be edited: a new one", ts, delivery.place)
            fresh = replace(draft, wordings=draft.anew or draft.wordings)
            lost = self.lost.of(delivery) > 0
            return await (self._look_then_post(fresh) if lost else self._post(fresh))
        return self.settled(outcome, UPDATE, delivery)

    async def _call(self, draft: Draft, call: Call) -> Outcome:
        """The call; where Slack refuses the blocks, at once again with the next wording."""
        if not draft.delivery.holds():
            return Lost("another replica has taken the message over", sent=False)
        key, last = key_of(draft.delivery), len(draft.wordings) - 1
        first = min(self._wording.get(key, 0), last)
        for at, wording in enumerate(draft.wordings[first:], first):
            outcome = await self._calls.ask(partial(call, wording))
            if at == last or not _is_too_much(outcome):
                return outcome
            _LOG.error("Slack refused the blocks of a message, sending it plainer: %s", outcome)
            self._wording[key] = at + 1
        raise AssertionError("a draft has at least one wording")

    def settled(self, outcome: Outcome, method: str, delivery: Delivery) -> Later | Refusal:
        """What a call that did not do it means for the delivery."""
        if isinstance(outcome, No):
            meaning = meaning_of(outcome.error)
            tired = delivery.attempt >= _ATTEMPTS_AT_UNKNOWN_ERRORS
            strange = meaning in (Meaning.UNKNOWN, Meaning.SHORTEN, Meaning.POST_ANEW)
            if meaning is Meaning.REFUSED or (strange and tired):
                return self._refused(outcome, delivery)
        return self.later(outcome, method, delivery)

    def _refused(self, no: No, delivery: Delivery) -> Refusal:
        why = todo(no, delivery.place)
        if is_dead(no.error):
            self._dead = (self._clock() + _QUIET_SECONDS, why, self._calls.web.token)
        _LOG.error("%s", why)
        mine = is_reply(delivery) and not is_everywhere(no.error)
        return Refusal(why, only_this=mine, everywhere=is_dead(no.error))

    def later(self, outcome: Outcome, method: str, delivery: Delivery) -> Later:
        """When to try again, and whether the message may stand already."""
        lost = 0 if delivery.message else self.lost.of(delivery)
        unsure = self.lost.is_unsure(delivery)
        if isinstance(outcome, No):
            if meaning_of(outcome.error) is Meaning.WAIT:
                seconds = outcome.retry_after or 30.0
                self._pace.hold(method, seconds)
                why = f"{RATE_LIMIT} of {method}"
                return Later(seconds, why, unsure, method != POST, lost)
            mine = meaning_of(outcome.error) is not Meaning.TROUBLE
            return Later(
                pause(delivery, _LONGEST_PAUSE),
                f"Slack answered {outcome.error}",
                unsure,
                mine,
                lost,
            )
        why = outcome.why if isinstance(outcome, Lost) else "no outcome"
        sent = isinstance(outcome, Lost) and outcome.sent and method in _SEEN
        return Later(pause(delivery, _LONGEST_PAUSE), why, unsure or sent, False, lost)


def _is_too_much(outcome: Outcome) -> bool:
    return isinstance(outcome, No) and meaning_of(outcome.error) is Meaning.SHORTEN
