"""The demo's own Alertmanager: what it refuses. What it does is tested beside the real one."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from tailhound.app.demo_alertmanager import DemoAlertmanager
from tests.unit.web.asgi import Response, request

NOW = datetime(2026, 11, 30, 3, 4, 30, tzinfo=UTC)
JSON = {"content-type": "application/json"}


def held() -> DemoAlertmanager:
    made = DemoAlertmanager(lambda: NOW)
    labels = {"alertname": "ITLHigh", "namespace": "llm", "pod": "a"}
    alert = {"labels": labels, "status": "firing", "startsAt": NOW.isoformat()}
    made.hold({"alerts": [alert]})
    return made


def body(**changes: Any) -> bytes:
    """A silence that is taken, with other values; `...` leaves one out."""
    whole = {
        "matchers": [{"name": "namespace", "value": "llm", "isRegex": False, "isEqual": True}],
        "startsAt": NOW.isoformat(),
        "endsAt": (NOW + timedelta(hours=1)).isoformat(),
        "createdBy": "ana",
        "comment": "planned work (tailhound 1)",
    } | changes
    return json.dumps({k: v for k, v in whole.items() if v is not ...}).encode()


def posted(made: DemoAlertmanager, text: bytes, **headers: str) -> Response:
    given = {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
    path = "/api/v2/silences"
    return request(made.asgi, path, method="POST", headers=given, chunks=[text])


def firing(made: DemoAlertmanager, *filters: str) -> Response:
    asked = "&".join(f"filter={quote(text)}" for text in filters)
    return request(made.asgi, f"/api/v2/alerts?silenced=false&{asked}")


def matcher(name: str, value: str, *, regex: bool = False) -> dict[str, Any]:
    return {"name": name, "value": value, "isRegex": regex}


def test_what_it_takes_mutes_the_alert_and_what_is_resolved_fires_no_more() -> None:
    made = held()
    assert len(json.loads(firing(made).body)) == 1
    assert posted(made, body()).status == 200
    assert json.loads(firing(made).body) == []
    gone = held()
    labels = {"alertname": "ITLHigh", "namespace": "llm", "pod": "a"}
    gone.hold({"alerts": [{"labels": labels, "status": "resolved", "startsAt": NOW.isoformat()}]})
    assert json.loads(firing(gone).body) == []


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b"[" * 30_000,
        body(matchers=[]),
        body(matchers=...),
        body(matchers=[{}]),
        body(matchers=[matcher("a", "")]),
        body(matchers=[matcher("a", "x|", regex=True)]),
        body(matchers=[matcher("a", "(", regex=True)]),
        body(matchers=[matcher("a", "(a+)+$", regex=True)]),
        body(matchers=[matcher("a", "b") | {"isEqual": False}]),
        body(matchers=[matcher("a", "b") | {"isRegex": "no"}]),
        body(endsAt=NOW.isoformat()),
        body(endsAt="soon"),
        body(endsAt="2026-11-30T05:00:00"),
        body(endsAt=7),
        body(createdBy=""),
        body(comment=...),
        body(comment="x" * 70_000),
    ],
    ids=lambda text: ascii(text)[:50],
)
def test_what_is_no_silence_is_400_and_mutes_nothing(text: bytes) -> None:
    made = held()
    assert posted(made, text).status == 400
    assert len(json.loads(firing(made).body)) == 1


def test_a_form_of_another_page_can_set_none() -> None:
    made = held()
    assert posted(made, body(), content_type="text/plain").status == 415
    assert len(json.loads(firing(made).body)) == 1


@pytest.mark.parametrize("text", ["", "llm", "namespace=llm", 'a!="b"', 'a=~"(x+)+"', 'a="b" c'])
def test_a_filter_that_is_none_is_400(text: str) -> None:
    assert firing(held(), text).status == 400


def test_a_filter_keeps_what_matches() -> None:
    for text, amount in (('namespace="llm"', 1), ('namespace=~"x|llm"', 1), ('namespace="x"', 0)):
        assert len(json.loads(firing(held(), text).body)) == amount


def test_what_it_does_not_know_is_404() -> None:
    assert request(held().asgi, "/api/v2/silence/x").status == 404
    assert request(held().asgi, "/api/v2/silence/x", method="DELETE").status == 404
