"""Text from outside, made harmless for Slack: no mention, link, emoji or markup comes from a value.

Order matters: strip what can't be seen, redact, cut, neutralise, escape. A text is cut *before* it
is escaped, so that no entity is torn apart, and the limits hold for the escaped text.

Three kinds of text are told apart. What a runbook's author wrote (`said`) may hold `code spans`. A
value from an alert, a host or a backend (`value`, `code`) may hold nothing: characters that Slack
would read as markup, address or host are replaced by look-alikes that can be seen. A sentence of
ours with values in it (`sentence`) keeps its host names, so that people can copy them: text objects
are sent as `verbatim`, and Slack links nothing in those.
"""

import re
import unicodedata
from functools import lru_cache

from tailhound.model.redaction import redacted
from tailhound.model.wording import cut

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_SPACES = re.compile(r"[^\S\xa0]+")
_TOO_LONG = 4_096
_EMOJI = re.compile(r":([a-zA-Z0-9_+'-]{1,100}):")
_HALF_EMOJI = re.compile(r":(?=[a-zA-Z0-9_+'-]{1,100}$)(?=[0-9]*[^0-9])")
"""What a colon of ours behind it would make an emoji."""

_FENCE = re.compile("`{2,}")
_NO_EMOJI = r"∶\1∶"
_EDGE_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_HOST_DOT = re.compile(r"(?<=[\w-])\.(?=[A-Za-z]{2})")
_ADDRESS = re.compile(r"https?://[\w.:/%~#?=-]{1,200}")
_LOOK_ALIKES = str.maketrans({"*": "∗", "~": "∼", "`": "'"})


class Mrkdwn(str):
    """Text that is ready for Slack: escaped, and never escaped again."""

    __slots__ = ()


def clean(text: str) -> str:
    """The text on one line, without secrets, ANSI codes, control, bidirectional or zero-width
    characters.

    The middle of a text over 4,096 characters is replaced by `…`, before anything looks at it.
    """
    if len(text) > _TOO_LONG:
        text = text[: _TOO_LONG // 2] + "…" + text[-_TOO_LONG // 2 :]
    return _clean(text)


@lru_cache(maxsize=512)
def _clean(text: str) -> str:
    spaced = _SPACES.sub(" ", _ANSI.sub("", text))
    return redacted("".join(_seen(letter) for letter in spaced).strip())


def _seen(letter: str) -> str:
    if letter == "\u00a0" or letter.isascii():
        return letter if letter >= " " and letter != "\x7f" else ""
    kind = unicodedata.category(letter)
    if kind == "Cs":
        return "\ufffd"
    return "" if kind in ("Cc", "Cf", "Co", "Cn") else letter


def escaped(text: str) -> str:
    """Slack's three escapes, in Slack's order, and nothing else."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def value(text: str, limit: int = 60) -> Mrkdwn:
    """A value from outside for running text: at most `limit` characters, twice that escaped."""
    plain = _unmarked(clean(text)).replace("@", "＠").replace("://", ":∕∕")
    return _fitted(_HOST_DOT.sub("․", plain), limit)


def sentence(text: str, limit: int = 240) -> Mrkdwn:
    """A sentence of ours that quotes values (why a question failed, what a cause rests on)."""
    return _fitted(_unmarked(clean(text)), limit)


def code(text: str, limit: int = 60) -> Mrkdwn:
    """A value from outside as a code span; nothing in it can end the span."""
    inner = _fitted(clean(text).replace("`", "'"), limit)
    return Mrkdwn(f"`{inner or '(empty)'}`")


def said(text: str, limit: int = 240) -> Mrkdwn:
    """What a runbook's author wrote: code spans stay, if they are closed after the cut."""
    plain = _without_emoji(_FENCE.sub("'", clean(text)))
    short = _fitted(plain, limit)
    return short if short.count("`") % 2 == 0 else Mrkdwn(short.replace("`", "'"))


def link(address: str, text: str) -> Mrkdwn:
    """A link to an address of ours, with a text that is ready; the text alone where the address
    could hold more than an address.
    """
    shown = _ADDRESS.fullmatch(address)
    return Mrkdwn(f"<{address}|{text}>" if shown else text)


def _unmarked(text: str) -> str:
    """Characters that Slack would read as markup or emoji, as look-alikes."""
    plain = _without_emoji(text).translate(_LOOK_ALIKES)
    return _EDGE_UNDERSCORE.sub(lambda found: "ˍ" * len(found.group()), plain)


def _without_emoji(text: str) -> str:
    """`:name:` as it is typed, also where the last colon is ours: `llm/:name` and `: `."""
    return _HALF_EMOJI.sub("∶", _EMOJI.sub(_NO_EMOJI, text))


def _fitted(text: str, limit: int) -> Mrkdwn:
    """Cut to `limit` characters, and further while the escaped text has more than twice as many."""
    room = limit
    while True:
        result = escaped(cut(text, room))
        if len(result) <= 2 * limit or room <= 1:
            return Mrkdwn(result)
        room = max(1, room * 2 // 3)
