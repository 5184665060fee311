"""The connection to Slack: Socket Mode, kept up as long as tailhound runs."""

import contextlib
import http.client
import logging
import socket
import threading
from typing import Any, Final

from slack_bolt import BoltResponse
from slack_bolt.adapter.socket_mode.internals import send_response
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.builtin.client import SocketModeClient
from slack_sdk.socket_mode.builtin.connection import Connection
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from tailhound.slack.listeners import SlackListeners

_LOG = logging.getLogger(__name__)

_PAUSES: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_CLOSING_SECONDS: Final = 3.0


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

    def connect(self) -> None:
        old = self.current_session
        if old is not None:
            old.close = lambda: _end(old)  # type: ignore[method-assign]
        super().connect()
        new = self.current_session
        if new is not None and new.sock is not None:
            new.sock = _Loud(new.sock)  # type: ignore[assignment]


def _end(session: Connection) -> None:
    """Wake the receiver of a connection, and close it."""
    connection = session.sock
    if connection is not None:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    session.disconnect()


class SlackSocket:
    """One WebSocket to Slack, opened in the background: tailhound starts without Slack too.

    A keeper looks twice a second whether it stands, and opens it again, more and more seldom while
    Slack refuses.
    """

    def __init__(self, web: WebClient, app_token: str, listeners: SlackListeners) -> None:
        self._listeners = listeners
        self._stopping = threading.Event()
        self._client = _Client(app_token=app_token, web_client=web, ping_interval=5, concurrency=20)
        self._client.socket_mode_request_listeners.append(self._on_request)
        self._keeper = threading.Thread(target=self._keep, name="slack-socket", daemon=True)

    @property
    def connected(self) -> bool:
        """Whether a connection stands now."""
        return bool(self._client.is_connected())

    def start(self) -> None:
        """Begin to connect; returns at once."""
        self._keeper.start()

    def stop(self) -> None:
        """Disconnect, take no further click, and return within about three seconds."""
        self._stopping.set()
        closing = threading.Thread(target=self._close, name="slack-close", daemon=True)
        closing.start()
        closing.join(_CLOSING_SECONDS)
        self._listeners.close()

    def _close(self) -> None:
        self._client.auto_reconnect_enabled = False
        session = self._client.current_session
        if session is not None:
            _end(session)
        self._client.close()

    def _keep(self) -> None:
        failed = 0
        while not self._stopping.is_set():
            if not self.connected:
                self._open()
            failed = 0 if self.connected else failed + 1
            self._stopping.wait(_PAUSES[min(failed, len(_PAUSES) - 1)])

    def _open(self) -> None:
        try:
            self._client.connect_to_new_endpoint()
        except SlackApiError as error:
            _LOG.error("Slack opens no socket (%s): check slack.app_token", error.response)
        except (OSError, ValueError, http.client.HTTPException, SlackClientError) as error:
            _LOG.warning("no connection to Slack: %s", error)
        if self._stopping.is_set():
            self._client.disconnect()

    def _on_request(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        answer: BoltResponse | None = self._listeners.receive(
            request.envelope_id, request.payload or {}
        )
        if answer is not None:
            send_response(client, request, answer, 0.0)
