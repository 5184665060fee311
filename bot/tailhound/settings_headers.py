"""Headers that a site adds to what it asks of a backend: a tenant's name, a gateway's key.

A value is text, or a secret by reference. What tailhound itself sends can't be set here.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ValidationError

from tailhound.errors import SettingsError
from tailhound.model.redaction import is_secret_name
from tailhound.settings_secrets import Secret

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OWN = frozenset(
    {"host", "connection", "content-length", "content-type", "transfer-encoding", "te", "upgrade",
     "accept", "accept-encoding", "expect", "trailer"}
)  # fmt: skip


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        try:
            return Secret.model_validate(value)
        except ValidationError:
            raise ValueError("a secret is {env: NAME} or {file: PATH}") from None
    if isinstance(value, str | Secret):
        return value
    raise ValueError('must be text, in quotes ("12"), or {env: NAME} or {file: PATH}')


def _headers(found: Mapping[str, str | Secret]) -> Mapping[str, str | Secret]:
    wrong = [why for name, value in found.items() if (why := _why_not(name, value))]
    if len({name.lower() for name in found}) < len(found):
        wrong.append("a header stands there twice: case does not count in their names")
    if wrong:
        raise ValueError("; ".join(wrong))
    return found


def _why_not(name: str, value: str | Secret) -> str:
    """Why this header is not sent; "" when it is."""
    if not _NAME.fullmatch(name):
        return "a name of a header is letters, digits and hyphens"
    if name.lower() == "authorization":
        return f"{name}: use `bearer:` or `basic:` beside `headers:`"
    if name.lower() in _OWN:
        return f"{name}: tailhound sets this one itself"
    if isinstance(value, Secret):
        return ""
    if is_secret_name(name):
        return f"{name}: a secret never stands here: write {{env: NAME}} or {{file: PATH}}"
    return "" if _is_sendable(value) else f"{name}: must be one line of plain characters"


def _is_sendable(value: str) -> bool:
    return bool(value) and value.isascii() and value.isprintable()


Headers = Annotated[
    Mapping[str, Annotated[str | Secret, BeforeValidator(_value)]], AfterValidator(_headers)
]
"""Headers by name."""


def sent(headers: Mapping[str, str | Secret], key: str) -> dict[str, str]:
    """The headers with their secrets read, now. SettingsError names the key of one that can't be.

    `key` is where they stand: `prometheus.headers`.
    """
    found: dict[str, str] = {}
    for name, value in headers.items():
        text = value if isinstance(value, str) else value.read()
        if not _is_sendable(text):
            raise SettingsError(f"{key}.{name} is empty, or more than one line of plain characters")
        found[name] = text
    return found
