"""The connections to Slack over which clicks come, and how they stand.

There are two: Slack closes each every few hours, and a click that finds none is lost. Each envelope
comes over one of them.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from slack_bolt import BoltResponse
from slack_bolt.adapter.socket_mode.internals import send_response
from slack_sdk import WebClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from tailhound.slack.link import Hello, Link
from tailhound.slack.listeners import SlackListeners

CONNECTIONS: Final = 2
DEAF_SECONDS: Final = 120.0
"""After so long without a connection, buttons are not drawn any more."""

RECOUNT_SECONDS: Final = 60.0
RECOUNTS_APART: Final = 3600.0
LOOK_SECONDS: Final = 5.0
_CLOSING_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the connections stand: `up` of `wanted`; for how many seconds there has been none, and
    why; the app; how many connections of it Slack counts (0 = it has not said), and how many of
    those are nobody's that is known here. `token` is the fingerprint of the app token.
    """

    up: int
    wanted: int
    quiet: float = 0.0
    why: str = ""
    app: str = ""
    counted: int = 0
    others: int = 0
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is around the connections. `replicas` tells how many processes share them, this one
    included, 0 = not known; it may block. `changed` is told when buttons begin or cease to work,
    again until it returns True; `say` takes a line for the log. `clock` is monotonic;
    `look_seconds` is how often the connections are looked at.
    """

    replicas: Callable[[], int] = lambda: 1
    changed: Callable[[], bool] = lambda: True
    say: Callable[[str], None] = lambda _line: None
    clock: Callable[[], float] = time.monotonic
    look_seconds: float = LOOK_SECONDS


class SlackSocket:
    """Keeps the connections up; `token` reads the app token."""

    def __init__(
        self,
        web: WebClient,
        token: Callable[[], str],
        listeners: SlackListeners,
        around: Around = Around(),
    ) -> None:
        self._listeners, self._around = listeners, around
        self._stopping = threading.Event()
        self._links = tuple(
            Link(web, token, self._on_request, around.clock) for _ in range(CONNECTIONS)
        )
        self._watcher = threading.Thread(target=self._watch, name="slack-watch", daemon=True)
        self._deaf = self._is_untold = False
        self._told = ("", "")
        self._excess_since: float | None = None
        self._recounted = 0.0
        self._others = 0

    @property
    def connected(self) -> bool:
        """Whether a connection stands now."""
        return any(link.connected for link in self._links)

    @property
    def deaf(self) -> bool:
        """Whether clicks have reached nobody for DEAF_SECONDS: not this process, nor another."""
        return self._deaf

    def standing(self) -> Standing:
        """How the connections stand."""
        hello = self._hello()
        up = [link for link in self._links if link.connected]
        return Standing(
            up=len(up),
            wanted=len(self._links),
            quiet=min(link.quiet() for link in self._links),
            why="" if up else next((link.why for link in self._links if link.why), ""),
            app=hello.app if hello else "",
            counted=hello.connections if hello else 0,
            others=self._others,
            token=self._links[0].token,
        )

    def start(self) -> None:
        """Begin to connect; returns at once."""
        for link in self._links:
            link.start()
        self._watcher.start()

    def stop(self) -> None:
        """Disconnect, take no further click, and return within about three seconds."""
        self._stopping.set()
        for link in self._links:
            link.stopping()
        closing = [
            threading.Thread(target=link.close, name="slack-close", daemon=True)
            for link in self._links
        ]
        until = time.monotonic() + _CLOSING_SECONDS
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join(max(0.0, until - time.monotonic()))
        self._listeners.close()

    def _watch(self) -> None:
        while not self._stopping.wait(self._around.look_seconds):
            self.look()

    def look(self) -> None:
        """Notice what has changed; it is called every few seconds, and may block."""
        self._introduce()
        self._notice()
        self._count()

    def _introduce(self) -> None:
        """Tell whose connections these are, when that is new."""
        hello = self._hello()
        if hello is None or self._told == (hello.app, self._links[0].token):
            return
        self._told = (hello.app, self._links[0].token)
        self._around.say(
            f"Slack: clicks of the app {hello.app or '?'} are heard; app token {self._told[1]}, "
            f"connections of this app: {hello.connections or '?'}"
        )

    def _notice(self) -> None:
        quiet = min(link.quiet() for link in self._links)
        deaf = quiet > DEAF_SECONDS and (self._deaf or self._around.replicas() == 1)
        if deaf != self._deaf:
            self._deaf, self._is_untold = deaf, True
        if self._is_untold:
            self._is_untold = not self._around.changed()

    def _count(self) -> None:
        """Whether Slack counts more connections than there are known ones.

        What it says is as old as the connection, so another is opened before it is believed.
        """
        hello, now = self._hello(), self._around.clock()
        others = self._beyond(hello)
        if hello is None or others <= 0:
            self._excess_since, self._others = None, 0
            return
        if self._excess_since is None:
            self._excess_since = now
        if hello.at - self._excess_since >= RECOUNT_SECONDS:
            self._others = others
        due = self._excess_since + RECOUNT_SECONDS
        if self._recounted >= self._excess_since:
            due = self._recounted + RECOUNTS_APART
        if now >= due and all(link.connected for link in self._links):
            self._recounted = now
            self._links[0].renew()

    def _beyond(self, hello: Hello | None) -> int:
        """How many connections Slack counted that no living replica has."""
        if hello is None or hello.connections <= CONNECTIONS:
            return 0
        replicas = self._around.replicas()
        return hello.connections - CONNECTIONS * replicas if replicas else 0

    def _hello(self) -> Hello | None:
        """The newest."""
        found = [link.hello for link in self._links if link.hello is not None]
        return max(found, key=lambda hello: (hello.at, hello.connections)) if found else None

    def _on_request(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        answer: BoltResponse | None = self._listeners.receive(
            request.envelope_id, request.payload or {}
        )
        if answer is not None:
            send_response(client, request, answer, 0.0)
