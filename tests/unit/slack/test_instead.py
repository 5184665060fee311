"""A message in another channel than its own says which one that is."""

import json

from tailhound.slack.blocks import SlackMessage, message
from tailhound.slack.instead import in_place_of
from tailhound.slack.limits import BLOCKS_IN_MESSAGE, BLOCKS_JSON_CHARACTERS
from tests.samples.incidents import CONFIRMED, EVERY_FIELD
from tests.samples.story import NOW


def test_the_channel_stands_below_the_head_and_in_the_text() -> None:
    shown = message(CONFIRMED, page_url="", now=NOW)
    told = in_place_of(shown, ["C0ALERTS"])
    head, line, *rest = told.blocks
    assert head == shown.blocks[0]
    assert tuple(rest) == shown.blocks[1:]
    assert line["elements"][0]["text"] == "For <#C0ALERTS>, where Slack refuses messages"
    assert told.text.startswith(shown.text)
    assert told.text.endswith("For C0ALERTS, where Slack refuses messages.")


def test_its_block_has_an_id_of_its_own_that_changes_as_the_others_do() -> None:
    ids = [
        block["block_id"]
        for block in in_place_of(message(CONFIRMED, page_url="", now=NOW), ["C1"]).blocks
    ]
    assert len(set(ids)) == len(ids)
    assert len({id.partition(":")[2] for id in ids}) == 1


def test_the_largest_message_still_fits() -> None:
    shown = in_place_of(message(EVERY_FIELD, page_url="", now=NOW), [f"C{n:09}" for n in range(50)])
    assert len(shown.blocks) <= BLOCKS_IN_MESSAGE
    assert len(json.dumps(shown.blocks)) <= BLOCKS_JSON_CHARACTERS
    assert "+" not in shown.text.rpartition("For ")[2]
    assert "47 more channels" in shown.text


def test_a_message_in_its_own_channel_stays_as_it_is() -> None:
    shown = message(CONFIRMED, page_url="", now=NOW)
    assert in_place_of(shown, ()) is shown
    plain = SlackMessage(text="Cause found", blocks=())
    assert in_place_of(plain, ["C1"]).blocks == ()
    assert "For C1" in in_place_of(plain, ["C1"]).text
