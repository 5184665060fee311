"""The local stand-in of Slack's API over HTTP: what slack_sdk's client talks to."""

import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tailhound.slack.local import LocalSlack, Reply

_BODY_BYTES: Final = 1_000_000
_FILE_BYTES: Final = 20_000_000


class LocalApi:
    """Its methods, the answers to clicks, and uploads, over a `LocalSlack`."""

    def __init__(self, slack: LocalSlack) -> None:
        self._slack = slack

    def routes(self) -> Sequence[Route]:
        """Where it is asked."""
        return (
            Route("/api/{method}", self._api, methods=["POST"]),
            Route("/response/{key:path}", self._response, methods=["POST"]),
            Route("/upload/v1/{key}", self._upload, methods=["POST"]),
        )

    async def _api(self, request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        arguments = _arguments(request.headers.get("content-type", ""), await body_of(request))
        if arguments is None:
            return JSONResponse({"ok": False, "error": "invalid_json"})
        return _http(self._slack.call(request.path_params["method"], token, arguments))

    async def _response(self, request: Request) -> Response:
        arguments = _arguments("application/json", await body_of(request))
        if arguments is None:
            return JSONResponse({"ok": False, "error": "invalid_json"}, status_code=400)
        return _http(self._slack.respond(request.path_params["key"], arguments))

    async def _upload(self, request: Request) -> Response:
        content = await body_of(request, _FILE_BYTES)
        if not self._slack.upload(request.path_params["key"], content):
            raise HTTPException(404, "no such upload, or not of this length")
        return Response(f"OK - {len(content)}", media_type="text/plain")


async def body_of(request: Request, most: int = _BODY_BYTES) -> bytes:
    """The whole body; 413 where it is larger than that."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise HTTPException(413, f"over {most // 1_000_000} MB")
    return bytes(body)


def _http(reply: Reply) -> Response:
    return JSONResponse(dict(reply.body), status_code=reply.status, headers=dict(reply.headers))


def _arguments(content_type: str, body: bytes) -> dict[str, Any] | None:
    """The arguments of a call, from JSON or a form; None when they can't be read."""
    try:
        text = body.decode("utf-8")
        if not content_type.startswith("application/json"):
            return dict(parse_qsl(text))
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
