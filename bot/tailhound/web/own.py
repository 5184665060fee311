"""Whom a listener on loopback answers: this machine, and no web page of somebody else's.

Without credentials, "only this machine reaches it" is all that protects it, and a browser on this
machine carries any page's requests: a POST that needs no preflight, or a name of the page's own
that it lets point to 127.0.0.1 (DNS rebinding). A browser tells both: by Origin, and by Host.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tailhound.settings import Listen
from tailhound.web.auth import is_loopback
from tailhound.web.metrics import Metrics
from tailhound.web.strays import HOOK, Seldom

_PROBES = ("/healthz", "/readyz")


class OwnOnly:
    """Refuses what a page of somebody else's sends here; passes everything on where the listener
    is not on loopback: there the webhook has credentials.

    A notification without an Origin comes from no browser and is taken under any Host: its sender
    would give up after a refusal. The probes tell nothing worth keeping.
    """

    def __init__(self, app: ASGIApp, listen: Listen, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._guards = is_loopback(listen.host)
        self._public = _host(listen.public_url)
        self._seldom = Seldom()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with 403."""
        if scope["type"] != "http" or not self._guards:
            await self._app(scope, receive, send)
            return
        why = self._why_not(scope)
        if not why:
            await self._app(scope, receive, send)
            return
        if scope["path"] == HOOK:
            self._metrics.refused("foreign")
            self._seldom.warn(f"403 for {HOOK}: {why}")
        await JSONResponse({"error": why}, 403)(scope, receive, send)

    def _why_not(self, scope: Scope) -> str:
        """Why the request is not answered; "" when it is."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin", "")
        is_post = scope["method"] not in ("GET", "HEAD")
        if is_post and origin and not self._is_own(origin, host):
            return "this comes from a page of somebody else's: its Origin is not tailhound's"
        is_free = scope["path"] in ((HOOK,) if is_post else _PROBES)
        if host and not is_free and not self._is_ours(_host(f"//{host}")):
            return (
                "on loopback only 127.0.0.1, localhost and the host of listen.public_url are "
                "answered: set listen.public_url to the address under which people open it"
            )
        return ""

    def _is_own(self, origin: str, host: str) -> bool:
        """Whether a page of ours sends it: one under the Host that it was loaded from."""
        named = _host(origin)
        if self._public and named == self._public:
            return True
        return self._is_ours(named) and origin.partition("://")[2] == host

    def _is_ours(self, name: str) -> bool:
        return bool(name) and (is_loopback(name) or name == self._public)


def _host(address: str) -> str:
    """The host of an address, in lower case; "" where it names none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
