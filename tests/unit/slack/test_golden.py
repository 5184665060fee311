"""Each state's message, kept as a file: `TAILHOUND_UPDATE_GOLDEN=1` writes them anew."""

import json
import os
from pathlib import Path

import pytest

from tailhound.slack.blocks import SlackMessage, message
from tests.samples.incidents import STATES
from tests.samples.story import NOW

GOLDEN = Path(__file__).parents[2] / "golden" / "slack"
PAGE = "https://tailhound.example/incidents/8R5W"


def written(shown: SlackMessage) -> str:
    """A message as people can read it in a review."""
    whole = {"text": shown.text, "blocks": shown.blocks}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


@pytest.mark.parametrize("state", STATES)
def test_the_message_of_a_state_is_the_one_on_file(state: str) -> None:
    text = written(message(STATES[state], page_url=PAGE, now=NOW))
    path = GOLDEN / f"{state}.json"
    if os.environ.get("TAILHOUND_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_no_file_is_left_over_from_a_state_that_is_gone() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(STATES)
