"""Where the bytes of a file go: to the address that Slack names, and no further."""

import asyncio
import time
from http.server import BaseHTTPRequestHandler

import pytest

from tailhound.slack.calls import Calls, Lost, No, client
from tailhound.slack.pace import Pace
from tailhound.slack.uploads import Upload, Uploads, schemes
from tests.unit.transports.servers import Scripted, reply, scripted

FILE = Upload(name="8R5W-evidence.md", content=b"# Evidence")


def sent(api: str) -> str | No | Lost:
    """What comes of one upload."""

    async def run() -> str | No | Lost:
        calls = Calls(client("xoxb-1", api, 5), timeout_seconds=5)
        try:
            return await Uploads(calls, Pace(time.monotonic)).send(FILE)
        finally:
            calls.close()

    return asyncio.run(run())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_of_an_upload_is_not_followed(status: int) -> None:
    def elsewhere(_script: Scripted, handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        reply(handler, 200, "inside")

    def slack(script: Scripted, handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        if handler.path.endswith("getUploadURLExternal"):
            address = f"http://127.0.0.1:{script.port}/bytes"
            reply(handler, 200, f'{{"ok": true, "file_id": "F1", "upload_url": "{address}"}}')
        else:
            reply(handler, status, "", Location=f"http://127.0.0.1:{inside.port}/secrets")

    with scripted(elsewhere) as inside, scripted(slack) as outside:
        found = sent(f"http://127.0.0.1:{outside.port}/api/")
        assert isinstance(found, Lost)
        assert outside.bodies[-1] == FILE.content
        assert inside.asked == []


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/x", ""])
def test_bytes_go_to_no_address_of_another_kind(address: str) -> None:
    def slack(_script: Scripted, handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        reply(handler, 200, f'{{"ok": true, "file_id": "F1", "upload_url": "{address}"}}')

    with scripted(slack) as outside:
        found = sent(f"http://127.0.0.1:{outside.port}/api/")
    assert isinstance(found, Lost)
    assert "named no address" in found.why


def test_bytes_do_not_go_in_the_clear_where_slack_is_asked_over_tls() -> None:
    assert schemes("https://slack.com/api/") == ("https://",)
    assert "http://" in schemes("http://127.0.0.1:8080/api/")
