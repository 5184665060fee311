"""What `doctor` asks the tailhound that serves here: does it run, is the alert path alive?"""

import http.client
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from prometheus_client.parser import text_string_to_metric_families

from tailhound.app.arrivals import LATE, UNTOLD, WATCHDOG, WATCHDOG_KNOWN_METRIC, WATCHDOG_METRIC
from tailhound.app.probes import Line, Mood
from tailhound.model.names import plural
from tailhound.model.wording import duration
from tailhound.settings import Settings

SECONDS = 3.0
_BYTES = 4_000_000
_BUILD = "tailhound_build_info"
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  to be asked
CONNECTIONS, OTHERS = "tailhound_slack_sockets", "tailhound_slack_sockets_unknown"

_DIRECT = build_opener(ProxyHandler({}))
"""No proxy stands before what runs on this machine, whatever the environment says."""

Metrics = Mapping[str, float]
"""The last sample of each metric, whatever its labels."""


def own_lines(settings: Settings, now: datetime) -> list[Line]:
    """Whether it answers, when the dead man's switch was seen, and its connections to Slack."""
    host, port = settings.listen.host, settings.listen.port
    if not port:
        return []
    named = _EVERYWHERE.get(host, host)
    address = f"http://{f'[{named}]' if ':' in named else named}:{port}"
    found = read(address)
    if isinstance(found, str):
        return [_warn("serve", f"{address}: {found}", "no alert is taken here",
                      "start tailhound serve, or look at its log")]  # fmt: skip
    if _BUILD not in found:
        return [_warn("serve", f"{address}: something else answers there", "no alert is taken here",
                      "set listen.port, or end the other program")]  # fmt: skip
    return [Line(mood=Mood.OK, name="serve", told=f"answers at {address}"),
            *_connections(settings, found), _watchdog(found, now)]  # fmt: skip


def read(address: str) -> Metrics | str:
    """The metrics that are served there; why there are none, otherwise."""
    try:
        with _DIRECT.open(f"{address}/metrics", timeout=SECONDS) as answer:
            text = answer.read(_BYTES).decode("utf-8", "replace")
        families = list(text_string_to_metric_families(text))
    except (URLError, OSError, http.client.HTTPException, ValueError) as error:
        return _why(error)
    return {sample.name: sample.value for family in families for sample in family.samples}


def _why(error: Exception) -> str:
    cause: Any = error.reason if isinstance(error, URLError) else error
    return str(getattr(cause, "strerror", "") or cause or type(cause).__name__)[:200]


def _connections(settings: Settings, found: Metrics) -> list[Line]:
    """How many sockets to Slack stand, where buttons are to work and the process tells."""
    if settings.slack.app_token is None or CONNECTIONS not in found:
        return []
    amount, others = int(found[CONNECTIONS]), int(found.get(OTHERS, 0))
    if amount and others > 0:
        return [_warn("slack", f"{plural(others, 'other connection')} of the same app",
                      "clicks that another program gets do nothing here",
                      "give each deployment an app of its own")]  # fmt: skip
    if amount:
        return [Line(mood=Mood.OK, name="slack", told=f"serve has {plural(amount, 'connection')}")]
    return [_warn("slack", "serve has no connection to Slack now",
                  "buttons and commands do nothing",
                  "tailhound doctor slack tells whether the token is good")]  # fmt: skip


def _watchdog(found: Metrics, now: datetime) -> Line:
    at = found.get(WATCHDOG_METRIC)
    if at is None:
        told = f"no alert {WATCHDOG} since that process started"
    else:
        seconds = max(0.0, now.timestamp() - at)
        told = f"alert {WATCHDOG} seen {duration(float(round(seconds)))} ago"
        if seconds <= LATE.total_seconds():
            return Line(mood=Mood.OK, name="watchdog", told=told)
    if not found.get(WATCHDOG_KNOWN_METRIC):
        return _warn("watchdog", f"{told}; {UNTOLD}", "nobody knows whether alerts get here",
                     "tailhound doctor tells whether the database answers")  # fmt: skip
    return _warn("watchdog", told, "nobody notices when alerts no longer get here",
                 f"route the alert {WATCHDOG} to this webhook, with a repeat_interval of "
                 "5m")  # fmt: skip


def _warn(name: str, told: str, breaks: str, fix: str) -> Line:
    return Line(mood=Mood.WARN, name=name, told=told, breaks=breaks, fix=fix)
