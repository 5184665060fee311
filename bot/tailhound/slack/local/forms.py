"""What a person puts into a view: choices and texts, as Slack's client takes them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tailhound.slack import limits
from tailhound.slack.validate.elements import options_of

Json: TypeAlias = Mapping[str, Any]
Put: TypeAlias = str | Sequence[str]
"""A text, the value of an option, a user's id; several values where several may be chosen."""

_ONE = ("static_select", "radio_buttons", "overflow")
_MANY = ("checkboxes", "multi_static_select")


class NotFilled(Exception):
    """The form can't be sent: what is wrong, by block id. The app is not asked."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{block}: {error}" for block, error in errors.items()))
        self.errors = dict(errors)


def elements_of(blocks: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    """Each block with each of its elements that a person can use."""
    for block in blocks:
        inside = [*(block.get("elements") or ()), block.get("element"), block.get("accessory")]
        for element in inside:
            if isinstance(element, dict) and "action_id" in element:
                yield block, element


def found(blocks: Sequence[Json], action_id: str, block_id: str = "") -> tuple[Json, Json]:
    """The element with this action id; LookupError where there is none."""
    for block, element in elements_of(blocks):
        if element["action_id"] == action_id and block_id in ("", block.get("block_id")):
            return block, element
    raise LookupError(f"nothing here has the action id {action_id!r}")


def preset(body: Json) -> dict[str, dict[str, Any]]:
    """The state of a view that nobody has touched yet."""
    state: dict[str, dict[str, Any]] = {}
    for block, element in elements_of(body["blocks"]):
        if element["type"] != "button":
            state.setdefault(str(block["block_id"]), {})[element["action_id"]] = _initial(element)
    return state


def _initial(element: Json) -> dict[str, Any]:
    kind = element["type"]
    if kind == "plain_text_input":
        return {"type": kind, "value": element.get("initial_value") or None}
    if kind in _MANY:
        return {"type": kind, "selected_options": list(element.get("initial_options", ()))}
    if kind == "users_select":
        return {"type": kind, "selected_user": element.get("initial_user")}
    return {"type": kind, "selected_option": element.get("initial_option")}


def chosen(element: Json, put: Put) -> dict[str, Any]:
    """The state of an element when a person puts this in; LookupError for what it doesn't offer."""
    kind = element["type"]
    if kind == "plain_text_input":
        return {"type": kind, "value": str(put) or None}
    if kind == "users_select":
        return {"type": kind, "selected_user": str(put)}
    options = {option["value"]: option for option in options_of(element)}
    wanted = [put] if isinstance(put, str) else list(put)
    for value in wanted:
        if value not in options:
            raise LookupError(f"{element['action_id']} offers no {value!r}, only {sorted(options)}")
    picked = [options[value] for value in wanted]
    if kind in _MANY:
        return {"type": kind, "selected_options": picked}
    if kind not in _ONE or len(picked) != 1:
        raise LookupError(f"{element['action_id']} takes one value, not {put!r}")
    return {"type": kind, "selected_option": picked[0]}


def missing(body: Json, state: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What Slack's client says before it sends a form, by block id; empty when it sends it."""
    errors = {}
    for block, element in elements_of(body["blocks"]):
        if block["type"] != "input":
            continue
        held = state[str(block["block_id"])][element["action_id"]]
        error = _error(block, element, held)
        if error:
            errors[str(block["block_id"])] = error
    return errors


def _error(block: Json, element: Json, held: Json) -> str:
    value = next((v for k, v in held.items() if k != "type"), None)
    if not value:
        return "" if block.get("optional") else "Please complete this required field."
    if element["type"] != "plain_text_input":
        return ""
    least, most = element.get("min_length", 0), element.get("max_length", limits.INPUT_TEXT)
    if len(value) < least:
        return f"Please use at least {least} characters."
    return f"Please use at most {most} characters." if len(value) > most else ""
