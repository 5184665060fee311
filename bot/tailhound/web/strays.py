"""Notifications that don't get in: counted, and told on the log seldom enough to be read.

Alertmanager gives up after a 401 or a 404, so somebody must notice on this side too.
"""

import logging
import time
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tailhound.web.headline import seen
from tailhound.web.metrics import Metrics

LOG = logging.getLogger(__name__)
HOOK = "/webhook/alertmanager"
TELL_AGAIN_SECONDS = 60.0


class Seldom:
    """Warns of one kind of trouble at most once a minute, with how often it came meanwhile."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._told_at: float | None = None
        self._more = 0

    def warn(self, text: str) -> None:
        """Tell it, or count it."""
        now = self._monotonic()
        if self._told_at is not None and now - self._told_at < TELL_AGAIN_SECONDS:
            self._more += 1
            return
        before = f" ({self._more} more since the last such line)" if self._more else ""
        LOG.warning("%s%s", text, before)
        self._told_at, self._more = now, 0


class Strays:
    """What is posted to an address that takes no notifications."""

    def __init__(self, metrics: Metrics, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._metrics = metrics
        self._seldom = Seldom(monotonic)

    def answer(self, request: Request, error: Exception) -> Response | None:
        """The answer to a POST that found no route, counted; None for anything else."""
        if not isinstance(error, HTTPException) or request.method != "POST":
            return None
        if error.status_code not in (404, 405):
            return None
        self._metrics.refused("address")
        self._seldom.warn(
            f"{sender(request)} posted to {seen(request.url.path, 100)!r}, which takes nothing: "
            f"notifications of Alertmanager go to {HOOK}"
        )
        return JSONResponse(
            {"error": f"nothing is posted here; notifications of Alertmanager go to {HOOK}"},
            error.status_code,
            headers=error.headers,
        )


def sender(request: Request) -> str:
    """Where a request came from, as far as the socket tells."""
    return request.client.host if request.client else "somebody"
