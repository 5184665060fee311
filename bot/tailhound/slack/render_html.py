"""Block Kit as HTML, for the demo's page of a channel. Pure; everything is escaped.

Only what Slack would do with the same payload is done here: bold, strike, code, dates. A link is
drawn only where a block names one, and only to http or https.
"""

import html
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tailhound.model.wording import duration

Json = Mapping[str, Any]

_TOKEN = re.compile(
    r"`(?P<code>[^`\n]+)`|<!date\^(?P<unix>\d{1,12})\^[^|>]*\|(?P<date>[^<>]*)>"
    r"|<!subteam\^(?P<group>S[A-Z0-9]+)>"
    r"|<(?P<url>https?://[^|<>\s]+)(?:\|(?P<label>[^<>]*))?>"
)
_BOLD = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_STRIKE = re.compile(r"(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])")
_HELD = re.compile("\ue000(\\d+)\ue001")
_AGO = re.compile(r'(?P<head><time class="ago" datetime="(?P<at>[^"]{20})">)[^<]*</time>')
_LINK = re.compile(r"https?://[^\s\"'<>]+")
_FILE = re.compile(r"F[A-Z0-9]{8,}")


def message_html(
    message: Json, *, click: str = "", now: datetime | None = None, files: str = ""
) -> str:
    """One message. `click` is HTML (fields of a form) that each button sends along; "" = no forms.

    `files` is the address under which uploaded files are; "" = images are told by their alt text.
    A message without blocks is drawn from its text. With `now`, dates are told as Slack tells them
    ("4 min ago"), without it by the clock.
    """
    blocks = message.get("blocks") or [
        {"type": "section", "text": {"type": "mrkdwn", "text": str(message.get("text", ""))}}
    ]
    drawn = "\n".join([_block(block, click, files) for block in blocks])
    drawn += "".join(_file(file, files) for file in message.get("files", ()))
    return _AGO.sub(lambda found: _ago(found, now), drawn) if now else drawn


def block_html(block: Json, *, files: str = "") -> str:
    """One block that nobody can press."""
    return _block(block, "", files)


def _file(file: Json, files: str) -> str:
    id, title = str(file.get("id", "")), html.escape(str(file.get("title", "")))
    if not files or _FILE.fullmatch(id) is None:
        return f'<p class="context">File: {title}</p>'
    return f'<p class="context"><a href="{files}/{id}">{title}</a></p>'


def mrkdwn_html(text: str, now: datetime | None = None) -> str:
    """Slack's mrkdwn as HTML, escaped; with `now`, dates are told as Slack tells them."""
    held: list[str] = []

    def hold(found: "re.Match[str]") -> str:
        held.append(_token(found))
        return f"\ue000{len(held) - 1}\ue001"

    safe = text.replace("\ue000", "").replace("\ue001", "")
    plain = _escaped(_TOKEN.sub(hold, safe))
    marked = _STRIKE.sub(r"<s>\1</s>", _BOLD.sub(r"<strong>\1</strong>", plain))
    drawn = _HELD.sub(lambda found: held[int(found[1])], marked.replace("\n", "<br>\n"))
    return _AGO.sub(lambda found: _ago(found, now), drawn) if now else drawn


def _token(found: "re.Match[str]") -> str:
    if found["code"] is not None:
        return f"<code>{_escaped(found['code'])}</code>"
    if found["unix"] is not None:
        at = datetime.fromtimestamp(int(found["unix"]), UTC)
        ago = ' class="ago"' if "{ago}" in found.group() else ""
        told = _escaped(found["date"])
        return f'<time{ago} datetime="{at:%Y-%m-%dT%H:%M:%SZ}">{told}</time>'
    if found["group"] is not None:
        return f'<span class="group">@{found["group"]}</span>'
    label = found["label"] or found["url"]
    return f'<a href="{_escaped(found["url"])}" rel="noopener noreferrer">{_escaped(label)}</a>'


def _ago(found: "re.Match[str]", now: datetime) -> str:
    at = datetime.fromisoformat(found["at"])
    seconds = max(0.0, (now - at).total_seconds())
    told = duration(seconds - seconds % 60) if seconds >= 60 else "moments"
    return f"{found['head']}{told} ago</time>"


def _escaped(text: str) -> str:
    """Slack's three entities read, HTML's written."""
    read = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return html.escape(read, quote=True)


def _block(block: Json, click: str, files: str) -> str:
    kind = block.get("type")
    if kind == "header":
        return f"<h2>{_text(block['text'])}</h2>"
    if kind == "section":
        return _section(block, click)
    if kind == "context":
        inner = " ".join(_text(element) for element in block["elements"])
        return f'<p class="context">{inner}</p>'
    if kind == "actions":
        inner = "\n".join(_button(element, click) for element in block["elements"])
        return f'<div class="actions">{inner}</div>'
    if kind == "image":
        return _image(block, files)
    draw = _OTHERS.get(str(kind))
    return draw(block) if draw else ""


def _section(block: Json, click: str) -> str:
    texts = [block["text"]] if "text" in block else []
    inner = "<br>\n".join(_text(text) for text in [*texts, *block.get("fields", ())])
    beside = block.get("accessory") or {}
    id = html.escape(str(block.get("block_id", "")), quote=True)
    which = click and f'{click}<input type="hidden" name="block_id" value="{id}">'
    drawn = _button(beside, which) if beside.get("type") == "button" else ""
    return f'<p class="section">{inner}</p>{drawn}'


def _image(block: Json, files: str) -> str:
    """A file of the workspace; nothing is ever fetched from elsewhere."""
    alt = html.escape(str(block.get("alt_text", "")), quote=True)
    file = str((block.get("slack_file") or {}).get("id", ""))
    title = _text(block["title"]) if "title" in block else ""
    caption = f"<figcaption>{title}</figcaption>" if title else ""
    if not files or _FILE.fullmatch(file) is None:
        return f'<figure><p class="context">Image: {alt}</p>{caption}</figure>'
    return f'<figure><img src="{files}/{file}" alt="{alt}">{caption}</figure>'


def _table(block: Json) -> str:
    head, *body = ["".join(_cell(cell, "th" if n == 0 else "td") for cell in row)
                   for n, row in enumerate(block["rows"])]  # fmt: skip
    rows = "".join(f"<tr>{row}</tr>" for row in body)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(cell: Json, tag: str) -> str:
    raw = html.escape(str(cell.get("text", "")))
    inner = _rich(cell) if cell.get("type") == "rich_text" else raw
    return f"<{tag}>{inner}</{tag}>"


def _rich(element: Json) -> str:
    """Rich text: texts, links and lists; its preformatted parts stay as they are typed."""
    inner = "".join(_rich(part) for part in element.get("elements", ()))
    kind = element.get("type")
    if kind == "rich_text_preformatted":
        return f"<pre>{inner}</pre>"
    if kind == "rich_text_list":
        items = "".join(f"<li>{_rich(part)}</li>" for part in element.get("elements", ()))
        return f"<ul>{items}</ul>"
    if kind == "rich_text_section":
        return f"<span>{inner}</span>"
    return inner or html.escape(str(element.get("text") or element.get("fallback") or ""))


def _alert(block: Json) -> str:
    level = html.escape(str(block.get("level", "default")), quote=True)
    return f'<p class="alert {level}"><strong>{level}</strong> {_text(block["text"])}</p>'


_OTHERS: Mapping[str, Callable[[Json], str]] = {
    "divider": lambda _: "<hr>",
    "table": _table,
    "rich_text": lambda block: f'<div class="rich">{_rich(block)}</div>',
    "alert": _alert,
}


def _text(text: Json) -> str:
    raw = str(text.get("text", ""))
    return mrkdwn_html(raw) if text.get("type") == "mrkdwn" else _escaped(raw)


def _button(element: Json, click: str) -> str:
    label, style = _text(element["text"]), html.escape(str(element.get("style", "default")))
    url = str(element.get("url", ""))
    if _LINK.fullmatch(url):
        target = html.escape(url, quote=True)
        return f'<a class="button {style}" href="{target}" rel="noopener noreferrer">{label}</a>'
    action = html.escape(str(element.get("action_id", "")), quote=True)
    if not click:
        return f'<span class="button {style}">{label}</span>'
    return (
        f'<form method="post">{click}<button class="button {style}" name="action_id" '
        f'value="{action}">{label}</button></form>'
    )
