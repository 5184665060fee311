"""How values of the configuration must look: addresses, the database, channels, objectives.

Each check returns the value, or raises ValueError with what to write instead. A value may hold a
secret, so it is never repeated.
"""

import math
import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

_SQLITE = re.compile(r"sqlite:///(?!:memory:).+", re.DOTALL)
_POSTGRES = re.compile(r"postgresql(\+[a-z0-9_]+)?://[^/?#]*/[^/?#]+(\?.*)?", re.DOTALL)
_CHANNEL = re.compile(r"[CGD][A-Z0-9]+")
DAYS_AT_LEAST, DAYS_AT_MOST = 30, 36_500
_OBJECTIVE = re.compile(r"[a-z][a-z0-9_]*_(p[0-9]{1,3}|mean)_seconds")


def _http(value: str) -> str:
    """An address of a server; "" where it is not configured."""
    if not value:
        return value
    try:
        parts = urlsplit(value)
        port_is_one = parts.port is None or parts.port > 0
    except ValueError:
        raise ValueError("write http://HOST:PORT or https://HOST:PORT, the port a number") from None
    if parts.scheme not in ("http", "https"):
        bare = "://" not in value and "@" not in value and re.fullmatch(r"[A-Za-z0-9._:/-]+", value)
        meant = f": http://{value}?" if bare else ""
        raise ValueError(f"write http:// or https:// in front of the host{meant}")
    if not parts.hostname or not port_is_one:
        raise ValueError("no host stands in it: write http://HOST:PORT or https://HOST:PORT")
    if parts.username is not None or parts.password is not None:
        raise ValueError("name and password don't stand in an address: use `basic:` or `bearer:`")
    if parts.query or parts.fragment:
        raise ValueError("write the address alone, without `?` and `#`")
    return value


def _database(value: str) -> str:
    if _SQLITE.fullmatch(value) or _POSTGRES.fullmatch(value):
        return value
    raise ValueError(
        "write sqlite:////path/to/file (four slashes: an absolute path) "
        "or postgresql://user@host:5432/database"
    )


def _channel(value: str) -> str:
    if not value or _CHANNEL.fullmatch(value):
        return value
    raise ValueError(
        "write the channel's id (C0123456789), not its name: in Slack, open the channel's "
        "details; the id is the last line of `About`"
    )


def _days(value: int) -> int:
    if value == 0 or DAYS_AT_LEAST <= value <= DAYS_AT_MOST:
        return value
    raise ValueError(
        f"write {DAYS_AT_LEAST} to {DAYS_AT_MOST}, or 0 for ever (raw answers, which belong to "
        f"incidents, are kept {DAYS_AT_LEAST} days)"
    )


def objective(name: str, seconds: float) -> str:
    """Why this is no objective; "" when it is one."""
    if not _OBJECTIVE.fullmatch(name):
        return f"{name}: write a symptom and its quantile, as in ttft_p99_seconds"
    is_one = 0 < seconds < math.inf
    return "" if is_one else f"{name}: an objective is a number of seconds above 0"


Days = Annotated[int, AfterValidator(_days)]
Address = Annotated[str, AfterValidator(_http)]
"""http://HOST:PORT, https://HOST/prefix, or "" for "not configured"."""

DatabaseUrl = Annotated[str, AfterValidator(_database)]
Channel = Annotated[str, AfterValidator(_channel)]
