"""The second way out: an address that takes what Slack can't show, and what is told of it."""

from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from tailhound.app.health import MESSAGES
from tailhound.durable.asking import Place
from tailhound.model import Missing
from tailhound.notifiers.webhook import Post, WebhookNotifier
from tailhound.settings import Settings
from tailhound.transports.webhook import WebhookClient
from tailhound.web.parts import HealthLine

SECOND_WAY = Place(WebhookNotifier.name, "-")
Diverted = Callable[[], Mapping[Place, Place]]


class SecondWay(Collector):
    """A webhook with its notifier, its line of health and its metrics; None of it where there is
    none in the settings.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.fallback.webhook
        self._public_url = settings.listen.public_url
        self._client = WebhookClient(self._settings) if self._settings.configured else None
        self._diverted: Diverted = dict
        self._taken = self._failed = 0

    def places(self) -> tuple[Place, ...]:
        """The place of its messages; none without an address."""
        return (SECOND_WAY,) if self._client else ()

    def notifier(self) -> WebhookNotifier | None:
        """Who posts; None without an address."""
        if self._client is None:
            return None
        return WebhookNotifier(self._counting(self._client), public_url=self._public_url)

    def watch(self, diverted: Diverted) -> None:
        """From now on `diverted` tells which places hand their incidents on, and to which."""
        self._diverted = diverted

    def lines(self) -> tuple[HealthLine, ...]:
        """Whether it is in use now."""
        if self._client is None:
            return ()
        where = urlsplit(self._settings.url).netloc or "an address that is kept secret"
        used = self._used()
        if not used:
            told = HealthLine(section=MESSAGES, name="Second way out", state="not in use",
                              works=True, detail=where)  # fmt: skip
            return (told,)
        told = HealthLine(
            section=MESSAGES,
            name="Second way out",
            state="in use",
            works=None,
            detail=f"{where}, for {', '.join(used)}",
            effect="incidents are told there while Slack does not show them",
        )
        return (told,)

    def collect(self) -> Iterable[Metric]:
        """Whether it is in use, and what became of the bodies of this process."""
        if self._client is None:
            return
        yield GaugeMetricFamily(
            "tailhound_second_way_out_in_use",
            "1 while incidents go to fallback.webhook because Slack does not show them.",
            value=float(bool(self._used())),
        )
        bodies = CounterMetricFamily(
            "tailhound_second_way_out_bodies",
            "Bodies for fallback.webhook, by what became of them.",
            labels=["result"],
        )
        bodies.add_metric(["taken"], self._taken)
        bodies.add_metric(["failed"], self._failed)
        yield bodies

    def close(self) -> None:
        """Drop its connections."""
        if self._client is not None:
            self._client.close()

    def _used(self) -> list[str]:
        return sorted(one.place for one, to in self._diverted().items() if to == SECOND_WAY)

    def _counting(self, client: WebhookClient) -> Post:
        async def post(body: bytes) -> tuple[int, float] | Missing:
            found = await client.post(body)
            taken = not isinstance(found, Missing) and 200 <= found[0] < 300
            self._taken += taken
            self._failed += not taken
            return found

        return post
