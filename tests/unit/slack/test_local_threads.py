"""Threads, edits and whispers in the local stand-in of Slack."""

import pytest

from tailhound.slack.local import Person
from tests.unit.slack.local_world import ANA, BEN, CHANNEL, Slack, button, row, section


def test_a_reply_stands_in_its_thread_and_not_in_the_channel() -> None:
    slack = Slack()
    root = slack.post("root")
    first, second = (slack.post(text, thread_ts=root) for text in ("one", "two"))
    assert [message["ts"] for message in slack.core.messages(CHANNEL)] == [root]
    assert [m["ts"] for m in slack.core.thread(CHANNEL, root)] == [root, first, second]
    told = slack.core.messages(CHANNEL)[0]
    assert (told["reply_count"], told["latest_reply"], told["thread_ts"]) == (2, second, root)


def test_a_broadcast_reply_is_in_both_and_takes_clicks_in_the_thread() -> None:
    slack = Slack()
    root = slack.post("root")
    reply = slack.post("look", thread_ts=root, reply_broadcast=True, blocks=[row(button())])
    assert [m["ts"] for m in slack.core.messages(CHANNEL)] == [root, reply]
    assert slack.core.messages(CHANNEL)[1]["subtype"] == "thread_broadcast"
    payload = slack.core.press(CHANNEL, reply, "go", ANA)
    assert payload["container"]["thread_ts"] == root


def test_a_reply_to_a_reply_joins_the_same_thread() -> None:
    slack = Slack()
    root = slack.post("root")
    reply = slack.post("one", thread_ts=root)
    deeper = slack.post("two", thread_ts=reply)
    assert [m["ts"] for m in slack.core.thread(CHANNEL, root)] == [root, reply, deeper]


def test_a_reply_to_a_deleted_message_lands_in_the_channel_and_says_no_thread() -> None:
    slack = Slack()
    root = slack.post("root")
    slack.core.delete(CHANNEL, root)
    answer = slack.ask("chat.postMessage", channel=CHANNEL, text="late", thread_ts=root)
    assert "thread_ts" not in answer["message"]
    assert [m["text"] for m in slack.core.messages(CHANNEL)] == ["late"]


def test_a_deleted_root_with_replies_leaves_a_stone_that_nobody_can_edit() -> None:
    slack = Slack()
    root = slack.post("root")
    reply = slack.post("one", thread_ts=root)
    assert slack.ask("chat.delete", channel=CHANNEL, ts=root)["ok"] is True
    assert slack.core.messages(CHANNEL)[0]["subtype"] == "tombstone"
    assert slack.error("chat.update", channel=CHANNEL, ts=root, text="x") == "message_not_found"
    assert slack.ask("chat.delete", channel=CHANNEL, ts=reply)["ok"] is True
    assert slack.core.messages(CHANNEL)[0]["reply_count"] == 0


def test_an_edit_keeps_a_message_in_its_thread() -> None:
    slack = Slack()
    root = slack.post("root")
    reply = slack.post("one", thread_ts=root)
    assert slack.error("chat.update", channel=CHANNEL, ts=reply, text="uno") == ""
    assert [m["text"] for m in slack.core.thread(CHANNEL, root)] == ["root", "uno"]
    assert slack.core.messages(CHANNEL)[0]["reply_count"] == 1


def test_only_a_reply_can_be_broadcast_later() -> None:
    slack = Slack()
    root = slack.post("root")
    reply = slack.post("one", thread_ts=root)
    later = {"channel": CHANNEL, "text": "x", "reply_broadcast": "true"}
    assert slack.error("chat.update", ts=root, **later) == "cant_broadcast_message"
    assert slack.error("chat.update", ts=reply, **later) == ""
    assert [m["ts"] for m in slack.core.messages(CHANNEL)] == [root, reply]


def test_an_edit_takes_less_text_than_a_post() -> None:
    slack = Slack()
    ts = slack.post("x" * 4_001)
    assert slack.error("chat.update", channel=CHANNEL, ts=ts, text="x" * 4_001) == "msg_too_long"
    assert slack.error("chat.update", channel=CHANNEL, ts=ts, text="x" * 4_000) == ""


def test_an_archived_channel_takes_neither_posts_nor_edits() -> None:
    slack = Slack()
    ts = slack.post()
    slack.core.channels[CHANNEL].is_archived = True
    assert slack.error("chat.postMessage", channel=CHANNEL, text="x") == "is_archived"
    assert slack.error("chat.update", channel=CHANNEL, ts=ts, text="x") == "is_inactive"


def test_a_channel_that_the_bot_is_not_in_takes_no_post() -> None:
    slack = Slack()
    slack.core.channels[CHANNEL].is_member = False
    assert slack.error("chat.postMessage", channel=CHANNEL, text="x") == "not_in_channel"
    public = Slack("chat:write.public")
    public.core.channels[CHANNEL].is_member = False
    assert public.error("chat.postMessage", channel=CHANNEL, text="x") == ""


def test_a_private_channel_without_the_bot_does_not_exist() -> None:
    slack = Slack("groups:history")
    hidden = slack.core.add_channel("C0SECRET", "secret", kind="private")
    hidden.is_member = False
    assert slack.error("chat.postMessage", channel="C0SECRET", text="x") == "channel_not_found"
    assert slack.error("conversations.history", channel="C0SECRET") == "channel_not_found"
    hidden.is_member = True
    assert slack.error("conversations.history", channel="C0SECRET") == ""
    assert slack.error("conversations.history", channel=CHANNEL) == "missing_scope"


def test_replies_come_oldest_first_and_in_pages() -> None:
    slack = Slack("channels:history")
    root = slack.post("root")
    stamps = [root, *(slack.post(str(n), thread_ts=root) for n in range(4))]
    seen, cursor = [], ""
    while True:
        page = slack.ask(
            "conversations.replies", channel=CHANNEL, ts=root, limit="2", cursor=cursor
        )
        seen += [message["ts"] for message in page["messages"]]
        cursor = page["response_metadata"]["next_cursor"]
        if not cursor:
            break
    assert seen == stamps
    gone = slack.error("conversations.replies", channel=CHANNEL, ts="1.000001")
    assert gone == "thread_not_found"


def test_history_leaves_replies_out_and_refuses_a_time_that_is_none() -> None:
    slack = Slack("channels:history")
    root = slack.post("root")
    slack.post("one", thread_ts=root)
    found = slack.ask("conversations.history", channel=CHANNEL)["messages"]
    assert [message["ts"] for message in found] == [root]
    for key in ("oldest", "latest"):
        wrong = slack.error("conversations.history", **{"channel": CHANNEL, key: "yesterday"})
        assert wrong == f"invalid_ts_{key}"
    wrong = slack.error("conversations.history", channel=CHANNEL, cursor="next")
    assert wrong == "invalid_cursor"


def test_a_whisper_is_for_a_member_and_can_not_be_edited() -> None:
    slack = Slack()
    asked = {"channel": CHANNEL, "text": "only you"}
    assert slack.error("chat.postEphemeral", user=ANA, **asked) == "user_not_found"
    slack.core.add_person(Person(ANA, "ana"))
    assert slack.error("chat.postEphemeral", user=ANA, **asked) == "user_not_in_channel"
    slack.core.channels[CHANNEL].members.add(ANA)
    answer = slack.ask("chat.postEphemeral", user=ANA, **asked)
    assert [w["text"] for w in slack.core.channels[CHANNEL].whispers] == ["only you"]
    edit = {"channel": CHANNEL, "ts": answer["message_ts"], "text": "x"}
    assert slack.error("chat.update", **edit) == "message_not_found"
    assert slack.core.messages(CHANNEL) == []


def test_a_message_has_an_address_and_a_reply_names_its_thread() -> None:
    slack = Slack()
    root = slack.post()
    reply = slack.post(thread_ts=root)
    link = slack.ask("chat.getPermalink", channel=CHANNEL, message_ts=root)["permalink"]
    assert link == f"https://local.example/archives/{CHANNEL}/p1764385200000000"
    link = slack.ask("chat.getPermalink", channel=CHANNEL, message_ts=reply)["permalink"]
    assert link.endswith(f"?thread_ts={root}&cid={CHANNEL}")
    wrong = slack.error("chat.getPermalink", channel=CHANNEL, message_ts="1.1")
    assert wrong == "message_not_found"


def test_a_message_of_somebody_else_can_not_be_deleted() -> None:
    slack = Slack()
    slack.core.channels[CHANNEL].messages["1.000001"] = {"ts": "1.000001", "user": ANA}
    assert slack.error("chat.delete", channel=CHANNEL, ts="1.000001") == "cant_delete_message"
    assert slack.error("chat.delete", channel=CHANNEL, ts="2.000001") == "message_not_found"


@pytest.mark.parametrize("error", ["token_revoked", "account_inactive", "token_expired"])
def test_a_token_that_died_is_refused_everywhere(error: str) -> None:
    slack = Slack()
    slack.core.token_error = error
    assert slack.error("auth.test") == error
    assert slack.error("chat.postMessage", channel=CHANNEL, text="x") == error


def test_an_answer_replaces_the_message_deletes_it_or_tells_everybody() -> None:
    slack = Slack()
    ts = slack.post("before", blocks=[section("a")])
    key = slack.core.response_key(CHANNEL, ANA, ts)
    assert slack.core.respond(key, {"text": "after", "replace_original": True}).status == 200
    assert slack.core.messages(CHANNEL)[0]["text"] == "after"
    slack.core.respond(key, {"text": "all", "response_type": "in_channel", "thread_ts": ts})
    assert [m["text"] for m in slack.core.thread(CHANNEL, ts)] == ["after", "all"]
    slack.core.respond(key, {"delete_original": True})
    assert slack.core.messages(CHANNEL)[0]["subtype"] == "tombstone"


def test_an_answer_with_wrong_blocks_is_refused() -> None:
    slack = Slack()
    key = slack.core.response_key(CHANNEL, BEN)
    reply = slack.core.respond(key, {"text": "x", "blocks": [{"type": "carousel"}]})
    assert (reply.status, reply.body["error"]) == (404, "invalid_blocks")
    assert slack.core.respond(key, {}).status == 400
    assert slack.core.channels[CHANNEL].whispers == []
