"""Files to Slack: an address is asked for, the bytes are sent there, the upload is completed.

Nothing is seen of a file before it is completed; then Slack looks at it for a moment, and only
after that may a message show it. The answer of completing names no message.
"""

import asyncio
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.error import HTTPError, URLError

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from tailhound.slack.calls import Calls, Lost, No, Outcome, Said
from tailhound.slack.limits import FILE_ALT
from tailhound.slack.pace import COMPLETE, FILE_INFO, UPLOAD_URL, Pace

_FIRST_LOOK: Final = 0.15
_LOOKS_APART_AT_MOST: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file on its way: its name, what a screen reader says of it, and its bytes."""

    name: str
    content: bytes
    alt: str = ""


class Uploads:
    """Uploads through the calls of a notifier, as fast as `pace` allows."""

    def __init__(self, calls: Calls, pace: Pace) -> None:
        self._calls = calls
        self._pace = pace

    async def send(self, upload: Upload) -> str | No | Lost:
        """The id of a file whose bytes are at Slack; nobody sees it yet."""
        await self._turn()
        outcome = await self._calls.ask(lambda web: _sent(web, upload), behind=True)
        if isinstance(outcome, Said):
            return str(outcome.data.get("file_id", ""))
        return self._held(UPLOAD_URL, outcome)

    async def complete(
        self, files: Sequence[tuple[str, str]], *, channel: str = "", thread: str = ""
    ) -> Outcome:
        """Complete uploads, each an id and a title; with `channel`, Slack shares them there."""
        listed: list[dict[str, str | None]] = [{"id": id, "title": title} for id, title in files]
        outcome = await self._calls.ask(
            lambda web: web.files_completeUploadExternal(
                files=listed, channel_id=channel or None, thread_ts=thread or None
            )
        )
        return outcome if isinstance(outcome, Said) else self._held(COMPLETE, outcome)

    async def looked_at(self, id: str) -> bool:
        """Wait until Slack has looked at a completed file; False when it does not tell.

        The caller bounds the wait.
        """
        pause = _FIRST_LOOK
        while True:
            outcome = await self.info(id)
            if isinstance(outcome, No) and outcome.error != "ratelimited":
                return False
            if isinstance(outcome, Said) and _file(outcome).get("mimetype"):
                return True
            await asyncio.sleep(pause)  # Slack tells nobody when it is done
            pause = min(2 * pause, _LOOKS_APART_AT_MOST)

    async def info(self, id: str) -> Outcome:
        """What Slack says of a file; `file_not_found` before it is completed."""
        outcome = await self._calls.ask(lambda web: web.files_info(file=id), behind=True)
        return outcome if isinstance(outcome, Said) else self._held(FILE_INFO, outcome)

    def held(self) -> float:
        """Seconds for which Slack still refuses uploads."""
        return max(self._pace.held(method) for method in (UPLOAD_URL, COMPLETE, FILE_INFO))

    async def _turn(self) -> None:
        while (wait := self._pace.before_upload()) > 0:
            await asyncio.sleep(wait)

    def _held(self, method: str, outcome: No | Lost) -> No | Lost:
        if isinstance(outcome, No) and outcome.error == "ratelimited":
            self._pace.hold(method, outcome.retry_after or 30.0)
        return outcome


def schemes(api: str) -> tuple[str, ...]:
    """The kinds of addresses that bytes go to: in the clear only where Slack is asked so too."""
    return ("https://",) if api.startswith("https://") else ("https://", "http://")


def _file(outcome: Said) -> dict[str, Any]:
    found = outcome.data.get("file")
    return found if isinstance(found, dict) else {}


def _sent(web: WebClient, upload: Upload) -> SlackResponse:
    """Ask where the bytes go, and send them there."""
    answer = web.files_getUploadURLExternal(
        filename=upload.name, length=len(upload.content), alt_txt=upload.alt[:FILE_ALT] or None
    )
    address = str(answer.get("upload_url", ""))
    if not address.startswith(schemes(web.base_url)):
        raise URLError(f"Slack named no address for a file: {address[:60]!r}")
    request = urllib.request.Request(  # noqa: S310 - the scheme was looked at
        address,
        data=upload.content,
        method="POST",
        headers={"Content-Type": "application/octet-stream"},
    )
    with _opener(web).open(request, timeout=web.timeout) as stored:
        if stored.status != 200:
            raise HTTPError(address, stored.status, "the upload was refused", stored.headers, None)
    return answer


def _opener(web: WebClient) -> urllib.request.OpenerDirector:
    """As slack_sdk's own client goes out: its proxy and its TLS settings."""
    proxies = {"http": web.proxy, "https": web.proxy} if web.proxy else {}
    return urllib.request.build_opener(
        urllib.request.ProxyHandler(proxies),
        urllib.request.HTTPSHandler(context=web.ssl),
        _Staying(),
    )


class _Staying(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: a redirect is a refusal."""

    def redirect_request(self, *_args: Any, **_more: Any) -> None:
        """Follow none."""
        return
