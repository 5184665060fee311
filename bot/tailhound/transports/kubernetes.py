"""The Kubernetes API, read through the kubernetes package's ApiClient, without its typed models.

The models of that package cost 22 MiB and hide fields that they don't know. What is read here is
JSON: the connection pool of an ApiClient, nothing preloaded, the body capped before it is parsed.
The answers are not asked for compressed: compressing costs the API server more than us.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

import urllib3
from kubernetes.client.api_client import ApiClient

from tailhound.errors import SettingsError
from tailhound.flow import Request, Turn
from tailhound.model import Missing, Reason
from tailhound.model.unanswered import SPARED
from tailhound.requests import GetObject, KubeObject, ListObjects
from tailhound.settings import Kubernetes
from tailhound.transports.asking import Asking
from tailhound.transports.gate import Gate
from tailhound.transports.http import (
    BROKEN,
    NoAnswer,
    body_of,
    guard,
    json_of,
    once_more,
    said,
    why,
)
from tailhound.transports.kubernetes_answers import Asked, AskedToWait, Expired, refusal
from tailhound.transports.kubernetes_config import authorization, configuration
from tailhound.transports.sockets import Call
from tailhound.transports.sparing import Sent
from tailhound.transports.way import Way

ERROR_BODY: Final = 64 * 1024
LOOK_SECONDS: Final = 0.5
"""Who waits as the server asked looks so often whether the server is spared meanwhile."""


class KubernetesTransport:
    """Answers GetObject and ListObjects. All it ever sends are GETs.

    When the API server gets slow (a call over 1 s) or says 429, fewer calls run at once, and when
    it asked to wait nothing is sent until then. A question that can't wait so long is SKIPPED, and
    so are all but those about the server itself while it refuses most requests. `clock` is what
    slows down and spares by; deadlines are those of `time.monotonic`.
    """

    handles: tuple[type[Request[Any]], ...] = (GetObject, ListObjects)

    def __init__(self, settings: Kubernetes, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        where = urlsplit(settings.server).netloc or "the API server"
        self._asking = Asking(
            "the API server", where, settings.concurrency, settings.timeout_seconds
        )
        self._gate = Gate(self._asking.pool, clock)
        self._lock = threading.Lock()
        self._client: ApiClient | None = None

    @property
    def asking(self) -> Asking:
        """The pool and the breaker."""
        return self._asking

    @property
    def gate(self) -> Gate:
        """How the calls are slowed down."""
        return self._gate

    @property
    def way(self) -> Way:
        """What /metrics tells of it."""
        return Way("kubernetes", self._asking.pool, self._asking.breaker, self._gate)

    async def ask(
        self, request: Request[Any], turn: Turn
    ) -> KubeObject | tuple[KubeObject, ...] | Missing:
        """The object, or the objects of the list, or why there is no answer."""
        reply = self._spared(request) or await self._waited(request, turn)
        if not isinstance(reply, Missing) or reply.reason is not Reason.SKIPPED:
            return reply
        if reply.detail.startswith("not asked: ") and not _is_needed(request):
            reply = self._gate.refusal or reply  # also where no slot came free meanwhile
        if reply.detail.startswith(SPARED):
            self._gate.spare()
        return reply

    def close(self) -> None:
        """Drop all connections; waiting questions end as Missing."""
        self._asking.close()
        if self._client is not None:
            self._client.close()  # type: ignore[no-untyped-call]

    async def _waited(self, request: Request[Any], turn: Turn) -> Any:
        """The reply, asked for once the server wants to be asked again."""
        while (left := self._gate.wait_left()) > 0:
            if time.monotonic() + left >= turn.deadline:
                return Missing(
                    Reason.SKIPPED,
                    f"not asked: the API server asked to wait, for {left:.0f} s more",
                )
            await asyncio.sleep(min(left, LOOK_SECONDS))
            if spared := self._spared(request):
                return spared
        return await self._asking.ask(lambda call: self._answer(call, request), turn.deadline)

    def _spared(self, request: Request[Any]) -> Missing | None:
        return None if _is_needed(request) else self._gate.why_not()

    def _answer(self, call: Call, request: Request[Any]) -> Any:
        try:
            if isinstance(request, GetObject):
                return _object(self._fetched(call, request, request.path, None))
            if isinstance(request, ListObjects):
                return self._listed(call, request)
        except NoAnswer as error:
            return error.missing
        except Expired as error:
            return Missing(
                Reason.TRUNCATED,
                f"the list changed twice while it was read ({error}); ask for less",
            )
        except SettingsError as error:
            return Missing(Reason.FORBIDDEN, f"not asked: {error}")
        except BROKEN as error:
            return why(error, self._asking.where, call, "kubernetes.ca_file")
        raise TypeError(f"Kubernetes can't answer a {type(request).__name__}")

    def _listed(self, call: Call, request: ListObjects) -> tuple[KubeObject, ...]:
        """All pages; once more from the start when the list expired in between."""
        try:
            return self._pages(call, request)
        except Expired:
            return self._pages(call, request)

    def _pages(self, call: Call, request: ListObjects) -> tuple[KubeObject, ...]:
        items: list[KubeObject] = []
        used = [0]
        path = request.path
        while True:
            page = self._fetched(call, request, path, used)
            items += _items(page)
            token = page.get("metadata", {}).get("continue")
            if not token:
                return tuple(items)
            path = f"{request.path}&continue={quote(str(token), safe='')}"

    def _fetched(
        self, call: Call, request: Asked, path: str, used: list[int] | None
    ) -> Mapping[str, Any]:
        """One answer as JSON. `used` counts the bytes of a list's pages, which share the cap."""
        sent, begun = self._begun(call, request), time.monotonic()
        call.answered = call.heard = False
        answered: bool | None = None
        try:
            status, headers, body = once_more(call, lambda: self._sent(call, path, used or [0]))
            answered = status != 429 and status < 500
        except NoAnswer:  # over the cap: our limit, not the server's trouble
            answered = True
            raise
        except BROKEN:
            answered = False if self._asking.was_in_vain(call, begun) else None
            raise
        finally:
            self._gate.end(sent, answered=answered)
        if status != 200:
            error = refusal(status, headers, body, request)
            if isinstance(error, AskedToWait):
                self._gate.wait(error.seconds)
            raise error
        if used is not None:
            used[0] += len(body)
        found = json_of(body, headers.get("Content-Type", ""))
        if not isinstance(found, dict) or not isinstance(found.get("metadata"), dict):
            raise NoAnswer(Reason.UNPARSABLE, "the answer is JSON but no Kubernetes object")
        return found

    def _begun(self, call: Call, request: Asked) -> Sent:
        """The request that is sent now; NoAnswer when the server is spared it."""
        sent = self._gate.begin(is_needed=_is_needed(request))
        if isinstance(sent, Sent):
            return sent
        if not call.answered:
            call.begun = None  # nothing was sent: the breaker learns nothing
        raise NoAnswer(sent.reason, sent.detail)

    def _sent(self, call: Call, path: str, used: list[int]) -> tuple[int, Mapping[str, str], bytes]:
        client = self._connected()
        left = call.remaining()
        response = client.rest_client.pool_manager.request(
            "GET",
            client.configuration.host.rstrip("/") + path,
            headers={
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": "tailhound",
                **authorization(self._settings, client.configuration),
            },
            timeout=urllib3.Timeout(connect=left, read=left),
            preload_content=False,
            redirect=False,
            retries=False,
        )
        if response.status != 200:
            return response.status, response.headers, _error_body(response)
        cap = self._settings.max_bytes
        return 200, response.headers, body_of(response, cap - used[0], cap)

    def _connected(self) -> ApiClient:
        with self._lock:
            if self._client is None:
                found = configuration(self._settings)
                self._asking.where = urlsplit(found.host).netloc or found.host
                self._client = ApiClient(found)
                guard(self._client.rest_client.pool_manager)
            return self._client


def _is_needed(request: Request[Any]) -> bool:
    return isinstance(request, GetObject | ListObjects) and request.is_about_server


def _error_body(response: Any) -> bytes:
    """What stands beside an error; nothing where that is no use: the status tells what it is."""
    try:
        return body_of(response, ERROR_BODY)
    except NoAnswer:
        return b""


def _object(found: Mapping[str, Any]) -> KubeObject:
    kind = found.get("kind", "list")
    if kind == "Status" or "items" in found:
        raise NoAnswer(Reason.UNPARSABLE, f"the answer is no single object but a {said(kind)}")
    return found


def _items(page: Mapping[str, Any]) -> list[KubeObject]:
    items = page.get("items", ())
    if items is None:
        return []
    if "items" not in page or not isinstance(items, list):
        raise NoAnswer(Reason.UNPARSABLE, "the answer is no list of objects")
    if not all(isinstance(item, dict) for item in items):
        raise NoAnswer(Reason.UNPARSABLE, "the list holds something that is no object")
    return items
