"""The Prometheus transport against servers that misbehave: typed reasons, in time, threads free."""

import asyncio
import base64
import gzip
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tailhound.flow import Turn
from tailhound.model import Missing, Reason
from tailhound.requests import Query
from tailhound.settings import Basic, Prometheus, Secret
from tailhound.transports.prometheus import PrometheusTransport
from tests.driving import until
from tests.unit.transports import servers
from tests.unit.transports.certificates import Certificates
from tests.unit.transports.servers import (
    Scripted,
    black_hole,
    cut_short_in_tls,
    misbehaving,
    reply,
    scripted,
)

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
UP = Query(promql="up")
GOOD = {"status": "success", "data": {"resultType": "vector", "result": []}}


def one(value: str = "1") -> dict[str, Any]:
    result = [{"metric": {"pod": "a"}, "value": [1, value]}]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def ask(url: str, seconds: float = 5.0, **settings: Any) -> Any:
    transport = PrometheusTransport(Prometheus(url=url, **settings))
    try:
        return asyncio.run(transport.ask(UP, Turn(time.monotonic() + seconds, NOW)))
    finally:
        transport.close()


def answering(status: int, body: bytes | str, **headers: str) -> Any:
    def answer(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        reply(handler, status, body, **headers)

    return scripted(answer)


def missing_of(status: int, body: bytes | str, **headers: str) -> Missing:
    with answering(status, body, **headers) as server:
        got = ask(f"http://127.0.0.1:{server.port}")
    assert isinstance(got, Missing), got
    return got


def wait_until(holds: Callable[[], bool], seconds: float) -> float:
    """Seconds until it held; fails when it did not within `seconds`."""
    start = time.monotonic()
    while not holds():
        assert time.monotonic() - start < seconds, "not in time"
        time.sleep(0.005)
    return time.monotonic() - start


HANGS = [
    servers.accepts_and_never_answers,
    servers.drips_a_byte_a_second,
    servers.sends_headers_without_end,
    servers.drips_its_status_line,
    servers.says_100_continue_for_ever,
]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("behaviour", HANGS)
def test_at_the_deadline_there_is_an_answer_and_the_thread_is_free(
    behaviour: servers.Behaviour, scheme: str
) -> None:
    with cut_short_in_tls(), misbehaving(behaviour) as port:
        transport = PrometheusTransport(Prometheus(url=f"{scheme}://127.0.0.1:{port}"))
        start = time.monotonic()
        got: Any = asyncio.run(transport.ask(UP, Turn(start + 0.15, NOW)))
        took = time.monotonic() - start
        wait_until(lambda: transport.asking.pool.busy == 0, 0.5)
        transport.close()
    assert 0.14 < took < 0.65 or got.reason is Reason.UNREACHABLE
    assert got.reason in (Reason.TIMEOUT, Reason.UNREACHABLE)
    assert f"127.0.0.1:{port}" in got.detail


def test_a_server_that_only_accepts_is_told_from_one_that_drips() -> None:
    with misbehaving(servers.accepts_and_never_answers) as port:
        got = ask(f"http://127.0.0.1:{port}", seconds=0.2)
    assert got == Missing(
        Reason.TIMEOUT, f"127.0.0.1:{port} accepted the connection and sent nothing for 0.2 s"
    )
    with misbehaving(servers.drips_a_byte_a_second) as port:
        got = ask(f"http://127.0.0.1:{port}", seconds=0.2)
    assert "began to answer and did not finish" in got.detail


@pytest.mark.parametrize("behaviour", HANGS)
def test_a_cancelled_question_frees_its_thread_at_once(behaviour: servers.Behaviour) -> None:
    with misbehaving(behaviour) as port:
        transport = PrometheusTransport(Prometheus(url=f"http://127.0.0.1:{port}"))

        async def cancelled() -> None:
            task = asyncio.create_task(transport.ask(UP, Turn(time.monotonic() + 30, NOW)))
            await until(lambda: transport.asking.pool.busy > 0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        wait_until(lambda: transport.asking.pool.busy == 0, 0.5)
        transport.close()


def test_a_connection_that_is_not_accepted_is_given_up_at_the_deadline() -> None:
    with black_hole() as port:
        transport = PrometheusTransport(Prometheus(url=f"http://127.0.0.1:{port}"))

        async def both() -> tuple[Any, ...]:
            turn = Turn(time.monotonic() + 0.2, NOW)
            late = Turn(time.monotonic() + 30, NOW)
            cancelled = asyncio.create_task(transport.ask(UP, late))
            got = await transport.ask(UP, turn)
            cancelled.cancel()
            return got, await asyncio.gather(cancelled, return_exceptions=True)

        got, _ = asyncio.run(both())
        wait_until(lambda: transport.asking.pool.busy == 0, 0.5)
        transport.close()
    assert got.reason is Reason.TIMEOUT
    assert "did not accept a connection" in got.detail


def test_the_timeout_of_the_settings_counts_when_it_comes_first() -> None:
    with misbehaving(servers.accepts_and_never_answers) as port:
        start = time.monotonic()
        got = ask(f"http://127.0.0.1:{port}", seconds=30, timeout_seconds=0.2)
    assert got.reason is Reason.TIMEOUT
    assert time.monotonic() - start < 1


def test_three_abandoned_reads_open_the_breaker() -> None:
    with misbehaving(servers.accepts_and_never_answers) as port:
        transport = PrometheusTransport(
            Prometheus(url=f"http://127.0.0.1:{port}", timeout_seconds=0.1)
        )

        async def four() -> list[Any]:
            turn = Turn(time.monotonic() + 5, NOW)
            return [await transport.ask(UP, turn) for _ in range(4)]

        got = asyncio.run(four())
        transport.close()
    assert [missing.reason for missing in got[:3]] == [Reason.TIMEOUT] * 3
    assert got[3].reason is Reason.SKIPPED
    assert f"127.0.0.1:{port} left 3 reads in a row without an answer" in got[3].detail


def test_what_is_refused_or_unknown_is_unreachable() -> None:
    with misbehaving(servers.speaks_no_http) as port:
        pass  # closed again: nothing listens there now
    got = ask(f"http://127.0.0.1:{port}")
    assert got.reason is Reason.UNREACHABLE
    assert "refused the connection" in got.detail
    got = ask("http://no-such-name.invalid:9090")
    assert got.reason is Reason.UNREACHABLE
    assert "does not resolve" in got.detail


@pytest.mark.parametrize(
    "behaviour", [servers.sends_half_and_hangs_up, servers.speaks_no_http], ids=lambda b: b.__name__
)
def test_a_broken_answer_is_unreachable_not_empty(behaviour: servers.Behaviour) -> None:
    with misbehaving(behaviour) as port:
        got = ask(f"http://127.0.0.1:{port}", seconds=3)
    assert got.reason is Reason.UNREACHABLE


@pytest.mark.parametrize(
    ("status", "body", "reason", "words"),
    [
        (401, "", Reason.FORBIDDEN, "set prometheus.bearer or prometheus.basic"),
        (403, "no", Reason.FORBIDDEN, "may not query"),
        (404, "404 page not found", Reason.UNREACHABLE, "path prefix"),
        (429, "", Reason.SKIPPED, "asked to wait"),
        (500, '{"status":"error","errorType":"internal","error":"x"}', Reason.UNREACHABLE, "(x)"),
        (502, "<html>bad gateway</html>", Reason.UNREACHABLE, "bad gateway"),
        (503, "Service Unavailable", Reason.UNREACHABLE, "not ready"),
        (
            503,
            '{"status":"error","errorType":"timeout","error":"query timed out"}',
            Reason.TIMEOUT,
            "query timed out",
        ),
        (
            422,
            '{"status":"error","errorType":"execution","error":"too many samples"}',
            Reason.TRUNCATED,
            "over a limit",
        ),
        (
            400,
            '{"status":"error","errorType":"bad_data","error":"unknown function limitk"}',
            Reason.UNPARSABLE,
            "limitk",
        ),
        (302, "", Reason.UNREACHABLE, "not followed"),
        (200, "<html>Log in</html>", Reason.UNPARSABLE, "Log in"),
        (200, "", Reason.UNPARSABLE, "not JSON"),
        (200, "[" * 100_000, Reason.UNPARSABLE, "not JSON"),
        (200, "[1]", Reason.UNPARSABLE, "not of the query API"),
        (200, '{"status":"success","data":{}}', Reason.UNPARSABLE, "no result"),
        (200, '{"status":"success","data":{"result":[1]}}', Reason.UNPARSABLE, "another shape"),
        (
            200,
            '{"status":"success","data":{"result":[{"metric":{},"histogram":[1,{}]}]}}',
            Reason.UNPARSABLE,
            "native histograms",
        ),
        (200, json.dumps(one("1") | {"warnings": ["store x down"]}), Reason.TRUNCATED, "store x"),
        (200, json.dumps(one("+Inf")), Reason.EMPTY, "only NaN"),
        (200, json.dumps(GOOD), Reason.EMPTY, "no such series"),
    ],
)
def test_every_answer_without_values_has_its_reason(
    status: int, body: str, reason: Reason, words: str
) -> None:
    missing = missing_of(status, body, Location="http://elsewhere.example/login")
    assert missing.reason is reason
    assert words in missing.detail


def test_a_redirect_is_not_followed_and_no_second_request_is_sent() -> None:
    with answering(307, "", Location="/elsewhere") as server:
        got = ask(f"http://127.0.0.1:{server.port}")
        assert len(server.asked) == 1
    assert "set prometheus.url to the address that answers itself" in got.detail


def test_notices_beside_a_whole_answer_do_not_spoil_it() -> None:
    with answering(200, json.dumps(one("2") | {"infos": ["metric might not be a counter"]})) as s:
        assert ask(f"http://127.0.0.1:{s.port}")[0].value == 2


def test_a_compressed_answer_is_read() -> None:
    packed = gzip.compress(json.dumps(one("3")).encode())
    with answering(200, packed, Content_Encoding="gzip") as server:
        assert ask(f"http://127.0.0.1:{server.port}")[0].value == 3
        assert server.headers[0]["accept-encoding"] == "gzip"


def test_a_compressed_bomb_stops_at_the_cap() -> None:
    bomb = gzip.compress(b" " * 40_000_000, compresslevel=1)
    start = time.monotonic()
    missing = missing_of(200, bomb, Content_Encoding="gzip")
    assert missing.reason is Reason.TRUNCATED
    assert "8 MiB" in missing.detail
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("body", "encoding", "reason"),
    [
        (b"not gzip", "gzip", Reason.UNPARSABLE),
        (gzip.compress(json.dumps(GOOD).encode(), mtime=0)[:-9], "gzip", Reason.TRUNCATED),
        (b"x", "br", Reason.UNPARSABLE),
    ],
)
def test_a_broken_encoding_is_never_an_answer(body: bytes, encoding: str, reason: Reason) -> None:
    assert missing_of(200, body, Content_Encoding=encoding).reason is reason


def test_a_failure_is_asked_once() -> None:
    with answering(503, "") as server:
        ask(f"http://127.0.0.1:{server.port}")
        assert len(server.asked) == 1


def test_credentials_are_sent_and_read_anew_for_each_question(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("first\n")
    with answering(200, json.dumps(one())) as server:
        url = f"http://127.0.0.1:{server.port}"
        transport = PrometheusTransport(Prometheus(url=url, bearer=Secret(file=str(secret))))
        turn = Turn(time.monotonic() + 5, NOW)
        asyncio.run(transport.ask(UP, turn))
        secret.write_text("second\n")
        asyncio.run(transport.ask(UP, turn))
        secret.unlink()
        got: Any = asyncio.run(transport.ask(UP, turn))
        transport.close()
        ask(url, basic=Basic(username="bot", password=Secret(env="PATH")))
    sent = [headers.get("authorization", "") for headers in server.headers]
    assert sent[:2] == ["Bearer first", "Bearer second"]
    assert sent[2].startswith("Basic ")
    assert got.reason is Reason.FORBIDDEN
    assert str(secret) in got.detail


def test_headers_of_the_site_are_sent_with_their_secrets_read_anew(tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text("first")
    headers: dict[str, str | Secret] = {}
    headers |= {"X-Scope-OrgID": "infra", "X-Api-Key": Secret(file=str(secret))}
    with answering(200, json.dumps(one())) as server:
        url = f"http://127.0.0.1:{server.port}"
        transport = PrometheusTransport(Prometheus(url=url, headers=headers))
        turn = Turn(time.monotonic() + 5, NOW)
        asyncio.run(transport.ask(UP, turn))
        secret.write_text("second")
        asyncio.run(transport.ask(UP, turn))
        secret.write_text("two\nlines")
        got: Any = asyncio.run(transport.ask(UP, turn))
        transport.close()
    told = [(sent["x-scope-orgid"], sent["x-api-key"]) for sent in server.headers]
    assert told == [("infra", "first"), ("infra", "second")]
    assert (got.reason, "prometheus.headers.X-Api-Key" in got.detail) == (Reason.FORBIDDEN, True)


@pytest.mark.parametrize("token", ["two\nX-Lines: 1", "t\u00f6ken", "null\x00"])
def test_a_bearer_that_is_no_header_is_not_sent(token: str, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text(token, encoding="utf-8")
    with answering(200, json.dumps(one())) as server:
        got = ask(f"http://127.0.0.1:{server.port}", bearer=Secret(file=str(secret)))
        assert server.asked == []
    assert got.reason is Reason.FORBIDDEN
    assert "token holds more than one line" in got.detail


def test_a_password_of_any_characters_is_sent_as_utf_8(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("p\u00e4ss\u20ac:w", encoding="utf-8")
    with answering(200, json.dumps(one())) as server:
        basic = Basic(username="bot", password=Secret(file=str(secret)))
        assert ask(f"http://127.0.0.1:{server.port}", basic=basic)[0].value == 1
    kind, sent = server.headers[0]["authorization"].split()
    assert (kind, base64.b64decode(sent).decode()) == ("Basic", "bot:p\u00e4ss\u20ac:w")


def test_a_missing_ca_file_is_told(tmp_path: Path) -> None:
    with answering(200, json.dumps(one())) as server:
        got = ask(f"https://127.0.0.1:{server.port}", ca_file=str(tmp_path / "none.pem"))
    assert got.reason is Reason.UNREACHABLE
    assert "No such file" in got.detail


def test_the_environment_does_not_redirect_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with answering(200, json.dumps(one("4"))) as server:
        assert ask(f"http://127.0.0.1:{server.port}")[0].value == 4


def test_a_kept_connection_that_the_server_closed_is_no_failure() -> None:
    def answer(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        if len(script.asked) == 2:  # the second request on the first connection: hang up unread
            handler.close_connection = True
            return
        reply(handler, 200, json.dumps(one("5")))

    with scripted(answer) as server:
        transport = PrometheusTransport(
            Prometheus(url=f"http://127.0.0.1:{server.port}", concurrency=1)
        )
        turn = Turn(time.monotonic() + 5, NOW)

        async def twice() -> list[Any]:
            return [await transport.ask(UP, turn) for _ in range(2)]

        got = asyncio.run(twice())
        transport.close()
    assert [vector[0].value for vector in got] == [5, 5]


def test_tls_needs_the_right_ca(certificates: Certificates) -> None:
    def answer(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        reply(handler, 200, json.dumps(one("6")))

    with scripted(answer, wrap=certificates.wrap) as server:
        url = f"https://127.0.0.1:{server.port}"
        assert ask(url, ca_file=certificates.ca_file)[0].value == 6
        distrusted = ask(url, ca_file=certificates.other_ca_file)
        plain_text = ask(f"http://127.0.0.1:{server.port}", seconds=2)
    assert distrusted.reason is Reason.UNREACHABLE
    assert "set prometheus.ca_file" in distrusted.detail
    assert plain_text.reason is Reason.UNREACHABLE
    with answering(200, "") as server:
        no_tls = ask(f"https://127.0.0.1:{server.port}", ca_file=certificates.ca_file)
    assert no_tls.reason is Reason.UNREACHABLE
    assert "is the address http://" in no_tls.detail


def test_what_the_server_says_is_redacted_and_harmless() -> None:
    body = json.dumps({"status": "error", "error": "\x1b[31mpassword=hunter2\x1b[0m\u202e" * 99})
    detail = missing_of(400, body).detail
    assert "hunter2" not in detail
    assert "\x1b" not in detail
    assert "\u202e" not in detail
    assert len(detail) < 400


def test_closing_ends_what_is_under_way() -> None:
    with misbehaving(servers.accepts_and_never_answers) as port:
        transport = PrometheusTransport(Prometheus(url=f"http://127.0.0.1:{port}", concurrency=1))

        async def closed() -> list[Any]:
            turn = Turn(time.monotonic() + 20, NOW)
            asks = [asyncio.create_task(transport.ask(UP, turn)) for _ in range(3)]
            await until(lambda: transport.asking.pool.busy > 0)
            transport.close()
            return [await asyncio.wait_for(task, 1) for task in asks]

        got = asyncio.run(closed())
    assert all(isinstance(missing, Missing) for missing in got)
    assert got[1].reason is Reason.SKIPPED
    assert "tailhound is stopping" in got[1].detail
