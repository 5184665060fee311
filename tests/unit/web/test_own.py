"""A listener on loopback without credentials is no door for the web pages of other people."""

import pytest

from tailhound.settings import Settings
from tailhound.web.app import create_app
from tests.unit.web.asgi import Response, request
from tests.unit.web.shelf import Intake, parts

HOOK = "/webhook/alertmanager"
OURS = "127.0.0.1:8080"


def asked(
    path: str, *, method: str = "GET", intake: Intake | None = None, public_url: str = "",
    listen: dict[str, object] | None = None, **headers: str,
) -> Response:  # fmt: skip
    settings = Settings.model_validate({"listen": {"public_url": public_url, **(listen or {})}})
    app = create_app(parts(intake=intake, settings=settings))
    return request(app, path, method=method, headers=headers)


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://evil.example:8080", "http://localhost:3000",
     "http://[", "https://127.0.0.1.evil.example"],
)  # fmt: skip
@pytest.mark.parametrize("host", [OURS, "evil.example:8080"])
def test_a_notification_that_a_foreign_page_sends_is_refused(origin: str, host: str) -> None:
    intake = Intake()
    answer = asked(HOOK, method="POST", intake=intake, host=host, origin=origin)
    assert (answer.status, intake.bodies) == (403, [])
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_refused_notification_is_counted() -> None:
    given = parts()
    app = create_app(given)
    request(app, HOOK, method="POST", headers={"origin": "null", "host": OURS})
    assert 'refused_total{reason="foreign"} 1.0' in request(app, "/metrics").text


@pytest.mark.parametrize("host", [OURS, "alerts.internal:8080", "host.docker.internal:8080"])
def test_a_notification_from_no_browser_is_taken_under_any_name(host: str) -> None:
    assert asked(HOOK, method="POST", host=host).status == 200


@pytest.mark.parametrize("host", ["evil.example:8080", "127.0.0.1.evil.example", "[", "10.0.0.5"])
@pytest.mark.parametrize("path", ["/incidents", "/api/incidents", "/api/stream", "/metrics"])
def test_a_name_that_somebody_else_points_here_reads_nothing(path: str, host: str) -> None:
    answer = asked(path, host=host)
    assert answer.status == 403
    assert "listen.public_url" in answer.text


@pytest.mark.parametrize("host", [OURS, "localhost:8080", "LOCALHOST", "[::1]:8080", "127.0.0.1"])
def test_this_machine_reads_everything(host: str) -> None:
    assert asked("/api/incidents", host=host).status == 200


def test_the_public_address_in_front_of_it_is_its_own_too() -> None:
    public = "https://tailhound.example"
    assert asked("/incidents", public_url=public, host="tailhound.example").status == 200
    sent = asked(HOOK, method="POST", public_url=public, host=OURS, origin=public)
    assert sent.status == 200


def test_a_page_of_its_own_may_post() -> None:
    assert asked(HOOK, method="POST", host=OURS, origin=f"http://{OURS}").status == 200


def test_a_listener_that_others_reach_has_credentials_and_any_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOKEN", "s3cret")
    listen: dict[str, object] = {"host": "0.0.0.0", "bearer": {"env": "TOKEN"}}
    assert asked("/incidents", listen=listen, host="tailhound.internal:8080").status == 200
