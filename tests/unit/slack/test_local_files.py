"""Files in the local stand-in: three steps, and a moment until Slack has looked at them."""

import json
from typing import Any

import pytest

from tests.unit.slack.local_world import ANA, CHANNEL, PNG, Slack


def picture(file: str, **more: Any) -> dict[str, Any]:
    """An image block of an uploaded file."""
    return {"type": "image", "alt_text": "a chart", "slack_file": {"id": file}, **more}


def completed(slack: Slack, *files: str, **more: Any) -> str:
    """The error of completing uploads."""
    listed = json.dumps([{"id": file, "title": "Evidence"} for file in files])
    return slack.error("files.completeUploadExternal", files=listed, **more)


def test_a_file_is_shared_in_the_thread_a_moment_after_it_was_completed() -> None:
    slack = Slack()
    root = slack.post()
    file = slack.upload("8R5W-evidence.md", b"# Evidence")
    assert completed(slack, file, channel_id=CHANNEL, thread_ts=root) == ""
    fresh = slack.ask("files.info", file=file)["file"]
    assert (fresh["shares"], fresh["mimetype"]) == ({}, "")
    assert len(slack.core.thread(CHANNEL, root)) == 1
    slack.later(1.0)
    shown = slack.ask("files.info", file=file)["file"]
    message = slack.core.thread(CHANNEL, root)[1]
    assert shown["shares"] == {"public": {CHANNEL: [{"ts": message["ts"], "thread_ts": root}]}}
    assert message["subtype"] == "file_share"
    assert [(f["id"], f["title"]) for f in message["files"]] == [(file, "Evidence")]
    assert message["ts"] > root


def test_its_answer_names_no_message() -> None:
    slack = Slack()
    file = slack.upload()
    answer = slack.ask("files.completeUploadExternal", files=[{"id": file}], channel_id=CHANNEL)
    assert set(answer) == {"ok", "files"}
    assert [found["shares"] for found in answer["files"]] == [{}]


def test_an_image_can_be_shown_once_slack_has_looked_at_it_and_not_before() -> None:
    slack = Slack()
    file = slack.upload()
    assert completed(slack, file) == ""
    said = {"channel": CHANNEL, "text": "Chart", "blocks": [picture(file)]}
    early = slack.ask("chat.postMessage", **said)
    assert early["error"] == "invalid_blocks"
    assert early["errors"] == ["invalid slack file [json-pointer:/blocks/0/slack_file]"]
    slack.later(1.0)
    assert slack.error("chat.postMessage", **said) == ""


def test_an_image_may_be_named_by_its_address() -> None:
    slack = Slack()
    file = slack.upload()
    completed(slack, file)
    slack.later(1.0)
    url = slack.ask("files.info", file=file)["file"]["url_private"]
    block = {"type": "image", "alt_text": "a chart", "slack_file": {"url": url}}
    assert slack.error("chat.postMessage", channel=CHANNEL, text="x", blocks=[block]) == ""
    block["slack_file"] = {"url": "https://x.example"}
    wrong = slack.error("chat.postMessage", channel=CHANNEL, text="x", blocks=[block])
    assert wrong == "invalid_blocks"


def test_a_text_is_no_image() -> None:
    slack = Slack()
    file = slack.upload("chart.png", b"no picture")
    completed(slack, file)
    slack.later(1.0)
    said = {"channel": CHANNEL, "text": "x", "blocks": [picture(file)]}
    assert slack.error("chat.postMessage", **said) == "invalid_blocks"


def test_a_file_is_completed_once_and_only_after_all_its_bytes() -> None:
    slack = Slack()
    asked = slack.ask("files.getUploadURLExternal", filename="a.png", length=len(PNG))
    key = asked["upload_url"].rsplit("/", 1)[1]
    assert completed(slack, asked["file_id"]) == "file_not_found"
    assert slack.core.upload(key, PNG[:-1]) is False
    assert slack.core.upload("guessed", PNG) is False
    assert slack.core.upload(key, PNG) is True
    assert completed(slack, asked["file_id"]) == ""
    assert completed(slack, asked["file_id"]) == "file_not_found"
    assert slack.core.upload(key, PNG) is False


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"filename": "", "length": 5}, "invalid_arguments"),
        ({"filename": "a", "length": 0}, "missing_argument"),
        ({"filename": "a", "length": "many"}, "invalid_arguments"),
        ({"filename": "a"}, "invalid_arguments"),
        ({"filename": "a", "length": 5, "alt_txt": "x" * 1_001}, "alt_txt_too_large"),
        ({"filename": "a", "length": 1_000_001, "snippet_type": "text"}, "snippet_too_large"),
    ],
)
def test_an_upload_is_refused(arguments: dict[str, Any], error: str) -> None:
    assert Slack().error("files.getUploadURLExternal", **arguments) == error


@pytest.mark.parametrize("files", ["{", "[]", "", [3], '[{"id": "F1"}, {"id": "F1"}]'])
def test_completing_nothing_or_the_same_twice_is_refused(files: Any) -> None:
    assert Slack().error("files.completeUploadExternal", files=files) == "invalid_arguments"


def test_a_file_goes_only_where_the_bot_is() -> None:
    slack = Slack()
    file = slack.upload()
    assert completed(slack, file, channel_id="C0NOWHERE") == "channel_not_found"
    slack.core.channels[CHANNEL].is_member = False
    assert completed(slack, file, channel_id=CHANNEL) == "not_in_channel"
    slack.core.channels[CHANNEL].is_archived = True
    assert completed(slack, file, channel_id=CHANNEL) == "is_archived"


def test_a_channel_that_is_archived_meanwhile_gets_no_file() -> None:
    slack = Slack()
    file = slack.upload()
    assert completed(slack, file, channel_id=CHANNEL) == ""
    slack.core.channels[CHANNEL].is_archived = True
    slack.later(1.0)
    assert slack.core.messages(CHANNEL) == []
    assert slack.ask("files.info", file=file)["file"]["shares"] == {}


def test_an_unknown_file_is_not_found() -> None:
    slack = Slack()
    assert slack.error("files.info", file="F1") == "file_not_found"
    assert slack.error("files.info", file=slack.upload()) == "file_not_found"


def test_a_modal_shows_an_image_too() -> None:
    slack = Slack()
    file = slack.upload()
    view = {"type": "home", "blocks": [picture(file)]}
    slack.core.home_opened(ANA)
    answer = slack.ask("views.publish", user_id=ANA, view=json.dumps(view))
    assert answer["errors"] == ["invalid slack file [json-pointer:/view/blocks/0/slack_file]"]
