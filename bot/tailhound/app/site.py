"""What the web application is given: the seams of `web.parts`, filled from the rest."""

from collections.abc import Callable, Sequence
from datetime import datetime

from tailhound.app.arrivals import Arrivals
from tailhound.app.backends import Needs, backend_lines
from tailhound.app.board import Board
from tailhound.app.briefly import brief, in_queue
from tailhound.app.catalogue import Catalogue
from tailhound.app.counting import OVERSIZED
from tailhound.app.health import message_lines, own_lines, replica_lines
from tailhound.diagnosis.report import as_json
from tailhound.durable.service import Durable
from tailhound.durable.switch import stopped
from tailhound.model import Incident
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings, Slack
from tailhound.slack.calls import client
from tailhound.slack.deeds import Part
from tailhound.slack.home import Home
from tailhound.slack.notifier import SlackNotifier
from tailhound.slack.seconds import HOME_SECONDS
from tailhound.store.accuracy import accuracy
from tailhound.store.counts import count
from tailhound.store.database import Database
from tailhound.store.incidents import IncidentReader
from tailhound.web.knowledge import from_recording
from tailhound.web.metrics import Metrics
from tailhound.web.parts import Counts, HealthLine, Parts, Stop


class Site:
    """The pages' side of one process. `board` and `arrivals` are fed by who asks and who reads."""

    def __init__(
        self,
        settings: Settings,
        active: Compiled,
        metrics: Metrics,
        clock: Callable[[], datetime],
        *,
        slack_page: str = "",
    ) -> None:
        self.board = Board(clock)
        self.arrivals = Arrivals(clock)
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._catalogue = Catalogue(settings, active, clock())
        self._needs = Needs.of(active.runbooks)
        self._slack_page = slack_page
        self._home = _home(settings)
        self._more: list[Callable[[], Sequence[HealthLine]]] = []
        metrics.runs(len(active.runbooks))
        metrics.registry.register(self.arrivals)

    def tells(self, lines: Callable[[], Sequence[HealthLine]]) -> None:
        """Have these lines of health told too, behind those about messages."""
        self._more.append(lines)

    def parts(self, durable: Durable, database: Database, reader: IncidentReader) -> Parts:
        """What the application works with."""

        async def oversized(size: int) -> None:
            """One visible message: a refused body becomes an incident of its own."""
            await durable.accept(OVERSIZED + f"{size} bytes".encode())

        return Parts(
            settings=self._settings,
            accept=durable.accept,
            reader=reader,
            as_json=as_json,
            not_ready=durable.intake.not_ready,
            clock=self._clock,
            metrics=self._metrics,
            counts=lambda: self._counts(database),
            oversized=oversized,
            catalogue=self._catalogue,
            accuracy=lambda since: accuracy(database, since),
            look=self.board.look,
            health=lambda: self._health(durable, database),
            stopped=lambda: self._stopped(database),
            slack_link=lambda incident: self._slack_link(reader, incident),
            slack_home=self._slack_home,
        )

    def parts_of_health(self, durable: Durable, *, recorded: bool) -> Sequence[Part]:
        """How the backends stand and what waits for Slack, in the fewest words: for Slack.

        `recorded`: recordings answer in their place.
        """
        now = self._clock()
        lines = [from_recording(one) if recorded else one for one in self.backends()]
        queue = in_queue(durable.outbox.standings(), SlackNotifier.name)
        return [*(brief(line, now) for line in lines), *queue]

    def backends(self) -> Sequence[HealthLine]:
        """How the backends stand, as far as they were asked."""
        return backend_lines(self.board.standings(), self._settings, self._needs, self._clock())

    def _slack_link(self, reader: IncidentReader, incident: Incident) -> str:
        """Where its first message in Slack stands; "" without one, or where nobody can tell."""
        if self._home is None and not self._slack_page:
            return ""
        found = reader.messages(incident.id, SlackNotifier.name)
        return self.message_link(*found[0]) if found else ""

    def message_link(self, channel: str, message: str) -> str:
        """The address of a message in Slack; "" where nobody can tell."""
        if self._home is not None:
            return self._home.link(channel, message)
        return f"{self._slack_page}#m{message}" if self._slack_page else ""

    def _slack_home(self) -> str:
        """Where the messages without a route of their own are; "" where nobody can tell."""
        channel = self._settings.slack.channel
        if self._home is None or not channel:
            return self._slack_page
        return self._home.channel(channel)

    def _counts(self, database: Database) -> Counts:
        counted = count(database, self._clock())
        return Counts(
            incidents=counted.incidents,
            unreadable=counted.unreadable,
            outbox_waiting=counted.waiting,
            outbox_refused=counted.refused,
            outbox_oldest_seconds=counted.oldest_seconds,
        )

    def _stopped(self, database: Database) -> Stop | None:
        with database.reading() as connection:
            found = stopped(connection, self._settings.stops)
        if found is None:
            return None
        return Stop(by=found.by, at=found.at, why=found.why, file=found.file)

    def _health(self, durable: Durable, database: Database) -> Sequence[HealthLine]:
        now = self._clock()
        peers = durable.replicas.peers() if durable.replicas else ()
        return (
            *self.backends(),
            *self.arrivals.lines(),
            *message_lines(durable.outbox.standings()),
            *(line for lines in self._more for line in lines()),
            *own_lines(self._counts(database), self._settings.mode, self._stopped(database), now),
            *replica_lines(database.name, peers),
        )


def _home(settings: Settings) -> Home | None:
    """The workspace, where there is a real one to link to."""
    token, address = settings.slack.bot_token, settings.slack.api_url
    if token is None or address != Slack().api_url:
        return None
    return Home(lambda: client(token.token, address, HOME_SECONDS))
