"""The message of a storm."""

from dataclasses import replace
from typing import Any

from tailhound.slack.actions import OPEN_HELD, incident_in
from tailhound.slack.buttons import Offers
from tailhound.slack.local import LocalSlack
from tailhound.slack.storm_view import storm_message
from tests.samples.incidents import STORM
from tests.samples.story import NOW, at

LIST = "https://tailhound.example/incidents"


def made(storm: Any = STORM, *, list_url: str = LIST, **more: Any) -> Any:
    """The message of a channel that takes 12 new messages in 10 minutes."""
    return storm_message(storm, list_url=list_url, now=NOW, channel_limit=(12, 600.0), **more)


def told(message: Any) -> dict[str, str]:
    """The texts by slot; the rows are `1` to `5`."""
    found = {"T": message.text}
    for block in message.blocks:
        slot = block["block_id"].partition(":")[0]
        text = block["text"]["text"] if "text" in block else block["elements"][0]["text"]
        found[slot] = text if isinstance(text, str) else text["text"]
    return {slot: text.replace("\u00a0", " ") for slot, text in found.items()}


def test_it_says_how_many_there_are_and_how_many_are_shown() -> None:
    found = told(made())
    assert found["H"] == "⏸️ 37 incidents at once: 12 shown, 25 in this message"
    assert "*This channel takes 12 new messages in 10 min.*" in found["S"]
    assert "its own message when it is critical and its cause is confirmed" in found["S"]
    assert found["F"].startswith("Since 03:02 UTC · + 20 more in the list · ")


def test_the_worst_are_a_line_each_with_state_place_and_cause() -> None:
    found = told(made())
    assert found["1"] == (
        "🎯 Cause found · `llm / chat-json` · *the CPU limit stops the engine* · high confidence"
        " · severity page · since 03:00 UTC"
    )
    assert found["2"].endswith(" · LLMDHighTTFT · severity page · since 03:00 UTC · "
                               "ben is on it since 03:04 UTC")  # fmt: skip
    assert found["3"].startswith("❔ No cause confirmed · `storage / db-1` · ")
    assert found["5"].startswith("⚖️ Two causes fit · ")


def test_the_notification_names_the_worst() -> None:
    assert told(made())["T"] == (
        "37 incidents at once. Worst: llm/chat-json, the CPU limit stops the engine, severity "
        "page. 25 of them in one message, since 03:02 UTC."
    )


def test_each_of_them_can_be_opened() -> None:
    opened = [block["accessory"] for block in made().blocks if "accessory" in block]
    assert [one["text"]["text"] for one in opened] == [
        f"Open {incident.id}" for incident in STORM.worst
    ]
    assert {one["action_id"] for one in opened} == {"open_held"}
    assert opened[0]["value"] == "8R5W:3"


def test_the_button_that_is_pressed_names_its_own_incident() -> None:
    slack = LocalSlack(lambda: 1.0)
    slack.add_channel("C0ALERTS", "alerts")
    message = made()
    posted = {"channel": "C0ALERTS", "text": message.text, "blocks": list(message.blocks)}
    ts = slack.call("chat.postMessage", slack.bot_token, posted).body["ts"]
    for block, incident in zip(message.blocks[2:7], STORM.worst, strict=True):
        row = str(block["block_id"])
        pressed = slack.press("C0ALERTS", ts, OPEN_HELD, "U0ANA", block_id=row)
        assert incident_in(pressed["actions"][0]["value"]) == incident.id


def test_where_no_click_arrives_nothing_can_be_opened() -> None:
    message = made(offers=Offers(interactive=False))
    assert not [block for block in message.blocks if "accessory" in block]
    assert "open it" not in told(message)["S"]


def test_the_list_is_a_link_where_it_has_an_address() -> None:
    assert told(made())["L"] == "All of them ↗"
    without = made(list_url="")
    assert "L" not in told(without)
    assert "+ 20 more in `tailhound incidents`" in told(without)["F"]


def test_a_storm_whose_incidents_are_over_says_so() -> None:
    over = told(made(replace(STORM, worst=())))
    assert over["S"].endswith("*None of them is open any more.*")
    assert "Worst" not in over["T"]


def test_the_ids_of_its_blocks_change_with_it() -> None:
    def first(storm: Any) -> str:
        return str(made(storm).blocks[0]["block_id"])

    assert first(STORM) == first(STORM)
    assert first(replace(STORM, held=26)) != first(STORM)
    newer = replace(STORM.worst[0], revision=99)
    assert first(replace(STORM, worst=(newer, *STORM.worst[1:]))) != first(STORM)


def test_a_storm_of_yesterday_is_dated() -> None:
    assert told(made(replace(STORM, since=at(-600))))["F"].startswith("Since 29 Nov 17:00 UTC")
