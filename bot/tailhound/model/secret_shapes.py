"""What a secret looks like, whatever stands beside it: keys, tokens, credentials, password hashes.

Every pattern here is linear: none has two neighbouring repetitions that can match the same text.
"""

import base64
import binascii
import re
from collections.abc import Callable

MARK = "[redacted]"
"""What stands in the place of a secret."""

Shape = tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]
"""A literal without which the pattern can't match (lower case), the pattern, what replaces it."""


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
SHAPES: tuple[Shape, ...] = (
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
