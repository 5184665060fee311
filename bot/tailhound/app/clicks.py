"""Whether people's clicks are heard: a line of health, and gauges."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from tailhound.app.health import MESSAGES
from tailhound.durable.service import Durable
from tailhound.errors import StoreUnavailable
from tailhound.model.names import plural
from tailhound.model.wording import duration
from tailhound.slack.notifier import SlackNotifier
from tailhound.slack.socket import Around, Standing
from tailhound.web.parts import HealthLine

_NAME = "Slack buttons and commands"
_SOON = 10.0
"""A connection that is down for less is just being renewed, or has not been opened yet."""


class Clicks(Collector):
    """What is told of the connections to Slack; `standing` gives None where there are none."""

    def __init__(self, standing: Callable[[], Standing | None]) -> None:
        self._standing = standing

    def lines(self) -> tuple[HealthLine, ...]:
        """Whether clicks are heard now."""
        found = self._standing()
        return () if found is None else (_line(found),)

    def collect(self) -> Iterable[Metric]:
        """How many connections stand, and how many of the app Slack counts."""
        found = self._standing()
        if found is None:
            return
        yield GaugeMetricFamily(
            "tailhound_slack_sockets", "Connections that hear clicks.", value=float(found.up)
        )
        yield GaugeMetricFamily(
            "tailhound_slack_sockets_unknown",
            "Connections of the same app that are no known replica's.",
            value=float(found.others),
        )


def around(durable: Durable, loop: asyncio.AbstractEventLoop, say: Callable[[str], None]) -> Around:
    """What the connections are told of, and tell; called on threads of their own."""

    def redraw() -> bool:
        try:
            durable.outbox.redraw(SlackNotifier.name)
        except StoreUnavailable:
            return False
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody draws any more
            loop.call_soon_threadsafe(durable.outbox.wake)
        return True

    return Around(replicas=durable.living, changed=redraw, say=say)


def _line(at: Standing) -> HealthLine:
    app = f"app {at.app}, " if at.app else ""
    detail = f"{app}app token {at.token}" if at.token else ""
    if not at.up:
        return _unheard(at, detail)
    if at.others:
        return HealthLine(
            section=MESSAGES,
            name=_NAME,
            state=f"heard, but {plural(at.others, 'other connection')} of this app takes some",
            works=None,
            detail=f"{detail}; Slack counts {at.counted}",
            effect="clicks that another program gets do nothing here",
            fix="give each deployment an app of its own; equal tokens have equal fingerprints",
        )
    return HealthLine(
        section=MESSAGES,
        name=_NAME,
        state=f"heard over {at.up} of {plural(at.wanted, 'connection')}",
        works=True if at.up == at.wanted else None,
        detail=detail,
        effect="" if at.up == at.wanted else "a click may be lost while the other one is renewed",
    )


def _unheard(at: Standing, detail: str) -> HealthLine:
    lasting = at.quiet >= _SOON
    return HealthLine(
        section=MESSAGES,
        name=_NAME,
        state=f"not heard for {duration(float(round(at.quiet)))}" if lasting else "connecting",
        works=False if lasting else None,
        detail="; ".join(part for part in (at.why, detail) if part),
        effect="what people press or type in Slack does nothing",
        fix="look at slack.app_token, and at the network and the proxy to slack.com",
    )
