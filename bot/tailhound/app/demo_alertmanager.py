"""A small Alertmanager for the demo: what fires, and silences, by the API that is really used.

It holds the alerts that the demo has sent, mutes nobody, and takes only what Alertmanager takes:
what it refuses here would be refused there. The real client talks to it over HTTP.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tailhound.actions.silence import Matcher
from tailhound.sources.alertmanager import fingerprint_of

_BODY_BYTES: Final = 64 * 1024
_FILTER: Final = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)(=~|=)"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPED: Final = {"n": "\n", '"': '"', "\\": "\\"}


class _Refused(Exception):
    """What Alertmanager answers with 400."""


@dataclass(slots=True)
class _Silence:
    id: str
    body: Mapping[str, Any]
    matchers: Sequence[Matcher]
    starts: datetime
    ends: datetime

    def state(self, now: datetime) -> str:
        if now >= self.ends:
            return "expired"
        return "active" if now >= self.starts else "pending"


class DemoAlertmanager:
    """The routes, and the alerts that they tell of. All of it is lost with the process."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._alerts: dict[str, dict[str, Any]] = {}
        self._silences: dict[str, _Silence] = {}
        self.asgi = Starlette(
            routes=[
                Route("/api/v2/alerts", self._firing),
                Route("/api/v2/silences", self._all),
                Route("/api/v2/silences", self._set, methods=["POST"]),
                Route("/api/v2/silence/{id}", self._one),
                Route("/api/v2/silence/{id}", self._end, methods=["DELETE"]),
            ]
        )

    def hold(self, body: Mapping[str, Any]) -> None:
        """Know the alerts of a notification: what fires is listed, what is resolved is not."""
        for alert in body["alerts"]:
            fingerprint = alert.get("fingerprint") or fingerprint_of(alert["labels"])
            self._alerts.pop(fingerprint, None)
            if alert["status"] == "firing":
                self._alerts[fingerprint] = {**alert, "fingerprint": fingerprint}

    async def _firing(self, request: Request) -> Response:
        try:
            wanted = [_matcher(text) for text in request.query_params.getlist("filter")]
        except _Refused as error:
            return JSONResponse(str(error), 400)
        rows = [self._row(alert) for alert in self._alerts.values()]
        wants_muted = request.query_params.get("silenced", "true") == "true"
        return JSONResponse(
            [
                row
                for row in rows
                if all(matcher.holds(row["labels"]) for matcher in wanted)
                and (wants_muted or not row["status"]["silencedBy"])
            ]
        )

    def _row(self, alert: Mapping[str, Any]) -> dict[str, Any]:
        muted = [
            one.id
            for one in self._silences.values()
            if one.state(self._clock()) == "active"
            and all(matcher.holds(alert["labels"]) for matcher in one.matchers)
        ]
        return {
            "fingerprint": alert["fingerprint"],
            "labels": alert["labels"],
            "annotations": alert.get("annotations", {}),
            "startsAt": alert["startsAt"],
            "status": {"state": "suppressed" if muted else "active", "silencedBy": muted},
        }

    async def _all(self, _request: Request) -> Response:
        return JSONResponse([self._shown(one) for one in self._silences.values()])

    async def _one(self, request: Request) -> Response:
        found = self._silences.get(request.path_params["id"])
        return JSONResponse(self._shown(found)) if found else Response(status_code=404)

    async def _set(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse("unsupported media type", 415)
        try:
            made = self._read(await _json_of(request))
        except _Refused as error:
            return JSONResponse(str(error), 400)
        self._silences[made.id] = made
        return JSONResponse({"silenceID": made.id})

    def _read(self, body: Any) -> _Silence:
        try:
            matchers = tuple(_given(one) for one in body["matchers"])
            starts, ends = _time(body["startsAt"]), _time(body["endsAt"])
            texts = {name: _text(body[name]) for name in ("createdBy", "comment")}
        except (KeyError, TypeError, ValueError) as error:
            raise _Refused(f"silence invalid: {error}") from error
        if not matchers or all(matcher.holds({}) for matcher in matchers):
            raise _Refused("silence invalid: at least one matcher must not match the empty string")
        if ends <= starts or ends <= self._clock():
            raise _Refused("silence invalid: end time can't be in the past or before its start")
        if not all(texts.values()):
            raise _Refused("silence invalid: creator and comment are wanted")
        return _Silence(str(uuid4()), {**body, **texts}, matchers, starts, ends)

    async def _end(self, request: Request) -> Response:
        found = self._silences.get(request.path_params["id"])
        if found is None:
            return Response(status_code=404)
        found.ends = min(found.ends, self._clock())
        return Response()

    def _shown(self, one: _Silence) -> dict[str, Any]:
        return {
            "id": one.id,
            "matchers": [
                {"name": m.name, "value": m.value, "isRegex": m.is_regex, "isEqual": True}
                for m in one.matchers
            ],
            "startsAt": one.starts.isoformat(),
            "endsAt": one.ends.isoformat(),
            "createdBy": one.body["createdBy"],
            "comment": one.body["comment"],
            "status": {"state": one.state(self._clock())},
        }


async def _json_of(request: Request) -> Any:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _BODY_BYTES:
            raise _Refused("too large")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _Refused("no JSON") from error


def _matcher(text: str) -> Matcher:
    """`namespace="llm"` as a filter writes it."""
    found = _FILTER.fullmatch(text)
    if found is None:
        raise _Refused(f"bad matcher format: {text[:100]}")
    value = re.sub(r"\\(.)", lambda one: _ESCAPED.get(one[1], one[0]), found[3], flags=re.DOTALL)
    return _checked(Matcher(found[1], value, found[2] == "=~"))


def _given(one: Mapping[str, Any]) -> Matcher:
    if not one.get("isEqual", True):
        raise ValueError("this stand-in knows no negative matchers")
    if not isinstance(one["isRegex"], bool):
        raise TypeError("isRegex must be true or false")
    return _checked(Matcher(_text(one["name"]), _text(one["value"]), one["isRegex"]))


def _checked(matcher: Matcher) -> Matcher:
    """The matcher, if it is one that takes no time: alternatives, without anything that repeats."""
    if matcher.is_regex and set(re.sub(r"\\.", "", matcher.value)) & set("*+?{("):
        raise _Refused("bad matcher: this stand-in knows only alternatives")
    try:
        re.compile(matcher.value if matcher.is_regex else "")
    except re.error as error:
        raise _Refused(f"bad matcher: {error}") from error
    return matcher


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is wanted")
    return value


def _time(text: Any) -> datetime:
    at = datetime.fromisoformat(_text(text))
    if at.tzinfo is None:
        raise ValueError("a time without a zone")
    return at.astimezone(UTC)
