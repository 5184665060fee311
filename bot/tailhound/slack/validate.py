"""What Slack refuses in a message: types, lengths, counts, ids. Pure.

Used by the local stand-in of Slack, which answers what Slack would. It knows the block types and
elements that tailhound sends, and refuses all others.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tailhound.slack import limits

Json = Mapping[str, Any]

_LINK = re.compile(r"https?://\S+", re.IGNORECASE)


def faults(blocks: Any) -> list[str]:
    """Everything that is wrong with the blocks, as `path: what`; empty when Slack takes them."""
    if not isinstance(blocks, list):
        return ["blocks: must be a list"]
    if len(blocks) > limits.BLOCKS_IN_MESSAGE:
        return [f"blocks: no more than {limits.BLOCKS_IN_MESSAGE} items allowed"]
    found = [fault for at, block in enumerate(blocks) for fault in _block(f"/blocks/{at}", block)]
    ids = [block.get("block_id") for block in blocks if isinstance(block, dict)]
    named = [name for name in ids if name is not None]
    if len(set(map(str, named))) != len(named):
        found.append("blocks: block_id must be unique")
    return found


def too_long(blocks: Any) -> bool:
    """Whether all blocks together are over what Slack was seen to take."""
    text = json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))
    return len(text) > limits.BLOCKS_JSON_CHARACTERS


def _block(path: str, block: Any) -> list[str]:
    if not isinstance(block, dict):
        return [f"{path}: must be an object"]
    checks: Mapping[str, Callable[[str, Json], list[str]]] = {
        "header": _header,
        "section": _section,
        "context": _context,
        "actions": _actions,
        "divider": lambda path, block: _only(path, block, ()),
    }
    check = checks.get(str(block.get("type")))
    if check is None:
        return [f"{path}: unsupported type: {block.get('type')}"]
    block_id = block.get("block_id", "x")
    return _string(f"{path}/block_id", block_id, limits.ID) + check(path, block)


def _header(path: str, block: Json) -> list[str]:
    text = _text(f"{path}/text", block.get("text"), limits.HEADER_TEXT, ("plain_text",))
    return _only(path, block, ("text",)) + text


def _section(path: str, block: Json) -> list[str]:
    found = _only(path, block, ("text", "fields", "expand"))
    if "text" not in block and "fields" not in block:
        return [*found, f"{path}: missing text or fields"]
    if "text" in block:
        found += _text(f"{path}/text", block["text"], limits.SECTION_TEXT)
    fields = block.get("fields", [])
    if not isinstance(fields, list) or len(fields) > limits.SECTION_FIELDS:
        return [*found, f"{path}/fields: at most {limits.SECTION_FIELDS}"]
    for at, item in enumerate(fields):
        found += _text(f"{path}/fields/{at}", item, limits.FIELD_TEXT)
    if not isinstance(block.get("expand", False), bool):
        found.append(f"{path}/expand: must be true or false")
    return found


def _context(path: str, block: Json) -> list[str]:
    elements = block.get("elements")
    found = _count(f"{path}/elements", elements, limits.CONTEXT_ELEMENTS)
    for at, item in enumerate(elements if isinstance(elements, list) else ()):
        found += _text(f"{path}/elements/{at}", item, limits.SECTION_TEXT)
    return _only(path, block, ("elements",)) + found


def _actions(path: str, block: Json) -> list[str]:
    elements = block.get("elements")
    found = _count(f"{path}/elements", elements, limits.ACTIONS_ELEMENTS)
    names = []
    for at, item in enumerate(elements if isinstance(elements, list) else ()):
        found += _button(f"{path}/elements/{at}", item)
        names.append(item.get("action_id") if isinstance(item, dict) else None)
    if len(set(map(str, names))) != len(names):
        found.append(f"{path}: action_id must be unique")
    return _only(path, block, ("elements",)) + found


def _button(path: str, item: Any) -> list[str]:
    if not isinstance(item, dict) or item.get("type") != "button":
        return [f"{path}: unsupported element"]
    known = ("text", "action_id", "value", "url", "style", "accessibility_label", "confirm")
    found = _only(path, item, known)
    found += _text(f"{path}/text", item.get("text"), limits.BUTTON_TEXT, ("plain_text",))
    found += _string(f"{path}/action_id", item.get("action_id", "x"), limits.ID)
    if "value" in item:
        found += _string(f"{path}/value", item["value"], limits.BUTTON_VALUE)
    if "url" in item:
        found += _string(f"{path}/url", item["url"], limits.URL)
        if not _LINK.fullmatch(str(item["url"])):
            found.append(f"{path}/url: must be a valid URL")
    if item.get("style", "primary") not in ("primary", "danger"):
        found.append(f"{path}/style: must be primary or danger")
    return found


def _text(
    path: str, text: Any, limit: int, kinds: Sequence[str] = ("plain_text", "mrkdwn")
) -> list[str]:
    if not isinstance(text, dict) or text.get("type") not in kinds:
        return [f"{path}: must be {' or '.join(kinds)}"]
    if text["type"] == "mrkdwn":
        return _only(path, text, ("text", "verbatim")) + _string(path, text.get("text"), limit)
    return _only(path, text, ("text", "emoji")) + _string(path, text.get("text"), limit)


def _string(path: str, text: Any, limit: int) -> list[str]:
    if not isinstance(text, str):
        return [f"{path}: must be a string"]
    if not text:
        return [f"{path}: must be more than 0 characters"]
    return [f"{path}: must be less than {limit + 1} characters"] if len(text) > limit else []


def _count(path: str, items: Any, limit: int) -> list[str]:
    if not isinstance(items, list) or not items:
        return [f"{path}: must hold at least one item"]
    return [f"{path}: no more than {limit} items allowed"] if len(items) > limit else []


def _only(path: str, thing: Json, known: Sequence[str]) -> list[str]:
    extra = sorted(set(thing) - {"type", "block_id", *known})
    return [f"{path}: {key} is not a valid key" for key in extra]
