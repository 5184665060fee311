"""Which blocks and views Slack takes where, and what it says of the others."""

from typing import Any

import pytest

from tailhound.slack import limits
from tailhound.slack.validate import faults, tables, too_large, view_faults
from tests.unit.slack.local_world import (
    CHANNEL,
    Slack,
    button,
    field,
    home,
    menu,
    modal,
    note,
    option,
    plain,
    radio,
    row,
    section,
)

TABLE: dict[str, Any] = {
    "type": "table",
    "rows": [[{"type": "raw_text", "text": "Claim"}, {"type": "raw_text", "text": "Seen"}]],
    "column_settings": [{"is_wrapped": True}, {"align": "right"}],
}
IMAGE = {"type": "image", "alt_text": "a chart", "image_url": "https://x.example/1.png"}
PREFORMATTED = {
    "type": "rich_text",
    "elements": [
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "limits.cpu  6"}]},
        {
            "type": "rich_text_list",
            "style": "bullet",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [
                        {"type": "text", "text": "one", "style": {"bold": True}},
                        {"type": "link", "url": "https://x.example", "text": "there"},
                        {"type": "date", "timestamp": 1, "format": "{ago}", "fallback": "then"},
                    ],
                }
            ],
        },
    ],
}
ALERT = {"type": "alert", "level": "warning", "text": plain("Not possible now.")}
CONFIRM = {
    "title": plain("Sure?"),
    "text": plain("It is 9."),
    "confirm": plain("Yes"),
    "deny": plain("No"),
}
CHOICES = {
    "type": "checkboxes",
    "action_id": "sure",
    "options": [option("yes")],
    "initial_options": [option("yes")],
}
OVERFLOW = {"type": "overflow", "action_id": "more", "options": [option("a"), option("b")]}
GROUPED = {
    "type": "static_select",
    "action_id": "cause",
    "option_groups": [
        {"label": plain("Confirmed"), "options": [option("kv-preemption")]},
        {"label": plain("Others"), "options": [option("cold-start")]},
    ],
    "initial_option": option("cold-start"),
}
USERS = {"type": "users_select", "action_id": "who"}


@pytest.mark.parametrize(
    "block",
    [
        TABLE,
        IMAGE,
        PREFORMATTED,
        {
            "type": "image",
            "alt_text": "a",
            "slack_file": {"id": "F0123456789"},
            "title": plain("t"),
        },
        {"type": "context", "elements": [IMAGE, {"type": "mrkdwn", "text": "x", "verbatim": True}]},
        {"type": "divider"},
        section("x", accessory=button(confirm=CONFIRM)),
        section("x", accessory=IMAGE),
        section("x", accessory=menu("1", "2", placeholder=plain("how long"))),
        row(button(), menu("1"), radio("a", "b"), CHOICES, OVERFLOW, USERS),
        {"type": "section", "fields": [plain("a"), plain("b")]},
    ],
)
def test_a_message_takes(block: dict[str, Any]) -> None:
    assert faults([block]) == []


@pytest.mark.parametrize(
    "block",
    [
        ALERT,
        PREFORMATTED,
        field(radio("a", "b", initial_option=option("a")), "what"),
        field(GROUPED, "cause", hint=plain("the nearest come first")),
        field(note(multiline=True, max_length=300, placeholder=plain("why")), "why", optional=True),
        field(CHOICES, "sure"),
        field(USERS, "who", dispatch_action=True),
        field(
            {"type": "multi_static_select", "action_id": "m", "options": [option("a")]}, "several"
        ),
    ],
)
def test_a_modal_takes(block: dict[str, Any]) -> None:
    assert view_faults(modal(block)) == []


@pytest.mark.parametrize(
    ("block", "what"),
    [
        (ALERT, "unsupported type: alert [json-pointer:/blocks/0]"),
        (field(note(), "n"), "unsupported type: input [json-pointer:/blocks/0]"),
        ({"type": "table", "rows": []}, "no fewer than 1 items allowed"),
        (
            {"type": "table", "rows": [TABLE["rows"][0]] * 101},
            "no more than 100 items allowed [json-pointer:/blocks/0/rows]",
        ),
        (
            {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * 21]},
            "no more than 20 items allowed [json-pointer:/blocks/0/rows/0]",
        ),
        (
            {"type": "table", "rows": [[{"type": "raw_text", "text": ""}]]},
            "must be more than 0 characters [json-pointer:/blocks/0/rows/0/0/text]",
        ),
        (
            {"type": "table", "rows": [[{"type": "mrkdwn", "text": "x"}]]},
            "unsupported cell: mrkdwn",
        ),
        (
            {"type": "table", "rows": [*TABLE["rows"], [{"type": "raw_text", "text": "x"}]]},
            "rows must have the same number of cells",
        ),
        ({"type": "image", "image_url": "https://x.example"}, "missing required field: alt_text"),
        ({"type": "image", "alt_text": "a"}, "exactly one of: image_url, slack_file"),
        (
            {**IMAGE, "slack_file": {"id": "F0123456789"}},
            "exactly one of: image_url, slack_file [json-pointer:/blocks/0]",
        ),
        ({**IMAGE, "alt_text": "x" * 2001}, "must be less than 2001"),
        (
            {"type": "image", "alt_text": "a", "slack_file": {"id": "https://x.example/f"}},
            "must match regex pattern: F[A-Z0-9]{8,} [json-pointer:/blocks/0/slack_file/id]",
        ),
        (row(menu()), "no fewer than 1 items allowed [json-pointer:/blocks/0/elements/0/options]"),
        (row(menu(*map(str, range(101)))), "no more than 100 items"),
        (row(menu("a", "a")), "option values must be unique"),
        (row(menu("a", initial_option=option("b"))), "initial option must be one of the options"),
        (row(menu("a", initial_option=option("a", "other"))), "initial option must be one of"),
        (row({**GROUPED, "options": [option("x")]}), "exactly one of: options, option_groups"),
        (row(radio(*map(str, range(11)))), "no more than 10 items"),
        (row({**OVERFLOW, "options": [option(str(n)) for n in range(6)]}), "no more than 5"),
        (row(menu("x" * 151)), "less than 76"),
        (row(menu("a", placeholder=plain("x" * 151))), "less than 151"),
        (row(note()), "unsupported element: plain_text_input"),
        (row(button(confirm={**CONFIRM, "deny": plain("x" * 31)})), "less than 31"),
        (row(button(accessibility_label="x" * 76)), "less than 76"),
        (row(button(action_id="x" * 256)), "less than 256"),
        (section("x", accessory={"type": "datepicker"}), "unsupported element: datepicker"),
        ({"type": "rich_text", "elements": [{"type": "text", "text": "x"}]}, "unsupported element"),
        ({"type": "header", "text": "x"}, "must provide an object"),
        (section("x", expand="yes"), "must provide a boolean"),
        ({"type": "section", "text": {"type": "mrkdwn", "text": 1}}, "must provide a string"),
        ({"type": "section", "fields": "x"}, "must provide an array"),
    ],
)
def test_a_message_refuses(block: dict[str, Any], what: str) -> None:
    assert what in " ".join(faults([block]))


@pytest.mark.parametrize(
    ("view", "what"),
    [
        (modal(title=plain("x" * 25)), "must be less than 25 characters [json-pointer:/view/title"),
        (modal(submit=plain("x" * 25)), "less than 25"),
        (modal(close=plain("x" * 25)), "less than 25"),
        (modal(private_metadata="x" * 3001), "less than 3001"),
        (modal(callback_id="x" * 256), "less than 256"),
        (modal(blocks=[]), "no fewer than 1 items allowed [json-pointer:/view/blocks]"),
        (modal(*[section("x")] * 101), "no more than 100 items"),
        (modal(TABLE), "unsupported type: table [json-pointer:/view/blocks/0]"),
        (modal({**ALERT, "text": plain("x" * 201)}), "less than 201"),
        (modal({**ALERT, "level": "fatal"}), "must be one of: default, info"),
        (modal(field({"type": "button"}, "b")), "unsupported element: button"),
        (modal(field(note(max_length=3001), "n")), "must be between 1 and 3000"),
        (modal(field(note(min_length=5, max_length=4), "n")), "min_length must not be greater"),
        (modal(field(note(initial_value="x" * 3001), "n")), "less than 3001"),
        (modal(field(note(), "a"), field(note(), "a")), "block_id must be unique"),
        (modal(colour="red"), "invalid additional property: colour [json-pointer:/view]"),
        ({"type": "modal", "blocks": [section("x")]}, "missing required field: title"),
        (
            {"type": "modal", "title": plain("x"), "blocks": [field(note(), "n")]},
            "submit is required when an input block is within the blocks",
        ),
        (home(submit=plain("Go")), "invalid additional property: submit"),
        (home(ALERT), "unsupported type: alert"),
        (home(TABLE), "unsupported type: table"),
        ({"type": "workflow_step"}, "unsupported type: workflow_step [json-pointer:/view]"),
        ("view", "must provide an object"),
        ({"type": "home", "blocks": 3}, "must provide an array"),
        ({"type": "modal", "title": plain("x"), "blocks": "none"}, "must provide an array"),
    ],
)
def test_a_view_is_refused(view: Any, what: str) -> None:
    assert what in " ".join(view_faults(view))


def test_a_message_holds_one_table() -> None:
    slack = Slack()
    assert tables([TABLE, section("x"), TABLE]) == 2
    assert slack.post(blocks=[TABLE])
    answer = slack.ask("chat.postMessage", channel=CHANNEL, text="x", blocks=[TABLE, TABLE])
    assert answer["error"] == "invalid_attachments"
    assert answer["errors"] == ["only_one_table_allowed"]


def test_a_view_of_over_250_kilobytes_is_too_large() -> None:
    wide = [section("é" * 3_000) for _ in range(43)]
    assert view_faults(modal(*wide)) == []
    assert too_large(modal(*wide)) is True
    assert too_large(modal(*wide[:10])) is False
    assert limits.VIEW_BYTES == 250_000


@pytest.mark.parametrize("junk", [None, 3, [], [None], {"type": None}, {"type": ["modal"]}])
def test_junk_is_a_fault_and_never_an_exception(junk: Any) -> None:
    assert view_faults(junk)
    assert view_faults(modal(junk) if isinstance(junk, dict) else {"type": "modal", "blocks": junk})
    assert faults(junk if junk else [junk])


def test_the_path_of_a_fault_is_in_the_answer_where_slack_puts_it() -> None:
    slack = Slack()
    answer = slack.ask("chat.postMessage", channel=CHANNEL, text="x", blocks=[section("x" * 3001)])
    assert answer["response_metadata"] == {
        "messages": ["[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"]
    }
