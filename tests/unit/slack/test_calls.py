"""Connections to Slack: shared by all channels, with a turn for each call."""

import asyncio
import threading
import time
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from tailhound.errors import SettingsError
from tailhound.slack.behind import Behind
from tailhound.slack.calls import Calls, Lost, No, Said, client, fingerprint, outcome_of


def answered(web: WebClient) -> SlackResponse:
    return SlackResponse(
        client=web, http_verb="POST", api_url="", req_args={}, data={"ok": True}, headers={},
        status_code=200,
    )  # fmt: skip


class Slack:
    """Calls that end when the gate opens; how many go on at once at most."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.busy = self.most = 0
        self._lock = threading.Lock()

    def call(self, web: WebClient) -> SlackResponse:
        with self._lock:
            self.busy += 1
            self.most = max(self.most, self.busy)
        self.gate.wait(10)
        with self._lock:
            self.busy -= 1
        return answered(web)


def calls(at_once: int, timeout: float = 5.0) -> Calls:
    return Calls(WebClient("xoxb-1"), timeout_seconds=timeout, at_once=at_once)


async def going_on(slack: Slack, count: int) -> None:
    async with asyncio.timeout(5):
        while slack.busy < count:
            await asyncio.sleep(0.005)


def test_a_call_that_finds_no_connection_free_waits_its_turn() -> None:
    async def act() -> None:
        slack, made = Slack(), calls(2)
        asked = [asyncio.create_task(made.ask(slack.call)) for _ in range(7)]
        await going_on(slack, 2)
        slack.gate.set()
        outcomes = await asyncio.gather(*asked)
        assert all(isinstance(one, Said) for one in outcomes)
        assert slack.most == 2

    asyncio.run(act())


def test_a_turn_that_does_not_come_is_known_as_not_sent_and_costs_no_connection() -> None:
    async def act() -> None:
        slack, made = Slack(), calls(1, timeout=0.1)
        first = asyncio.create_task(made.ask(slack.call))
        await going_on(slack, 1)
        for _ in range(3):
            waited = await made.ask(slack.call)
            assert waited == Lost("all connections to Slack are in use", sent=False)
        slack.gate.set()
        assert isinstance(await first, Said)
        assert isinstance(await made.ask(slack.call), Said)

    asyncio.run(act())


def test_what_nobody_waits_for_leaves_half_of_the_connections_to_messages() -> None:
    async def act() -> None:
        slack, made = Slack(), calls(4)
        behind = [asyncio.create_task(made.ask(slack.call, behind=True)) for _ in range(8)]
        await going_on(slack, 2)
        before = asyncio.get_running_loop().time()
        assert isinstance(await made.ask(answered), Said)
        assert asyncio.get_running_loop().time() - before < 2
        assert slack.most == 2
        slack.gate.set()
        assert all(isinstance(one, Said) for one in await asyncio.gather(*behind))

    asyncio.run(act())


def test_a_call_that_is_given_up_gives_its_turn_back() -> None:
    async def act() -> None:
        slack, made = Slack(), calls(1)
        first = asyncio.create_task(made.ask(slack.call, behind=True))
        await going_on(slack, 1)
        waits = asyncio.create_task(made.ask(slack.call, behind=True))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.wait([waits])
        slack.gate.set()
        assert isinstance(await first, Said)
        assert isinstance(await made.ask(answered, behind=True), Said)

    asyncio.run(act())


def test_a_client_follows_its_token_and_keeps_the_last_where_none_can_be_read() -> None:
    lies = ["xoxb-1"]

    def read() -> str:
        if not lies:
            raise SettingsError("no such file")
        return lies[-1]

    web = client(read, "https://slack.invalid/api/", 5)
    assert web.token == "xoxb-1"
    lies.append("xoxb-2")
    assert web.token == "xoxb-2"
    lies.clear()
    assert web.token == "xoxb-2"


def test_that_a_token_cant_be_read_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def read() -> str:
        raise SettingsError("no such file")

    web = client(read, "https://slack.invalid/api/", 5)
    assert [web.token for _ in range(3)] == ["", "", ""]
    assert [record.message for record in caplog.records] == [
        "the token of Slack stays as it was: no such file"
    ]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("30", 30.0), ("0", 1.0), ("999999", 3600.0), ("9" * 400, 1.0), ("\xb2", 1.0), ("-5", 1.0),
     ("1e3", 1.0), ("", 1.0)],
)  # fmt: skip
def test_how_long_slack_wants_to_be_spared_is_read_from_a_plain_number_only(
    header: str, seconds: float
) -> None:
    def limited(web: WebClient) -> Any:
        answer: Any = SlackResponse(
            client=web, http_verb="POST", api_url="", req_args={}, data={"ok": False},
            headers={"Retry-After": header}, status_code=429,
        )  # fmt: skip
        return answer.validate()

    assert outcome_of(limited, WebClient("xoxb-1")) == No("ratelimited", seconds)


def test_a_fingerprint_tells_tokens_apart_and_holds_none_of_them() -> None:
    token = "xapp-1-A0123456789-secret"
    found = fingerprint(token)
    assert found == fingerprint(token)
    assert found != fingerprint(f"{token}x")
    assert not any(token[at : at + 4] in found for at in range(len(token) - 3))


def test_work_behind_waits_its_turn_and_no_more_threads_are_begun() -> None:
    gate, done = threading.Event(), []
    most: list[int] = []
    behind = Behind("test-behind", 2, waiting=5)

    def work(number: int) -> None:
        most.append(sum(t.name == "test-behind" for t in threading.enumerate()))
        gate.wait(5)
        done.append(number)

    begun = [behind.do(lambda n=number: work(n)) for number in range(9)]  # type: ignore[misc]
    assert begun == [True] * 7 + [False] * 2
    gate.set()
    until = time.monotonic() + 5
    while len(done) < 7 and time.monotonic() < until:
        time.sleep(0.005)
    assert sorted(done) == list(range(7))
    assert max(most) == 2


def test_work_that_fails_keeps_nothing_else_from_being_done() -> None:
    done = threading.Event()
    behind = Behind("test-behind", 1, waiting=1)
    gate = threading.Event()

    def fail() -> None:
        gate.wait(5)
        raise KeyError("a bug")

    assert behind.do(fail)
    assert behind.do(done.set)
    gate.set()
    assert done.wait(5)
