"""Each state's message, kept as a file: `TAILHOUND_UPDATE_GOLDEN=1` writes them anew."""

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from tailhound.slack.blocks import SlackMessage, message
from tailhound.slack.buttons import Offers
from tailhound.slack.storm_view import storm_message
from tests.samples.incidents import STATES, STORM, WITH_PEOPLE
from tests.samples.story import NOW

GOLDEN = Path(__file__).parents[2] / "golden" / "slack"
PAGE = "https://tailhound.example/incidents/8R5W"
LIST = "https://tailhound.example/incidents"
DRAWN = {
    name: message(incident, page_url=PAGE, now=NOW, offers=Offers(can_silence=True))
    for name, incident in {**STATES, **WITH_PEOPLE}.items()
} | {
    "storm": storm_message(STORM, list_url=LIST, now=NOW, channel_limit=(12, 600.0)),
    "called-late": message(
        STATES["first"],
        page_url=PAGE,
        now=NOW,
        mention="S0ONCALL",
        posted_at=(STATES["first"].received_at + timedelta(minutes=4, seconds=30)).timestamp(),
    ),
    "no-clicks": message(
        STATES["confirmed"], page_url=PAGE, now=NOW, offers=Offers(interactive=False)
    ),
}
"""A message for every state, and for what a place adds to it or lacks."""


def written(shown: SlackMessage) -> str:
    """A message as people can read it in a review."""
    whole = {"text": shown.text, "blocks": shown.blocks}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


@pytest.mark.parametrize("state", DRAWN)
def test_the_message_of_a_state_is_the_one_on_file(state: str) -> None:
    text = written(DRAWN[state])
    path = GOLDEN / f"{state}.json"
    if os.environ.get("TAILHOUND_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_no_file_is_left_over_from_a_state_that_is_gone() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(DRAWN)
