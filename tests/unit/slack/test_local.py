"""The local stand-in refuses what Slack refuses."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tailhound.slack import limits, validate
from tailhound.slack.blocks import message
from tailhound.slack.local import SCOPES, LocalSlack
from tests.samples.incidents import CONFIRMED, STATES
from tests.samples.story import NOW

CHANNEL = "C0ALERTS"


def slack(*more_scopes: str) -> LocalSlack:
    """A stand-in with one channel, in the year 2025."""
    made = LocalSlack(lambda: 1_764_385_200.0, scopes=SCOPES | set(more_scopes))
    made.add_channel(CHANNEL, "alerts")
    return made


def post(made: LocalSlack, **more: Any) -> Mapping[str, Any]:
    """One message; the answer of Slack."""
    arguments = {"channel": CHANNEL, "text": "hello", **more}
    return made.call("chat.postMessage", made.bot_token, arguments).body


def section(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def button(**more: Any) -> dict[str, Any]:
    label = {"type": "plain_text", "text": "Go"}
    return {"type": "button", "text": label, "action_id": "go", **more}


def row(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


@pytest.mark.parametrize("state", STATES)
def test_every_message_of_ours_is_taken(state: str) -> None:
    made = slack()
    shown = message(STATES[state], page_url="https://x.example/1", now=NOW)
    assert post(made, text=shown.text, blocks=list(shown.blocks))["ok"] is True


def test_a_message_gets_a_growing_ts() -> None:
    made = slack()
    assert [post(made)["ts"] for _ in range(2)] == ["1764385200.000000", "1764385200.000001"]


def test_a_method_that_nobody_should_call_is_remembered() -> None:
    made = slack()
    answer = made.call("chat.scheduleMessage", made.bot_token, {})
    assert answer.body["error"] == "unknown_method"
    assert made.unknown_calls == ["chat.scheduleMessage"]


@pytest.mark.parametrize(("token", "error"), [("", "not_authed"), ("xoxb-x", "invalid_auth")])
def test_a_wrong_token_is_refused(token: str, error: str) -> None:
    assert slack().call("auth.test", token, {}).body["error"] == error


def test_the_bot_token_opens_no_socket() -> None:
    made = slack()
    answer = made.call("apps.connections.open", made.bot_token, {})
    assert answer.body["error"] == "not_allowed_token_type"


@pytest.mark.parametrize(
    ("blocks", "what"),
    [
        ([section("x") for _ in range(51)], "no more than 50"),
        ([section("x" * 3001)], "less than 3001"),
        ([section("")], "more than 0"),
        ([{"type": "section"}], "missing required field: text or fields"),
        ([{"type": "carousel", "elements": []}], "unsupported type: carousel"),
        ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "must be plain_text"),
        ([{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}], "151"),
        ([section("a", block_id="x"), section("b", block_id="x")], "block_id must be unique"),
        ([section("a", block_id="x" * 256)], "less than 256"),
        ([section("a", color="red")], "invalid additional property: color"),
        ([section("a", expand="yes")], "expand"),
        ([{"type": "context", "elements": []}], "no fewer than 1 items"),
        ([row(*(button(action_id=str(n)) for n in range(26)))], "no more than 25"),
        ([row(button(), button())], "action_id must be unique"),
        ([row(button(value="x" * 2001))], "less than 2001"),
        ([row(button(url="javascript:alert(1)"))], "must match regex pattern"),
        ([row(button(url="https://x/" + "y" * 3000))], "less than 3001"),
        ([row(button(style="green"))], "must be one of: primary, danger"),
        ([row({"type": "datepicker"})], "unsupported element"),
        ([row(button(text={"type": "mrkdwn", "text": "x"}))], "must be plain_text"),
        ([row(button(text={"type": "plain_text", "text": "x" * 76}))], "less than 76"),
        ("none", "no list at all"),
        (["none"], "must provide an object"),
    ],
)
def test_blocks_over_a_limit_are_refused(blocks: Any, what: str) -> None:
    made = slack()
    answer = made.call(
        "chat.postMessage", made.bot_token, {"channel": CHANNEL, "text": "x", "blocks": blocks}
    ).body
    if isinstance(blocks, str):
        assert answer["error"] == "invalid_blocks_format"
        return
    assert answer["error"] == "invalid_blocks"
    assert what in " ".join(answer["errors"])
    assert answer["response_metadata"]["messages"] == [f"[ERROR] {e}" for e in answer["errors"]]
    assert made.messages(CHANNEL) == []


def test_all_blocks_together_may_be_too_long() -> None:
    blocks = [section("x" * 2_900, block_id=str(n)) for n in range(5)]
    assert validate.faults(blocks) == []
    assert post(slack(), blocks=blocks)["error"] == "msg_blocks_too_long"


def test_a_text_over_the_limit_is_refused_not_cut() -> None:
    made = slack()
    assert post(made, text="x" * (limits.MESSAGE_TEXT + 1))["error"] == "msg_too_long"
    assert post(made, text="")["error"] == "no_text"


def test_an_edit_without_blocks_removes_them() -> None:
    made = slack()
    ts = post(made, blocks=[section("a")])["ts"]
    arguments = {"channel": CHANNEL, "ts": ts, "text": "b"}
    assert made.call("chat.update", made.bot_token, arguments).body["ok"] is True
    assert made.messages(CHANNEL)[0]["blocks"] == []


def test_an_edit_wants_the_channels_id_and_a_message_of_the_bot() -> None:
    made = slack()
    ts = post(made)["ts"]
    made.channels[CHANNEL].messages["1.000001"] = {"ts": "1.000001", "user": "U0ANA"}

    def edited(channel: str, message: str) -> Any:
        arguments = {"channel": channel, "ts": message, "text": "b"}
        return made.call("chat.update", made.bot_token, arguments).body.get("error")

    assert edited("#alerts", ts) == "channel_not_found"
    assert edited(CHANNEL, "9.9") == "message_not_found"
    assert edited(CHANNEL, "1.000001") == "cant_update_message"
    assert edited(CHANNEL, ts) is None


def test_metadata_stays_when_an_edit_brings_none() -> None:
    made = slack("channels:history")
    metadata = {"event_type": "t", "event_payload": {"incident": "8R5W"}}
    ts = post(made, metadata=json.dumps(metadata))["ts"]
    made.call("chat.update", made.bot_token, {"channel": CHANNEL, "ts": ts, "text": "b"})
    asked = {"channel": CHANNEL, "include_all_metadata": "1"}
    found = made.call("conversations.history", made.bot_token, asked).body["messages"]
    assert found[0]["metadata"] == metadata
    plain = made.call("conversations.history", made.bot_token, {"channel": CHANNEL}).body
    assert "metadata" not in plain["messages"][0]


@pytest.mark.parametrize("metadata", ["{", "[]", '{"event_type": 1}', '{"event_type": "t"}'])
def test_metadata_of_another_form_is_refused(metadata: str) -> None:
    assert post(slack(), metadata=metadata)["error"] == "invalid_metadata_format"


def test_history_needs_its_scope_and_comes_in_pages() -> None:
    assert (
        slack().call("conversations.history", "xoxb-local", {"channel": CHANNEL}).body["error"]
        == "missing_scope"
    )
    made = slack("channels:history")
    stamps = [post(made)["ts"] for _ in range(5)]
    seen: list[str] = []
    cursor = ""
    while True:
        asked = {"channel": CHANNEL, "limit": "2", "cursor": cursor}
        body = made.call("conversations.history", made.bot_token, asked).body
        seen += [found["ts"] for found in body["messages"]]
        cursor = body["response_metadata"]["next_cursor"]
        if not cursor:
            break
    assert seen == stamps[::-1]


def test_a_response_url_is_good_for_five_answers_in_half_an_hour() -> None:
    now = [1_764_385_200.0]
    made = LocalSlack(lambda: now[0])
    made.add_channel(CHANNEL, "alerts")
    key = made.response_key(CHANNEL, "U0ANA")
    answers = [made.respond(key, {"text": "x"}).status for _ in range(6)]
    assert answers == [200] * 5 + [404]
    assert made.respond("nowhere", {"text": "x"}).status == 404
    late = made.response_key(CHANNEL, "U0ANA")
    now[0] += 1_801.0
    assert made.respond(late, {"text": "x"}).status == 404


def test_our_own_hard_stop_is_below_slacks() -> None:
    shown = message(CONFIRMED, page_url="https://x.example/1", now=NOW)
    assert limits.OUR_BYTES < limits.BLOCKS_JSON_CHARACTERS
    assert not validate.too_long(list(shown.blocks))
