"""Slack's limits, and our own budgets below them. Slack counts characters unless it says bytes.

The numbers of Slack are its documentation's and its SDK's; the limit over all blocks of a message
is not documented, it was observed.
"""

from collections.abc import Mapping
from typing import Final

MESSAGE_TEXT: Final = 40_000
"""Slack cuts a longer text without a word; the stand-in refuses it, so that nothing is ever cut."""

UPDATED_TEXT: Final = 4_000
"""`chat.update` refuses what `chat.postMessage` still takes."""

BLOCKS_IN_MESSAGE: Final = 50
BLOCKS_IN_VIEW: Final = 100
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
CONFIRM_TITLE: Final = 100
CONFIRM_TEXT: Final = 300
CONFIRM_BUTTON: Final = 30
SELECT_OPTIONS: Final = 100
SELECT_GROUPS: Final = 100
OPTION_TEXT: Final = 75
OPTION_VALUE: Final = 150
OVERFLOW_OPTIONS: Final = 5
CHOICES: Final = 10
"""Options of radio buttons and of check boxes."""

PLACEHOLDER: Final = 150
INPUT_LABEL: Final = 2_000
INPUT_TEXT: Final = 3_000
IMAGE_ALT: Final = 2_000
IMAGE_TITLE: Final = 2_000
TABLE_ROWS: Final = 100
TABLE_COLUMNS: Final = 20
ALERT_TEXT: Final = 200
VIEW_TITLE: Final = 24
VIEW_BUTTON: Final = 24
PRIVATE_METADATA: Final = 3_000
VIEW_BYTES: Final = 250_000
VIEWS_STACKED: Final = 3
FILE_ALT: Final = 1_000
SNIPPET_BYTES: Final = 1_000_000

TRIGGER_SECONDS: Final = 3.0
"""How long after a click a view may be opened, once."""

RESPONSE_SECONDS: Final = 1_800.0
RESPONSES: Final = 5
"""How long, and how often, the `response_url` of a click takes an answer."""

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

SYMPTOM_LINES: Final = 8
TODO_LINES: Final = 5
"""Of those, what the symptom takes at most, and what the verdict leaves for what to do."""
