"""Where incidents are told: the console, Slack, and the second way out."""

from collections.abc import Sequence

from tailhound.app.chat import Chat
from tailhound.app.counting import Counting
from tailhound.app.greeting import Voice
from tailhound.app.lines import now
from tailhound.app.second_way import SecondWay
from tailhound.durable.asking import Destination, Place
from tailhound.model import Incident
from tailhound.notifiers import Notifier
from tailhound.notifiers.console import ConsoleNotifier
from tailhound.store.incidents import IncidentReader
from tailhound.web.metrics import Metrics

CONSOLE = Place(ConsoleNotifier.name, "-")


class Outlets:
    """All ways out of one process, by its settings."""

    def __init__(self, chat: Chat, second: SecondWay, metrics: Metrics, voice: Voice) -> None:
        self._chat, self._second = chat, second
        self._metrics, self._voice = metrics, voice

    def places(self) -> tuple[Place, ...]:
        """Every place that may be told."""
        return (CONSOLE, *self._chat.places(), *self._second.places())

    def destinations(self, incident: Incident) -> Sequence[Destination]:
        """Where this incident is told. The second way out is the first where there is no Slack."""
        channels = self._chat.destinations(incident)
        others = channels or [Destination(place=place) for place in self._second.places()]
        return [Destination(place=CONSOLE), *others]

    def notifiers(self, reader: IncidentReader) -> tuple[Notifier, ...]:
        """Who tells it."""
        console = ConsoleNotifier(self._voice.say, self._voice.warn)
        slack = self._chat.notifier(reader, now)
        # people read Slack where there is one: its first posts are those that count
        alone = Counting(console, self._metrics, now, posts=slack is None, verdicts=True)
        second = self._second.notifier()
        others: tuple[Notifier, ...] = () if second is None else (second,)
        if slack is None:
            return alone, *others
        return alone, Counting(slack, self._metrics, now, posts=True, verdicts=False), *others
