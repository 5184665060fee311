"""slack-bolt as it comes, against the stand-in: sockets, modals, commands, the home tab."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tailhound.slack.local import NotFilled, Refused
from tests.standins.slack import SlackStandin
from tests.unit.slack.local_world import PNG, button, field, home, modal, note, radio, row, section

CHANNEL, ANA = "C0ALERTS", "U0ANA"
FORM = modal(
    field(radio("group", "workload"), "what", dispatch_action=True),
    field(note(), "note", optional=True),
    callback_id="silence",
    notify_on_close=True,
)


@pytest.fixture
def slack() -> Iterator[SlackStandin]:
    with SlackStandin() as made:
        made.add_channel(CHANNEL)
        yield made


def client_of(slack: SlackStandin) -> WebClient:
    return WebClient("xoxb-local", base_url=slack.api_url, timeout=5, retry_handlers=[])


class Phone:
    """One bare socket: what came over it. `answers` says whether it acknowledges envelopes."""

    def __init__(self, slack: SlackStandin, *, answers: bool = True) -> None:
        self._slack, self._answers = slack, answers
        self.got: list[Mapping[str, Any]] = []
        self._ended = asyncio.Event()

    async def __aenter__(self) -> "Phone":
        web = client_of(self._slack)
        web.token = "xapp-local"
        asked = await asyncio.to_thread(web.apps_connections_open, app_token="xapp-local")
        self._session = ClientSession()
        self._socket = await self._session.ws_connect(str(asked["url"]))
        await self._take()
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *error: object) -> None:
        self._listening.cancel()
        await asyncio.wait([self._listening])
        await self._socket.close()
        await self._session.close()

    async def ended(self) -> None:
        """Until the socket is closed by the other side."""
        await asyncio.wait_for(self._ended.wait(), 5)

    async def _take(self) -> bool:
        message = await self._socket.receive()
        if message.type is not WSMsgType.TEXT:
            return False
        self.got.append(json.loads(message.data))
        envelope = self.got[-1].get("envelope_id")
        if envelope and self._answers:
            await self._socket.send_json({"envelope_id": envelope})
        return True

    async def _listen(self) -> None:
        while await self._take():
            pass
        self._ended.set()

    @property
    def envelopes(self) -> list[str]:
        """The ids of what it was sent."""
        return [str(m["envelope_id"]) for m in self.got if "envelope_id" in m]


async def send(slack: SlackStandin, *envelopes: str) -> None:
    for envelope in envelopes:
        await asyncio.to_thread(slack.envelope, "interactive", {"type": "block_actions"}, envelope)


class Bot:
    """A bolt app with a button, a form, a command and a home tab."""

    def __init__(self, slack: SlackStandin) -> None:
        self.slack = slack
        self.web = client_of(slack)
        self.answer: dict[str, Any] = {}
        self.heard: list[dict[str, Any]] = []
        self.app = App(
            client=self.web,
            authorize=lambda: AuthorizeResult(
                enterprise_id=None, team_id=None, bot_token="xoxb-local"
            ),
            request_verification_enabled=False,
        )
        self.app.action("go")(self._open)
        self.app.action("which")(self._note)
        self.app.view("silence")(self._submitted)
        self.app.view_closed("silence")(self._note)
        self.app.command("/tailhound")(self._command)
        self.app.event("app_home_opened")(self._home)
        self.home_shown = threading.Event()

    def _open(self, ack: Any, body: Any) -> None:
        ack()
        with contextlib.suppress(SlackApiError):
            self.web.views_open(trigger_id=body["trigger_id"], view=FORM)

    def _note(self, ack: Any, body: Any) -> None:
        ack()
        self.heard.append(body)

    def _submitted(self, ack: Any, body: Any) -> None:
        self.heard.append(body)
        ack(**self.answer)

    def _command(self, ack: Any, command: Any) -> None:
        ack(text=f"You said {command['text']}", response_type="in_channel")

    def _home(self, event: Any) -> None:
        self.web.views_publish(user_id=event["user"], view=home(section("Nothing is open.")))
        self.home_shown.set()


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[SlackStandin, Bot]]:
    with SlackStandin() as slack:
        slack.add_channel(CHANNEL)
        bot = Bot(slack)
        handler = SocketModeHandler(bot.app, app_token="xapp-local")
        handler.connect()  # type: ignore[no-untyped-call]
        slack.wait_connected()
        yield slack, bot
        handler.client.auto_reconnect_enabled = False
        handler.close()  # type: ignore[no-untyped-call]


@pytest.fixture
def bot(running: tuple[SlackStandin, Bot]) -> Bot:
    """The one bot, which has heard nothing and shows nothing."""
    slack, bot = running
    bot.heard.clear()
    bot.answer = {}
    slack.core.world.stacks.clear()
    slack.core.channels[CHANNEL].messages.clear()
    bot.slack = slack
    return bot


@pytest.fixture
def opened(bot: Bot) -> Bot:
    """The bot, when Ana has pressed its button and sees its form."""
    bot.web.chat_postMessage(channel=CHANNEL, text="x", blocks=[row(button())])
    bot.slack.click("go", channel=CHANNEL)
    bot.slack.wait_for(lambda: bot.slack.modal() is not None)
    return bot


def test_a_form_is_opened_filled_in_and_sent(opened: Bot) -> None:
    slack = opened.slack
    acked = slack.submit({"which": "workload", "note": "planned work"})
    assert acked.errors == {}
    assert slack.modal() is None
    chosen, sent = opened.heard
    assert chosen["actions"][0]["selected_option"]["value"] == "workload"
    values = sent["view"]["state"]["values"]
    assert values["what"]["which"]["selected_option"]["value"] == "workload"
    assert values["note"]["note"]["value"] == "planned work"


def test_errors_of_the_app_are_shown_in_the_form(opened: Bot) -> None:
    slack = opened.slack
    opened.answer = {"response_action": "errors", "errors": {"note": "no secrets, please"}}
    assert slack.submit({"which": "group"}).errors == {"note": "no secrets, please"}
    assert slack.modal() is not None


def test_a_form_that_is_not_complete_is_held_back(opened: Bot) -> None:
    slack = opened.slack
    with pytest.raises(NotFilled):
        slack.submit({"note": "x"})
    assert opened.heard == []
    with pytest.raises(LookupError, match="action id 'what'"):
        slack.submit({"what": "group"})


def test_an_answer_that_makes_no_sense_is_trouble(opened: Bot) -> None:
    slack = opened.slack
    opened.answer = {"response_action": "update", "view": {"type": "modal", "blocks": []}}
    with pytest.raises(Refused, match="invalid_arguments"):
        slack.submit({"which": "group"})


def test_a_form_may_be_closed(opened: Bot) -> None:
    slack = opened.slack
    assert slack.close() is not None
    assert [body["type"] for body in opened.heard] == ["view_closed"]
    assert slack.modal() is None


def test_a_late_click_opens_nothing(bot: Bot) -> None:
    slack = bot.slack
    bot.web.chat_postMessage(channel=CHANNEL, text="x", blocks=[row(button())])
    payload = slack.core.press(CHANNEL, slack.messages(CHANNEL)[0]["ts"], "go", ANA)
    slack.core.expire_triggers()
    slack.envelope("interactive", payload)
    slack.wait_for(lambda: "expired_trigger_id" in slack.refused)
    assert slack.modal() is None


def test_a_command_is_answered_to_everybody(bot: Bot) -> None:
    slack = bot.slack
    acked = slack.command("stop game day", channel=CHANNEL)
    assert acked.payload["text"] == "You said stop game day"
    assert [m["text"] for m in slack.messages(CHANNEL)] == ["You said stop game day"]


def test_the_home_tab_is_drawn_when_somebody_looks(bot: Bot) -> None:
    slack = bot.slack
    slack.open_home()
    assert bot.home_shown.wait(5)
    view = slack.core.home(ANA)
    assert view is not None
    assert view.body["blocks"][0]["text"]["text"] == "Nothing is open."


def test_each_envelope_goes_over_one_of_the_sockets_in_turn(slack: SlackStandin) -> None:
    async def body() -> None:
        async with Phone(slack) as first, Phone(slack) as second, Phone(slack) as third:
            await send(slack, *"abcdef")
            phones = (first, second, third)
            assert [phone.envelopes for phone in phones] == [["a", "d"], ["b", "e"], ["c", "f"]]
            assert [phone.got[0]["num_connections"] for phone in phones] == [1, 2, 3]

    asyncio.run(body())
    assert slack.turns == [0, 1, 2, 0, 1, 2]


def test_an_eleventh_socket_is_one_too_many(slack: SlackStandin) -> None:
    async def body() -> None:
        async with AsyncExitStack() as stack:
            for _ in range(10):
                await stack.enter_async_context(Phone(slack))
            extra = await stack.enter_async_context(Phone(slack))
            assert extra.got == [{"type": "disconnect", "reason": "too_many_websockets"}]
            await extra.ended()

    asyncio.run(body())
    assert slack.opened == 10


def test_a_socket_that_breaks_in_mid_click_loses_the_click(slack: SlackStandin) -> None:
    async def body() -> None:
        async with Phone(slack, answers=False) as broken, Phone(slack) as whole:
            slack.faults.cut_clicks = 1
            with pytest.raises(TimeoutError):
                await send(slack, "lost")
            await broken.ended()
            await send(slack, "again")
            assert whole.envelopes == ["again"]

    asyncio.run(body())
    assert slack.late_acks == ["lost"]


def test_a_warned_socket_still_works_and_one_to_be_refreshed_does_not(slack: SlackStandin) -> None:
    async def body() -> None:
        async with Phone(slack) as old:
            slack.drop_sockets(reason="warning")
            await send(slack, "a")
            slack.drop_sockets(politely=True)
            with pytest.raises(ConnectionError):
                await send(slack, "lost")
            async with Phone(slack) as new:
                await send(slack, "b", "c")
                assert (old.envelopes, new.envelopes) == (["a"], ["b", "c"])
            reasons = [m["reason"] for m in old.got if m["type"] == "disconnect"]
            assert reasons == ["warning", "refresh_requested"]

    asyncio.run(body())


def test_a_socket_without_a_ticket_of_its_own_is_refused(slack: SlackStandin) -> None:
    async def body() -> None:
        async with ClientSession() as session:
            with pytest.raises(WSServerHandshakeError) as refused:
                await session.ws_connect(f"{slack.url}/link?ticket=guessed")
            assert refused.value.status == 401

    asyncio.run(body())


def test_a_file_is_uploaded_by_slacks_own_client(slack: SlackStandin) -> None:
    web = client_of(slack)
    root = str(web.chat_postMessage(channel=CHANNEL, text="x")["ts"])
    done = web.files_upload_v2(
        filename="chart.png", content=PNG, title="CPU", channel=CHANNEL, thread_ts=root
    )
    file = str(done["file"]["id"])
    slack.core.world.files[file].ready_at = 0.0
    shown = web.files_info(file=file)["file"]
    assert shown["mimetype"] == "image/png"
    assert [m["files"][0]["title"] for m in slack.thread(CHANNEL, root)[1:]] == ["CPU"]
    image = {"type": "image", "alt_text": "CPU", "slack_file": {"id": file}}
    assert web.chat_postMessage(channel=CHANNEL, text="x", blocks=[image], thread_ts=root)["ok"]
    assert slack.unknown_calls == []


def test_with_rates_the_client_is_told_when_to_come_back() -> None:
    with SlackStandin(rates=True) as slack:
        slack.add_channel(CHANNEL)
        web = client_of(slack)
        for _ in range(5):
            web.chat_postMessage(channel=CHANNEL, text="x")
        with pytest.raises(SlackApiError) as refused:
            web.chat_postMessage(channel=CHANNEL, text="x")
        assert refused.value.response.status_code == 429
        assert refused.value.response.headers["Retry-After"] == "1"
        assert slack.refused == ["ratelimited"]
