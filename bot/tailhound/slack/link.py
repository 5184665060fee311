"""One connection to Slack in Socket Mode, kept up as long as tailhound runs."""

import contextlib
import http.client
import logging
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.builtin.client import SocketModeClient
from slack_sdk.socket_mode.builtin.connection import Connection
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from tailhound.errors import SettingsError
from tailhound.slack.calls import fingerprint

_LOG = logging.getLogger(__name__)

_PAUSES: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_MOST_CONNECTIONS: Final = 100


@dataclass(frozen=True, slots=True)
class Hello:
    """What Slack said when a connection began: the app, how many connections it has, and when that
    was (monotonic). The connection that this one takes the place of is not counted.
    """

    app: str
    connections: int
    at: float


Hear = Callable[[BaseSocketModeClient, SocketModeRequest], None]


class _Loud:
    """A socket whose end is an error: slack_sdk takes an empty read for silence, and spins."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner

    def recv(self, size: int) -> bytes:
        """What arrived; ConnectionResetError when the other side has closed the connection."""
        received = self._inner.recv(size)
        if not received:
            raise ConnectionResetError("Slack closed the connection")
        return received

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Client(SocketModeClient):
    """slack_sdk's client without two of its gaps, in which a click would be lost.

    An old connection ends at once when a new one stands (as it comes, nobody reads the new one for
    up to three seconds); a connection that breaks is noticed at once (as it comes, after twenty).
    """

    closed = False  # its threads begin before it is set
    replaces = False
    """Whether the newest connection took the place of one that stood."""

    def connect(self) -> None:
        if self.closed:
            return
        old = self.current_session
        self.replaces = old is not None and bool(old.is_active())
        if old is not None:
            old.close = lambda: _end(old)  # type: ignore[method-assign]
        super().connect()
        new = self.current_session
        if new is not None and new.sock is not None:
            new.sock = _Loud(new.sock)  # type: ignore[assignment]
        if self.closed:
            self.close()  # while it connected: its threads have been begun since

    def _run_current_session(self) -> None:
        if not self.closed:  # as it comes, a thread would read a closed connection for ever
            super()._run_current_session()  # type: ignore[no-untyped-call]


def _end(session: Connection) -> None:
    """Wake the receiver of a connection, and close it."""
    connection = session.sock
    if connection is not None:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    session.disconnect()


class Link:
    """A WebSocket, opened in the background: tailhound starts without Slack too.

    A keeper looks twice a second whether it stands, and opens it again, more and more seldom while
    Slack refuses. The token is read each time. `clock` is monotonic. `hello` is what Slack said
    last, `why` what keeps it from standing, `token` the fingerprint of the one that was used.
    """

    def __init__(
        self, web: WebClient, token: Callable[[], str], hear: Hear, clock: Callable[[], float]
    ) -> None:
        self._token, self._clock = token, clock
        self._stopping = threading.Event()
        self._client = _Client(app_token="", web_client=web, ping_interval=5, concurrency=20)
        self._client.socket_mode_request_listeners.append(hear)
        self._client.message_listeners.append(self._on_message)
        self._keeper = threading.Thread(target=self._keep, name="slack-socket", daemon=True)
        self._up = clock()
        self.hello: Hello | None = None
        self.why = self.token = ""

    @property
    def connected(self) -> bool:
        """Whether it stands now."""
        return bool(self._client.is_connected())

    def quiet(self) -> float:
        """Seconds since it stood last, or since the start; 0 while it stands."""
        return 0.0 if self.connected else max(0.0, self._clock() - self._up)

    def start(self) -> None:
        """Begin to connect; returns at once."""
        self._keeper.start()

    def renew(self) -> None:
        """Take another connection in place of the one that stands; it ends once the new one does.
        Blocks.
        """
        self._open(force=True)

    def close(self) -> None:
        """Disconnect; may take seconds."""
        self._stopping.set()
        self._client.auto_reconnect_enabled = False
        session = self._client.current_session
        if session is not None:
            _end(session)
        self._client.close()

    def stopping(self) -> None:
        """Connect no more."""
        self._stopping.set()

    def _keep(self) -> None:
        failed = 0
        while not self._stopping.is_set():
            if not self.connected:
                self._open()
            if self.connected:
                self._up, self.why = self._clock(), ""
            failed = 0 if self.connected else failed + 1
            self._stopping.wait(_PAUSES[min(failed, len(_PAUSES) - 1)])

    def _open(self, *, force: bool = False) -> None:
        try:
            token = self._token()
            self._client.app_token, self.token = token, fingerprint(token)
            self._client.connect_to_new_endpoint(force=force)
        except SlackApiError as error:
            code = str(error.response.get("error", "no answer"))
            self.why = f"Slack opens no socket ({code}): check slack.app_token"
            _LOG.error("%s", self.why)
        except SettingsError as error:
            self.why = str(error)
            _LOG.error("no connection to Slack: %s", error)
        except (OSError, ValueError, http.client.HTTPException, SlackClientError) as error:
            self.why = f"no connection to Slack: {error}"
            _LOG.warning("%s", self.why)
        if self._stopping.is_set():
            self._client.disconnect()

    def _on_message(
        self, _client: BaseSocketModeClient, message: Mapping[str, Any], _raw: str | None = None
    ) -> None:
        if message.get("type") != "hello":
            return
        told = message.get("num_connections")
        count = told if isinstance(told, int) and 0 < told <= _MOST_CONNECTIONS else 0
        info = message.get("connection_info")
        app = str(info.get("app_id", "")) if isinstance(info, Mapping) else ""
        count -= self._client.replaces and count > 1
        self.hello = Hello(app if app.isalnum() else "", count, self._clock())
