"""The blocks of a message, a modal or a home tab, and what only their whole shows."""

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from tailhound.slack import limits
from tailhound.slack.validate.elements import (
    IMAGE,
    IN_ACTIONS,
    IN_CONTEXT,
    IN_INPUT,
    IN_SECTION,
    URL,
)
from tailhound.slack.validate.shape import (
    PLAIN,
    Check,
    Json,
    Shape,
    boolean,
    exactly_one,
    fault,
    items,
    one_of,
    string,
    text,
    typed,
    whole,
)

Surface: TypeAlias = Literal["message", "modal", "home"]

_ID: Mapping[str, Check] = {"block_id": string(limits.ID)}


def faults(blocks: Any, surface: Surface = "message", at: str = "/blocks") -> list[str]:
    """Everything that is wrong with the blocks; empty when Slack takes them there."""
    most = limits.BLOCKS_IN_MESSAGE if surface == "message" else limits.BLOCKS_IN_VIEW
    least = 0 if surface == "message" else 1
    found = items(typed(_ALLOWED[surface]), most, least=least)(at, blocks)
    return found + _twice(blocks, at) if isinstance(blocks, list) else found


def too_long(blocks: Any) -> bool:
    """Whether all blocks of a message together are over what Slack was seen to take."""
    written = json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))
    return len(written) > limits.BLOCKS_JSON_CHARACTERS


def tables(blocks: Any) -> int:
    """How many tables there are: a message may hold one."""
    return sum(isinstance(block, dict) and block.get("type") == "table" for block in blocks)


def _twice(blocks: list[Any], at: str) -> list[str]:
    ids = [block.get("block_id") for block in blocks if isinstance(block, dict)]
    named = [str(name) for name in ids if name is not None]
    return [] if len(set(named)) == len(named) else [fault(at, "block_id must be unique")]


def _text_or_fields(path: str, block: Json) -> list[str]:
    given = "text" in block or "fields" in block
    return [] if given else [fault(path, "missing required field: text or fields")]


def _actions_differ(path: str, block: Json) -> list[str]:
    elements = block.get("elements")
    inside = elements if isinstance(elements, list) else []
    ids = [element.get("action_id") for element in inside if isinstance(element, dict)]
    named = [str(name) for name in ids if name is not None]
    return [] if len(set(named)) == len(named) else [fault(path, "action_id must be unique")]


def _same_width(path: str, block: Json) -> list[str]:
    rows = block.get("rows")
    widths = {len(row) for row in rows if isinstance(row, list)} if isinstance(rows, list) else {0}
    return [] if len(widths) <= 1 else [fault(path, "rows must have the same number of cells")]


_STYLE = Shape(optional=dict.fromkeys(("bold", "italic", "strike", "code"), boolean))
_PIECE = typed(
    {
        "text": Shape(
            required={"text": string(limits.SECTION_TEXT)},
            optional={"style": _STYLE},
        ),
        "link": Shape(
            required={"url": URL},
            optional={"text": string(limits.SECTION_TEXT), "style": _STYLE, "unsafe": boolean},
        ),
        "emoji": Shape(required={"name": string(100)}),
        "date": Shape(
            required={"timestamp": whole(0, 2**40), "format": string(200)},
            optional={"fallback": string(300), "url": URL, "style": _STYLE},
        ),
    },
    "element",
)
_PIECES = items(_PIECE, 1_000)
_RICH_SECTION = Shape(required={"elements": _PIECES})
_RICH = typed(
    {
        "rich_text_section": _RICH_SECTION,
        "rich_text_quote": Shape(required={"elements": _PIECES}, optional={"border": whole(0, 1)}),
        "rich_text_preformatted": Shape(
            required={"elements": _PIECES},
            optional={"border": whole(0, 1), "language": string(50)},
        ),
        "rich_text_list": Shape(
            required={
                "style": one_of("bullet", "ordered"),
                "elements": items(typed({"rich_text_section": _RICH_SECTION}), 1_000),
            },
            optional={"indent": whole(0, 8), "offset": whole(0, 10_000), "border": whole(0, 1)},
        ),
    },
    "element",
)
_RICH_TEXT = Shape(required={"elements": items(_RICH, 1_000)}, optional=_ID)
_CELL = typed(
    {"raw_text": Shape(required={"text": string(limits.FIELD_TEXT)}), "rich_text": _RICH_TEXT},
    "cell",
)
_COLUMN = Shape(optional={"align": one_of("left", "center", "right"), "is_wrapped": boolean})

_EVERYWHERE: Mapping[str, Check] = {
    "header": Shape(required={"text": text(limits.HEADER_TEXT, PLAIN)}, optional=_ID),
    "divider": Shape(optional=_ID),
    "section": Shape(
        optional={
            **_ID,
            "text": text(limits.SECTION_TEXT),
            "fields": items(text(limits.FIELD_TEXT), limits.SECTION_FIELDS),
            "accessory": IN_SECTION,
            "expand": boolean,
        },
        also=_text_or_fields,
    ),
    "context": Shape(
        required={"elements": items(IN_CONTEXT, limits.CONTEXT_ELEMENTS)}, optional=_ID
    ),
    "actions": Shape(
        required={"elements": items(IN_ACTIONS, limits.ACTIONS_ELEMENTS)},
        optional=_ID,
        also=_actions_differ,
    ),
    "image": Shape(
        required={"alt_text": string(limits.IMAGE_ALT)},
        optional={**_ID, **IMAGE, "title": text(limits.IMAGE_TITLE, PLAIN)},
        also=exactly_one("image_url", "slack_file"),
    ),
    "rich_text": _RICH_TEXT,
}
_TABLE = Shape(
    required={"rows": items(items(_CELL, limits.TABLE_COLUMNS), limits.TABLE_ROWS)},
    optional={**_ID, "column_settings": items(_COLUMN, limits.TABLE_COLUMNS)},
    also=_same_width,
)
_INPUT = Shape(
    required={"label": text(limits.INPUT_LABEL, PLAIN), "element": IN_INPUT},
    optional={
        **_ID,
        "hint": text(limits.INPUT_LABEL, PLAIN),
        "optional": boolean,
        "dispatch_action": boolean,
    },
)
_ALERT = Shape(
    required={"text": text(limits.ALERT_TEXT)},
    optional={**_ID, "level": one_of("default", "info", "warning", "error", "success")},
)
_ALLOWED: Mapping[Surface, Mapping[str, Check]] = {
    "message": {**_EVERYWHERE, "table": _TABLE},
    "modal": {**_EVERYWHERE, "input": _INPUT, "alert": _ALERT},
    "home": {**_EVERYWHERE, "input": _INPUT},
}
