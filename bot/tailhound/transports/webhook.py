"""One JSON body to an address outside: what came of it, and nothing more of what it answered.

Built like the other transports: one deadline for connecting and all reads, a cap, no redirects, no
retries.
"""

import contextlib
import re
import time
from typing import Final
from urllib.parse import urlsplit

import urllib3
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

from tailhound.errors import SettingsError
from tailhound.model import Missing, Reason
from tailhound.settings import Webhook
from tailhound.settings_headers import sent
from tailhound.transports.asking import Asking
from tailhound.transports.credentials import credentials
from tailhound.transports.http import BROKEN, NoAnswer, body_of, current_call, guard, why
from tailhound.transports.sockets import Call, connect

_HEADERS: Final = {"Content-Type": "application/json", "User-Agent": "tailhound"}
_MOST_BYTES: Final = 64 * 1024
_MOST_SECONDS: Final = 3600.0
_RETRY: Final = re.compile(r"\d{1,6}")
_ADDRESS: Final = re.compile(r"https?://[^\s/?#@\\]+(?:[/?][^\s#]*)?")
CONCURRENCY: Final = 2


class WebhookClient:
    """Posts to one address. Its path may be a secret: it is told nowhere, only its host is."""

    def __init__(self, settings: Webhook) -> None:
        self._settings = settings
        self._where = _host(settings.url) or "the address of fallback.webhook"
        self._asking = Asking("Webhook", self._where, CONCURRENCY, settings.timeout_seconds)
        self._manager = guard(
            urllib3.PoolManager(
                num_pools=1,
                maxsize=CONCURRENCY,
                cert_reqs="CERT_REQUIRED",
                ca_certs=settings.ca_file or DEFAULT_CA_BUNDLE_PATH,
            )
        )

    async def post(self, body: bytes) -> tuple[int, float] | Missing:
        """Send a body once: the status of the answer, and for how many seconds it asks to wait.

        Missing(TIMEOUT) = nobody knows whether it arrived, FORBIDDEN = it can't be sent.
        """
        found: tuple[int, float] | Missing = await self._asking.ask(
            lambda call: self._told(call, body), self._deadline
        )
        return found

    async def reach(self) -> Missing | None:
        """Connect, and send nothing; None when somebody listens there."""
        found: Missing | None = await self._asking.ask(self._reached, self._deadline)
        return found

    @property
    def _deadline(self) -> float:
        return time.monotonic() + self._settings.timeout_seconds

    def close(self) -> None:
        """Drop all connections."""
        self._asking.close()
        self._manager.clear()

    def _told(self, call: Call, body: bytes) -> tuple[int, float] | Missing:
        try:
            return self._posted(body)
        except NoAnswer as error:
            return error.missing
        except SettingsError as error:
            return Missing(Reason.FORBIDDEN, f"not sent: {error}")
        except BROKEN as error:
            return why(error, self._where, call, "fallback.webhook.ca_file")

    def _posted(self, body: bytes) -> tuple[int, float]:
        own = sent(self._settings.headers, "fallback.webhook.headers")
        response = self._manager.request(
            "POST",
            address(self._settings).url,
            body=body,
            headers={**_HEADERS, **own, **credentials(self._settings.bearer)},
            timeout=current_call().remaining(),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        found = int(response.status), _seconds(str(response.headers.get("Retry-After", "")))
        with contextlib.suppress(NoAnswer):  # its status is all that counts
            body_of(response, _MOST_BYTES)
        return found

    def _reached(self, call: Call) -> Missing | None:
        try:
            found = address(self._settings)
            port = found.port or (443 if found.scheme == "https" else 80)
            connect(str(found.host).strip("[]"), port, call).close()
        except SettingsError as error:
            return Missing(Reason.FORBIDDEN, str(error))
        except BROKEN as error:
            return why(error, self._where, call, "fallback.webhook.ca_file")
        call.answered = True
        return None


def address(settings: Webhook) -> Url:
    """The address, read for each body so that a new one is used at once. SettingsError, which
    tells nothing of what it holds.
    """
    found = settings.url or (settings.url_from.token() if settings.url_from else "")
    try:
        parts = parse_url(found) if _ADDRESS.fullmatch(found) else Url()
    except LocationParseError:
        parts = Url()
    if not parts.host or not _is_name(parts.host) or parts.port == 0:
        key = "url" if settings.url else "url_from"
        raise SettingsError(f"fallback.webhook.{key} holds no http:// or https:// address")
    return parts


def _is_name(host: str) -> bool:
    """Whether it can be looked up: no part is empty or too long."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return True


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _seconds(retry_after: str) -> float:
    """What an answer asks for, bounded; 0 where it says nothing, or a date."""
    wait = float(retry_after) if _RETRY.fullmatch(retry_after) else 0.0
    return min(wait, _MOST_SECONDS)
