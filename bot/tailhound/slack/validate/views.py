"""Modals and home tabs."""

import json
from typing import Any

from tailhound.slack import limits
from tailhound.slack.validate.blocks import faults
from tailhound.slack.validate.shape import (
    PLAIN,
    Check,
    Json,
    Shape,
    boolean,
    fault,
    string,
    text,
    typed,
)


def view_faults(view: Any) -> list[str]:
    """Everything that is wrong with a view; empty when Slack takes it."""
    return typed({"modal": _MODAL, "home": _HOME})("/view", view)


def too_large(view: Any) -> bool:
    """Whether a view is over what Slack takes as a whole, in bytes of its JSON."""
    written = json.dumps(view, ensure_ascii=False, separators=(",", ":"))
    return len(written.encode()) > limits.VIEW_BYTES


def _submit_for_inputs(path: str, view: Json) -> list[str]:
    blocks = view.get("blocks")
    inside = blocks if isinstance(blocks, list) else []
    kinds = [block.get("type") for block in inside if isinstance(block, dict)]
    if "submit" in view or "input" not in kinds:
        return []
    return [fault(f"{path}/submit", "submit is required when an input block is within the blocks")]


def _in_modal(path: str, blocks: Any) -> list[str]:
    return faults(blocks, "modal", path)


def _in_home(path: str, blocks: Any) -> list[str]:
    return faults(blocks, "home", path)


_COMMON: dict[str, Check] = {
    "private_metadata": string(limits.PRIVATE_METADATA, least=0),
    "callback_id": string(limits.ID, least=0),
    "external_id": string(limits.ID, least=0),
}
_MODAL = Shape(
    required={"title": text(limits.VIEW_TITLE, PLAIN), "blocks": _in_modal},
    optional={
        **_COMMON,
        "submit": text(limits.VIEW_BUTTON, PLAIN),
        "close": text(limits.VIEW_BUTTON, PLAIN),
        "clear_on_close": boolean,
        "notify_on_close": boolean,
        "submit_disabled": boolean,
    },
    also=_submit_for_inputs,
)
_HOME = Shape(required={"blocks": _in_home}, optional=_COMMON)
