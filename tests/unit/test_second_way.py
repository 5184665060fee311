"""The second way out: one body for each outcome, to an address that may be hostile."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from tailhound.app.chat import Chat
from tailhound.app.doctor import doctor
from tailhound.app.second_way import SECOND_WAY, SecondWay
from tailhound.durable.asking import Place
from tailhound.errors import SettingsError
from tailhound.model import Incident, Missing, Reason
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tailhound.notifiers.webhook import WebhookNotifier
from tailhound.settings import Settings, load
from tailhound.transports.webhook import WebhookClient
from tests.samples.incidents import (
    COLLECTING,
    CONFIRMED,
    FAILED,
    FIRST,
    RESOLVED,
    UNKNOWN,
    UNREADABLE,
)
from tests.samples.story import NOW
from tests.unit.transports.servers import (
    Behaviour,
    Scripted,
    accepts_and_never_answers,
    black_hole,
    drips_a_byte_a_second,
    misbehaving,
    reply,
    says_100_continue_for_ever,
    scripted,
    sends_half_and_hangs_up,
    sends_headers_without_end,
    speaks_no_http,
)

PAGES = "https://tailhound.example/"


@dataclass
class Hook:
    """Somebody who takes bodies: `answers` are the next ones, then all is well."""

    answers: list[tuple[int, float] | Missing] = field(default_factory=list)
    bodies: list[Mapping[str, Any]] = field(default_factory=list)

    async def post(self, body: bytes) -> tuple[int, float] | Missing:
        self.bodies.append(json.loads(body))
        return self.answers.pop(0) if self.answers else (200, 0.0)


def deliver(hook: Hook, incident: Incident, **more: Any) -> Posted | Later | Refusal:
    given = {"id": 1, "incident": incident, "place": "-", **more}
    return asyncio.run(WebhookNotifier(hook.post, public_url=PAGES).deliver(Delivery(**given)))


def test_a_verdict_is_one_body_with_what_a_pager_needs() -> None:
    hook = Hook()
    posted = deliver(hook, CONFIRMED, instead_of=("C0ALERTS",))
    assert isinstance(posted, Posted)
    (body,) = hook.bodies
    assert body == {
        "version": 1,
        "id": f"8R5W-{posted.seen}",
        "incident": "8R5W",
        "episode": 1,
        "state": "diagnosed",
        "outcome": "cause found",
        "where": CONFIRMED.subject.where,
        "alert": CONFIRMED.name,
        "severity": CONFIRMED.severity,
        "since": "2026-11-30T03:00:00Z",
        "resolved_at": None,
        "unheard_since": None,
        "title": body["title"],
        "cause": "cpu-throttling",
        "confidence": "high",
        "text": body["text"],
        "page": "https://tailhound.example/incidents/8R5W",
        "instead_of": ["C0ALERTS"],
    }
    assert "CPU limit" in body["title"]
    assert body["text"].startswith("8R5W  cause found")


@pytest.mark.parametrize("name", ["<!channel> a", "@everyone a", "<http://evil.example|a>"])
def test_the_text_mentions_nobody_and_links_nothing(name: str) -> None:
    hook = Hook()
    alerts = tuple(replace(one, name=name) for one in UNKNOWN.alerts)
    deliver(hook, replace(UNKNOWN, alerts=alerts))
    (body,) = hook.bodies
    assert body["alert"] == name
    assert "a" in body["text"]
    assert not any(mark in body["text"] for mark in ("<", ">", "@", "://"))


def test_what_was_lost_is_posted_again_though_its_mark_is_the_same() -> None:
    hook = Hook()
    first = deliver(hook, CONFIRMED)
    assert isinstance(first, Posted)
    deliver(hook, CONFIRMED, message="8R5W", seen=first.seen)
    assert len(hook.bodies) == 1
    deliver(hook, CONFIRMED, message="8R5W", seen=first.seen, unsure=True)
    assert [body["id"] for body in hook.bodies] == [f"8R5W-{first.seen}"] * 2


def test_what_another_replica_has_taken_over_is_not_posted() -> None:
    hook = Hook()
    later = deliver(hook, CONFIRMED, holds=lambda: False)
    assert isinstance(later, Later)
    assert hook.bodies == []


@pytest.mark.parametrize("incident", [FIRST, COLLECTING], ids=["first", "collecting"])
def test_what_is_no_outcome_yet_is_not_posted(incident: Incident) -> None:
    hook = Hook()
    assert deliver(hook, incident) == Posted("-", "", "", called=False)
    assert deliver(hook, incident, message="8R5W", seen="x") == Posted(
        "-", "8R5W", "x", called=False
    )
    assert hook.bodies == []


@pytest.mark.parametrize("incident", [FAILED, RESOLVED, UNKNOWN, UNREADABLE], ids=str)
def test_every_kind_of_end_is_an_outcome(incident: Incident) -> None:
    hook = Hook()
    assert isinstance(deliver(hook, incident), Posted)
    assert hook.bodies[0]["outcome"]


def test_what_nobody_heard_of_closes_no_page() -> None:
    hook = Hook()
    deliver(hook, RESOLVED)
    deliver(hook, replace(RESOLVED, unheard=True))
    over, unheard = hook.bodies
    assert (over["state"], over["outcome"], over["unheard_since"]) == ("resolved", "resolved", None)
    assert (unheard["state"], unheard["outcome"]) == ("unheard", "not heard of")
    assert unheard["resolved_at"] is None
    assert unheard["unheard_since"] == over["resolved_at"] is not None
    assert "resolved" not in unheard["text"]


def test_the_same_outcome_is_posted_once_and_another_one_again() -> None:
    hook = Hook()
    first = deliver(hook, CONFIRMED)
    assert isinstance(first, Posted)
    newer = replace(CONFIRMED, revision=99, repeats=7)
    again = deliver(hook, newer, message=first.message, seen=first.seen, instead_of=("C1",))
    assert again == replace(first, called=False)
    over = deliver(hook, RESOLVED, message=first.message, seen=first.seen)
    assert isinstance(over, Posted)
    assert len(hook.bodies) == 2
    back = deliver(hook, replace(CONFIRMED, episode=2), message="8R5W", seen=over.seen)
    assert isinstance(back, Posted)
    assert len({body["id"] for body in hook.bodies}) == 3


def test_a_body_without_an_answer_is_posted_again_under_the_same_id() -> None:
    hook = Hook([Missing(Reason.TIMEOUT, "no answer")])
    lost = deliver(hook, CONFIRMED)
    assert isinstance(lost, Later)
    assert lost.unsure
    assert isinstance(deliver(hook, CONFIRMED, unsure=True, attempt=2), Posted)
    assert hook.bodies[0]["id"] == hook.bodies[1]["id"]


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ((204, 0.0), Posted),
        ((503, 0.0), Later),
        ((429, 40.0), Later),
        ((302, 0.0), Refusal),
        ((401, 0.0), Refusal),
        ((404, 0.0), Refusal),
        ((413, 0.0), Refusal),
        (Missing(Reason.UNREACHABLE, "refused the connection"), Later),
        (Missing(Reason.FORBIDDEN, "not sent: no such file"), Refusal),
    ],
)
def test_each_answer_has_its_meaning(
    answer: tuple[int, float] | Missing, result: type[object]
) -> None:
    found = deliver(Hook([answer]), CONFIRMED, attempt=3)
    assert isinstance(found, result)
    if isinstance(found, Later):
        assert found.seconds == (40.0 if answer == (429, 40.0) else 4.0)
        assert found.why
    if isinstance(found, Refusal):
        assert found.only_this == (answer == (413, 0.0))


def test_what_came_from_outside_is_short_and_holds_no_secret() -> None:
    secret = "xoxb-123456789012-123456789012-abcdefABCDEF"
    alert = replace(CONFIRMED.alerts[0], name=f"Alert\n\x1b[31m token={secret} {'x' * 5000}")
    hook = Hook()
    deliver(hook, replace(CONFIRMED, alerts=(alert,)))
    (body,) = hook.bodies
    assert secret not in json.dumps(body)
    assert len(body["alert"]) <= 300
    assert body["alert"].isprintable()


# over a real connection


def settings(**webhook: Any) -> Settings:
    return Settings.model_validate({"fallback": {"webhook": webhook}})


@contextmanager
def second_way(**webhook: Any) -> Iterator[SecondWay]:
    made = SecondWay(settings(timeout_seconds=0.5, **webhook))
    try:
        yield made
    finally:
        made.close()


def posted(way: SecondWay) -> Posted | Later | Refusal:
    notifier = way.notifier()
    assert notifier is not None
    return asyncio.run(notifier.deliver(Delivery(id=1, incident=CONFIRMED, place="-")))


def ok(_script: Scripted, handler: BaseHTTPRequestHandler, _body: bytes) -> None:
    reply(handler, 200, "taken")


def test_a_body_arrives_with_its_credentials_and_is_counted(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("http://127.0.0.1:1/\n")
    (tmp_path / "token").write_text("s3cret\n")
    with scripted(ok) as hook:
        address = f"http://127.0.0.1:{hook.port}/hook/T1?key=abc"
        (tmp_path / "url").write_text(f"{address}\n")
        given: dict[str, Any] = {
            "url_from": {"file": str(tmp_path / "url")},
            "bearer": {"file": str(tmp_path / "token")},
        }
        with second_way(**given) as way:
            assert isinstance(posted(way), Posted)
            registry = CollectorRegistry()
            registry.register(way)
            text = generate_latest(registry).decode()
        assert hook.headers[0]["authorization"] == "Bearer s3cret"
        assert hook.headers[0]["content-type"] == "application/json"
        assert json.loads(hook.bodies[0])["incident"] == "8R5W"
        assert hook.asked == ["POST /hook/T1?key=abc"]
        assert 'tailhound_second_way_out_bodies_total{result="taken"} 1.0' in text
        assert "tailhound_second_way_out_in_use 0.0" in text


def test_a_redirect_is_not_followed() -> None:
    def elsewhere(script: Scripted, handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        reply(handler, 307, "", Location=f"http://127.0.0.1:{inside.port}/secrets")

    with (
        scripted(ok) as inside,
        scripted(elsewhere) as outside,
        second_way(url=f"http://127.0.0.1:{outside.port}/x") as way,
    ):
        refused = posted(way)
        assert isinstance(refused, Refusal)
        assert "307" in refused.why
        assert inside.asked == []


@pytest.mark.parametrize(
    "behaviour",
    [
        accepts_and_never_answers,
        drips_a_byte_a_second,
        says_100_continue_for_ever,
        sends_half_and_hangs_up,
        sends_headers_without_end,
        speaks_no_http,
    ],
)
def test_whatever_answers_costs_its_seconds_at_most(behaviour: Behaviour) -> None:
    with (
        misbehaving(behaviour) as port,
        second_way(url=f"http://127.0.0.1:{port}/secret-path") as w,
    ):
        found = posted(w)
    assert isinstance(found, Later)
    assert found.why
    assert "secret-path" not in found.why


def test_a_large_answer_is_taken_by_its_status() -> None:
    def much(_script: Scripted, handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        reply(handler, 200, "x" * 500_000)

    with scripted(much) as hook, second_way(url=f"http://127.0.0.1:{hook.port}/") as way:
        assert isinstance(posted(way), Posted)


NO_ADDRESSES = (
    "",
    "ftp://x/",
    "http://",
    "http://a b/",
    "http://u:p@host/",
    "https://h.example:99999/s3cret",
    "https://h.example:0/s3cret",
    "https://h.example:port/s3cret",
    "http://[::1/s3cret",
    "http://[::zz]/s3cret",
    "https://a..example/s3cret",
    f"https://{'a' * 70}.example/s3cret",
)


@pytest.mark.parametrize("text", NO_ADDRESSES)
def test_a_secret_that_is_no_address_is_refused_and_not_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "url").write_text(text)
    given = {"url_from": {"file": str(tmp_path / "url")}}
    with second_way(**given) as way:
        refused = posted(way)
    assert isinstance(refused, Refusal)
    asked = WebhookClient(
        Settings.model_validate({"fallback": {"webhook": given}}).fallback.webhook
    )
    try:
        reached = asyncio.run(asked.reach())
    finally:
        asked.close()
    assert reached is not None
    assert reached.reason is Reason.FORBIDDEN
    for told in (refused.why, reached.detail):
        assert "fallback.webhook.url_from" in told
        assert not any(part in told for part in ("u:p", "a b", "s3cret", "example"))


def test_health_says_whether_it_is_in_use() -> None:
    with second_way(url="http://hooks.example/secret") as way:
        (line,) = way.lines()
        assert (line.state, line.works, line.detail) == ("not in use", True, "hooks.example")
        way.watch(lambda: {Place("slack", "C1"): SECOND_WAY, Place("slack", "C2"): Place("s", "x")})
        (line,) = way.lines()
        assert (line.state, line.works) == ("in use", None)
        assert line.detail == "hooks.example, for C1"
        assert "secret" not in str(line)


def test_without_an_address_there_is_none_of_it() -> None:
    with second_way() as way:
        assert (way.places(), way.notifier(), way.lines()) == ((), None, ())
        registry = CollectorRegistry()
        registry.register(way)
        assert generate_latest(registry) == b""


def test_a_channel_hands_on_to_the_fallback_channel_and_that_one_to_the_webhook(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BOT", "xoxb-1")
    slack = {"bot_token": {"env": "BOT"}, "channel": "C1", "fallback_channel": "C9"}
    made = Settings.model_validate(
        {
            "slack": slack,
            "fallback": {"webhook": {"url": "http://hooks.example/", "after_seconds": 7}},
        }
    )
    detours = Chat(made).manners().detours
    own, ops = Place("slack", "C1"), Place("slack", "C9")
    assert detours.fallbacks == {own: ops, ops: SECOND_WAY}
    assert detours.late == {own: (SECOND_WAY, 7.0), ops: (SECOND_WAY, 7.0)}
    alone = Chat(Settings.model_validate({"slack": slack})).manners().detours
    assert (alone.fallbacks, alone.late) == ({own: ops}, {})


def test_two_addresses_are_one_too_many(tmp_path: Path) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text("fallback: {webhook: {url: 'http://x/', url_from: {env: HOOK}}}\n")
    with pytest.raises(SettingsError, match="url or url_from"):
        load(path, {})


def test_the_doctor_connects_and_posts_nothing(tmp_path: Path) -> None:
    def told(url: str) -> tuple[str, str]:
        made = Settings.model_validate(
            {
                "store": {"url": f"sqlite:///{tmp_path}/bot.db"},
                "fallback": {"webhook": {"url": url, "timeout_seconds": 0.5}},
            }
        )
        lines = asyncio.run(doctor(made, lambda: NOW))
        (line,) = (one for one in lines if one.name == "fallback.webhook")
        return line.mood.value, line.told

    with scripted(ok) as hook:
        assert told(f"http://127.0.0.1:{hook.port}/") == (
            "ok",
            "can be reached; nothing was posted",
        )
        assert hook.asked == []
    with black_hole() as port:
        mood, said = told(f"http://127.0.0.1:{port}/")
        assert mood == "FAIL"
        assert "did not accept a connection" in said
