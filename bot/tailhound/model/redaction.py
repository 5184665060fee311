"""Secrets out: the choke point that every byte from outside passes before it is used or kept.

`redacted` works on text, `scrubbed` on values (JSON trees, dataclasses of replies), where the name
beside a value gives a secret away even if its shape does not. Both look for what is known to be a
secret, by key name and by shape, never for what merely looks random: hashes, digests, pod names and
UIDs must come through.

Every pattern here is linear: none has two neighbouring repetitions that can match the same text.
"""

import dataclasses
import functools
import re
from collections.abc import Mapping
from typing import Any

from tailhound.model.plainly import BROKEN, plain
from tailhound.model.secret_shapes import MARK, SHAPES

__all__ = ["MARK", "is_secret_name", "plain", "redacted", "scrubbed"]

_NAMES = (
    r"pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?"
    r"|api[_-]?key|apikey|access[_-]?key(?:[_-]?id)?|secret[_-]?key|private[_-]?key|account[_-]?key"
    r"|shared[_-]?access[_-]?(?:key|signature)|encryption[_-]?key|signing[_-]?key|client-key-data"
    r"|\.dockerconfigjson|x-amz-(?:signature|security-token|credential)"
)
_SEPARATORS = re.compile(r"[:=\s-]")
"""Without one of these a short text has no room for a secret."""
_NAME_HINTS = ("pass", "pwd", "secret", "token", "credential", "key", "x-amz", "dockerconfig")
_NAMED = re.compile(
    rf"(?P<key>{_NAMES})(?P<close>\\*[\"'])?[ \t]*(?:=>|[:=])[ \t]*"
    r"(?:[|>][-+]?[ \t]*)?(?:\\*\r?\n[ \t]+|\\n[ \t]+)?",
    re.IGNORECASE,
)
_NAME_END = re.compile(rf"(?:{_NAMES}|authori[sz]ation|cookie)$", re.IGNORECASE)
_PROSE = re.compile(r"(?:token|secret|credentials?): [a-z]{2,12} [a-z]{2}")
_HEADER = re.compile(
    r"(?P<key>(?:proxy-)?authori[sz]ation|(?:set-)?cookie)(?:\\*[\"'])?[ \t]*[:=][ \t]*"
    r"(?:\r?\n[ \t]+)?",
    re.IGNORECASE,
)
_PAIR = re.compile(  # {"name": "HF_TOKEN", "value": "..."}: an environment variable of a container
    rf"[\"']name\\*[\"'][ \t]*:[ \t]*\\*[\"'][\w.-]{{0,80}}?(?P<key>{_NAMES})\\*[\"']"
    r"\s{0,200},\s{0,200}\\*[\"']value\\*[\"'][ \t]*:[ \t]*",
    re.IGNORECASE,
)
_YAML_PAIR = re.compile(
    rf"name:[ \t]*[\"']?[\w.-]{{0,80}}?(?P<key>{_NAMES})[\"']?[ \t]*\r?\n[ \t]*value:[ \t]*",
    re.IGNORECASE,
)
_FLAG = re.compile(rf"(?<![\w-])--?[\w-]{{0,40}}?(?P<key>{_NAMES})[ \t]+(?=[^-\s])", re.IGNORECASE)
_FLAG_ALONE = re.compile(rf"--?[\w-]{{0,40}}?(?:{_NAMES})", re.IGNORECASE)
_QUOTE = re.compile(r"(?P<depth>\\*)(?P<quote>[\"'])")
_CLOSINGS = {mark: re.compile(rf"(?<!\\)(\\*){mark}|\n") for mark in ("'", '"')}
_BARE = re.compile(r"[^\s\"'<>,;&)\]}\\]+")
_LINE = re.compile(r"[^\r\n\"'\\]+")
_WORD = re.compile(r"(?:true|false|null|none|nil|~|-)$", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,12})?(?:ms|us|s|m|h|%)?$")
_REFERENCE = re.compile(r"\$[({]?[A-Za-z_][\w.]*[)}]?$")
_KEY_LENGTH = 100
"""What ends with a colon and is no longer is the next key of a mapping, not a value."""
_COUNTED_TOKENS = re.compile(
    r"(?:first|output|per|next|last|each|inter|input|prompt|gen|generated|generation|decode|prefill"
    r"|eos|bos|pad|unk|sep|cls|mask|stop|special|unexpected|an?|one|end|start|image|audio|text)"
    r"[ _-]$",
    re.IGNORECASE,
)
"""In front of "token": a language model's token, not a secret."""


def redacted(text: str) -> str:
    """The text with every secret replaced by MARK; JSON stays JSON. Applying it twice is once.

    A lone surrogate becomes U+FFFD: no file and no database takes it.

    Known by name: password=, token:, api-key, Authorization and Cookie headers, --flags, the
    `value` of an environment variable with such a name, also inside JSON inside a string. Known by
    shape: private key blocks, JWTs, bearer and basic credentials, user and password of a URL, keys
    of AWS, GitHub, GitLab, Slack, Google, Hugging Face, NVIDIA and others, password hashes.
    """
    if not text.isascii():
        text = BROKEN.sub("\ufffd", text)
    if len(text) < 16 and not _SEPARATORS.search(text):
        return text
    hints = text.lower()
    for hint, pattern, replacement in SHAPES:
        if hint in hints:
            text = pattern.sub(replacement, text)
    if "authori" in hints or "cookie" in hints:
        text = _masked(text, _HEADER, _LINE)
    if any(hint in hints for hint in _NAME_HINTS):
        for pattern in (_PAIR, _YAML_PAIR, _FLAG, _NAMED):
            text = _masked(text, pattern, _BARE)
    return text


def scrubbed(value: Any) -> Any:
    """The value with every text in it redacted: JSON trees, tuples, and dataclasses of such.

    A text under a key with a secret's name is replaced whole, as is the `value` beside such a
    `name`, and what follows a flag such as `--api-key` in a list. Other kinds come back as they
    are. The kind of every container is kept (a list stays a list).
    """
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {key: _under(str(key), inner, value) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return _in_order(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    return value


def is_secret_name(name: str) -> bool:
    """Whether a value under this name is a secret whatever it looks like."""
    return bool(_secret_part(name))


@functools.lru_cache(maxsize=4096)
def _secret_part(name: str) -> str:
    """The word at the end of a name that tells a secret: "password" of "DB_PASSWORD"; or ""."""
    match = _NAME_END.search(name)
    return match[0] if match and not _is_counted(name, match.start(), match[0]) else ""


def _under(key: str, value: Any, parent: Mapping[Any, Any]) -> Any:
    named = parent.get("name") if key == "value" else key
    if isinstance(value, str) and isinstance(named, str) and (part := _secret_part(named)):
        return value if _is_harmless(part, value) else MARK
    return scrubbed(value)


def _in_order(values: list[Any] | tuple[Any, ...]) -> Any:
    cleaned = []
    after_flag = False
    for value in values:
        cleaned.append(MARK if after_flag and isinstance(value, str) else scrubbed(value))
        after_flag = isinstance(value, str) and _FLAG_ALONE.fullmatch(value) is not None
    return cleaned if isinstance(values, list) else tuple(cleaned)


def _fields(value: Any) -> Any:
    changed = {}
    for item in dataclasses.fields(value):
        before = getattr(value, item.name)
        after = scrubbed(before)
        if after != before:
            changed[item.name] = after
    return dataclasses.replace(value, **changed) if changed else value


def _masked(text: str, pattern: re.Pattern[str], bare: re.Pattern[str]) -> str:
    """The text with the value behind each match of the pattern masked."""
    parts: list[str] = []
    done = 0
    for match in pattern.finditer(text):
        at = match.start("key")
        if match.start() < done or _is_counted(text, at, match["key"]) or _PROSE.match(text, at):
            continue
        if text.startswith(("{", "["), match.end()):
            continue  # structure, whatever its length: what is inside is looked at by itself
        quote = _QUOTE.match(text, match.end())
        if quote:
            start, end = quote.end(), _closing(text, quote)
        else:
            found = bare.match(text, match.end())
            start, end = found.span() if found else (done, done)
        if end > start and not _is_harmless(match["key"], text[start:end], bool(quote)):
            parts += (text[done:start], MARK)
            done = end
    return "".join((*parts, text[done:])) if parts else text


def _is_harmless(key: str, value: str, is_quoted: bool = True) -> bool:
    """Whether what stands behind a secret's name is none: masked, a yes/no, a number, structure."""
    name = key.lower()
    return bool(
        value.startswith(MARK[:-1])
        or not value.strip()
        or _WORD.match(value)
        or _REFERENCE.match(value)
        or (_NUMBER.match(value) and not name.startswith("pass"))
        or (name == "pwd" and value.startswith("/"))
        or (not is_quoted and len(value) <= _KEY_LENGTH and value.endswith(":"))
    )


def _closing(text: str, quote: re.Match[str]) -> int:
    """Where the quoted text ends: at its quote, escaped as deep as the opening one, or its line."""
    depth = len(quote["depth"])
    at = quote.end()
    for found in _CLOSINGS[quote["quote"]].finditer(text, at):
        if found[0] == "\n" or len(found[1]) <= depth:
            return found.start()
    return len(text)


def _is_counted(text: str, at: int, key: str) -> bool:
    return key.lower() == "token" and bool(_COUNTED_TOKENS.search(text[max(0, at - 12) : at]))
