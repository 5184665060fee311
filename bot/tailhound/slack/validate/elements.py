"""The elements of blocks: buttons, menus, choices, inputs, images."""

from collections.abc import Mapping
from typing import Any

from tailhound.slack import limits
from tailhound.slack.validate.shape import (
    ANY_TEXT,
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

IDENTITY: Mapping[str, Check] = {"action_id": string(limits.ID)}
_STYLE = one_of("primary", "danger")

URL = string(limits.URL, pattern=r"https?://\S+")
SLACK_FILE = Shape(
    optional={"id": string(limits.ID, pattern="F[A-Z0-9]{8,}"), "url": URL},
    also=exactly_one("id", "url"),
)
IMAGE: Mapping[str, Check] = {
    "image_url": URL,
    "slack_file": SLACK_FILE,
}

CONFIRM = Shape(
    required={
        "title": text(limits.CONFIRM_TITLE, PLAIN),
        "text": text(limits.CONFIRM_TEXT),
        "confirm": text(limits.CONFIRM_BUTTON, PLAIN),
        "deny": text(limits.CONFIRM_BUTTON, PLAIN),
    },
    optional={"style": _STYLE},
)


def _option(kinds: tuple[str, ...], **more: Check) -> Shape:
    described = {"description": text(limits.OPTION_TEXT, kinds), **more}
    return Shape(
        required={"text": text(limits.OPTION_TEXT, kinds), "value": string(limits.OPTION_VALUE)},
        optional=described,
    )


OPTION = _option(PLAIN)
CHOICE = _option(ANY_TEXT)

_GROUP = Shape(
    required={
        "label": text(limits.OPTION_TEXT, PLAIN),
        "options": items(OPTION, limits.SELECT_OPTIONS),
    }
)


def options_of(element: Json) -> list[Json]:
    """All options of a menu or a choice, those of its groups too."""
    groups = [group for group in _list(element.get("option_groups")) if isinstance(group, dict)]
    flat = [*_list(element.get("options"))]
    flat += [option for group in groups for option in _list(group.get("options"))]
    return [option for option in flat if isinstance(option, dict)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _preset(path: str, element: Json) -> list[str]:
    """What is chosen at first must be one of the options, to the letter; values differ."""
    options = options_of(element)
    first = [element["initial_option"]] if "initial_option" in element else []
    first += _list(element.get("initial_options"))
    found = [fault(path, "initial option must be one of the options")]
    found = found if any(option not in options for option in first) else []
    values = [str(option.get("value")) for option in options]
    if len(set(values)) != len(values):
        found.append(fault(path, "option values must be unique"))
    return found


def _menu(path: str, element: Json) -> list[str]:
    return exactly_one("options", "option_groups")(path, element) + _preset(path, element)


_MENU: Mapping[str, Check] = {
    **IDENTITY,
    "options": items(OPTION, limits.SELECT_OPTIONS),
    "option_groups": items(_GROUP, limits.SELECT_GROUPS),
    "placeholder": text(limits.PLACEHOLDER, PLAIN),
    "confirm": CONFIRM,
    "focus_on_load": boolean,
}
_CHOICES: Mapping[str, Check] = {**IDENTITY, "confirm": CONFIRM, "focus_on_load": boolean}

BUTTON = Shape(
    required={"text": text(limits.BUTTON_TEXT, PLAIN)},
    optional={
        **IDENTITY,
        "value": string(limits.BUTTON_VALUE),
        "url": URL,
        "style": _STYLE,
        "accessibility_label": string(limits.BUTTON_TEXT),
        "confirm": CONFIRM,
    },
)
SELECT = Shape(optional={**_MENU, "initial_option": OPTION}, also=_menu)
MULTI_SELECT = Shape(
    optional={
        **_MENU,
        "initial_options": items(OPTION, limits.SELECT_OPTIONS),
        "max_selected_items": whole(1, limits.SELECT_OPTIONS),
    },
    also=_menu,
)
RADIO = Shape(
    required={"options": items(CHOICE, limits.CHOICES)},
    optional={**_CHOICES, "initial_option": CHOICE},
    also=_preset,
)
CHECKBOXES = Shape(
    required={"options": items(CHOICE, limits.CHOICES)},
    optional={**_CHOICES, "initial_options": items(CHOICE, limits.CHOICES)},
    also=_preset,
)
OVERFLOW = Shape(
    required={"options": items(_option(PLAIN, url=URL), limits.OVERFLOW_OPTIONS)},
    optional={**IDENTITY, "confirm": CONFIRM},
)
USERS_SELECT = Shape(
    optional={
        **_CHOICES,
        "placeholder": text(limits.PLACEHOLDER, PLAIN),
        "initial_user": string(limits.ID),
    }
)
IMAGE_ELEMENT = Shape(
    required={"alt_text": string(limits.IMAGE_ALT)},
    optional=IMAGE,
    also=exactly_one("image_url", "slack_file"),
)


def _bounds(path: str, element: Json) -> list[str]:
    least, most = element.get("min_length", 0), element.get("max_length", limits.INPUT_TEXT)
    if isinstance(least, int) and isinstance(most, int) and least > most:
        return [fault(path, "min_length must not be greater than max_length")]
    return []


TEXT_INPUT = Shape(
    optional={
        **IDENTITY,
        "initial_value": string(limits.INPUT_TEXT, least=0),
        "multiline": boolean,
        "min_length": whole(0, limits.INPUT_TEXT),
        "max_length": whole(1, limits.INPUT_TEXT),
        "placeholder": text(limits.PLACEHOLDER, PLAIN),
        "focus_on_load": boolean,
        "dispatch_action_config": Shape(
            required={
                "trigger_actions_on": items(
                    one_of("on_enter_pressed", "on_character_entered"), 2, least=1
                )
            }
        ),
    },
    also=_bounds,
)

_PRESSED: Mapping[str, Check] = {
    "button": BUTTON,
    "static_select": SELECT,
    "multi_static_select": MULTI_SELECT,
    "radio_buttons": RADIO,
    "checkboxes": CHECKBOXES,
    "overflow": OVERFLOW,
    "users_select": USERS_SELECT,
}
IN_ACTIONS = typed(
    {name: shape for name, shape in _PRESSED.items() if name != "multi_static_select"}, "element"
)
IN_SECTION = typed({**_PRESSED, "image": IMAGE_ELEMENT}, "element")
IN_INPUT = typed(
    {
        "plain_text_input": TEXT_INPUT,
        **{name: shape for name, shape in _PRESSED.items() if name not in ("button", "overflow")},
    },
    "element",
)
IN_CONTEXT = typed(
    {
        "plain_text": text(limits.SECTION_TEXT),
        "mrkdwn": text(limits.SECTION_TEXT),
        "image": IMAGE_ELEMENT,
    },
    "element",
)
