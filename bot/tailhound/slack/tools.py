"""What every handler works with: the deeds, the store asked promptly, and ways to answer."""

import http.client
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from slack_bolt import Ack
from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.webhook import WebhookClient
from slack_sdk.webhook.webhook_response import WebhookResponse

from tailhound.durable.acts import Person
from tailhound.slack.approvers import Approvers
from tailhound.slack.behind import Behind
from tailhound.slack.calls import Lost, No, Said, outcome_of
from tailhound.slack.deeds import Deeds
from tailhound.slack.envelopes import Envelopes
from tailhound.slack.events import Event
from tailhound.slack.kit import Block, actions, mrkdwn
from tailhound.slack.lengthy import sections
from tailhound.slack.people import GUEST, NO_ANSWER, STRANGER, UNTOLD, People
from tailhound.slack.promptly import NOT_RECORDED, NOT_YET, Gone, Late, Promptly, Silent, Told
from tailhound.slack.seconds import STOPPER_SECONDS, WHO_SECONDS

_LOG = logging.getLogger(__name__)

TOO_LATE: Final = (
    "Slack took longer than 3 s to reach tailhound. Nothing was changed. Please click again."
)
BUSY: Final = "Too much is being asked just now. Nothing was changed; try again in a minute."

Reply = Callable[[str, dict[str, Any]], None]
"""response_url, what is said: `answer`, unless a test listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """`web` is the client for calls that answer people, `replies` where what is said at a
    `response_url` waits its turn; `now` tells the time of day. `others` asks Slack and
    Alertmanager, `store` the store, `who` asks Slack who somebody is: one that hangs keeps no slot
    of the others.
    """

    deeds: Deeds
    store: Promptly
    others: Promptly
    people: People
    who: Promptly
    approvers: Approvers
    behind: Behind
    envelopes: Envelopes
    web: WebClient
    reply: Reply
    replies: Behind
    now: Callable[[], datetime]

    def person(self, event: Event, ack: Ack) -> Person | None:
        """Who acts; a stranger, or nobody, is told off, and the click acknowledged."""
        found = self.who.ask(lambda: self._found(event), WHO_SECONDS)
        who = found.value if isinstance(found, Told) else UNTOLD.format(NO_ANSWER)
        if isinstance(who, Person):
            return who
        ack()
        self.whisper(event, who)
        return None

    def stopper(self, event: Event) -> Person | str:
        """Who stops all changes; why they may not, otherwise.

        Stopping waits for Slack no longer than for the store: then its last word counts.
        """
        found = self.who.ask(lambda: self._stopper(event, ask=True), STOPPER_SECONDS)
        return found.value if isinstance(found, Told) else self._stopper(event, ask=False)

    def _found(self, event: Event) -> Person | str:
        stranger = self.people.why_stranger(event.body)
        return stranger or self.people.person(event.body) or STRANGER

    def _stopper(self, event: Event, *, ask: bool) -> Person | str:
        people = self.people
        if stranger := people.why_stranger(event.body, safe=True, ask=ask):
            return stranger
        found = people.person(event.body, ask=ask)
        if found is None:
            return STRANGER
        return GUEST if people.is_outsider(found, ask=ask) else found

    def whisper(self, event: Event, text: str, buttons: Sequence[Block] = ()) -> None:
        """Tell who acted, and nobody else; behind the acknowledgement, not before it."""
        self._whisper(event, text, ephemeral(text, buttons))

    def whisper_instead(self, event: Event, text: str, buttons: Sequence[Block] = ()) -> None:
        """The same, in the place of the answer whose button was pressed, where it was one's."""
        said = {**ephemeral(text, buttons), "replace_original": event.is_in_answer}
        self._whisper(event, text, said)

    def _whisper(self, event: Event, text: str, said: dict[str, Any]) -> None:
        url = event.response_url
        if url and not self.replies.do(lambda: self.reply(url, said)):
            _LOG.warning("too many answers wait to be told: this one is not: %s", text)

    def whisper_in(self, where: tuple[str, str], person: Person, text: str) -> None:
        """Tell one person in a channel, in its thread if there is one: (channel, thread)."""
        channel, thread = where
        if not channel:
            return
        told = outcome_of(
            lambda web: web.chat_postEphemeral(
                channel=channel, user=person.id, thread_ts=thread or None, **_said(text)
            ),
            self.web,
        )
        if not isinstance(told, Said):
            _LOG.warning("the answer to a form did not arrive: %s", told)

    def open_view(self, event: Event, view: dict[str, Any]) -> dict[str, Any] | None:
        """Open a form; None when Slack does not, which the person is told."""
        found = outcome_of(
            lambda web: web.views_open(trigger_id=event.trigger, view=view), self.web
        )
        if isinstance(found, Said):
            return dict(found.data.get("view") or {})
        _LOG.warning("Slack opened no form: %s", found)
        late = isinstance(found, No) and found.error.endswith("trigger_id")
        self.whisper(event, TOO_LATE if late else f"Slack opened no form ({_why(found)}). Again?")
        return None

    def update_view(self, shown: dict[str, Any], view: dict[str, Any], *, hash: str = "") -> bool:
        """Change an open form; False when somebody changed it since `hash`."""
        more = {"hash": hash} if hash else {}
        found = outcome_of(
            lambda web: web.views_update(view_id=shown["id"], view=view, **more), self.web
        )
        if isinstance(found, Said):
            return True
        _LOG.warning("Slack did not change a form: %s", found)
        return not (isinstance(found, No) and found.error == "hash_conflict")


def told(outcome: Gone | Silent | Late, incident: str) -> str:
    """What to say when nothing was stored, or nobody knows yet."""
    if isinstance(outcome, Gone):
        return f"Not recorded: there is no incident {incident} here any more."
    return NOT_YET if isinstance(outcome, Late) else NOT_RECORDED


def _why(found: No | Lost) -> str:
    return found.error if isinstance(found, No) else "no answer"


def _said(text: str, buttons: Sequence[Block] = ()) -> dict[str, Any]:
    pieces = sections(text)
    row = actions("answer", buttons)
    blocks = [{"type": "section", "text": mrkdwn(piece)} for piece in pieces]
    return {"text": "\n".join(pieces), "blocks": [*blocks, *([row] if row else [])]}


def ephemeral(text: str, buttons: Sequence[Block] = ()) -> dict[str, Any]:
    """An answer that only who asked sees."""
    return {"response_type": "ephemeral", "replace_original": False, **_said(text, buttons)}


def aloud(text: str) -> dict[str, Any]:
    """An answer that everybody in the channel sees."""
    return {"response_type": "in_channel", "replace_original": False, **_said(text)}


def answer(url: str, said: dict[str, Any]) -> None:
    """Say something at Slack's `response_url`."""
    try:
        got: WebhookResponse = WebhookClient(url, timeout=5, retry_handlers=[]).send_dict(said)
    except (OSError, ValueError, http.client.HTTPException, SlackClientError) as error:
        _LOG.warning("the reply to a click did not arrive: %s", error)
        return
    if got.status_code != 200:
        _LOG.warning("Slack refused the reply to a click: %s %s", got.status_code, got.body)
