"""Prometheus, through prometheus-api-client with another session under it.

As it comes, that client needs 14 s for `timeout=2`, reads an answer of any size and drops
`warnings` (measured). So its session is replaced: no retries, no redirects, the body streamed and
capped, the warnings looked at, every socket guarded by the call's absolute deadline. The proxy
variables of the environment and ~/.netrc are not used: what is asked is what the settings say.
"""

import threading
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import requests
from prometheus_api_client.prometheus_connect import PrometheusConnect
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3 import Retry

from tailhound.errors import SettingsError
from tailhound.flow import Request, Turn
from tailhound.model import Missing, Reason
from tailhound.requests import Query, RangeQuery, Ranges, Vector
from tailhound.settings import Prometheus
from tailhound.transports.asking import Asking
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
        """The pool and the breaker, for /metrics and tests."""
        return self._asking

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
        url = settings.url.rstrip("/")
        session = _Session(settings.max_bytes)
        session.verify = settings.ca_file or True
        session.auth = _Auth(settings)
        super().__init__(url=url, session=session, retry=Retry(0))
        session.mount(url, _Adapter(settings.concurrency))  # in the place of the library's own


class _Adapter(HTTPAdapter):
    """Guarded connections, as many as there are threads, and no retries."""

    def __init__(self, connections: int) -> None:
        super().__init__(pool_connections=1, pool_maxsize=connections, max_retries=0)

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        guard(self.poolmanager)


class _Auth(AuthBase):
    """Reads the secret for each request, so that a rotated token is used at once."""

    def __init__(self, settings: Prometheus) -> None:
        self._settings = settings

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        bearer, basic = self._settings.bearer, self._settings.basic
        if bearer is not None:
            request.headers["Authorization"] = f"Bearer {bearer.read()}"
        elif basic is not None:
            return requests.auth.HTTPBasicAuth(basic.username, basic.password.read())(request)
        return request


class _Answer:
    """What the library looks at of a response."""

    def __init__(self, payload: Any) -> None:
        self.status_code = 200
        self._payload = payload

    def json(self) -> Any:
        """The payload, parsed already."""
        return self._payload


class _Session(requests.Session):
    """Every request of the library goes through here."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self.trust_env = False
        self._max_bytes = max_bytes
        self.headers.update({"Accept-Encoding": "gzip", "User-Agent": "tailhound"})

    def request(  # type: ignore[override]  # only what the library calls
        self, method: str, url: str, **options: Any
    ) -> _Answer:
        """A good answer of the query API; NoAnswer with its reason otherwise."""
        call = current_call()
        params = options.pop("params", None)
        is_long = len(urlencode(params or {})) > LONG_QUERY
        response = super().request(
            "POST" if is_long else method,
            url,
            **(options | {"timeout": call.remaining(), "stream": True, "allow_redirects": False}),
            **({"data": params} if is_long else {"params": params}),
        )
        body = body_of(response.raw, self._max_bytes if response.ok else ERROR_BODY)
        if response.status_code != 200:
            raise refusal(response.status_code, response.headers, body)
        payload = json_of(body, response.headers.get("Content-Type", ""))
        check(payload)
        return _Answer(payload)


def _moment(at: datetime) -> str:
    return f"{at.timestamp():.3f}"
