"""The message about tailhound's own trouble, for the people who run it."""

from datetime import datetime

from tailhound.durable.ops import Notice
from tailhound.model.wording import day_clock, duration
from tailhound.notifiers import Later, Posted, Refusal
from tailhound.slack.blocks import SlackMessage
from tailhound.slack.calls import Calls, Lost, No
from tailhound.slack.draft import saying
from tailhound.slack.kit import section
from tailhound.slack.pace import POST, RATE_LIMIT, UPDATE, Pace, Rank
from tailhound.slack.refusals import Meaning, meaning_of, todo
from tailhound.slack.texts import written

AGAIN_SECONDS = 30.0
"""When a message that Slack did not take is tried again."""


def ops_message(notice: Notice, now: datetime) -> SlackMessage:
    """What is wrong since when, what is lost meanwhile and what to do; once it is over, that."""
    trouble, over = notice.trouble, notice.over
    lasted = (over - trouble.since).total_seconds() if over else 0.0
    told = written(
        "ops_notice",
        what=trouble.what,
        effect=trouble.effect,
        fix=trouble.fix,
        since=day_clock(trouble.since, now),
        over=day_clock(over, now) if over else "",
        lasted=duration(max(0.0, lasted - lasted % 1)),
    )
    block = section("OPS", told, expand=True)
    return SlackMessage(text=told.replace("*", ""), blocks=(block,) if block else ())


class OpsPosts:
    """Posts and edits such messages within Slack's limits. It never raises for trouble of Slack."""

    def __init__(self, calls: Calls, pace: Pace) -> None:
        self._calls, self._pace = calls, pace

    async def post(self, channel: str, shown: SlackMessage) -> Posted | Later | Refusal:
        """A new message."""
        wait = self._pace.before_post(channel, Rank.PROGRESS)
        if wait > 0:
            return Later(wait, "")
        outcome = await self._calls.ask(lambda web: web.chat_postMessage(**saying(channel, shown)))
        if isinstance(outcome, No | Lost):
            return self._not_done(outcome, POST, channel)
        return Posted(channel, str(outcome.data.get("ts", "")))

    async def edit(
        self, channel: str, message: str, shown: SlackMessage
    ) -> Posted | Later | Refusal:
        """The message that stands, with other words."""
        wait = self._pace.before_update(message, Rank.PROGRESS)
        if wait > 0:
            return Later(wait, "")
        outcome = await self._calls.ask(
            lambda web: web.chat_update(ts=message, **saying(channel, shown))
        )
        if isinstance(outcome, No | Lost):
            return self._not_done(outcome, UPDATE, channel)
        return Posted(channel, message)

    def _not_done(self, outcome: No | Lost, method: str, channel: str) -> Later | Refusal:
        if isinstance(outcome, Lost):
            return Later(AGAIN_SECONDS, outcome.why, unsure=outcome.sent)
        meaning = meaning_of(outcome.error)
        if meaning is Meaning.WAIT:
            seconds = outcome.retry_after or AGAIN_SECONDS
            self._pace.hold(method, seconds)
            return Later(seconds, f"{RATE_LIMIT} of {method}")
        if meaning is Meaning.TROUBLE:
            return Later(AGAIN_SECONDS, f"Slack answered {outcome.error}")
        return Refusal(todo(outcome, channel))
