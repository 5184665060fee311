"""What goes out to Alertmanager beside its question."""

import asyncio
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tailhound.model import Missing, Reason
from tailhound.settings import Alertmanager, Secret
from tailhound.transports.alertmanager import AlertmanagerClient
from tests.unit.transports.servers import Scripted, reply, scripted


def test_headers_of_the_site_are_sent_and_a_secret_that_is_none_is_told(tmp_path: Path) -> None:
    def answer(_script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        reply(handler, 200, "[]")

    key = tmp_path / "key"
    key.write_text("k1")
    with scripted(answer) as server:
        client = AlertmanagerClient(
            Alertmanager(
                url=f"http://127.0.0.1:{server.port}",
                headers={"X-Scope-OrgID": "infra", "X-Api-Key": Secret(file=str(key))},
            )
        )
        asyncio.run(client.find("s1", time.monotonic() + 5))
        key.write_text("")
        got = asyncio.run(client.find("s1", time.monotonic() + 5))
        client.close()
    (sent,) = server.headers
    assert (sent["x-scope-orgid"], sent["x-api-key"]) == ("infra", "k1")
    assert isinstance(got, Missing)
    assert got.reason is Reason.FORBIDDEN
    assert "alertmanager.headers.X-Api-Key is empty" in got.detail
