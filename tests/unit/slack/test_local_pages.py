"""The demo's pages of threads, files, forms, commands and the home tab, as a browser uses them."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from tailhound.slack.local import LocalSlack
from tailhound.slack.local_app import LocalApp
from tests.unit.slack.asgi import Browser, Page
from tests.unit.slack.local_world import (
    BEGIN,
    CHANNEL,
    PNG,
    button,
    field,
    home,
    menu,
    modal,
    note,
    radio,
    row,
    section,
)

YOU = "U0YOU"
FORM = modal(
    section("*Mutes now:* 3 <alerts>"),
    row(button(action_id="refresh")),
    field(radio("group", "workload"), "what", dispatch_action=True),
    field(menu("30", "120"), "how_long", optional=True),
    field(note(), "note", optional=True),
    callback_id="silence",
)


class Answer:
    """An acknowledgement, as bolt returns it."""

    def __init__(self, body: Any) -> None:
        self.body = json.dumps(body) if body else ""


class Bot:
    """An app that opens a form, answers commands and draws its home tab."""

    def __init__(self) -> None:
        self.slack = LocalSlack(lambda: BEGIN)
        self.slack.world.file_seconds = 0.0
        self.slack.add_channel(CHANNEL, "alerts")
        self.heard: list[Mapping[str, Any]] = []
        self.answer: Any = {}

    def call(self, method: str, **arguments: Any) -> Any:
        reply = self.slack.call(method, self.slack.bot_token, arguments).body
        assert reply["ok"], reply
        return reply

    def deliver(self, envelope: str, payload: Mapping[str, Any]) -> object:
        self.heard.append(payload)
        if payload.get("command"):
            return Answer({"text": f"You said {payload['text']}", "response_type": "in_channel"})
        if payload["type"] == "event_callback":
            self.call("views.publish", user_id=YOU, view=home(section("*Open*"), row(button())))
        elif payload["type"] == "view_submission":
            return Answer(self.answer)
        elif payload["actions"][0]["action_id"] == "go":
            self.call("views.open", trigger_id=payload["trigger_id"], view=FORM)
        return Answer({})


@pytest.fixture
def bot() -> Bot:
    return Bot()


@pytest.fixture
def browser(bot: Bot) -> Browser:
    app = LocalApp(bot.slack, bot.deliver, base="http://127.0.0.1:8080/slack", user=YOU)
    return Browser(app.asgi, "127.0.0.1:8080")


def key_of(page: str) -> str:
    found = re.search(r'name="key" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def sent(browser: Browser, path: str, key: str, **fields: str) -> Page:
    named = {name.replace("put_", "put:"): value for name, value in fields.items()}
    return browser.post(path, {"key": key, **named})


def opened(bot: Bot, browser: Browser) -> str:
    """The key of the pages, once the form is open."""
    ts = bot.call("chat.postMessage", channel=CHANNEL, text="x", blocks=[row(button())])["ts"]
    key = key_of(browser.get(f"/channel/{CHANNEL}").text)
    sent(browser, f"/channel/{CHANNEL}", key, ts=ts, action_id="go")
    return key


def test_a_thread_is_folded_under_its_root_with_its_table_and_its_files(
    bot: Bot, browser: Browser
) -> None:
    root = bot.call("chat.postMessage", channel=CHANNEL, text="root")["ts"]
    cells = [[{"type": "raw_text", "text": text}] for text in ("Claim", "<b>x</b>")]
    table = {"type": "table", "rows": cells}
    bot.call("chat.postMessage", channel=CHANNEL, text="x", thread_ts=root, blocks=[table])
    asked = bot.call("files.getUploadURLExternal", filename="chart.png", length=len(PNG))
    assert bot.slack.upload(asked["upload_url"].rsplit("/", 1)[1], PNG)
    done = {"files": [{"id": asked["file_id"], "title": "CPU"}], "channel_id": CHANNEL}
    bot.call("files.completeUploadExternal", thread_ts=root, **done)
    image = {"type": "image", "alt_text": "2 % until", "slack_file": {"id": asked["file_id"]}}
    bot.call("chat.postMessage", channel=CHANNEL, text="x", thread_ts=root, blocks=[image])
    page = browser.get(f"/channel/{CHANNEL}").text
    assert "<summary>3 replies</summary>" in page
    assert "<th>Claim</th>" in page
    assert "<td>&lt;b&gt;x&lt;/b&gt;</td>" in page
    path = f"/slack/file/{asked['file_id']}"
    assert f'<img src="{path}" alt="2 % until">' in page
    assert f'<a href="{path}">CPU</a>' in page
    file = browser.get(path.removeprefix("/slack"))
    assert (file.body, file.headers["content-type"]) == (PNG, "image/png")
    assert browser.get("/file/F0000000NONE").status_code == 404


def test_a_click_opens_a_form_and_the_channel_says_so(bot: Bot, browser: Browser) -> None:
    opened(bot, browser)
    page = browser.get(f"/channel/{CHANNEL}/messages").text
    assert '<a class="open-modal" href="/slack/modal">A form is open: Silence</a>' in page
    form = browser.get("/modal").text
    assert "<strong>Mutes now:</strong> 3 &lt;alerts&gt;" in form
    assert form.count('type="radio"') == 2
    assert '<textarea name="put:note"' in form
    assert "img-src 'self'" in browser.get("/modal").headers["content-security-policy"]


def test_a_form_is_filled_in_and_sent(bot: Bot, browser: Browser) -> None:
    key = opened(bot, browser)
    fields = {"put_which": "group", "put_hours": "120", "put_note": "planned"}
    done = sent(browser, "/modal", key, submit="1", **fields)
    assert (done.status_code, done.headers["location"]) == (303, "/slack/modal")
    assert browser.get("/modal").headers["location"] == "/slack/"
    values = bot.heard[-1]["view"]["state"]["values"]
    assert values["what"]["which"]["selected_option"]["value"] == "group"
    assert values["how_long"]["hours"]["selected_option"]["value"] == "120"
    assert values["note"]["note"]["value"] == "planned"
    assert [payload["type"] for payload in bot.heard] == [
        "block_actions",
        "block_actions",
        "view_submission",
    ]


def test_what_is_missing_is_said_and_the_app_is_not_asked(bot: Bot, browser: Browser) -> None:
    key = opened(bot, browser)
    page = sent(browser, "/modal", key, submit="1", put_note="x").text
    assert '<p class="error" role="alert">Please complete this required field.</p>' in page
    assert ">x</textarea>" in page
    assert len(bot.heard) == 1


def test_what_the_app_says_is_wrong_is_shown(bot: Bot, browser: Browser) -> None:
    key = opened(bot, browser)
    bot.answer = {"response_action": "errors", "errors": {"note": "no <secrets>"}}
    page = sent(browser, "/modal", key, submit="1", put_which="group").text
    assert "no &lt;secrets&gt;" in page
    bot.answer = {"response_action": "errors", "errors": {"elsewhere": "x"}}
    page = sent(browser, "/modal", key, submit="1", put_which="group").text
    assert "We had some trouble connecting" in page


def test_a_button_of_the_form_is_pressed_and_a_form_is_closed(bot: Bot, browser: Browser) -> None:
    key = opened(bot, browser)
    sent(browser, "/modal", key, use="refresh")
    assert bot.heard[-1]["actions"][0]["action_id"] == "refresh"
    gone = sent(browser, "/modal", key, use="no-such-button")
    assert gone.headers["location"] == "/slack/modal"
    sent(browser, "/modal", key, close="1")
    assert bot.slack.modal(YOU) is None


def test_a_command_is_typed_and_answered(bot: Bot, browser: Browser) -> None:
    key = key_of(browser.get(f"/channel/{CHANNEL}").text)
    sent(browser, f"/channel/{CHANNEL}/command", key, text="/tailhound status now")
    assert bot.heard[-1]["text"] == "status now"
    assert "You said status now" in browser.get(f"/channel/{CHANNEL}").text


def test_the_home_tab_is_drawn_and_its_buttons_work(bot: Bot, browser: Browser) -> None:
    page = browser.get("/home").text
    assert "<strong>Open</strong>" in page
    sent(browser, "/home", key_of(page), use="go")
    assert bot.slack.modal(YOU) is not None
    assert sent(browser, "/home", key_of(page), use="nothing").status_code == 404


@pytest.mark.parametrize("path", ["/modal", "/home", f"/channel/{CHANNEL}/command"])
def test_a_form_from_anywhere_else_does_nothing(bot: Bot, browser: Browser, path: str) -> None:
    opened(bot, browser)
    heard = len(bot.heard)
    assert sent(browser, path, "guessed", use="refresh", text="stop").status_code == 403
    assert browser.post(path, {"key": "x"}, origin="https://evil.example").status_code == 403
    assert len(bot.heard) == heard
