"""Whatever is sent to the stand-in, it answers: nothing breaks it, nothing slips through."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tailhound.slack.local.methods import METHODS
from tailhound.slack.validate import faults, view_faults
from tests.unit.slack.local_world import ANA, CHANNEL, Slack

WORDS = st.sampled_from(
    [
        *("type", "section", "mrkdwn", "plain_text", "text", "elements", "button", "actions"),
        *("input", "element", "modal", "blocks", "title", "options", "value", "accessory"),
        *("table", "rows", "raw_text", "image", "slack_file", "id", "alt_text", "rich_text"),
    ]
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(), inner, max_size=5)
    ),
    max_leaves=20,
)
KEYS = st.sampled_from(
    [
        *("channel", "ts", "thread_ts", "text", "blocks", "metadata", "user", "users", "view"),
        *("view_id", "trigger_id", "hash", "external_id", "user_id", "limit", "cursor", "oldest"),
        *("latest", "file", "files", "filename", "length", "channel_id", "usergroup", "message_ts"),
    ]
)


@given(JUNK)
def test_any_value_is_taken_or_has_faults(value: Any) -> None:
    for found in (faults(value), view_faults(value), faults([value], "home")):
        assert all(isinstance(fault, str) and "json-pointer:/" in fault for fault in found)
    assert view_faults(value) or isinstance(value, dict)


@given(st.sampled_from(sorted(METHODS)), st.dictionaries(KEYS, JUNK, max_size=6))
def test_any_call_is_answered_with_json(method: str, arguments: dict[str, Any]) -> None:
    slack = Slack("channels:history", "channels:read", "im:write")
    root = slack.post("root")
    slack.core.command("help", CHANNEL, ANA)
    likely = {"channel": CHANNEL, "ts": root, "user": ANA, "user_id": ANA}
    answer = slack.ask(method, **{**likely, **arguments})
    assert json.loads(json.dumps(answer))["ok"] in (True, False)
    assert answer["ok"] or answer["error"]
