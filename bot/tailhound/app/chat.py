"""Slack, put together: where incidents go, who posts them, who hears the clicks."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from tailhound.app.evidence_file import EvidenceFile
from tailhound.app.ops import Post
from tailhound.app.second_way import SECOND_WAY
from tailhound.diagnosis.routing import channels, routed, why_no_thread
from tailhound.durable import storm
from tailhound.durable.asking import Destination, Place
from tailhound.durable.elsewhere import Detours
from tailhound.durable.outbox import Manners
from tailhound.model import CLOSED_STATES, Incident
from tailhound.notifiers import PARTS
from tailhound.settings import Settings
from tailhound.slack.buttons import Offers
from tailhound.slack.calls import client, fingerprint
from tailhound.slack.deeds import Deeds
from tailhound.slack.listeners import SlackListeners
from tailhound.slack.notifier import SlackNotifier
from tailhound.slack.seconds import CALL_SECONDS
from tailhound.slack.socket import Around, SlackSocket, Standing
from tailhound.store.incidents import IncidentReader


class Chat:
    """Slack as the settings want it; without a token there is none, and nothing goes there.

    `clicks`: people's clicks come from elsewhere than Slack's socket, so buttons work without one.
    `troubles` tells what is wrong with tailhound itself, for the last line of each message.
    """

    def __init__(self, settings: Settings, *, clicks: bool = False) -> None:
        self._settings = settings
        self._slack = settings.slack
        self._clicks = clicks
        self._notifier: SlackNotifier | None = None
        self._listeners: SlackListeners | None = None
        self._socket: SlackSocket | None = None
        self.troubles: Callable[[], Sequence[str]] = tuple

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
                place=Place(SlackNotifier.name, to.channel),
                mention=to.mention,
                thread=to.thread,
                later=to.later,
            )
            for to in routed(incident, self._slack)
        ]

    def manners(self) -> Manners:
        """How many new messages a channel takes, and which one stands in for another."""
        limits = storm.Limits(*self._channel_limit)
        return Manners(limits={SlackNotifier.name: limits}, detours=self._detours())

    def _detours(self) -> Detours:
        """A channel that refuses has the fallback channel behind it, and that one the webhook."""
        second = self._settings.fallback.webhook
        instead = Place(SlackNotifier.name, self._slack.fallback_channel)
        places = self.places()
        last = {place: SECOND_WAY for place in places if second.configured}
        others = [place for place in places if place != instead]
        first = dict.fromkeys(others, instead) if instead.place else {}
        late = {place: (to, second.after_seconds) for place, to in last.items()}
        return Detours(fallbacks={**last, **first}, late=late)

    def parts(self) -> Mapping[str, Sequence[str]]:
        """The posts in the thread of an incident."""
        return {SlackNotifier.name: PARTS} if self._slack.threads else {}

    def notifier(self, reader: IncidentReader, now: Callable[[], datetime]) -> SlackNotifier | None:
        """Who posts and edits until `close`; None without a token."""
        token = self._slack.bot_token
        if token is None:
            return None
        token.token()  # what can't be read keeps tailhound from starting
        self._notifier = SlackNotifier(
            client(token.token, self._slack.api_url, CALL_SECONDS),
            public_url=self._settings.listen.public_url,
            channel_limit=self._channel_limit,
            offers=self._offers,
            written=EvidenceFile(self._settings, reader.raw, now),
            notes=self._notes,
        )
        return self._notifier

    def ops_post(self) -> Post | None:
        """Who tells of tailhound's own trouble; None without a channel for it."""
        notifier = self._notifier
        channel = self._slack.ops_channel or self._slack.fallback_channel
        if notifier is None or not channel:
            return None
        return lambda told, is_new: notifier.notice(channel, told, is_new=is_new)

    def _offers(self) -> Offers:
        """No button is drawn that nobody would hear."""
        heard = self._slack.app_token is not None and not (self._socket and self._socket.deaf)
        return Offers(
            interactive=self._clicks or heard,
            can_silence=bool(self._settings.alertmanager.url),
        )

    def _notes(self, incident: Incident) -> Sequence[str]:
        """What is wrong now is told of what is open: nobody draws the others again when it ends."""
        refused = why_no_thread(incident, self._slack)
        troubles = self.troubles() if incident.state not in CLOSED_STATES else ()
        return [*([refused] if refused else []), *troubles]

    def close(self) -> None:
        """End what the notifier is still making; called on the event loop."""
        if self._notifier is not None:
            self._notifier.close()

    @property
    def _channel_limit(self) -> tuple[int, float]:
        return self._slack.messages_at_most, self._slack.storm_minutes * 60

    def standing(self) -> Standing | None:
        """How the connections stand over which clicks come; None where there are none."""
        return self._socket.standing() if self._socket is not None else None

    def listen(self, deeds: Deeds, around: Around = Around()) -> None:  # noqa: B008 - frozen
        """Hear clicks from now on, through Slack's socket where there is a token for it."""
        if self._slack.bot_token is None:
            return
        around.say(f"Slack: bot token {fingerprint(self._slack.bot_token.token())}")
        web = client(self._slack.bot_token.token, self._slack.api_url, CALL_SECONDS)
        self._listeners = SlackListeners(web, deeds)
        if self._slack.app_token is not None:
            self._socket = SlackSocket(web, self._slack.app_token.token, self._listeners, around)
            self._socket.start()

    def leave(self) -> None:
        """Hear no more; what runs may still run for a moment."""
        if self._socket is not None:
            self._socket.stop()
        elif self._listeners is not None:
            self._listeners.close()
