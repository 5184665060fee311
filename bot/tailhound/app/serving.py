"""`tailhound serve`, put together: database, engine, Slack, web, and how they start and end."""

import asyncio
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from starlette.routing import BaseRoute

from tailhound.app.chat import Chat
from tailhound.app.clicks import Clicks, around
from tailhound.app.composition import compiled, transports
from tailhound.app.counting import counting
from tailhound.app.deeds import Given, ServerDeeds
from tailhound.app.greeting import Voice, begun, greet
from tailhound.app.investigators import Investigators, Make
from tailhound.app.lines import INFO, WARNING, now, saying
from tailhound.app.ops import OpsWatch, Watching
from tailhound.app.outlets import Outlets
from tailhound.app.plugins import collectors
from tailhound.app.second_way import SecondWay
from tailhound.app.site import Site
from tailhound.app.ways import Ways
from tailhound.durable.asking import Terms
from tailhound.durable.blocking import Blocking
from tailhound.durable.investigating import Investigating
from tailhound.durable.investigation import Investigator
from tailhound.durable.ops import OwnTroubles
from tailhound.durable.service import Durable, Surroundings
from tailhound.durable.standings import late_since
from tailhound.errors import SettingsError, StoreUnavailable
from tailhound.flow import Transport
from tailhound.rules.loading import Compiled
from tailhound.schedule import Schedule
from tailhound.settings import Settings
from tailhound.slack.notifier import SlackNotifier
from tailhound.sources.alertmanager import read_group
from tailhound.store.database import Database, open_database
from tailhound.store.incidents import IncidentReader
from tailhound.store.outputs import keep_compiled
from tailhound.transports.alertmanager import AlertmanagerClient
from tailhound.web.app import create_app
from tailhound.web.auth import check_listen
from tailhound.web.metrics import Metrics
from tailhound.web.server import bind, serve

ALOUD = Voice(say=saying(INFO), warn=saying(WARNING))


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What the demo adds to a server: its socket, recorded transports, its own routes, a word when
    it is up. `clicks`: it hands clicks on by itself (`Server.click`). `slack_page`: where its own
    stand-in of Slack is looked at, "" without one.
    """

    listening: socket.socket | None = None
    transports: Sequence[Transport] | None = None
    investigator: Make | None = None
    routes: Sequence[BaseRoute] = ()
    clicks: bool = False
    slack_page: str = ""
    started: Callable[[str], None] = lambda _address: None
    voice: Voice = ALOUD


class Server:
    """One process that serves. `run` returns when `stop` was called or a signal came."""

    def __init__(self, settings: Settings, extras: Extras | None = None) -> None:
        check_listen(settings)
        self._settings = settings
        self._extras = extras or Extras()
        self._compiled = compiled(settings)
        self._stop = asyncio.Event()
        self._metrics = Metrics()
        self._chat = Chat(settings, clicks=self._extras.clicks)
        self._second = SecondWay(settings)
        self._outlets = Outlets(self._chat, self._second, self._metrics, self._extras.voice)
        self._site = Site(
            settings, self._compiled, self._metrics, now, slack_page=self._extras.slack_page
        )
        clicks = Clicks(self._chat.standing)
        self._metrics.registry.register(clicks)
        self._site.tells(clicks.lines)
        self._site.tells(self._second.lines)
        self._greeting: asyncio.Task[None] | None = None

    @property
    def _is_demo(self) -> bool:
        """Whether nothing outside is asked, so that there is nothing to tell about it."""
        return self._extras.transports is not None

    def stop(self) -> None:
        """End `run`; it then takes at most 5 s."""
        self._stop.set()

    def click(self, envelope: str, payload: Mapping[str, Any]) -> object:
        """Take a click that did not come over Slack's socket: the demo's own channel page."""
        if self._chat.listeners is None:
            raise SettingsError("clicks need slack.bot_token, and a server that runs")
        return self._chat.listeners.receive(envelope, payload)

    async def run(self) -> None:
        """Listen, take up what an earlier life left, serve until stopped."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        listening = self._extras.listening or bind(
            self._settings.listen.host, self._settings.listen.port
        )
        database = open_database(self._settings.store.url, self._settings.store.secret())
        given = self._extras.transports
        asked = transports(self._settings) if given is None else given
        self._metrics.registry.register(Ways(asked))
        self._metrics.registry.register(self._second)
        backends = self._site.board.watched(asked)
        try:
            await self._serve(listening, database, backends)
        finally:
            for backend in backends:
                backend.close()
            self._second.close()
            database.close()

    async def _serve(
        self, listening: socket.socket, database: Database, backends: Sequence[Transport]
    ) -> None:
        if not self._is_demo:
            for line in begun(self._settings, self._compiled, database.name):
                self._extras.voice.say(line)
        self._keep_compiled(database)
        silencer = self._silencer()
        reader = IncidentReader.of(database)
        durable = self._durable(database, backends, reader, silencer)
        self._second.watch(durable.outbox.diverted)
        parts = replace(self._site.parts(durable, database, reader), recorded=self._is_demo)
        await durable.start()
        schedule = self._schedule(durable)
        deeds = self._deeds(durable, database, backends, silencer)
        say = _silent if self._is_demo else self._extras.voice.say
        self._chat.listen(deeds, around(durable, asyncio.get_running_loop(), say))
        watch = self._watch(durable, database)
        watching = None if self._is_demo else asyncio.create_task(watch.run(), name="ops")
        ending = asyncio.create_task(self._end(durable), name="end")
        try:
            await serve(
                create_app(parts, extra=self._extras.routes),
                listening,
                self._stop,
                started=lambda: self._started(listening),
            )
        finally:
            self.stop()
            schedule.stop()
            watch.stop()
            if watching is not None:
                watching.cancel()
                await asyncio.wait([watching])
            await ending
            if silencer is not None:
                silencer.close()

    def _durable(
        self,
        database: Database,
        backends: Sequence[Transport],
        reader: IncidentReader,
        silencer: AlertmanagerClient | None,
    ) -> Durable:
        return Durable(
            Surroundings(
                database=database,
                terms=self._terms,
                investigator_for=Investigators(
                    self._compiled, database, self._settings, self._maker(backends)
                ),
                read_group=self._site.arrivals.noting(counting(read_group, self._metrics)),
                notifiers={notifier.name: notifier for notifier in self._outlets.notifiers(reader)},
                manners=self._chat.manners(),
                silencer=silencer,
                stop_file=self._settings.stops,
            )
        )

    def _deeds(
        self,
        durable: Durable,
        database: Database,
        backends: Sequence[Transport],
        silencer: AlertmanagerClient | None,
    ) -> ServerDeeds:
        return ServerDeeds(
            Given(
                settings=self._settings,
                compiled=self._compiled,
                durable=durable,
                database=database,
                make=self._maker(backends),
                silencer=silencer,
                channels=lambda incident: [
                    to.place.place for to in self._chat.destinations(incident)
                ],
                parts=lambda: self._site.parts_of_health(durable, recorded=self._is_demo),
                link=self._site.message_link,
                clock=now,
            )
        )

    def _watch(self, durable: Durable, database: Database) -> OpsWatch:
        """The watch over this process, told in the ops channel and in messages."""

        def late() -> datetime | None:
            with database.reading() as connection:
                return late_since(connection, SlackNotifier.name)

        watching = Watching(
            look=self._site.board.look,
            backends=self._site.backends,
            late_since=late,
            switch_seen=lambda: self._site.arrivals.switch_seen,
            switch_heard=self._site.arrivals.heard_anywhere,
            stop_file=self._settings.stops,
            leads=durable.replicas.leads if durable.replicas else lambda: True,
            post=self._chat.ops_post(),
            redraw=lambda: durable.outbox.redraw(SlackNotifier.name),
        )
        watch = OpsWatch(watching, OwnTroubles(database), now)
        self._chat.troubles = watch.notes
        return watch

    def _maker(self, backends: Sequence[Transport]) -> Make:
        def make(kept: Compiled) -> Investigating:
            return Investigator(kept, collectors(), backends, self._settings)

        return self._extras.investigator or make

    def _silencer(self) -> AlertmanagerClient | None:
        wanted = self._settings.alertmanager
        return AlertmanagerClient(wanted) if wanted.url else None

    async def _end(self, durable: Durable) -> None:
        """Once it is to stop: end everything at the same time, for each takes its seconds."""
        await self._stop.wait()
        if self._greeting is not None:
            self._greeting.cancel()
        leaving = Blocking("slack", 1)  # the engine takes the loop's own threads down with it
        await asyncio.gather(durable.stop(), leaving.run(self._chat.leave))
        leaving.close()
        self._chat.close()

    def _schedule(self, durable: Durable) -> Schedule:
        """Hands due jobs to the engine; one that can't be stored now is done a day later."""
        tasks: set[asyncio.Task[None]] = set()

        async def put(job: str, due: datetime) -> None:
            try:
                await durable.tick(job, due)
            except StoreUnavailable as error:
                self._extras.voice.warn(f"the scheduled job {job} was skipped: {error}")

        def tick(job: str, due: datetime) -> None:
            task = asyncio.get_running_loop().create_task(put(job, due))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        schedule = Schedule(tick)
        schedule.start()
        return schedule

    def _started(self, listening: socket.socket) -> None:
        host, port = listening.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._extras.voice.say(f"tailhound serves {address} (mode {self._settings.mode})")
        self._extras.started(address)
        if not self._is_demo:
            greeting = greet(self._settings, self._site, self._extras.voice)
            self._greeting = asyncio.create_task(greeting, name="greeting")

    def _keep_compiled(self, database: Database) -> None:
        """Runs in flight finish by the set that they began with, so every set is kept."""
        with database.writing() as connection:
            keep_compiled(connection, self._compiled.to_json().encode(), now())

    def _terms(self) -> Terms:
        return Terms(
            incidents=self._settings.incidents,
            sha=self._compiled.sha,
            causes=len(self._compiled.runbooks),
            verdict_seconds=self._settings.deadlines.verdict,
            late_seconds=self._settings.deadlines.late,
            mode=self._settings.mode,
            places=self._outlets.places(),
            destinations=self._outlets.destinations,
            parts=self._chat.parts(),
        )


def _silent(_line: str) -> None:
    """The demo tells of no token and no app: there are none."""
