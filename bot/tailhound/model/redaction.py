"""Secrets out: the choke point that every byte from outside passes before it is used or kept.

`redacted` works on text, `scrubbed` on values (JSON trees, dataclasses of replies), where the name
beside a value gives a secret away even if its shape does not. Both look for what is known to be a
secret, by key name and by shape, never for what merely looks random: hashes, digests, pod names and
UIDs must come through.

Every pattern here is linear: none has two neighbouring repetitions that can match the same text.
"""

import base64
import binascii
import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

MARK = "[redacted]"
"""What stands in the place of a secret."""

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
_COUNTED_TOKENS = re.compile(
    r"(?:first|output|per|next|last|each|inter|input|prompt|gen|generated|generation|decode|prefill"
    r"|eos|bos|pad|unk|sep|cls|mask|stop|special|unexpected|an?|one|end|start|image|audio|text)"
    r"[ _-]$",
    re.IGNORECASE,
)
"""In front of "token": a language model's token, not a secret."""

_BROKEN = re.compile("[\ud800-\udfff]")
_Shape = tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]
"""A literal without which the pattern can't match (lower case), the pattern, what replaces it."""


def redacted(text: str) -> str:
    """The text with every secret replaced by MARK; JSON stays JSON. Applying it twice is once.

    A lone surrogate becomes U+FFFD: no file and no database takes it.

    Known by name: password=, token:, api-key, Authorization and Cookie headers, --flags, the
    `value` of an environment variable with such a name, also inside JSON inside a string. Known by
    shape: private key blocks, JWTs, bearer and basic credentials, user and password of a URL, keys
    of AWS, GitHub, GitLab, Slack, Google, Hugging Face, NVIDIA and others, password hashes.
    """
    if not text.isascii():
        text = _BROKEN.sub("\ufffd", text)
    if len(text) < 16 and not _SEPARATORS.search(text):
        return text
    hints = text.lower()
    for hint, pattern, replacement in _SHAPES:
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
        or (not is_quoted and (value.endswith(":") or value[0] in "{["))
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


def _lettered(match: re.Match[str]) -> str:
    """A password hash holds letters; `$1$2$3` of a replacement text doesn't."""
    return MARK if re.search("[A-Za-z]", match[0][4:]) else match[0]


def _basic(match: re.Match[str]) -> str:
    try:
        user = base64.b64decode(match["value"] + "==", validate=False).decode()
    except (binascii.Error, ValueError):
        return match[0]
    return f"{match['scheme']}{MARK}" if ":" in user and user.isprintable() else match[0]


def _bearer(match: re.Match[str]) -> str:
    value = match["value"]
    is_secret = len(value) >= 20 or any(character.isdigit() for character in value)
    return f"{match['scheme']}{MARK}" if is_secret else match[0]


def _mixed(match: re.Match[str]) -> str:
    """Keys that start like ordinary names hold capitals and digits; names of objects don't."""
    text = match[0]
    is_key = any(c.isupper() for c in text) and any(c.isdigit() for c in text)
    return MARK if is_key else text


_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_URL_PASSWORD = re.compile(r"(://[^\s/@:\"'<>\\]{0,256}:)(?!\[redacted\]@)[^\s/?#\"'<>\\]{1,512}@")
_URL_USER = re.compile(r"(://)(?!\[redacted\]@)[^\s/@:?#\"'<>\\]{16,512}@")
_SLACK_HOOK = re.compile(r"(hooks\.slack\.com/(?:services|workflows|triggers)/)(?!\[)[\w/-]{8,}")
_BEARER = re.compile(
    r"(?P<scheme>(?<![\w-])Bearer[ \t]+)(?P<value>[A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE
)
_BASIC = re.compile(
    r"(?P<scheme>(?<![\w-])Basic[ \t]+)(?P<value>[A-Za-z0-9+/]{6,}={0,2})", re.IGNORECASE
)
_DIGEST = re.compile(r"(?<![\w-])Digest[ \t]+username=[^\r\n]+", re.IGNORECASE)
_CURL_USER = re.compile(
    r"((?<!\S)(?:-u|--user)(?:[ \t]+|=)[^\s:\"'\[]{1,64}:)(?!\[redacted\]|\d+\b)[^\s\"']+"
)
_URL_SIGNATURE = re.compile(
    r"([?&](?:sig|signature|auth|code|key)=)(?!\[redacted\])[^\s&\"'<>#\\]+", re.IGNORECASE
)
_DOCKER_AUTH = re.compile(r"(\"auth\\*\"[ \t]*:[ \t]*\\*\")(?!\[redacted\])[A-Za-z0-9+/=]{8,}")
_START = r"(?<![A-Za-z0-9])"
_SHAPES: tuple[_Shape, ...] = (
    ("-----begin", _KEY_BLOCK, MARK),
    ("eyj", re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*"), MARK),
    ("://", _URL_PASSWORD, rf"\1{MARK}@"),
    ("://", _URL_USER, rf"\1{MARK}@"),
    ("akia", re.compile(r"(?<![A-Z0-9])AKIA[A-Z0-9]{16}(?![A-Z0-9])"), MARK),
    ("asia", re.compile(r"(?<![A-Z0-9])ASIA[A-Z0-9]{16}(?![A-Z0-9])"), MARK),
    ("gh", re.compile(rf"{_START}(?:gh[pousr]_[A-Za-z0-9]{{20,}}|github_pat_\w{{20,}})"), MARK),
    ("glpat-", re.compile(rf"{_START}glpat-[\w-]{{16,}}"), MARK),
    ("xox", re.compile(rf"{_START}xox[a-z]-[A-Za-z0-9-]{{8,}}"), MARK),
    ("xapp-", re.compile(rf"{_START}xapp-[A-Za-z0-9-]{{8,}}"), MARK),
    ("hooks.slack.com", _SLACK_HOOK, rf"\1{MARK}"),
    ("aiza", re.compile(rf"{_START}AIza[\w-]{{35}}"), MARK),
    ("hf_", re.compile(rf"{_START}hf_[A-Za-z0-9]{{20,}}"), _mixed),
    ("k-", re.compile(rf"{_START}[sr]k-[\w-]{{24,}}"), _mixed),
    ("k_", re.compile(rf"{_START}[srp]k_(?:live|test)_[A-Za-z0-9]{{16,}}"), MARK),
    ("nvapi-", re.compile(rf"{_START}nvapi-[\w-]{{24,}}"), _mixed),
    ("npm_", re.compile(rf"{_START}npm_[\w-]{{24,}}"), _mixed),
    ("pypi-", re.compile(rf"{_START}pypi-[\w-]{{24,}}"), _mixed),
    ("hvs.", re.compile(rf"{_START}hvs\.[\w-]{{24,}}"), _mixed),
    ("$", re.compile(r"\$(?:1|2[aby]|5|6|y|argon2id?)\$[./\w$=,+]{16,}"), _lettered),
    ("bearer", _BEARER, _bearer),
    ("basic", _BASIC, _basic),
    ("digest", _DIGEST, f"Digest {MARK}"),
    ("-u", _CURL_USER, rf"\1{MARK}"),
    ("=", _URL_SIGNATURE, rf"\1{MARK}"),
    ("auth", _DOCKER_AUTH, rf"\1{MARK}"),
)

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_LINE_ENDS = re.compile("\r\n|\r|\u2028|\u2029|\x85|\x0b|\x0c")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_STACKED = re.compile(
    "([\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4})"
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


def plain(text: str, limit: int) -> str:
    """What a person sees of a text: no terminal codes, control, bidi or invisible characters.

    Line ends become "\\n"; a lone surrogate becomes U+FFFD, so that the result is valid UTF-8. At
    most `limit` characters; what was cut is told at the end ("… +1,234 characters").
    """
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    text = _STACKED.sub(r"\1", _BROKEN.sub("\ufffd", _INVISIBLE.sub("", text)))
    if len(text) <= limit:
        return text
    mark = f"… +{len(text) - limit:,} characters"
    if len(mark) >= limit:
        return text[: max(0, limit - 1)] + "…"[:limit]
    return text[: limit - len(mark)] + mark
