"""POST /webhook/alertmanager: 200 only when it is on disk, 5xx when it can't be, never 429.

Alertmanager sends again after a 5xx or a broken connection and gives up after any 4xx, so nothing
that could be stored gets one: what is no JSON or no v4 body is handed on and stored raw.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from tailhound.errors import StoreUnavailable
from tailhound.web.auth import Gate
from tailhound.web.bodies import BODY_BYTES, Bodies, Body, TooLarge
from tailhound.web.parts import Accepted, Parts
from tailhound.web.strays import Seldom, sender

LOG = logging.getLogger(__name__)
BODY_SECONDS = 30.0
ACCEPT_SECONDS = 25.0
STORING_AT_MOST = 300
"""Notifications that wait for the database at once: fewer than connections, so that a probe has
always room."""
TELL_AGAIN_SECONDS = 600.0


class Webhook:
    """The endpoint. One object per process; it remembers when it last told of a large body."""

    def __init__(
        self,
        parts: Parts,
        *,
        body_seconds: float = BODY_SECONDS,
        accept_seconds: float = ACCEPT_SECONDS,
        bodies: Bodies | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._parts = parts
        self._gate = Gate(parts.settings.listen, monotonic)
        self._body_seconds = body_seconds
        self._accept_seconds = accept_seconds
        self._monotonic = monotonic
        self._told_at: float | None = None
        self._storing = 0
        self._bodies = bodies or Bodies()
        self._unauthorized = Seldom(monotonic)

    async def post(self, request: Request) -> Response:
        """Take one notification."""
        if not self._gate.lets_in(request.headers.get("authorization", "")):
            self._parts.metrics.refused("unauthorized")
            self._unauthorized.warn(_told(request))
            return _says(
                401,
                "send the credential of listen.bearer or listen.basic",
                {"www-authenticate": self._gate.challenge},
            )
        with self._bodies.one() as body:
            try:
                whole = await body.read(request, self._body_seconds)
            except TooLarge as error:
                return await self._oversized(error.size)
            except TimeoutError:
                return self._gave_up(body)
            except ClientDisconnect:
                return Response(status_code=400)
            return await self._store(whole)

    def _gave_up(self, body: Body) -> Response:
        """No complete body came in time, or there was no room for more of it."""
        self._parts.metrics.refused("crowded" if body.is_out else "slow")
        why = (
            f"this is the largest of the bodies that take more than {self._bodies.most} bytes "
            "together; send it again"
            if body.is_out
            else f"the body was not complete after {self._body_seconds:g} s"
        )
        return _says(503, why, {"connection": "close"})

    async def _store(self, body: bytes) -> Response:
        if self._storing >= STORING_AT_MOST:
            return self._not_stored(f"{STORING_AT_MOST} notifications are waiting already")
        started = self._monotonic()
        self._storing += 1
        try:
            async with asyncio.timeout(self._accept_seconds):
                accepted = await self._parts.accept(body)
        except StoreUnavailable as error:
            return self._not_stored(str(error))
        except TimeoutError:
            return self._not_stored(f"not stored within {self._accept_seconds:g} s")
        except Exception:  # whatever went wrong: the sender must send it again
            LOG.exception("a notification could not be stored")
            return self._not_stored("not stored, an unexpected error; tailhound's log has it")
        finally:
            self._storing -= 1
        self._count(accepted, self._monotonic() - started)
        return JSONResponse({"incidents": list(accepted.incidents)})

    def _count(self, accepted: Accepted, seconds: float) -> None:
        self._parts.metrics.accepted(
            new=accepted.new,
            repeats=accepted.repeats,
            ignored=sum(accepted.dropped.values()),
            seconds=seconds,
        )

    def _not_stored(self, why: str) -> Response:
        self._parts.metrics.refused("store")
        return _says(503, f"{why}; send it again")

    async def _oversized(self, size: int) -> Response:
        self._parts.metrics.refused("oversized")
        now = self._monotonic()
        if self._told_at is None or now - self._told_at >= TELL_AGAIN_SECONDS:
            self._told_at = now
            try:
                await self._parts.oversized(size)
            except StoreUnavailable as error:
                self._told_at = None
                LOG.error("nobody could be told of a body of %d bytes: %s", size, error)
        return _says(
            413,
            f"{size} bytes, at most {BODY_BYTES} are taken: set max_alerts in the webhook_configs "
            "of Alertmanager's receiver",
            {"connection": "close"},
        )


def _told(request: Request) -> str:
    """The line about a credential that is not ours; the credential itself is told to nobody."""
    what = "a wrong" if "authorization" in request.headers else "no"
    return (
        f"401: {sender(request)} posted with {what} credential, and its alerts are lost: set "
        "http_config.authorization of Alertmanager's receiver to that of listen.bearer or "
        "listen.basic"
    )


def _says(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": text}, status, headers=headers)
