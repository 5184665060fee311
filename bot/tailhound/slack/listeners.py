"""Clicks and commands from Slack, through slack-bolt in Socket Mode.

A click is stored first, then acknowledged, within a second; when the store does not answer in time,
the reply says so and the person presses again. Nothing here waits for a diagnosis, and no handler
holds the receiver for longer than that second.
"""

import logging
import queue
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Final

from slack_bolt import Ack, App, BoltRequest, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.webhook import WebhookClient

from tailhound.errors import TailhoundError
from tailhound.model import Incident
from tailhound.slack import commands
from tailhound.slack.actions import PAGE, RECHECK
from tailhound.slack.calls import client
from tailhound.slack.envelopes import Envelopes

_LOG = logging.getLogger(__name__)

STORE_SECONDS: Final = 0.8
"""How long a click waits for the store; with it, Slack has its answer within a second."""

NOT_RECORDED: Final = "Not recorded, press again."
_ENVELOPE: Final = "x-tailhound-envelope"
_VALUE: Final = re.compile(r"(?P<incident>[A-Za-z0-9_-]{1,40}):\d{1,19}")
_STORE_AT_ONCE: Final = 8
_CLICKS_AT_ONCE: Final = 24

Recheck = Callable[[str, str, str], bool]
"""incident, user, envelope -> whether the click is stored. It may raise a TailhoundError."""

Status = Callable[[], Sequence[Incident]]
"""The incidents, the newest first."""

Reply = Callable[[str, str], None]
"""response_url, text: `whisper`, unless a test listens."""


class SlackListeners:
    """The bolt app behind the socket. `receive` takes an envelope from wherever it comes."""

    def __init__(
        self,
        web: WebClient,
        *,
        recheck: Recheck,
        status: Status,
        reply: Reply | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._recheck, self._status, self._now = recheck, status, now
        self._whisper = reply or whisper
        self._envelopes = Envelopes()
        self._slots = threading.BoundedSemaphore(_STORE_AT_ONCE)
        self._pool = ThreadPoolExecutor(_CLICKS_AT_ONCE, thread_name_prefix="slack-click")
        token = web.token
        self._app = App(
            name="tailhound",
            client=client(None, web.base_url, web.timeout),
            authorize=lambda: AuthorizeResult(enterprise_id=None, team_id=None, bot_token=token),
            request_verification_enabled=False,  # the socket itself is authenticated
            ssl_check_enabled=False,
            url_verification_enabled=False,
            listener_executor=self._pool,
        )
        self._app.action(RECHECK)(self._on_recheck)
        self._app.action(PAGE)(_on_link)
        self._app.command("/tailhound")(self._on_command)

    def receive(self, envelope_id: str, payload: Mapping[str, Any]) -> BoltResponse:
        """Handle one envelope; the answer is its acknowledgement. A duplicate is a no-op."""
        if not self._envelopes.is_new(envelope_id):
            return BoltResponse(status=200, body="")
        request = BoltRequest(
            mode="socket_mode", body=dict(payload), headers={_ENVELOPE: envelope_id}
        )
        return self._app.dispatch(request)

    def close(self) -> None:
        """Take no further work."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _on_recheck(self, ack: Ack, body: dict[str, Any], req: BoltRequest) -> None:
        envelope = req.headers[_ENVELOPE][0]
        action, user = body["actions"][0], str(body["user"]["id"])
        found = _VALUE.fullmatch(str(action.get("value", "")))
        if found is None:
            ack()
            self._reply(body, "Not recorded: this button is none of tailhound's.")
            return
        incident = found["incident"]
        stored = self._ask(lambda: self._recheck(incident, user, envelope))
        if stored is not True:
            self._envelopes.forget(envelope)
        ack()
        self._reply(body, _recorded(incident) if stored is True else NOT_RECORDED)

    def _on_command(self, ack: Ack, body: dict[str, Any]) -> None:
        words = str(body.get("text", "")).split()
        word = words[0].lower() if words else "help"
        if word == "status":
            ack(_ephemeral(self._status_text()))
        elif word == "help":
            ack(_ephemeral(commands.help_text()))
        else:
            ack(_ephemeral(commands.unknown_text(words[0])))

    def _status_text(self) -> str:
        incidents = self._ask(self._status)
        if incidents is None:
            return "The store did not answer, so the status is not known. Try again in a minute."
        return commands.status_text(incidents, self._now())

    def _ask(self, question: Callable[[], Any]) -> Any:
        """What the store says; None when it failed, or said nothing in time."""
        if not self._slots.acquire(blocking=False):
            return None
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(
            target=self._put_answer, args=(question, answer), name="slack-store", daemon=True
        ).start()
        try:
            return answer.get(timeout=STORE_SECONDS)
        except queue.Empty:
            _LOG.error("the store did not answer a click within %s s", STORE_SECONDS)
            return None

    def _put_answer(self, question: Callable[[], Any], answer: "queue.SimpleQueue[Any]") -> None:
        try:
            answer.put(question())
        except TailhoundError as error:
            _LOG.error("a click was not stored: %s", error)
            answer.put(None)
        except Exception:  # noqa: BLE001  a bug behind a click is "not recorded" for who clicked
            _LOG.exception("a click was not stored")
            answer.put(None)
        finally:
            self._slots.release()

    def _reply(self, body: Mapping[str, Any], text: str) -> None:
        """Tell who clicked, and nobody else; behind the acknowledgement, not before it."""
        url = str(body.get("response_url", ""))
        if url:
            threading.Thread(
                target=self._whisper, args=(url, text), name="slack-reply", daemon=True
            ).start()


def _on_link(ack: Ack) -> None:
    """Slack reports a click on a link too, and wants it acknowledged."""
    ack()


def _recorded(incident: str) -> str:
    return f"Recorded: {incident} is checked again; its message changes with the answer."


def _ephemeral(text: str) -> dict[str, Any]:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}
    return {"response_type": "ephemeral", "text": text, "blocks": [section]}


def whisper(url: str, text: str) -> None:
    """Tell who clicked, and nobody else: an answer to Slack's `response_url`."""
    try:
        answer = WebhookClient(url, timeout=5, retry_handlers=[]).send(
            text=text, response_type="ephemeral", replace_original=False
        )
    except (OSError, ValueError) as error:
        _LOG.warning("the reply to a click did not arrive: %s", error)
        return
    if answer.status_code != 200:
        _LOG.warning("Slack refused the reply to a click: %s %s", answer.status_code, answer.body)
