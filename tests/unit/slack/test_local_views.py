"""Modals and home tabs in the local stand-in: who may open one, what a person can send."""

import json
from typing import Any

import pytest

from tailhound.slack.local import NotFilled, Refused
from tests.unit.slack.local_world import (
    ANA,
    BEN,
    CHANNEL,
    Slack,
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

SILENCE = modal(
    field(radio("group", "workload"), "what", dispatch_action=True),
    field(
        menu(
            "30",
            "120",
            initial_option={"text": {"type": "plain_text", "text": "120"}, "value": "120"},
        ),
        "how_long",
    ),
    field(note(max_length=20), "note", optional=True),
    callback_id="silence",
    private_metadata="8R5W:3",
)


class Desk:
    """Ana has pressed a button of a message."""

    def __init__(self) -> None:
        self.slack = Slack()
        ts = self.slack.post(blocks=[row(button(value="8R5W:3"))])
        self.click = self.slack.core.press(CHANNEL, ts, "go", ANA)

    @property
    def trigger(self) -> str:
        return str(self.click["trigger_id"])

    def open(self, view: Any = SILENCE, trigger: str = "") -> Any:
        return self.slack.ask("views.open", trigger_id=trigger or self.trigger, view=view)

    def top(self) -> Any:
        """What Ana sees: the title of the topmost modal."""
        view = self.slack.core.modal(ANA)
        return view.body["title"]["text"] if view else None


@pytest.fixture
def desk() -> Desk:
    return Desk()


def titled(title: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return modal(*blocks, title={"type": "plain_text", "text": title}, **more)


def test_a_click_says_who_pressed_what_where(desk: Desk) -> None:
    assert desk.click["type"] == "block_actions"
    assert desk.click["user"]["id"] == ANA
    assert desk.click["channel"] == {"id": CHANNEL, "name": "alerts"}
    assert [(a["action_id"], a["value"]) for a in desk.click["actions"]] == [("go", "8R5W:3")]
    assert desk.click["response_url"].startswith("https://hooks.example/response/")
    assert ANA in desk.slack.core.channels[CHANNEL].members


def test_a_view_is_opened_for_who_clicked(desk: Desk) -> None:
    answer = desk.open(json.dumps(SILENCE))
    assert answer["ok"] is True
    view = answer["view"]
    assert view["callback_id"] == "silence"
    assert view["private_metadata"] == "8R5W:3"
    assert view["root_view_id"] == view["id"]
    assert view["state"]["values"]["how_long"]["hours"]["selected_option"]["value"] == "120"
    assert desk.top() == "Silence"
    assert desk.slack.core.modal(BEN) is None


def test_a_trigger_is_good_once_and_for_three_seconds(desk: Desk) -> None:
    assert desk.open()["ok"] is True
    assert desk.open()["error"] == "exchanged_trigger_id"
    late = Desk()
    late.slack.later(3.1)
    assert late.open()["error"] == "expired_trigger_id"
    slow = Desk()
    slow.slack.core.expire_triggers()
    assert slow.open()["error"] == "expired_trigger_id"
    assert desk.open(trigger="1.2.3")["error"] == "invalid_trigger_id"


def test_a_view_that_is_wrong_does_not_use_the_trigger_up(desk: Desk) -> None:
    answer = desk.open(titled("x" * 25))
    assert answer["error"] == "invalid_arguments"
    assert answer["response_metadata"]["messages"] == [
        "[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"
    ]
    assert desk.open(home())["errors"] == ["must be modal [json-pointer:/view/type]"]
    assert desk.open("{")["error"] == "invalid_arguments"
    assert desk.open(modal(*[section("é" * 3_000)] * 43))["error"] == "view_too_large"
    assert desk.open()["ok"] is True


def test_an_edit_of_a_view_keeps_what_was_put_in(desk: Desk) -> None:
    view = desk.open()["view"]
    desk.slack.core.use(ANA, "note", "false alarm")
    shown = modal(*SILENCE["blocks"], section("Mutes now: 3"))
    answer = desk.slack.ask("views.update", view_id=view["id"], view=shown, hash=view["hash"])
    assert answer["ok"] is True
    assert answer["view"]["hash"] != view["hash"]
    assert answer["view"]["state"]["values"]["note"]["note"]["value"] == "false alarm"


def test_an_edit_of_an_older_state_is_refused(desk: Desk) -> None:
    view = desk.open(modal(section("Asking…"), external_id="silence-8R5W"))["view"]
    edit = {"external_id": "silence-8R5W", "view": modal(external_id="silence-8R5W")}
    assert desk.slack.error("views.update", hash=view["hash"], **edit) == ""
    assert desk.slack.error("views.update", hash=view["hash"], **edit) == "hash_conflict"
    assert desk.slack.error("views.update", **edit) == ""
    assert desk.slack.error("views.update", view_id="V1", view=modal()) == "not_found"


def test_an_external_id_names_one_open_view(desk: Desk) -> None:
    assert desk.open(modal(external_id="x"))["ok"] is True
    other = desk.slack.core.command("silence", CHANNEL, BEN)["trigger_id"]
    assert desk.open(modal(external_id="x"), other)["error"] == "duplicate_external_id"


def test_three_views_lie_on_each_other_and_no_fourth(desk: Desk) -> None:
    slack = desk.slack
    first = desk.open(titled("1", row(button())))["view"]
    for number in ("2", "3"):
        click = slack.core.use(ANA, "go")
        assert click is not None
        view = titled(number, row(button()))
        answer = slack.ask("views.push", trigger_id=click["trigger_id"], view=view)
        assert answer["ok"] is True
        assert answer["view"]["root_view_id"] == first["id"]
    assert desk.top() == "3"
    click = slack.core.use(ANA, "go")
    assert click is not None
    fourth = {"trigger_id": click["trigger_id"], "view": titled("4")}
    assert slack.error("views.push", **fourth) == "push_limit_reached"
    slack.core.close(ANA)
    assert desk.top() == "2"
    slack.core.close(ANA, everything=True)
    assert desk.top() is None


def test_nothing_can_be_pushed_where_no_view_is(desk: Desk) -> None:
    assert desk.slack.error("views.push", trigger_id=desk.trigger, view=modal()) == "not_found"


def test_the_app_hears_of_a_choice_only_where_it_asked_to(desk: Desk) -> None:
    desk.open()
    told = desk.slack.core.use(ANA, "which", "workload")
    assert told is not None
    assert told["container"]["type"] == "view"
    assert told["actions"][0]["selected_option"]["value"] == "workload"
    assert (
        told["view"]["state"]["values"]["what"]["which"]["selected_option"]["value"] == "workload"
    )
    assert "response_url" not in told
    assert desk.slack.core.use(ANA, "note", "x") is None


def test_a_form_is_sent_with_its_values(desk: Desk) -> None:
    desk.open()
    desk.slack.core.use(ANA, "which", "group")
    payload = desk.slack.core.submit(ANA)
    assert payload["type"] == "view_submission"
    assert payload["view"]["private_metadata"] == "8R5W:3"
    values = payload["view"]["state"]["values"]
    assert values["what"]["which"]["selected_option"]["value"] == "group"
    assert values["how_long"]["hours"]["selected_option"]["value"] == "120"
    assert values["note"]["note"]["value"] is None


def test_a_form_that_is_not_complete_never_reaches_the_app(desk: Desk) -> None:
    desk.open()
    with pytest.raises(NotFilled, match="what: Please complete this required field"):
        desk.slack.core.submit(ANA)
    desk.slack.core.use(ANA, "which", "group")
    desk.slack.core.use(ANA, "note", "x" * 21)
    with pytest.raises(NotFilled, match="note: Please use at most 20 characters"):
        desk.slack.core.submit(ANA)
    short = Desk()
    short.open(modal(field(note(min_length=3), "why")))
    short.slack.core.use(ANA, "note", "ab")
    with pytest.raises(NotFilled, match="at least 3"):
        short.slack.core.submit(ANA)


def test_nobody_can_put_in_what_the_form_does_not_offer(desk: Desk) -> None:
    desk.open()
    with pytest.raises(LookupError, match="offers no 'everything'"):
        desk.slack.core.use(ANA, "which", "everything")
    with pytest.raises(LookupError, match="nothing here has the action id 'colour'"):
        desk.slack.core.use(ANA, "colour", "red")
    with pytest.raises(LookupError, match="takes one value"):
        desk.slack.core.use(ANA, "which", ["group", "workload"])
    with pytest.raises(LookupError, match="no modal open"):
        desk.slack.core.submit(BEN)
    with pytest.raises(LookupError, match="say what is put in"):
        desk.slack.core.use(ANA, "which")


def test_a_view_without_submit_has_nothing_to_send(desk: Desk) -> None:
    view = modal()
    del view["submit"]
    desk.open(view)
    with pytest.raises(LookupError, match="nothing to submit"):
        desk.slack.core.submit(ANA)


def sent(desk: Desk) -> Any:
    """The payload of the form, filled in."""
    desk.open()
    desk.slack.core.use(ANA, "which", "group")
    return desk.slack.core.submit(ANA)


def test_an_empty_answer_closes_the_form(desk: Desk) -> None:
    assert desk.slack.core.submitted(sent(desk), {}) == {}
    assert desk.top() is None


def test_errors_stay_in_the_form(desk: Desk) -> None:
    answer = {"response_action": "errors", "errors": {"note": "no secrets, please"}}
    assert desk.slack.core.submitted(sent(desk), answer) == {"note": "no secrets, please"}
    assert desk.top() == "Silence"


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "errors", "errors": {}},
        {"response_action": "errors", "errors": {"elsewhere": "x"}},
        {"response_action": "errors", "errors": {"note": ""}},
        {"response_action": "errors"},
        {"response_action": "explode"},
        {"response_action": "update", "view": {"type": "modal"}},
        {"response_action": "update"},
    ],
)
def test_an_answer_that_makes_no_sense_is_refused(desk: Desk, answer: dict[str, Any]) -> None:
    payload = sent(desk)
    with pytest.raises(Refused):
        desk.slack.core.submitted(payload, answer)


def test_an_answer_may_show_another_view_or_one_on_top_or_close_all(desk: Desk) -> None:
    core = desk.slack.core
    payload = sent(desk)
    core.submitted(payload, {"response_action": "update", "view": titled("Done", row(button()))})
    assert desk.top() == "Done"
    core.submitted(payload, {"response_action": "push", "view": titled("More")})
    assert desk.top() == "More"
    core.submitted(payload, {"response_action": "clear"})
    assert desk.top() is None


def test_the_app_hears_of_a_closed_view_only_where_it_asked_to(desk: Desk) -> None:
    desk.open(modal(notify_on_close=True))
    closed = desk.slack.core.close(ANA)
    assert closed is not None
    assert (closed["type"], closed["is_cleared"]) == ("view_closed", False)
    quiet = Desk()
    quiet.open()
    assert quiet.slack.core.close(ANA) is None


def test_a_home_tab_is_published_for_one_person(desk: Desk) -> None:
    slack = desk.slack
    opened = slack.core.home_opened(ANA)
    assert opened["event"]["type"] == "app_home_opened"
    assert "view" not in opened["event"]
    first = slack.ask("views.publish", user_id=ANA, view=home(row(button())))["view"]
    again = slack.ask("views.publish", user_id=ANA, view=home(), hash=first["hash"])["view"]
    assert again["id"] == first["id"]
    stale = {"user_id": ANA, "view": home(), "hash": first["hash"]}
    assert slack.error("views.publish", **stale) == "hash_conflict"
    assert slack.core.home_opened(ANA)["event"]["view"]["hash"] == again["hash"]
    assert slack.core.home(BEN) is None


def test_a_button_of_the_home_tab_can_open_a_modal(desk: Desk) -> None:
    slack = desk.slack
    slack.ask("views.publish", user_id=ANA, view=home(row(button())))
    click = slack.core.use(ANA, "go", home=True)
    assert click is not None
    assert slack.error("views.open", trigger_id=click["trigger_id"], view=modal()) == ""


def test_a_home_tab_that_is_switched_off_or_of_nobody_is_refused(desk: Desk) -> None:
    slack = desk.slack
    assert slack.error("views.publish", user_id="U0NOBODY", view=home()) == "user_not_found"
    slack.core.world.home_enabled = False
    assert slack.error("views.publish", user_id=ANA, view=home()) == "not_enabled"


def test_a_command_carries_a_trigger_and_a_place_for_answers(desk: Desk) -> None:
    payload = desk.slack.core.command("silence 7F3K", CHANNEL, BEN)
    assert (payload["command"], payload["text"]) == ("/tailhound", "silence 7F3K")
    assert desk.open(trigger=payload["trigger_id"])["ok"] is True
    assert desk.slack.core.modal(BEN) is not None
    answer = {"text": "Opened.", "response_type": "ephemeral"}
    assert desk.slack.core.acknowledged(payload, answer).body["ok"] is True
    assert desk.slack.core.channels[CHANNEL].whispers[-1]["text"] == "Opened."
    assert desk.slack.core.acknowledged(payload, {}).body["ok"] is True
