"""Prometheus, through prometheus-api-client with another session under it.

As it comes, that client needs 14 s for `timeout=2`, reads an answer of any size and drops
`warnings` (measured). So its session is replaced: no retries, no redirects, the body streamed and
capped, the warnings looked at, every socket guarded by the call's absolute deadline. The proxy
variables of the environment and ~/.netrc are not used: what is asked is what the settings say.
"""

import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import requests
import urllib3
from prometheus_api_client.prometheus_connect import PrometheusConnect
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import Retry

from tailhound.errors import SettingsError
from tailhound.flow import Request, Turn
from tailhound.model import Missing, Reason
from tailhound.requests import Query, RangeQuery, Ranges, Vector
from tailhound.settings import Prometheus
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
    once_more,
    why,
)
from tailhound.transports.prometheus_answers import check, ranges, refusal, vector
from tailhound.transports.sockets import Call
from tailhound.transports.way import Way

LONG_QUERY: Final = 2000
"""Characters of parameters from which a query is posted: proxies cut addresses at 4 to 8 KiB."""
ERROR_BODY: Final = 64 * 1024


class PrometheusTransport:
    """Answers Query and RangeQuery from one Prometheus, Thanos, Mimir or VictoriaMetrics."""

    handles: tuple[type[Request[Any]], ...] = (Query, RangeQuery)

    def __init__(self, settings: Prometheus) -> None:
        self._settings = settings
        self._where = urlsplit(settings.url).netloc.rpartition("@")[2] or settings.url
        self._asking = Asking(
            "Prometheus", self._where, settings.concurrency, settings.timeout_seconds
        )
        self._lock = threading.Lock()
        self._client: _Client | None = None

    @property
    def asking(self) -> Asking:
        """The pool and the breaker."""
        return self._asking

    @property
    def way(self) -> Way:
        """What /metrics tells of it."""
        return Way("prometheus", self._asking.pool, self._asking.breaker)

    async def ask(self, request: Request[Any], turn: Turn) -> Vector | Ranges | Missing:
        """A Vector for a Query, Ranges for a RangeQuery, or why there is none."""
        reply: Vector | Ranges | Missing = await self._asking.ask(
            lambda call: self._answer(call, request, turn.as_of), turn.deadline
        )
        return reply

    def close(self) -> None:
        """Drop all connections; waiting questions end as Missing."""
        self._asking.close()
        if self._client is not None:
            self._client.close()

    def _answer(self, call: Call, request: Request[Any], as_of: datetime) -> Any:
        try:
            return once_more(call, lambda: self._asked(call, request, as_of))
        except NoAnswer as error:
            return error.missing
        except SettingsError as error:
            return Missing(Reason.FORBIDDEN, f"not asked: {error}")
        except BROKEN as error:
            return why(error, self._where, call, "prometheus.ca_file")

    def _asked(self, call: Call, request: Request[Any], as_of: datetime) -> Vector | Ranges:
        client = self._connected()
        params = {"timeout": f"{max(1, int(call.remaining() * 1000))}ms"}
        if isinstance(request, Query):
            params["time"] = _moment(as_of - timedelta(seconds=request.ago))
            return vector(client.custom_query(request.promql, params=params))
        if isinstance(request, RangeQuery):
            start = as_of - timedelta(seconds=request.start_ago)
            end = as_of - timedelta(seconds=request.end_ago)
            params |= {"start": _moment(start), "end": _moment(end)}
            return ranges(
                client.custom_query_range(
                    request.promql, start, end, f"{request.step:g}", params=params
                )
            )
        raise TypeError(f"Prometheus can't answer a {type(request).__name__}")

    def _connected(self) -> "_Client":
        with self._lock:
            if self._client is None:
                self._client = _Client(self._settings)
            return self._client


class _Client(PrometheusConnect):
    """The library's client over our session."""

    def __init__(self, settings: Prometheus) -> None:
        super().__init__(url=settings.url.rstrip("/"), session=_Session(settings), retry=Retry(0))


class _Answer:
    """What the library looks at of a response."""

    def __init__(self, payload: Any) -> None:
        self.status_code = 200
        self._payload = payload

    def json(self) -> Any:
        """The payload, parsed already."""
        return self._payload


class _Session(requests.Session):
    """Every request of the library goes through here, straight to urllib3.

    requests itself would prepare each one anew (cookies, proxies, hooks, adapters), of which
    nothing is used: that is half of what a question costs the processor.
    """

    def __init__(self, settings: Prometheus) -> None:
        super().__init__()
        self._settings = settings
        self._manager = guard(
            urllib3.PoolManager(
                maxsize=settings.concurrency,
                cert_reqs="CERT_REQUIRED",
                ca_certs=settings.ca_file or DEFAULT_CA_BUNDLE_PATH,
            )
        )
        self.pool = self._manager.connection_from_url(settings.url)

    def request(  # type: ignore[override]  # only what the library calls
        self, method: str, url: str, *, params: Mapping[str, Any], **_: Any
    ) -> _Answer:
        """A good answer of the query API; NoAnswer with its reason otherwise."""
        asked, own = urlencode(params), sent(self._settings.headers, "prometheus.headers")
        headers = {**_HEADERS, **own, **credentials(self._settings.bearer, self._settings.basic)}
        is_long = len(asked) > LONG_QUERY
        if is_long:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        path = urlsplit(url).path
        response = self.pool.urlopen(
            "POST" if is_long else method,
            path if is_long else f"{path}?{asked}",
            body=asked if is_long else None,
            headers=headers,
            timeout=current_call().remaining(),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        is_good = response.status == 200
        body = body_of(response, self._settings.max_bytes if is_good else ERROR_BODY)
        if not is_good:
            raise refusal(response.status, response.headers, body)
        payload = json_of(body, response.headers.get("Content-Type", ""))
        check(payload)
        return _Answer(payload)

    def close(self) -> None:
        """Drop the kept connections."""
        self._manager.clear()
        super().close()


_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
    "User-Agent": "tailhound",
}


def _moment(at: datetime) -> str:
    return f"{at.timestamp():.3f}"
