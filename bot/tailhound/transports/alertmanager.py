"""Alertmanager's API: which alerts fire, and silences. The only write that observe mode may allow.

Built like the other transports: one deadline for connecting and all reads, a cap, no redirects, no
retries. A silence that was sent and not answered is not sent again: it is looked for.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import urllib3
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from tailhound.actions.silence import Matcher, Silence
from tailhound.errors import SettingsError
from tailhound.model import Alert, AlertStatus, Missing, Reason
from tailhound.settings import Alertmanager
from tailhound.settings_headers import sent
from tailhound.transports.asking import Asking
from tailhound.transports.credentials import credentials
from tailhound.transports.http import (
    BROKEN,
    NoAnswer,
    body_of,
    current_call,
    guard,
    json_of,
    said,
    why,
)
from tailhound.transports.sockets import Call

_HEADERS: Final = {"Accept": "application/json", "User-Agent": "tailhound"}
_MEANING: Final = {
    400: (Reason.UNPARSABLE, "Alertmanager refuses this silence"),
    401: (
        Reason.FORBIDDEN,
        "Alertmanager wants other credentials: set alertmanager.bearer or .basic",
    ),
    403: (Reason.FORBIDDEN, "these credentials may not set silences: grant them writing"),
    404: (
        Reason.EMPTY,
        "Alertmanager knows no such silence, or a path prefix is missing in its URL",
    ),
}

_ID: Final = re.compile(r"[A-Za-z0-9-]{1,80}")
_STATES: Final = ("active", "pending", "expired")
_DISAGREE: Final = "Alertmanager told of alerts that these matchers don't hold for"
_UNSURE: Final = "Alertmanager took it, and its answer can't be read: it may stand or not"


class AlertmanagerClient:
    """Asks one Alertmanager. Every method gives a value, or Missing with the reason."""

    def __init__(self, settings: Alertmanager) -> None:
        self._settings = settings
        self._base = settings.url.rstrip("/")
        where = urlsplit(settings.url).netloc.rpartition("@")[2] or settings.url
        self._where = where
        self._asking = Asking("Alertmanager", where, settings.concurrency, settings.timeout_seconds)
        self._manager = guard(
            urllib3.PoolManager(
                num_pools=1,
                maxsize=settings.concurrency,
                cert_reqs="CERT_REQUIRED",
                ca_certs=settings.ca_file or DEFAULT_CA_BUNDLE_PATH,
            )
        )

    async def firing(
        self, matchers: Sequence[Matcher], deadline: float
    ) -> tuple[Alert, ...] | Missing:
        """The alerts that fire now and match, silenced and inhibited ones too: those come back when
        their silence ends, and another one must not mute them unseen. `deadline` is monotonic.

        The labels are as Alertmanager has them, secrets included: whoever shows them redacts them.
        Where Alertmanager's filter lets through what these matchers don't hold for, the two
        disagree, and what would be muted is Missing.
        """
        asked = [("active", "true"), ("silenced", "true"), ("inhibited", "true")]
        asked += [("filter", matcher.text) for matcher in matchers]
        found = await self._ask("GET", f"/api/v2/alerts?{urlencode(asked)}", None, deadline)
        if isinstance(found, Missing):
            return found
        try:
            alerts = tuple(_alert(row) for row in _listed(found))
        except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
            return Missing(Reason.UNPARSABLE, "the answer is none of Alertmanager's alert list")
        if not all(matcher.holds(alert.labels) for alert in alerts for matcher in matchers):
            return Missing(Reason.UNPARSABLE, _DISAGREE)
        return alerts

    async def set(self, silence: Silence, deadline: float) -> str | Missing:
        """Set a silence; the id that Alertmanager gives it. Missing(TIMEOUT) = nobody knows."""
        body = {
            "matchers": [
                {"name": m.name, "value": m.value, "isRegex": m.is_regex, "isEqual": True}
                for m in silence.matchers
            ],
            "startsAt": _text(silence.starts),
            "endsAt": _text(silence.ends),
            "createdBy": silence.by,
            "comment": silence.comment,
        }
        found: str | Missing = await self._ask("POST", "/api/v2/silences", body, deadline)
        return found

    async def find(self, silence: str, deadline: float) -> str | Missing:
        """Alertmanager's id of a silence of ours, by its comment; "" when there is none."""
        found = await self._ask("GET", "/api/v2/silences", None, deadline)
        if isinstance(found, Missing):
            return found
        if not isinstance(found, list):
            return Missing(Reason.UNREACHABLE, "the answer is none of Alertmanager's silence list")
        mark = f"(tailhound {silence})"
        rows = (row for row in found if isinstance(row, dict))
        ours = (row.get("id") for row in rows if str(row.get("comment", "")).endswith(mark))
        return next((id for one in ours if (id := _id_of(one))), "")

    async def is_active(self, remote_id: str, deadline: float) -> bool | Missing:
        """Whether a silence still mutes; False also when Alertmanager has forgotten it."""
        found = await self._ask("GET", f"/api/v2/silence/{_quoted(remote_id)}", None, deadline)
        if isinstance(found, Missing):
            return False if found.reason is Reason.EMPTY else found
        status = found.get("status") if isinstance(found, dict) else None
        state = status.get("state") if isinstance(status, dict) else None
        if state not in _STATES:
            return Missing(Reason.UNPARSABLE, "the answer does not tell the silence's state")
        return bool(state != "expired")

    async def end(self, remote_id: str, deadline: float) -> Missing | None:
        """End a silence. One that has ended already is fine."""
        found = await self._ask("DELETE", f"/api/v2/silence/{_quoted(remote_id)}", None, deadline)
        is_gone = isinstance(found, Missing) and found.reason is Reason.EMPTY
        return None if is_gone or not isinstance(found, Missing) else found

    def close(self) -> None:
        """Drop all connections."""
        self._asking.close()
        self._manager.clear()

    async def _ask(self, method: str, path: str, body: Any, deadline: float) -> Any:
        return await self._asking.ask(
            lambda call: self._answer(call, method, path, body), deadline, is_compared=True
        )

    def _answer(self, call: Call, method: str, path: str, body: Any) -> Any:
        try:
            return self._asked(method, path, body)
        except NoAnswer as error:
            return error.missing
        except SettingsError as error:
            return Missing(Reason.FORBIDDEN, f"not asked: {error}")
        except BROKEN as error:
            return why(error, self._where, call, "alertmanager.ca_file")

    def _asked(self, method: str, path: str, body: Any) -> Any:
        own = sent(self._settings.headers, "alertmanager.headers")
        headers = {**_HEADERS, **own, **credentials(self._settings.bearer, self._settings.basic)}
        if body is not None:
            headers["Content-Type"] = "application/json"
        response = self._manager.request(
            method,
            f"{self._base}{path}",
            body=None if body is None else json.dumps(body),
            headers=headers,
            timeout=current_call().remaining(),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        content = body_of(response, self._settings.max_bytes)
        if response.status != 200:
            text = said(content[:300].decode("utf-8", "replace"))
            reason, meaning = _MEANING.get(
                response.status, (Reason.UNREACHABLE, "Alertmanager does not work")
            )
            raise NoAnswer(reason, f"HTTP {response.status}: {meaning} ({text})")
        kind = response.headers.get("Content-Type", "")
        if body is not None:
            return _id_in(content, kind)
        return json_of(content, kind) if content else None


def _id_in(content: bytes, kind: str) -> str:
    """The id in the answer to a silence that was sent; NoAnswer when nobody knows what came of it.

    Not more than that comes out of here, whatever else the answer holds.
    """
    try:
        found = json_of(content, kind)
    except NoAnswer as error:
        raise NoAnswer(Reason.TIMEOUT, _UNSURE) from error
    id = _id_of(found.get("silenceID") if isinstance(found, dict) else None)
    if not id:
        raise NoAnswer(Reason.TIMEOUT, _UNSURE)
    return id


def _id_of(value: Any) -> str:
    """Alertmanager's id of a silence; "" for what can be none."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def _quoted(remote_id: str) -> str:
    return quote(remote_id, safe="")


def _listed(found: Any) -> list[Any]:
    """An object without rows would look as if nothing fired. TypeError."""
    if not isinstance(found, list):
        raise TypeError("no list")
    return found


def _alert(row: Mapping[str, Any]) -> Alert:
    return Alert(
        fingerprint=str(row["fingerprint"]),
        name=str(row["labels"].get("alertname", "")),
        labels={str(k): str(v) for k, v in row["labels"].items()},
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=datetime.fromisoformat(str(row["startsAt"])).astimezone(UTC),
    )


def _text(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
