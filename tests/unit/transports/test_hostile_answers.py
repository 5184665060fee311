"""Backends that answer nastily, and hostile recordings: an answer or a reason, never an exception.

What has another shape counts as not known. It never counts as "nothing fires" or "was not set".
"""

import asyncio
import gzip
import json
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tailhound.actions.silence import Matcher, Muted, Silence, muted
from tailhound.errors import RecordingUnreadable, SettingsError
from tailhound.model import Missing, Reason
from tailhound.settings import Alertmanager
from tailhound.settings import load as settings_of
from tailhound.settings_secrets import secrets
from tailhound.transports.alertmanager import AlertmanagerClient
from tailhound.transports.http import NoAnswer, json_of
from tailhound.transports.prometheus_answers import ranges, vector
from tailhound.transports.recording import VALUES_AT_MOST, load, parsed
from tests.unit.transports.servers import Scripted, reply, scripted

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
SILENCE = Silence(
    id="abc", matchers=(Matcher("a", "b"),), starts=NOW, ends=NOW, by="ana", why="Other"
)
NASTY = [
    "", "null", "1", '"x"', "{}", "[]", "[1]", "[null]", "<html>", "1" * 5_000,
    "[" * 900 + "]" * 900, '{"status": 1}', '{"status": null}', '{"status": "active"}',
    '{"status": {"state": ["active"]}}',
    '{"silenceID": ["a"]}', '{"silenceID": "../../-/quit"}', '{"silenceID": "\\ud800\\u0000"}',
    json.dumps({"silenceID": "x" * 100_000}), '[{"comment": "(tailhound abc)"}]',
    '[{"comment": "(tailhound abc)", "id": {"a": 1}}]', '[{"comment": 1, "id": "a"}, 7]',
    '[{"fingerprint": 1, "labels": {}, "startsAt": "0001-01-01T00:00:00+23:00"}]',
    '[{"fingerprint": 1, "labels": [], "startsAt": "2026-01-01T00:00:00Z"}]',
]  # fmt: skip

T = TypeVar("T")


def asked(body: str, ask: Callable[[AlertmanagerClient, float], Awaitable[T]]) -> T:
    """What comes of one call to an Alertmanager that answers everything with this."""

    async def run(port: int) -> T:
        client = AlertmanagerClient(Alertmanager(url=f"http://127.0.0.1:{port}"))
        try:
            return await ask(client, time.monotonic() + 5)
        finally:
            client.close()

    with scripted(lambda _script, handler, _body: reply(handler, 200, body)) as script:
        return asyncio.run(run(script.port))


@pytest.mark.parametrize("body", NASTY)
def test_whether_a_silence_was_set_is_unknown_when_the_answer_names_none(body: str) -> None:
    found = asked(body, lambda client, deadline: client.set(SILENCE, deadline))
    assert isinstance(found, Missing)
    assert found.reason is Reason.TIMEOUT


@pytest.mark.parametrize("body", NASTY)
def test_a_silence_is_found_in_a_list_that_names_it_and_in_nothing_else(body: str) -> None:
    found = asked(body, lambda client, deadline: client.find("abc", deadline))
    assert isinstance(found, Missing) or (found == "" and body.startswith("["))


@pytest.mark.parametrize("body", NASTY)
def test_whether_a_silence_holds_is_unknown_when_the_answer_does_not_tell(body: str) -> None:
    found = asked(body, lambda client, deadline: client.is_active("remote", deadline))
    assert isinstance(found, Missing)


@pytest.mark.parametrize("body", [body for body in NASTY if body != "[]"])
def test_what_fires_is_unknown_when_the_answer_is_no_list_of_alerts(body: str) -> None:
    found = asked(body, lambda client, deadline: client.firing((), deadline))
    assert isinstance(found, Missing)


def test_what_is_muted_is_unknown_where_alertmanager_filters_by_other_matchers() -> None:
    row = {"fingerprint": "1", "labels": {"a": "c"}, "startsAt": "2026-01-01T00:00:00Z"}
    found = asked(json.dumps([row]), lambda client, at: client.firing((Matcher("a", "b"),), at))
    assert isinstance(found, Missing)
    assert "don't hold" in found.detail


def test_a_silence_is_found_by_its_comment_as_it_is_and_labels_stay_as_they_are() -> None:
    one = {"id": "r1", "comment": "Other: we rotate the password: (tailhound abc)"}
    assert asked(json.dumps([one]), lambda client, at: client.find("abc", at)) == "r1"
    labels = {"hf_token": "abcdef123456", "severity": "critical"}
    row = {"fingerprint": "1", "labels": labels, "startsAt": "2026-01-01T00:00:00Z"}
    wanted = (Matcher("hf_token", "abcdef123456"),)
    found = asked(json.dumps([row]), lambda client, at: client.firing(wanted, at))
    assert not isinstance(found, Missing)
    assert muted(wanted, found) == Muted(alerts=1, pages=1)


def test_the_reason_of_a_refusal_is_redacted() -> None:
    def refuse(_script: Scripted, handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        reply(handler, 400, "bad matcher: hf_token=abcdef123456")

    async def run(port: int) -> object:
        client = AlertmanagerClient(Alertmanager(url=f"http://127.0.0.1:{port}"))
        try:
            return await client.set(SILENCE, time.monotonic() + 5)
        finally:
            client.close()

    with scripted(refuse) as script:
        found = asyncio.run(run(script.port))
    assert isinstance(found, Missing)
    assert "bad matcher" in found.detail
    assert "abcdef123456" not in found.detail


@pytest.mark.parametrize("read", [vector, ranges])
@pytest.mark.parametrize(
    "item",
    [
        None, 1, [], {}, {"metric": [], "value": [1, "1"], "values": [[1, "1"]]},
        {"metric": None, "value": [1, "1"], "values": [[1, "1"]]},
        {"metric": {}, "value": [1, 10**400], "values": [[1, 10**400]]},
        {"metric": {}, "value": {}, "values": {"a": 1}},
    ],
)  # fmt: skip
def test_an_answer_of_another_shape_is_no_answer(
    read: Callable[[list[Any]], object], item: Any
) -> None:
    with pytest.raises(NoAnswer) as caught:
        read([item])
    assert caught.value.missing.reason is Reason.UNPARSABLE


@pytest.mark.parametrize("at", [1e300, -1.0, -1e18, "nan", "inf", 10**400, 253_402_300_800])
def test_a_sample_from_outside_the_calendar_is_no_answer(at: Any) -> None:
    with pytest.raises(NoAnswer) as caught:
        ranges([{"metric": {}, "values": [[at, "1"]]}])
    assert caught.value.missing.reason is Reason.UNPARSABLE


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "1.7e308", "-1e200"])
def test_a_number_that_could_not_be_summed_is_left_out(value: str) -> None:
    found = vector([{"metric": {}, "value": [1, value]}, {"metric": {}, "value": [1, "2"]}])
    assert [one.value for one in found] == [2.0]


def recording(**changes: Any) -> str:
    whole = {"tailhound_recording": 1, "as_of": NOW.isoformat(), "alert": None, "answers": []}
    return json.dumps(whole | changes)


@pytest.mark.parametrize(
    "answer",
    [
        {"took": 10**400, "reply": []},
        {"reply": [{"labels": {}, "value": 10**400}]},
        {"reply": [{"labels": {}, "value": float("inf")}]},
    ],
)
def test_a_number_that_no_float_holds_is_refused_with_its_place(answer: dict[str, Any]) -> None:
    item = {"ask": {"type": "Query", "promql": "up"}} | answer
    with pytest.raises(RecordingUnreadable, match=r"answers\[0\]"):
        parsed(recording(answers=[item]))


def test_a_small_file_that_holds_millions_of_values_is_refused_before_it_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bomb.json.gz"
    values = b"[]," * (VALUES_AT_MOST // 2 + 1)
    path.write_bytes(gzip.compress(b'{"answers":[' + values + b"0]}", 1))
    with pytest.raises(RecordingUnreadable, match="4,000,000 JSON values"):
        load(path)


def test_commas_and_brackets_inside_of_texts_are_no_values(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(recording(alert=',[{\\"' * (VALUES_AT_MOST // 3)))
    assert load(path).answers == ()


@pytest.mark.parametrize(
    "secret", ["hunter2\nsecond-line", "hunter2\r\nX-Evil: 1", "hunter2\u00e9\0"]
)
@pytest.mark.parametrize(
    "section",
    [
        "alertmanager: {url: 'http://127.0.0.1:9', bearer: {file: FILE}}",
        "kubernetes: {server: 'https://127.0.0.1:9', token: {file: FILE}}",
        "slack: {bot_token: {file: FILE}, channel: C0ALERTS}",
        "slack: {app_token: {file: FILE}}",
    ],
)
def test_a_secret_of_several_lines_is_told_by_its_key_and_never_by_its_words(
    tmp_path: Path, secret: str, section: str
) -> None:
    (tmp_path / "secret").write_text(secret)
    config = tmp_path / "tailhound.yaml"
    config.write_text(section.replace("FILE", str(tmp_path / "secret")))
    (found,) = [found for _, found in secrets(settings_of(config, {}), ())]
    with pytest.raises(SettingsError, match="more than one line of plain characters") as caught:
        found.token()
    assert section.partition(":")[0] in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_credential_of_several_lines_asks_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2\nsecond-line")

    async def run() -> object:
        bearer = {"file": str(tmp_path / "secret")}
        settings = Alertmanager.model_validate({"url": "http://127.0.0.1:9", "bearer": bearer})
        client = AlertmanagerClient(settings)
        try:
            return await client.firing((), time.monotonic() + 5)
        finally:
            client.close()

    found = asyncio.run(run())
    assert isinstance(found, Missing)
    assert found.reason is Reason.FORBIDDEN
    assert "hunter2" not in found.detail


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_what_only_looks_like_json_is_none(text: str) -> None:
    with pytest.raises(NoAnswer, match="not JSON"):
        json_of(text.encode(), "application/json")
