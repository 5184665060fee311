"""The second way out: what came of each incident as one JSON body, for when Slack can't show it."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final

from tailhound.model import Incident, Missing, Reason, State
from tailhound.model.redaction import redacted
from tailhound.notifiers import Delivery, Later, Posted, Refusal, pause, uncalled
from tailhound.notifiers.console import NOT_HEARD_OF, headline, line

VERSION: Final = 1
UNHEARD: Final = "unheard"
"""The state in a body of what counts as over though nobody said so: whoever closes a page by
`resolved` does not close this one.
"""

_LONGEST: Final = 300
_LONGEST_PAUSE: Final = 300.0
_LOOK_ALIKES: Final = str.maketrans({"<": "‹", ">": "›", "@": "＠"})
_ABOUT_THIS_BODY: Final = frozenset({400, 413, 422})
_FOR_NOW: Final = frozenset({408, 425, 429})
_OUTCOMES: Final = (State.DIAGNOSED, State.MITIGATING, State.RESOLVED, State.JOINED, State.FAILED)

Post = Callable[[bytes], Awaitable[tuple[int, float] | Missing]]
"""Sends a body once: the status of the answer and the seconds that it asks to wait, or why there is
no answer."""


class WebhookNotifier:
    """Posts an outcome whenever it differs from the one that was posted last for its incident.

    `public_url` is where tailhound's pages are reached ("" = nowhere). A body that got no answer is
    posted again; it carries the same `id`, so that who takes it can tell.
    """

    name = "webhook"

    def __init__(self, post: Post, *, public_url: str = "") -> None:
        self._post = post
        self._public_url = public_url.rstrip("/")

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        """Post what came of the incident; nothing while nothing came of it yet."""
        incident = delivery.incident
        if incident.state not in _OUTCOMES and not incident.unreadable:
            return uncalled(delivery)
        told = _told(incident, self._public_url)
        mark = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
        if mark == delivery.seen and not delivery.unsure:
            return uncalled(delivery)
        if not delivery.holds():
            why = "another replica has taken the message over"
            return Later(pause(delivery, _LONGEST_PAUSE), why, delivery.unsure)
        marked = {"version": VERSION, "id": f"{incident.id}-{mark}", **told}
        body = json.dumps(marked | {"instead_of": list(delivery.instead_of)})
        return _result(delivery, await self._post(body.encode()), mark)


def _told(incident: Incident, public_url: str) -> dict[str, Any]:
    """What is told of an incident, without what only says how it is sent."""
    diagnosis = incident.diagnosis
    sure = diagnosis.confidence if diagnosis else None
    end, unheard = incident.resolved_at, _is_unheard(incident)
    return {
        "incident": incident.id,
        "episode": incident.episode,
        "state": UNHEARD if unheard else incident.state.value,
        "outcome": _outcome(incident),
        "where": _plain(incident.subject.where),
        "alert": _plain(incident.name),
        "severity": _plain(incident.severity),
        "since": _time(incident.since),
        "resolved_at": _time(end) if end and not unheard else None,
        "unheard_since": _time(end) if end and unheard else None,
        "title": _plain(headline(incident)),
        "cause": diagnosis.primary if diagnosis else None,
        "confidence": sure.value if sure else None,
        "text": _unmarked(line(incident)),
        "page": f"{public_url}/incidents/{incident.id}" if public_url else None,
    }


def _outcome(incident: Incident) -> str:
    """`cause found`, `none confirmed`, ...; the state where there is no verdict."""
    if _is_unheard(incident):
        return NOT_HEARD_OF
    is_verdict = incident.state in (State.DIAGNOSED, State.MITIGATING)
    if is_verdict and incident.diagnosis is not None:
        return incident.diagnosis.outlook.value
    return incident.state.value


def _is_unheard(incident: Incident) -> bool:
    """Whether it counts as over for want of news: nobody said that its alert is."""
    return incident.state is State.RESOLVED and incident.unheard


def _result(
    delivery: Delivery, answer: tuple[int, float] | Missing, mark: str
) -> Posted | Later | Refusal:
    if isinstance(answer, Missing):
        if answer.reason is Reason.FORBIDDEN:
            return Refusal(answer.detail)
        unsure = delivery.unsure or answer.reason is Reason.TIMEOUT
        return Later(pause(delivery, _LONGEST_PAUSE), answer.detail, unsure)
    status, wait = answer
    if 200 <= status < 300:
        return Posted(delivery.place, delivery.incident.id, mark)
    if status >= 500 or status in _FOR_NOW:
        why = f"the webhook answered {status}"
        return Later(max(wait, pause(delivery, _LONGEST_PAUSE)), why, delivery.unsure)
    return _refused(status)


def _refused(status: int) -> Refusal:
    why = f"the webhook answered {status}"
    if status in _ABOUT_THIS_BODY:
        return Refusal(f"{why}: it does not take this body", only_this=True)
    if 300 <= status < 400:
        return Refusal(f"{why}: put the address that it leads to under fallback.webhook")
    return Refusal(f"{why}: look at the address and the credentials of fallback.webhook")


def _plain(text: str) -> str:
    """Text from outside on one short line, without secrets."""
    shown = redacted("".join(letter if letter.isprintable() else " " for letter in text))
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def _unmarked(text: str) -> str:
    """The line for where chat services would read mentions, markup and links in it: look-alikes
    stand for what begins them.
    """
    return text.translate(_LOOK_ALIKES).replace("://", ":∕∕")


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
