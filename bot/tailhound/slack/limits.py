"""Slack's limits, and our own budgets below them. Slack counts characters unless it says bytes.

The numbers of Slack are its documentation's and its SDK's; the limit over all blocks of a message
is not documented, it was observed.
"""

from collections.abc import Mapping
from typing import Final

MESSAGE_TEXT: Final = 40_000
BLOCKS_IN_MESSAGE: Final = 50
BLOCKS_JSON_CHARACTERS: Final = 13_200
SECTION_TEXT: Final = 3_000
SECTION_FIELDS: Final = 10
FIELD_TEXT: Final = 2_000
HEADER_TEXT: Final = 150
CONTEXT_ELEMENTS: Final = 10
ACTIONS_ELEMENTS: Final = 25
BUTTON_TEXT: Final = 75
BUTTON_VALUE: Final = 2_000
URL: Final = 3_000
ID: Final = 255

OUR_BLOCKS: Final = 9
OUR_BYTES: Final = 12_000
"""The hard stop: UTF-8 bytes of a message's blocks as JSON."""

BUDGETS: Final[Mapping[str, int]] = {
    "T": 250,
    "H": 90,
    "S": 400,
    "W": 1_000,
    "D": 700,
    "E": 1_600,
    "N": 900,
    "F": 300,
}
"""Characters of each slot after escaping."""

SHORTER: Final = (("N", 450), ("N", 160), ("E", 800), ("E", 320), ("D", 350), ("D", 160))
"""What is shortened, step by step, while a message is over the hard stop; never H, S, W."""

PHONE_LINES: Final = 26
PHONE_WIDTH: Final = 40
"""Head, symptom, verdict and what to do should fit on a phone: so many lines of so many letters."""
