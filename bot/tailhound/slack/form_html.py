"""A modal of Slack as an HTML form, for the demo. Pure; everything is escaped.

Each input is named `put:ACTION_ID`. A button of the modal, and an input whose choice the app wants
to hear of at once, sends `use`; the modal's own button sends `submit`, the other one `close`.
"""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from tailhound.slack.local.world import View
from tailhound.slack.render_html import block_html, mrkdwn_html
from tailhound.slack.validate.elements import options_of

Json = Mapping[str, Any]


def modal_html(view: View, errors: Mapping[str, str], *, hidden: str, files: str = "") -> str:
    """The form of an open modal. `hidden` is HTML that goes along; `errors` by block id."""
    body = view.body
    blocks = "\n".join(_block(view, block, errors, files) for block in body["blocks"])
    close = _label(body.get("close") or {"text": "Cancel"})
    buttons = f'<button class="button default" name="close" value="1">{close}</button>'
    if "submit" in body:
        submit = _label(body["submit"])
        buttons += f'<button class="button primary" name="submit" value="1">{submit}</button>'
    return (
        f'<form method="post" class="modal">{hidden}<h2>{_label(body["title"])}</h2>\n{blocks}\n'
        f'<div class="actions">{buttons}</div></form>'
    )


def home_html(view: View, *, hidden: str, files: str = "") -> str:
    """The home tab, whose buttons send `use`."""
    blocks = "\n".join(_block(view, block, {}, files) for block in view.body["blocks"])
    return f'<form method="post" class="home">{hidden}{blocks}</form>'


def _block(view: View, block: Json, errors: Mapping[str, str], files: str) -> str:
    if block["type"] == "actions":
        inner = "".join(_element(view, block, element) for element in block["elements"])
        return f'<div class="actions">{inner}</div>'
    if block["type"] == "input":
        return _input(view, block, errors)
    beside = block.get("accessory")
    plain = block_html({k: v for k, v in block.items() if k != "accessory"}, files=files)
    return plain + (_element(view, block, beside) if beside else "")


def _input(view: View, block: Json, errors: Mapping[str, str]) -> str:
    error = errors.get(str(block["block_id"]))
    told = f'<p class="error" role="alert">{_plain(error)}</p>' if error else ""
    hint = f'<p class="context">{_label(block["hint"])}</p>' if "hint" in block else ""
    again = _use(block["element"], "Update") if block.get("dispatch_action") else ""
    element = _element(view, block, block["element"])
    legend = f"<legend>{_label(block['label'])}</legend>"
    return f"<fieldset>{legend}{element}{again}{hint}{told}</fieldset>"


def _element(view: View, block: Json, element: Json) -> str:
    held = view.values.get(str(block["block_id"]), {}).get(str(element.get("action_id")), {})
    kind = element["type"]
    if kind == "button":
        return _button(element)
    if kind == "plain_text_input":
        return _text(element, held)
    if kind in ("radio_buttons", "checkboxes"):
        picked = [held.get("selected_option") or {}, *(held.get("selected_options") or ())]
        return _choices(element, [str(option.get("value", "")) for option in picked])
    if kind in ("static_select", "multi_static_select"):
        chosen = str((held.get("selected_option") or {}).get("value", ""))
        return _menu(element, chosen)
    return ""


def _button(element: Json) -> str:
    if element.get("url"):
        return block_html({"type": "actions", "elements": [element]})
    return _use(element, str(element["text"]["text"]), str(element.get("style", "default")))


def _use(element: Json, label: str, style: str = "default") -> str:
    action = _plain(element["action_id"])
    return (
        f'<button class="button {_plain(style)}" name="use" value="{action}">'
        f"{_plain(label)}</button>"
    )


def _text(element: Json, held: Json) -> str:
    name, value = f"put:{_plain(element['action_id'])}", _plain(held.get("value") or "")
    place = _plain((element.get("placeholder") or {}).get("text", ""))
    return f'<textarea name="{name}" rows="2" placeholder="{place}">{value}</textarea>'


def _choices(element: Json, chosen: Sequence[str]) -> str:
    kind = "radio" if element["type"] == "radio_buttons" else "checkbox"
    name = f"put:{_plain(element['action_id'])}"
    drawn = []
    for option in options_of(element):
        value = str(option["value"])
        checked = " checked" if value in chosen else ""
        box = f'<input type="{kind}" name="{name}" value="{_plain(value)}"{checked}>'
        drawn.append(f"<label>{box} {_label(option['text'])}</label>")
    return "<br>".join(drawn)


def _menu(element: Json, chosen: str) -> str:
    options = ['<option value=""></option>']
    for option in options_of(element):
        value = str(option["value"])
        picked = " selected" if value == chosen else ""
        text = _label(option["text"])
        options.append(f'<option value="{_plain(value)}"{picked}>{text}</option>')
    return f'<select name="put:{_plain(element["action_id"])}">{"".join(options)}</select>'


def _label(text: Json) -> str:
    raw = str(text.get("text", ""))
    return mrkdwn_html(raw) if text.get("type") == "mrkdwn" else _plain(raw)


def _plain(text: object) -> str:
    return html.escape(str(text), quote=True)
