"""Whatever arrives: a clear answer, a visible outcome, and nothing run, pinged or given away."""

import json
import re
import socket
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.faults.server import (
    CHANNEL,
    HOOK_TOKEN,
    WITH_HISTORY,
    Bot,
    alert,
    body,
    until,
    with_slack,
)
from tests.lab.bot import merged
from tests.lab.history import Sampled
from tests.lab.prometheus import Prometheus
from tests.standins.slack import SlackStandin

pytestmark = [
    pytest.mark.xdist_group("faults-hostile"),
    pytest.mark.timeout(180),  # each start of the server takes seconds on a busy machine
]

MEBIBYTE = 1024 * 1024
PINGS = re.compile(r"<(?!!date\^\d)[!@#]")
PUBLIC = "https://tailhound.example"

TEXTS = {
    "quotes": "a\"b'c`d\\e",
    "lines": "one\ntwo\r\n*three*\t_four_ ~five~ > six",
    "pings": "<!channel> <@U123> <!subteam^S1> <#C1> @here &lt;!channel&gt;",
    "links": "<https://evil.example|click> https://evil.example javascript:alert(1)",
    "shell": "$(touch {marker}) `touch {marker}`; touch {marker} | touch {marker}",
    "template": "{{ 7*7 }} {% for x in (1).__class__ %} ${7*7} #{7*7} %s {0.__class__}",
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>]]>--><!--",
    "promql": '"} or vector(1) or up{a="',
    "selector": "a=b,c!=d/../../secrets?watch=true&x=#",
    "invisible": "a\x00b\u202egnp.exe\u200b\ufeff\x1b[31m\x07\ud800",
    "long": "x" * MEBIBYTE,
    "wide": "\U0001f4a5" * 50_000,
}


class Place:
    """A bot, without backends unless `more` names one, and its channel."""

    def __init__(
        self, folder: Path, slack: SlackStandin, more: Mapping[str, Any] | None = None
    ) -> None:
        self.folder, self.slack = folder, slack
        slack.add_channel(CHANNEL)
        own = {"listen": {"public_url": PUBLIC}, "slack": ALL_SHOWN}
        values = merged(with_slack(folder, slack), own)
        self.bot = Bot(folder / "bot", merged(values, more or {}))

    def send(self, content: bytes) -> str:
        """Post a body that must be taken; its incident."""
        answer = self.bot.post(content)
        assert answer.status == 200, answer
        (id,) = answer.json["incidents"]
        return str(id)

    def shown(self, id: str) -> dict[str, Any]:
        """The message of an incident, once its outcome is in it."""
        until(lambda: self._shows(id), f"the outcome of {id} in the channel", 60, self.bot.said)
        (message,) = self._messages(id)
        return message

    def _shows(self, id: str) -> bool:
        found = self._messages(id)
        return bool(found) and not str(found[0]["text"]).startswith("Investigating")

    def _messages(self, id: str) -> list[dict[str, Any]]:
        return [
            message
            for message in self.slack.messages(CHANNEL)
            if message["metadata"]["event_payload"]["incident"] == id
        ]

    def seen(self, id: str) -> str:
        """Everything that people and machines can see of an incident, but its stored body."""
        pages = [f"/incidents/{id}", f"/api/incidents/{id}", "/incidents", "/api/incidents"]
        answers = [self.bot.get(page) for page in pages]
        assert [answer.status for answer in answers] == [200] * len(pages)
        texts = [answer.body.decode() for answer in answers]
        messages = [json.dumps(message, ensure_ascii=False) for message in self._messages(id)]
        return "\n".join([*texts, *messages, self.bot.log()])


ALL_SHOWN = {"messages_at_most": 1000, "threads": False}
"""Each incident has its message at once, though Slack takes one post a second."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        place = Place(tmp_path_factory.mktemp("hostile"), slack)
        with place.bot:
            place.bot.start()
            yield place


def rendered(value: Any) -> list[str]:
    """The texts of a message in which Slack looks for mentions and links."""
    if isinstance(value, list):
        return [text for item in value for text in rendered(item)]
    if not isinstance(value, dict):
        return []
    found = [value["text"]] if value.get("type") == "mrkdwn" else []
    return found + [text for item in value.values() for text in rendered(item)]


def is_harmless(message: dict[str, Any]) -> None:
    """Nobody is pinged and nothing links away."""
    texts = [str(message["text"]), *rendered(message["blocks"])]
    for text in texts:
        assert not PINGS.search(text), text
        links = re.findall(r"<([^>|]*)", text)
        assert all(link.startswith((PUBLIC, "!date^")) for link in links), text


@pytest.mark.parametrize("kind", TEXTS)
def test_a_hostile_text_in_any_label_or_annotation_is_only_a_text(place: Place, kind: str) -> None:
    marker = place.folder / "touched"
    text = TEXTS[kind].replace("{marker}", str(marker))
    labels = dict.fromkeys(("alertname", "severity", "service", "container", "extra"), text)
    hostile = alert() | {
        "labels": {"namespace": text, "deployment": f"w-{kind}", **labels},
        "annotations": dict.fromkeys(("summary", "description", "runbook_url", text[:50]), text),
        "generatorURL": text,
    }
    whole = json.loads(body(hostile))
    whole["groupKey"] = text
    id = place.send(json.dumps(whole).encode())
    message = place.shown(id)
    is_harmless(message)
    assert place.slack.core.invalid == []
    assert "49" not in str(message["text"])
    everything = place.seen(id)
    for page in (f"/incidents/{id}", "/incidents"):
        shown = place.bot.get(page).body.decode()
        assert "<script>alert" not in shown
        assert "<img" not in shown
    assert not re.search("[\u202e\u200b\x1b\x07\x00]", everything)
    assert len(place.bot.get(f"/incidents/{id}").body) < MEBIBYTE
    assert not marker.exists()
    assert place.bot.incident(id)["state"] == "diagnosed"


def v4(**changes: Any) -> bytes:
    """A notification with other top-level values."""
    return json.dumps(json.loads(body(alert(deployment="v4"))) | changes).encode()


BODIES = {
    "empty": b"",
    "no JSON": b"hello <!channel> $(reboot)",
    "truncated": body(alert())[:150],
    "zeros": b"\0" * 1000,
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    "another version": v4(version="3"),
    "a list": b"[1, 2, 3]",
    "no alerts": v4(alerts=[]),
    "alerts of nothing": v4(alerts=[None, 1, "x"]),
    "labels that are lists": v4(alerts=[{"status": "firing", "labels": [["a", "b"]]}]),
    "deep lists": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000,
    "a long number": b'{"version": "4", "x": ' + b"9" * 100_000 + b"}",
    "not a number": b'{"version": "4", "x": NaN}',
    "twice the same key": v4()[:-1] + b', "alerts": [], "version": "5"}',
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_body_that_is_no_notification_is_kept_and_shown(place: Place, kind: str) -> None:
    id = place.send(BODIES[kind])
    message = place.shown(id)
    assert message["text"].startswith("Unreadable alert")
    is_harmless(message)
    found = place.bot.incident(id)
    assert (found["state"], found["causes"]) == ("failed", [])
    assert "Nothing was checked" in place.bot.get(f"/incidents/{id}").body.decode()
    assert place.send(BODIES[kind]) == id


def test_a_key_that_stands_twice_counts_as_the_last_one(place: Place) -> None:
    twice = body(alert(deployment="first")).replace(
        b'"deployment": "first"', b'"deployment": "first", "deployment": "second"', 1
    )
    id = place.send(twice)
    place.shown(id)
    assert place.bot.incident(id)["alerts"][0]["labels"]["deployment"] == "second"


def test_a_huge_body_is_refused_and_told_of_once(place: Place) -> None:
    before = len(place.slack.messages(CHANNEL))
    huge = b'{"version": "4", "x": "' + b"a" * (33 * MEBIBYTE) + b'"}'
    for _ in range(2):
        answer = place.bot.post(huge)
        assert answer.status == 413
        assert "max_alerts" in answer.json["error"]
    until(lambda: len(place.slack.messages(CHANNEL)) > before, "a message about it", 20)
    assert place.bot.metric("tailhound_bodies_refused_total", reason="oversized") == 2
    until(lambda: place.bot.metric("tailhound_outbox_waiting") == 0, "an empty outbox")
    (told,) = place.slack.messages(CHANNEL)[before:]
    assert "was refused" in told["text"]
    assert "32 MiB" in told["text"]
    assert "not kept" in told["text"]


def test_a_body_of_very_many_values_is_kept_and_costs_bounded_memory(place: Place) -> None:
    before = place.bot.peak_mebibytes()
    id = place.send(b"[" + b"[]," * (10 * MEBIBYTE) + b"[]]")
    assert "JSON values" in place.shown(id)["text"]
    assert place.bot.peak_mebibytes() - before < 150


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {HOOK_TOKEN}x"},
        {"Authorization": "Bearer "},
        {"Authorization": HOOK_TOKEN},
        {"Authorization": "Basic OmhvaG8="},
        {"Authorization": "Basic !!!"},
    ],
    ids=str,
)
def test_without_the_credential_nothing_is_taken(place: Place, headers: dict[str, str]) -> None:
    before = place.bot.incidents()
    content = body(alert(deployment="never"))
    answer = place.bot.ask("POST", "/webhook/alertmanager", content, headers)
    assert answer.status == 401
    assert HOOK_TOKEN.encode() not in answer.body
    assert place.bot.incidents() == before


def drip(bot: Bot, first: bytes) -> socket.socket:
    """A connection that has sent the beginning of something."""
    connection = socket.create_connection(bot.where, timeout=20)
    connection.sendall(first)
    return connection


def test_slow_senders_keep_nobody_waiting_and_are_cut_off(place: Place) -> None:
    head = (
        b"POST /webhook/alertmanager HTTP/1.1\r\nHost: x\r\n"
        b"Authorization: Bearer " + HOOK_TOKEN.encode() + b"\r\n"
    )
    slow = [drip(place.bot, head) for _ in range(100)]
    slow += [drip(place.bot, head + b"Content-Length: 1000\r\n\r\n{") for _ in range(100)]
    try:
        began = time.monotonic()
        place.send(body(alert(deployment="in-between")))
        assert time.monotonic() - began < 3.0
        assert place.bot.get("/incidents").status == 200
        assert slow[0].recv(100) == b""
        assert time.monotonic() - began < 15.0
    finally:
        for connection in slow:
            connection.close()


TOKENS = {
    "slack": "xoxb-" + "123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx",
    "github": "ghp_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789",
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "password": "hunter2-is-secret",
    "url": "s3cr3t-in-url",
}


def test_a_credential_in_an_alert_is_shown_nowhere(place: Place) -> None:
    tokens = TOKENS
    hostile = alert(deployment="leaky") | {
        "annotations": {
            "summary": f"login with {tokens['slack']} and {tokens['github']}",
            "description": f"Authorization: Bearer {tokens['jwt']} password={tokens['password']}",
            "runbook_url": f"https://bob:{tokens['url']}@wiki.example/",
        }
    }
    hostile["labels"]["key"] = tokens["aws"]
    hostile["labels"]["service"] = f"svc-{tokens['github']}"
    hostile["labels"]["alertname"] = f"Leak {tokens['slack']}"
    id = place.send(body(hostile))
    place.shown(id)
    everything = place.seen(id)
    assert "[redacted]" in everything
    assert [name for name, token in tokens.items() if token in everything] == []


@pytest.mark.lab
def test_a_credential_in_a_label_of_prometheus_is_shown_and_kept_nowhere(
    needs: Callable[..., None], tmp_path: Path
) -> None:
    needs("prometheus")
    pod = {"namespace": "leak", "pod": "w-6d9f7c5b8-4kq9z", "uid": TOKENS["aws"]}
    series = [
        pod | {"__name__": "kube_pod_info", "node": TOKENS["github"], "host_ip": TOKENS["slack"]},
        pod | {"__name__": "kube_pod_container_info", "container": "vllm", "image": TOKENS["jwt"]},
        pod
        | {"__name__": "container_cpu_usage_seconds_total", "container": "vllm"}
        | {"id": f"/password={TOKENS['password']}", "image": TOKENS["jwt"]},
    ]
    source = Prometheus(tmp_path / "prometheus").start()
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack, ExitStack() as stack:
        stack.callback(source.stop)
        now = float(int(time.time()))
        source.write([Sampled(labels, [1.0, 1.0]) for labels in series], [now - 15, now])
        place = Place(tmp_path, slack, {"prometheus": {"url": source.url}})
        with place.bot:
            place.bot.start()
            id = place.send(body(alert(namespace="leak", deployment="w")))
            place.shown(id)
            found = place.bot.incident(id)
            assert any("w-6d9f7c5b8-4kq9z" in str(item["questions"]) for item in found["evidence"])
            answers = [place.bot.get(f"/incidents/{id}/raw/{n}") for n in range(1, 400)]
            raw = [answer.body.decode() for answer in answers if answer.status == 200]
            everything = "\n".join([place.seen(id), *raw, *_kept(place.bot.database)])
    assert "w-6d9f7c5b8-4kq9z" in "".join(raw)
    assert [name for name, token in TOKENS.items() if token in everything] == []


def _kept(database: Path) -> list[str]:
    """Every text that the database holds, the stored answers among them."""
    texts: list[str] = []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 (its own names)
                for value in row:
                    texts.append(_text(value))
    return texts


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        with suppress(zlib.error):
            value = zlib.decompress(value)
        return bytes(value).decode("utf-8", "replace")
    return f"{value}"
