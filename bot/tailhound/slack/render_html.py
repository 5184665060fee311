"""Block Kit as HTML, for the demo's page of a channel. Pure; everything is escaped.

Only what Slack would do with the same payload is done here: bold, strike, code, dates. A link is
drawn only where a block names one, and only to http or https.
"""

import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tailhound.model.wording import duration

Json = Mapping[str, Any]

_TOKEN = re.compile(
    r"`(?P<code>[^`\n]+)`|<!date\^(?P<unix>\d{1,12})\^[^|>]*\|(?P<date>[^<>]*)>"
    r"|<(?P<url>https?://[^|<>\s]+)(?:\|(?P<label>[^<>]*))?>"
)
_BOLD = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_STRIKE = re.compile(r"(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])")
_HELD = re.compile("\ue000(\\d+)\ue001")
_AGO = re.compile(r'(?P<head><time class="ago" datetime="(?P<at>[^"]{20})">)[^<]*</time>')
_LINK = re.compile(r"https?://[^\s\"'<>]+")


def message_html(message: Json, *, click: str = "", now: datetime | None = None) -> str:
    """One message. `click` is HTML (fields of a form) that each button sends along; "" = no forms.

    A message without blocks is drawn from its text. With `now`, dates are told as Slack tells them
    ("4 min ago"), without it by the clock.
    """
    blocks = message.get("blocks") or [
        {"type": "section", "text": {"type": "mrkdwn", "text": str(message.get("text", ""))}}
    ]
    drawn = "\n".join(_block(block, click) for block in blocks)
    return _AGO.sub(lambda found: _ago(found, now), drawn) if now else drawn


def mrkdwn_html(text: str) -> str:
    """Slack's mrkdwn as HTML."""
    held: list[str] = []

    def hold(found: "re.Match[str]") -> str:
        held.append(_token(found))
        return f"\ue000{len(held) - 1}\ue001"

    safe = text.replace("\ue000", "").replace("\ue001", "")
    plain = _escaped(_TOKEN.sub(hold, safe))
    marked = _STRIKE.sub(r"<s>\1</s>", _BOLD.sub(r"<strong>\1</strong>", plain))
    return _HELD.sub(lambda found: held[int(found[1])], marked.replace("\n", "<br>\n"))


def _token(found: "re.Match[str]") -> str:
    if found["code"] is not None:
        return f"<code>{_escaped(found['code'])}</code>"
    if found["unix"] is not None:
        at = datetime.fromtimestamp(int(found["unix"]), UTC)
        ago = ' class="ago"' if "{ago}" in found.group() else ""
        told = _escaped(found["date"])
        return f'<time{ago} datetime="{at:%Y-%m-%dT%H:%M:%SZ}">{told}</time>'
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


def _block(block: Json, click: str) -> str:
    kind = block.get("type")
    if kind == "header":
        return f"<h2>{_text(block['text'])}</h2>"
    if kind == "section":
        return f'<p class="section">{_text(block["text"])}</p>'
    if kind == "context":
        inner = " ".join(_text(element) for element in block["elements"])
        return f'<p class="context">{inner}</p>'
    if kind == "actions":
        inner = "\n".join(_button(element, click) for element in block["elements"])
        return f'<div class="actions">{inner}</div>'
    return "<hr>" if kind == "divider" else ""


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
