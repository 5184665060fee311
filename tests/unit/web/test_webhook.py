"""The webhook: stored or told to come back; nothing that could be stored is turned away."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from starlette.requests import Request
from starlette.types import Message

from tailhound.errors import StoreUnavailable
from tailhound.settings import Basic, Listen, Secret, Settings
from tailhound.web.app import create_app
from tailhound.web.bodies import BODY_BYTES, Bodies
from tailhound.web.metrics import Metrics
from tailhound.web.parts import Parts
from tailhound.web.webhook import Webhook
from tests.unit.web.asgi import Response, request
from tests.unit.web.shelf import Intake, Receipt, parts

PATH = "/webhook/alertmanager"


def post(given: Parts, *chunks: bytes, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return request(create_app(given), PATH, method="POST", headers=named, chunks=chunks or (b"",))


def guarded(monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HOOK_TOKEN", "s3cret-token")
    monkeypatch.setenv("HOOK_PASSWORD", "pässword")
    return Settings(
        listen=Listen(
            bearer=Secret(env="HOOK_TOKEN"),
            basic=Basic(username="am", password=Secret(env="HOOK_PASSWORD")),
        )
    )


def basic(text: str) -> str:
    return f"Basic {base64.b64encode(text.encode()).decode()}"


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_a_body_is_handed_on_whole_and_answered_after_it_is_stored() -> None:
    intake = Intake(receipt=Receipt(incidents=("7F3K", "8R5W"), new=2, repeats=1))
    given = parts(intake=intake)
    answer = post(given, b'{"ver', b'sion":', b' "4"}')
    assert answer.status == 200
    assert json.loads(answer.text) == {"incidents": ["7F3K", "8R5W"]}
    assert intake.bodies == [b'{"version": "4"}']
    assert value(given.metrics, "tailhound_alerts_accepted_total", kind="new") == 2
    assert value(given.metrics, "tailhound_alerts_accepted_total", kind="repeat") == 1
    assert value(given.metrics, "tailhound_accept_seconds_count") == 1


@pytest.mark.parametrize("body", [b"", b"hello", b"[1]", b'{"version": "3"}', b"\x00\xff\xfe"])
def test_what_is_no_alert_is_stored_too(body: bytes) -> None:
    intake = Intake()
    assert post(parts(intake=intake), body, content_type="text/plain").status == 200
    assert intake.bodies == [body]


@pytest.mark.parametrize("trouble", [StoreUnavailable("disk full"), ValueError("bug"), KeyError(1)])
def test_what_can_not_be_stored_must_come_again(trouble: Exception) -> None:
    given = parts(intake=Intake(raises=trouble))
    answer = post(given, b"{}")
    assert answer.status == 503
    assert "send it again" in answer.text
    assert value(given.metrics, "tailhound_bodies_refused_total", reason="store") == 1


def test_an_intake_that_hangs_is_given_up() -> None:
    async def hang(_body: bytes) -> Receipt:
        await asyncio.Event().wait()
        return Receipt()

    hook = Webhook(parts(accept=hang), accept_seconds=0.01)
    answer = asyncio.run(hook.post(request_of(b"{}")))
    assert answer.status_code == 503
    assert b"not stored within 0.01 s" in answer.body


def test_a_body_that_drips_is_given_up_without_a_4xx() -> None:
    async def drip() -> AsyncIterator[Message]:
        yield {"type": "http.request", "body": b"{", "more_body": True}
        await asyncio.Event().wait()

    given = parts()
    messages = drip()
    slow = Request({"type": "http", "method": "POST", "headers": []}, messages.__anext__)
    answer = asyncio.run(Webhook(given, body_seconds=0.01).post(slow))
    assert answer.status_code == 503
    assert value(given.metrics, "tailhound_bodies_refused_total", reason="slow") == 1


def request_of(body: bytes) -> Request:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request({"type": "http", "method": "POST", "headers": []}, receive)


def test_a_body_above_the_limit_is_refused_counted_and_told_once() -> None:
    told: list[int] = []

    async def oversized(size: int) -> None:
        told.append(size)

    intake = Intake()
    given = parts(intake=intake, oversized=oversized)
    app = create_app(given)
    block = b"x" * (1024 * 1024)
    for _ in range(2):
        answer = request(app, PATH, method="POST", chunks=[block] * 33)
        assert answer.status == 413
        assert "max_alerts" in answer.text
    assert told == [33 * 1024 * 1024]
    assert intake.bodies == []
    assert value(given.metrics, "tailhound_bodies_refused_total", reason="oversized") == 2


def test_a_body_that_announces_too_much_is_refused_whatever_it_sends() -> None:
    intake = Intake()
    answer = post(parts(intake=intake), b"{}", content_length=str(BODY_BYTES + 1))
    assert answer.status == 413
    assert intake.bodies == []


def test_a_body_of_exactly_the_limit_is_taken() -> None:
    intake = Intake()
    block = b" " * (1024 * 1024)
    assert post(parts(intake=intake), *[block] * 32).status == 200
    assert len(intake.bodies[0]) == BODY_BYTES


async def dripping(first: bytes, gone: asyncio.Event) -> AsyncIterator[Message]:
    """A sender that sends something, and the rest never."""
    yield {"type": "http.request", "body": first, "more_body": True}
    await gone.wait()
    yield {"type": "http.disconnect"}


def test_many_large_bodies_at_a_time_take_bounded_memory_and_small_ones_come_in() -> None:
    intake = Intake()
    given = parts(intake=intake)

    async def scenario() -> None:
        bodies, gone = Bodies(most=1000), asyncio.Event()
        hook = Webhook(given, bodies=bodies)
        scope = {"type": "http", "method": "POST", "headers": []}
        slow = [
            asyncio.create_task(hook.post(Request(scope, dripping(b"x" * size, gone).__anext__)))
            for size in (300, 500, 100)
        ]
        await asyncio.sleep(0)
        assert bodies.held == 900
        assert (await hook.post(request_of(b"y" * 200))).status_code == 200
        largest = await slow[1]
        assert largest.status_code == 503
        assert b"more than 1000 bytes together; send it again" in largest.body
        assert bodies.held == 400
        gone.set()
        await asyncio.gather(*slow)
        assert bodies.held == 0

    asyncio.run(scenario())
    assert intake.bodies == [b"y" * 200]
    assert value(given.metrics, "tailhound_bodies_refused_total", reason="crowded") == 1
    assert value(given.metrics, "tailhound_bodies_refused_total", reason="slow") == 0


def test_one_body_above_all_room_is_the_one_that_goes() -> None:
    async def scenario() -> None:
        bodies = Bodies(most=100)
        answer = await Webhook(parts(), bodies=bodies).post(request_of(b"x" * 101))
        assert answer.status_code == 503
        assert bodies.held == 0

    asyncio.run(scenario())


def test_when_nobody_can_be_told_of_a_large_body_the_next_one_tries_again() -> None:
    calls: list[int] = []

    async def oversized(size: int) -> None:
        calls.append(size)
        raise StoreUnavailable("disk full")

    app = create_app(parts(oversized=oversized))
    for _ in range(2):
        headers = {"content-length": str(BODY_BYTES + 1)}
        assert request(app, PATH, method="POST", headers=headers).status == 413
    assert len(calls) == 2


@pytest.mark.parametrize("length", ["-1", "abc", "²", "9" * 30])
def test_a_strange_content_length_is_not_trusted(length: str) -> None:
    headers = [(b"content-length", length.encode())]
    asked = request_of(b"{}")
    asked.scope["headers"] = headers
    assert asyncio.run(Webhook(parts()).post(asked)).status_code == 200


def test_the_bearer_token_lets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    given = parts(settings=guarded(monkeypatch))
    assert post(given, b"{}", authorization="Bearer s3cret-token").status == 200
    assert post(given, b"{}", authorization="bearer  s3cret-token ").status == 200


def test_user_and_password_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    given = parts(settings=guarded(monkeypatch))
    assert post(given, b"{}", authorization=basic("am:pässword")).status == 200


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer s3cret-toke",
        "Bearer s3cret-token2",
        "Basic s3cret-token",
        "Basic ####",
        "Token s3cret-token",
        basic("am:wrong"),
        basic("pässword"),
        "Bearer am:pässword".encode().decode("latin-1"),
    ],
)
def test_anything_else_is_401_and_is_not_read(header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = Intake()
    given = parts(intake=intake, settings=guarded(monkeypatch))
    answer = post(given, b"{}", **({"authorization": header} if header else {}))
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "s3cret" not in answer.text
    assert intake.bodies == []
    assert value(given.metrics, "tailhound_bodies_refused_total", reason="unauthorized") == 1


def test_only_post_is_taken() -> None:
    assert request(create_app(parts()), PATH).status == 405


def test_counters_start_at_zero_so_that_a_rate_sees_the_first_one() -> None:
    metrics = Metrics()
    assert value(metrics, "tailhound_bodies_refused_total", reason="oversized") == 0
    assert (
        value(replace(parts(), metrics=metrics).metrics, "tailhound_bodies_unreadable_total") == 0
    )
