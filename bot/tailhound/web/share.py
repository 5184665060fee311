"""No visitor takes all readers of the database: each has a share of the requests at a time."""

from collections import Counter

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tailhound.web.pool import WAITING_AT_MOST
from tailhound.web.strays import HOOK
from tailhound.web.visitor import Visitors

AT_ONCE = WAITING_AT_MOST * 3 // 4
"""Requests of one visitor at a time. Behind a proxy that does not tell them apart it is everybody's
together, and still most of what there is."""
_APART = frozenset({HOOK, "/healthz", "/readyz", "/api/stream"})
"""What has bounds of its own, or must never wait for anybody."""


class Share:
    """Answers 503 to a visitor who asks for more at a time while the rest is for others."""

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self._app = app
        self._visitors = visitors
        self._asking: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http" or scope["path"] in _APART:
            await self._app(scope, receive, send)
            return
        who = self._visitors.who(Request(scope))
        if self._asking[who] >= AT_ONCE:
            refused = PlainTextResponse(
                f"{AT_ONCE} requests of your address are being answered; try again\n",
                503,
                {"retry-after": "1"},
            )
            await refused(scope, receive, send)
            return
        self._asking[who] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._asking[who] -= 1
            if not self._asking[who]:
                del self._asking[who]
