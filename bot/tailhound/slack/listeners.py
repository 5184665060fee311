"""Clicks, forms, commands and the home tab, through slack-bolt in Socket Mode.

What is to be stored is stored first, then acknowledged: within a second where Slack need not be
asked who somebody is, and within its three in any case. When the store does not answer in time, the
reply says so, and what came of it is told when it answers. Nothing here waits for a diagnosis: the
rest goes on behind the acknowledgement, on other threads than those that acknowledge.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Final

from slack_bolt import Ack, App, BoltRequest, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient

from tailhound.slack.actions import (
    END_SILENCE,
    FEEDBACK_FORM,
    HOURS,
    PAGE,
    POSTMORTEM,
    SCOPE,
    SILENCE,
    SILENCE_FORM,
    STOP,
    TICK,
    TRY_AGAIN,
    WRONG,
)
from tailhound.slack.app_home import HomeTab
from tailhound.slack.approvers import Approvers
from tailhound.slack.behind import Behind
from tailhound.slack.calls import client
from tailhound.slack.commanding import Commanding
from tailhound.slack.deeds import Deeds
from tailhound.slack.envelopes import Envelopes
from tailhound.slack.events import ENVELOPE, Event
from tailhound.slack.feedback_form import FeedbackForm
from tailhound.slack.people import People
from tailhound.slack.presses import PRESSES, Presses
from tailhound.slack.promptly import NOT_RECORDED, Promptly
from tailhound.slack.seconds import PEOPLE_SECONDS
from tailhound.slack.silence_form import SilenceForm
from tailhound.slack.tools import Reply, Tools, answer

__all__ = ["NOT_RECORDED", "SlackListeners"]

_CLICKS_AT_ONCE: Final = 24
_BEHIND_AT_ONCE: Final = 16
_REPLIES_AT_ONCE: Final = 8
_REPLIES_WAITING: Final = 200


class SlackListeners:
    """The bolt app behind the socket. `receive` takes an envelope from wherever it comes."""

    def __init__(
        self,
        web: WebClient,
        deeds: Deeds,
        *,
        reply: Reply = answer,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._envelopes = Envelopes()
        self.behind = Behind("slack-behind", _BEHIND_AT_ONCE)
        self._replies = Behind("slack-reply", _REPLIES_AT_ONCE, _REPLIES_WAITING)
        self._pool = ThreadPoolExecutor(_CLICKS_AT_ONCE, thread_name_prefix="slack-click")
        self._app = _app(web, self._pool)
        brisk = client(lambda: web.token or "", web.base_url, PEOPLE_SECONDS)
        people = People(lambda: brisk)
        self.behind.do(people.learn)
        self._wire(
            Tools(
                deeds=deeds,
                store=Promptly(),
                others=Promptly("slack-others"),
                people=people,
                who=Promptly("slack-who", 2 * _CLICKS_AT_ONCE),  # a command asks twice at once
                approvers=Approvers(lambda: brisk, deeds.approvals, people),
                behind=self.behind,
                envelopes=self._envelopes,
                web=web,
                reply=reply,
                replies=self._replies,
                now=now,
            )
        )

    def _wire(self, tools: Tools) -> None:
        app, presses, home = self._app, Presses(tools), HomeTab(tools)
        silence, feedback = SilenceForm(tools), FeedbackForm(tools)
        for pressed in PRESSES:
            app.action(pressed)(presses.pressed)
        app.action(SILENCE)(silence.button_pressed)
        app.action(END_SILENCE)(silence.end_pressed)
        app.action(WRONG)(feedback.button_pressed)
        app.action(STOP)(home.stop_pressed)
        for chosen in (SCOPE, HOURS):
            app.action(chosen)(silence.choice_made)
        for link in (PAGE, POSTMORTEM, TICK):
            app.action(link)(_acknowledged)
        app.action(TRY_AGAIN)(_again(silence, feedback))
        app.view(SILENCE_FORM)(silence.form_sent)
        app.view(FEEDBACK_FORM)(feedback.form_sent)
        app.command("/tailhound")(Commanding(tools, silence).typed)
        app.event("app_home_opened")(home.opened)

    def receive(self, envelope_id: str, payload: Mapping[str, Any]) -> BoltResponse:
        """Handle one envelope; the answer is its acknowledgement. A duplicate is a no-op."""
        if not self._envelopes.is_new(envelope_id):
            return BoltResponse(status=200, body="")
        request = BoltRequest(
            mode="socket_mode", body=dict(payload), headers={ENVELOPE: envelope_id}
        )
        return self._app.dispatch(request)

    def close(self) -> None:
        """Take no further work."""
        self.behind.close()
        self._replies.close()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _app(web: WebClient, pool: ThreadPoolExecutor) -> App:
    return App(
        name="tailhound",
        client=client(None, web.base_url, web.timeout),
        authorize=lambda: AuthorizeResult(enterprise_id=None, team_id=None, bot_token=web.token),
        request_verification_enabled=False,  # the socket itself is authenticated
        ssl_check_enabled=False,
        url_verification_enabled=False,
        listener_executor=pool,
    )


def _acknowledged(ack: Ack) -> None:
    """Slack reports a click on a link too, and wants it acknowledged."""
    ack()


def _again(silence: SilenceForm, feedback: FeedbackForm) -> Callable[[Ack, BoltRequest], None]:
    """*Try again*, in whichever form it is."""

    def again(ack: Ack, req: BoltRequest) -> None:
        ack()
        event = Event.of(req)
        form = silence if silence.note(event) else feedback
        form.begin(event, lambda: form.try_again(event))

    return again
