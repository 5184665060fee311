"""The mock-ups built as Block Kit, and our messages against them, slot by slot and word by word.

Each incident of `samples.mocked` has the facts of one mock-up, so our message has to be the
mock-up's, except where it differs on purpose: each difference is told here with its reason.
"""

import json
import re
from collections.abc import Mapping

import pytest

from tailhound.model.names import capital, cause_name
from tailhound.slack import thread, validate
from tailhound.slack.blocks import AT_ONCE, SlackMessage, lines, message
from tailhound.slack.buttons import Offers
from tailhound.slack.limits import BUDGETS, OUR_BLOCKS, OUR_BYTES, PHONE_LINES
from tests.samples.incidents import CONFIRMED
from tests.samples.mocked import LIKE, MOCKED
from tests.samples.story import NOW
from tests.unit.slack import mockup
from tests.unit.slack.mockup import ORDER, PAGE, Slots, labels
from tests.unit.slack.mockup_differences import EVERYWHERE, EVIDENCE, HERE

STATES = mockup.states()
POSTS = mockup.thread()
LINKED = re.compile(r"<https?://[^|>]+\|([^>]*)>")
OF_CHANGES = frozenset({"withheld", "waiting", "applying", "verified", "undone", "unclear"})
"""Mock-ups of changes: a version that only suggests has none of these states."""


def shown(name: str) -> dict[str, str]:
    """Our message about a mock-up's incident as slot -> text, written as in a mock-up."""
    incident, now = MOCKED[name]
    can = Offers(can_silence=True)
    made = message(incident, page_url=PAGE, now=now, offers=can, like=LIKE.get(name))
    return {"T": _plain(made.text, now.timestamp())} | {
        block["block_id"][0]: _plain(_text(block), now.timestamp()) for block in made.blocks
    }


def _text(block: Mapping[str, object]) -> str:
    found: object = block.get("text") or block.get("elements")
    if isinstance(found, Mapping):
        return str(found["text"])
    assert isinstance(found, list)
    if block["type"] == "context":
        return str(found[0]["text"])
    return " ".join(f"[{one['text']['text']}]" for one in found)


def _plain(text: str, now: float) -> str:
    """A text as people read it at a moment."""
    for token, plain in (("\u00a0", " "), ("&gt;", ">"), ("&lt;", "<"), ("&amp;", "&")):
        text = text.replace(token, plain)
    return mockup.read(LINKED.sub(r"\1", text), now)


def wanted(name: str) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """A mock-up with our differences in it, and which of those of this state were in no text."""
    told: dict[str, str] = {}
    unused = {(slot, one.mock) for slot, some in HERE.get(name, {}).items() for one in some}
    for slot, text in {**dict.fromkeys(HERE.get(name, {}), ""), **STATES[name]}.items():
        plain = " ".join(f"[{label}]" for label in labels(text)) if slot in "AL" else text
        for one in HERE.get(name, {}).get(slot, ()):
            if one.mock in plain:
                unused.discard((slot, one.mock))
                plain = plain.replace(one.mock, one.ours)
        for one in EVERYWHERE.get(slot, ()):
            plain = plain.replace(one.mock, one.ours)
        told[slot] = plain
    return {slot: text for slot, text in told.items() if text}, unused


# --- the mock-ups themselves


def test_the_file_holds_each_state_that_is_shown() -> None:
    assert set(MOCKED) | OF_CHANGES == set(STATES)
    assert not set(MOCKED) & OF_CHANGES
    assert set(HERE) <= set(MOCKED)


@pytest.mark.parametrize("name", STATES)
def test_a_mockup_is_a_message_that_slack_takes(name: str) -> None:
    made = mockup.built(STATES[name])
    assert validate.faults(list(made.blocks)) == []
    assert 6 <= len(made.blocks) <= OUR_BLOCKS
    assert made.bytes <= 3_368
    assert made.bytes <= OUR_BYTES
    assert [block["block_id"] for block in made.blocks] == [s for s in ORDER if s in STATES[name]]


@pytest.mark.parametrize("name", STATES)
def test_a_mockup_keeps_the_budgets_and_the_measured_sizes(name: str) -> None:
    slots = STATES[name]
    for slot, text in slots.items():
        if slot in BUDGETS:
            assert len(text) <= BUDGETS[slot], slot
    assert 90 <= len(slots["T"]) <= 136
    assert max(len(slots.get(slot, "")) for slot in "SWDEN") <= 378


def height(slots: Slots) -> int:
    """Lines of 40 characters down to row A; the header and each button are one."""
    drawn = sum(lines(mockup.mrkdwn(slots[slot])) for slot in "SWD" if slot in slots)
    return 1 + drawn + len(labels(slots.get("A", "")))


def test_what_matters_of_the_mockups_takes_10_to_26_lines_of_a_phone() -> None:
    heights = {name: height(slots) for name, slots in STATES.items()}
    assert (min(heights.values()), max(heights.values())) == (10, 26)
    assert max(heights.values()) == PHONE_LINES


@pytest.mark.parametrize("name", POSTS)
def test_a_post_of_the_thread_is_one_that_slack_takes(name: str) -> None:
    made = mockup.posted(POSTS[name])
    assert validate.faults(list(made.blocks)) == []
    assert made.bytes <= OUR_BYTES
    assert len(made.text) <= thread.TEXT


# --- our messages


@pytest.mark.parametrize("name", MOCKED)
def test_a_message_is_its_mockup_except_where_it_differs_on_purpose(name: str) -> None:
    ours, (mock, unused) = shown(name), wanted(name)
    assert list(ours) == ["T", *(slot for slot in ORDER if slot in ours)]
    assert {slot: ours.get(slot) for slot in mock} == mock
    assert set(ours) == set(mock)
    assert unused == set(), "a difference that is none any more"


@pytest.mark.parametrize("name", MOCKED)
def test_a_message_is_no_longer_on_a_phone_than_the_mockups_may_be(name: str) -> None:
    assert height(shown(name)) <= PHONE_LINES


@pytest.mark.parametrize("name", ["confirmed", "competing", "unknown", "revised", "proposed"])
def test_the_value_stands_where_a_notification_shows_it(name: str) -> None:
    symptom = MOCKED[name][0].diagnosis
    assert symptom is not None
    value = shown(name)["S"].partition("*,")[0].rpartition(" ")[0].rpartition(" ")[2]
    assert value in shown(name)["T"][:AT_ONCE]


def test_every_difference_has_a_reason() -> None:
    for some in (*EVERYWHERE.values(), *(one for slots in HERE.values() for one in slots.values())):
        for one in some:
            assert len(one.why) > 20, one
            assert one.mock != one.ours


# --- our posts in the thread


def cells(made: SlackMessage) -> list[list[str]]:
    """The rows of a post's table."""
    return [[cell["text"] for cell in row] for row in made.blocks[1]["rows"]]


def test_the_timeline_begins_as_in_its_mockup() -> None:
    mock = dict(POSTS["timeline"])
    ours = thread.timeline(CONFIRMED, NOW)[0]
    assert ours.text == mock["T"]
    told = ours.blocks[0]["text"]["text"].splitlines()
    assert told[0] == mock["S"].splitlines()[0]
    for line in told[1:]:
        assert line[2] == ":", "each line begins with its clock"


def test_the_table_of_evidence_has_the_columns_and_marks_of_its_mockup() -> None:
    mock = [text.split(" / ") for slot, text in POSTS["evidence"] if slot == "B"]
    found = [[cell.replace("\u00a0", " ") for cell in row] for row in cells(
        thread.evidence(CONFIRMED, NOW)[0]
    )]  # fmt: skip
    assert (mock[0], found[0]) == (EVIDENCE.mock.split(" / "), EVIDENCE.ours.split(" / "))
    quarter = next(row for row in found if "Stopped in more than a quarter" in row[0])
    claim, seen, bound, says = mock[1]
    assert quarter == [f"✓ {claim}", f"{seen} (needs {bound})"]
    cause = next(row for row in reversed(found[: found.index(quarter)]) if row[0][1:2] != " ")
    assert cause == [capital(cause_name(says.removeprefix("✓ "))), "confirmed"]


def test_the_text_of_the_evidence_is_that_of_its_mockup() -> None:
    told = json.dumps(thread.evidence(CONFIRMED, NOW)[0].blocks[0], ensure_ascii=False)
    for phrase in ("*Evidence*: ", " claims of ", " and raw values are in the file."):
        assert phrase in dict(POSTS["evidence"])["S"]
        assert phrase in told
