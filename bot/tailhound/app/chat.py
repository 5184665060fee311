"""Slack, put together: where incidents go, who posts them, who hears the clicks."""

import asyncio
from collections.abc import Callable, Sequence

from tailhound.diagnosis.routing import channels, routed
from tailhound.durable import storm
from tailhound.durable.asking import Destination, Place
from tailhound.durable.outbox import Manners
from tailhound.durable.service import Durable
from tailhound.model import Incident, State
from tailhound.settings import Settings
from tailhound.slack.calls import client
from tailhound.slack.listeners import SlackListeners
from tailhound.slack.notifier import SlackNotifier
from tailhound.slack.socket import SlackSocket
from tailhound.store.incidents import IncidentReader

SLACK_SECONDS = 10.0
OPEN = (State.DEFERRED, State.INVESTIGATING, State.DIAGNOSED, State.MITIGATING, State.FAILED)


class Chat:
    """Slack as the settings want it; without a token there is none, and nothing goes there."""

    def __init__(self, settings: Settings) -> None:
        self._slack = settings.slack
        self._public_url = settings.listen.public_url
        self._listeners: SlackListeners | None = None
        self._socket: SlackSocket | None = None

    @property
    def listeners(self) -> SlackListeners | None:
        """Who hears clicks; None without a token, or before `listen`."""
        return self._listeners

    def places(self) -> tuple[Place, ...]:
        """All channels that incidents may go to."""
        if self._slack.bot_token is None:
            return ()
        return tuple(Place(SlackNotifier.name, channel) for channel in channels(self._slack))

    def destinations(self, incident: Incident) -> Sequence[Destination]:
        """The channels of one incident."""
        if self._slack.bot_token is None:
            return ()
        return [
            Destination(
                place=Place(SlackNotifier.name, to.channel), mention=to.mention, thread=to.thread
            )
            for to in routed(incident, self._slack)
        ]

    def manners(self) -> Manners:
        """How many new messages a channel takes, and which one stands in for another."""
        limits = storm.Limits(*self._channel_limit)
        instead = Place(SlackNotifier.name, self._slack.fallback_channel)
        others = [place for place in self.places() if place != instead]
        return Manners(
            limits={SlackNotifier.name: limits},
            fallbacks=dict.fromkeys(others, instead) if instead.place else {},
        )

    def notifier(self) -> SlackNotifier | None:
        """Who posts and edits; None without a token."""
        token = self._slack.bot_token
        if token is None:
            return None
        web = client(token.read(), self._slack.api_url, SLACK_SECONDS)
        return SlackNotifier(
            web,
            public_url=self._public_url,
            channel_limit=self._channel_limit,
            token=token.read,
        )

    @property
    def _channel_limit(self) -> tuple[int, float]:
        return self._slack.messages_at_most, self._slack.storm_minutes * 60

    def listen(self, durable: Durable, reader: IncidentReader) -> None:
        """Hear clicks from now on, through Slack's socket where there is a token for it.

        Called on the event loop that the durable part runs on.
        """
        if self._slack.bot_token is None:
            return
        web = client(self._slack.bot_token.read(), self._slack.api_url, SLACK_SECONDS)
        self._listeners = SlackListeners(
            web,
            recheck=_recheck(durable, asyncio.get_running_loop()),
            status=lambda: reader.list(states=OPEN, limit=20),
        )
        if self._slack.app_token is not None:
            self._socket = SlackSocket(web, self._slack.app_token.read(), self._listeners)
            self._socket.start()

    def leave(self) -> None:
        """Hear no more; blocks until what runs has ended."""
        if self._socket is not None:
            self._socket.stop()
        elif self._listeners is not None:
            self._listeners.close()


def _recheck(durable: Durable, loop: asyncio.AbstractEventLoop) -> Callable[[str, str, str], bool]:
    def recheck(incident: str, user: str, envelope: str) -> bool:
        """Stored when this returns; a click that was known already counts as stored."""
        asking = durable.recheck(incident, user, envelope)
        asyncio.run_coroutine_threadsafe(asking, loop).result()
        return True

    return recheck
