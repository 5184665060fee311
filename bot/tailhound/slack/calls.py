"""Calls of Slack's Web API that can't hang the process, and what came of them.

`slack_sdk`'s client waits for its answer, so each call runs in a daemon thread: at most `at_once`
of them live at any moment, and none keeps the process from ending. Nothing is retried here.
"""

import asyncio
import hashlib
import http.client
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.error import URLError

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import SlackResponse

from tailhound.errors import SettingsError

_LOG = logging.getLogger(__name__)

_MARGIN_SECONDS = 2.0
"""The client's own timeout, which knows whether the call was sent, comes first."""

AT_ONCE = 8
"""Connections that the messages of all channels share."""

_MAYBE_DONE = frozenset({502, 504})
"""A gateway gave up waiting for Slack's answer: Slack may have done it."""


@dataclass(frozen=True, slots=True)
class Said:
    """Slack did it; `data` is its answer, `scopes` are those of the token as far as it tells."""

    data: Mapping[str, Any]
    scopes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class No:
    """Slack answered that it did not. `error` is its code, `retry_after` seconds where it says."""

    error: str
    retry_after: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer that can be read. `sent` is False only where the call surely never arrived."""

    why: str
    sent: bool


Outcome: TypeAlias = Said | No | Lost


class _Following(WebClient):
    """A client whose token is read for each call, so that a new one works without a restart."""

    def __init__(self, read: Callable[[], str], **more: Any) -> None:
        self._read, self._last, self._is_told = read, "", False
        super().__init__(**more)

    @property
    def token(self) -> str:
        """The token as it lies there now; the last one while none can be read."""
        try:
            self._last, self._is_told = self._read(), False
        except SettingsError as error:
            if not self._is_told:
                _LOG.error("the token of Slack stays as it was: %s", error)
            self._is_told = True
        return self._last

    @token.setter
    def token(self, value: str | None) -> None:
        """The base class sets the one that it was given: none."""


def client(
    token: Callable[[], str] | str | None, api_url: str, timeout_seconds: float
) -> WebClient:
    """A client that gives up after `timeout_seconds` of silence and never retries by itself.

    `token` is read for each call where it is a function.
    """
    more: dict[str, Any] = {
        "base_url": api_url,
        "timeout": max(1, round(timeout_seconds)),
        "retry_handlers": [],
    }
    return _Following(token, **more) if callable(token) else WebClient(token=token, **more)


def fingerprint(token: str) -> str:
    """What tells two tokens apart in a log, and can't be turned back into one."""
    return hashlib.sha256(b"tailhound token\n" + token.encode()).hexdigest()[:10]


class Calls:
    """Runs calls for an event loop. `timeout_seconds` bounds a call as a whole.

    A call that finds all connections in use waits its turn, as long as a call may take.
    """

    def __init__(
        self, web: WebClient, *, timeout_seconds: float = 10.0, at_once: int = AT_ONCE
    ) -> None:
        self.web = web
        self._timeout = timeout_seconds
        self._slots = asyncio.Semaphore(at_once)
        self._behind = asyncio.Semaphore(max(1, at_once // 2))
        self._closed = False

    async def ask(
        self, call: Callable[[WebClient], SlackResponse], *, behind: bool = False
    ) -> Outcome:
        """The outcome of one call; Lost when it takes longer than the timeout.

        `behind`: nobody waits for it. Such calls take half of the connections at most.
        """
        needed = (self._behind, self._slots) if behind else (self._slots,)
        if self._closed:
            return Lost("tailhound is shutting down", sent=False)
        if not await self._free(needed):
            return Lost("all connections to Slack are in use", sent=False)
        answer = self._started(call, needed)
        try:
            return await asyncio.wait_for(answer, self._timeout + _MARGIN_SECONDS)
        except TimeoutError:
            return Lost(f"Slack took over {self._timeout:g} s to answer", sent=True)

    def close(self) -> None:
        """Start no further call."""
        self._closed = True

    async def _free(self, needed: Sequence[asyncio.Semaphore]) -> bool:
        """Take one of each; False, and none is taken, when that takes too long."""
        taken: list[asyncio.Semaphore] = []
        try:
            async with asyncio.timeout(self._timeout):
                for slots in needed:
                    await slots.acquire()
                    taken.append(slots)
        except BaseException as error:
            for slots in taken:
                slots.release()
            if isinstance(error, TimeoutError):
                return False
            raise
        return True

    def _started(
        self, call: Callable[[WebClient], SlackResponse], taken: Sequence[asyncio.Semaphore]
    ) -> "asyncio.Future[Outcome]":
        """Begin the call on a thread of its own, which gives back what was taken when it ends."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Outcome] = loop.create_future()

        def ended(outcome: Outcome | None) -> None:
            for slots in taken:
                slots.release()
            if outcome is not None and not answer.done():
                answer.set_result(outcome)

        def run() -> None:
            outcome: Outcome | None = None
            try:
                outcome = outcome_of(call, self.web)
            finally:
                try:
                    loop.call_soon_threadsafe(ended, outcome)
                except RuntimeError:
                    _LOG.info("the answer of Slack came after the event loop had ended")

        threading.Thread(target=run, name="slack-call", daemon=True).start()
        return answer


def outcome_of(call: Callable[[WebClient], SlackResponse], web: WebClient) -> Outcome:
    """Make the call here and now; every way in which it can end is an outcome."""
    try:
        answer = call(web)
    except SlackApiError as error:
        return _refused(error.response)
    except (URLError, OSError, http.client.HTTPException, ValueError, SlackClientError) as error:
        return _lost(error)
    return Said(answer.data if isinstance(answer.data, dict) else {}, _scopes(answer.headers))


def _scopes(headers: Mapping[str, Any]) -> frozenset[str]:
    """What `X-OAuth-Scopes` lists; empty where it is missing."""
    named = {key.lower(): value for key, value in headers.items()}
    value = named.get("x-oauth-scopes", "")
    text = str(value[0] if isinstance(value, list) and value else value)
    return frozenset(scope.strip() for scope in text.split(",") if scope.strip())


def _refused(answer: SlackResponse) -> Outcome:
    data = answer.data if isinstance(answer.data, dict) else {}
    error = str(data.get("error", ""))
    status = int(answer.status_code)
    if status == 429:
        return No("ratelimited", _seconds(answer.headers))
    if status in _MAYBE_DONE or error == "fatal_error":
        return Lost(f"Slack answered {error or status}", sent=True)
    if status >= 500:
        return No("service_unavailable")
    if not error or error.startswith("Received a response in a non-JSON format"):
        if status >= 400:
            return No(f"http_{status}")
        return Lost(f"Slack answered {status} without JSON", sent=True)
    return No(error, more=data)


def _seconds(headers: Mapping[str, Any]) -> float:
    """Retry-After in seconds; 1 where it is missing or no number."""
    named = {key.lower(): value for key, value in headers.items()}
    value = named.get("retry-after", "1")
    text = str(value[0] if isinstance(value, list) and value else value)
    return min(max(1.0, float(text)), 3600.0) if re.fullmatch("[0-9]{1,6}", text) else 1.0


def _lost(error: Exception) -> Lost:
    """What urllib wraps happened while connecting or sending; the rest, while it was waiting."""
    cause = error.reason if isinstance(error, URLError) else error
    text = f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
    return Lost(f"no answer from Slack ({text})", sent=not isinstance(error, URLError))
