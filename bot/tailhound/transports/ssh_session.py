"""The blocking part of SSH, run in threads of a pool: log in, run one command, open a tunnel.

Nothing here waits longer than its `Attempt` allows, and giving an attempt up frees its thread: the
socket below is shut down, or the channel's own wait is ended.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import paramiko
from paramiko.packet import Packetizer
from paramiko.ssh_exception import ChannelException

from tailhound.model import Missing, Reason
from tailhound.transports.ssh_arrived import Arrived
from tailhound.transports.ssh_command import Command, Ended
from tailhound.transports.ssh_inventory import Place
from tailhound.transports.ssh_known_hosts import KnownHosts
from tailhound.transports.ssh_leg import Leg

_LOG = "tailhound.transports.ssh.paramiko"
logging.getLogger(_LOG).setLevel(logging.CRITICAL + 1)  # it logs tracebacks of what we answer

_POLL_SECONDS = 0.25
_CHUNK = 64 * 1024
_KEEPALIVE_SECONDS = 15
_ALGORITHMS = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}


class NoAnswer(Exception):
    """The question has no answer. `silent`: the host left us waiting; it did not say no."""

    def __init__(self, reason: Reason, detail: str, *, silent: bool = False) -> None:
        super().__init__(detail)
        self.missing = Missing(reason, detail)
        self.silent = silent


class SessionRefused(Exception):
    """The host opens no further session on this connection (MaxSessions)."""


class ConnectionLost(Exception):
    """The connection was dead before the command was accepted: nothing ran."""


class Attempt:
    """One piece of blocking work: its absolute deadline (monotonic), and how to end it early.

    `stage` says how far the host let us come; `stop` ends the wait of the stage and never blocks.
    """

    def __init__(self, deadline: float, stage: str) -> None:
        self.deadline = deadline
        self.stage = stage
        self.cancelled = False
        self.done = False
        self.stop: Callable[[], None] = lambda: None

    def remaining(self) -> float:
        """Seconds left. TimeoutError when none are, or when it was given up."""
        left = self.deadline - time.monotonic()
        if left <= 0 or self.cancelled:
            raise TimeoutError(self.stage)
        return left

    def cancel(self) -> None:
        """Give it up. Never blocks; may be called from any thread, and more than once."""
        self.cancelled = True
        self.stop()


class _Packets(Packetizer):
    """Without the timer thread of each handshake, which outlives a failed one: we have our own."""

    def start_handshake(self, timeout: float) -> None:
        """The attempt's deadline ends a handshake."""


def log_in(
    leg: Leg, place: Place, known: KnownHosts, key: paramiko.PKey, attempt: Attempt
) -> paramiko.Transport:
    """An authenticated transport over the leg. NoAnswer says who refused what, and the fix."""
    attempt.stop = leg.shut
    transport = paramiko.Transport(leg, packetizer_class=_Packets)  # type: ignore[arg-type]
    try:
        _negotiate(transport, place, known, attempt)
        _trust(transport, place, known)
        _authenticate(transport, place, key, attempt)
    except BaseException:
        leg.shut()
        transport.close()
        raise
    transport.set_keepalive(_KEEPALIVE_SECONDS)
    return transport


def _negotiate(
    transport: paramiko.Transport, place: Place, known: KnownHosts, attempt: Attempt
) -> None:
    attempt.stage = "sent its banner and did not finish the key exchange"
    transport.set_log_channel(_LOG)
    transport.banner_timeout = attempt.remaining()
    _prefer(transport, known.kinds(place.known_as))
    negotiated = threading.Event()
    transport.start_client(event=negotiated)
    while not negotiated.wait(min(_POLL_SECONDS, attempt.remaining())):
        pass
    if not transport.is_active():
        said = transport.get_exception()
        attempt.remaining()
        raise NoAnswer(Reason.UNREACHABLE, _broken(place, "key exchange", said))


def _prefer(transport: paramiko.Transport, kinds: tuple[str, ...]) -> None:
    """Ask first for the types of key that known_hosts holds, as OpenSSH does."""
    options = transport.get_security_options()
    wanted = [name for kind in kinds for name in _ALGORITHMS.get(kind, (kind,))]
    offered = tuple(options.key_types)
    first = tuple(name for name in wanted if name in offered)
    options.key_types = (*first, *(name for name in offered if name not in first))


def _trust(transport: paramiko.Transport, place: Place, known: KnownHosts) -> None:
    key = transport.get_remote_server_key()
    if why := known.why_not(place.known_as, key.get_name(), key.asbytes()):
        raise NoAnswer(Reason.UNREACHABLE, f"no log-in to {place.shown}: {why}")


def _authenticate(
    transport: paramiko.Transport, place: Place, key: paramiko.PKey, attempt: Attempt
) -> None:
    attempt.stage = "finished the key exchange and did not answer the log-in"
    transport.auth_timeout = attempt.remaining()
    try:
        further = transport.auth_publickey(place.user, key)
    except paramiko.AuthenticationException as error:
        attempt.remaining()
        if not transport.is_active():
            raise NoAnswer(Reason.UNREACHABLE, _broken(place, "log-in", error)) from error
        raise NoAnswer(Reason.FORBIDDEN, _rejected(place, key)) from error
    except (paramiko.SSHException, EOFError, OSError) as error:
        attempt.remaining()
        raise NoAnswer(Reason.UNREACHABLE, _broken(place, "log-in", error)) from error
    if further:
        raise NoAnswer(
            Reason.FORBIDDEN,
            f"{place.shown} wants a second factor ({', '.join(further)}) from {place.user}; "
            "let its key alone be enough (AuthenticationMethods publickey)",
        )


def _rejected(place: Place, key: paramiko.PKey) -> str:
    return (
        f"{place.shown} rejects the key of {place.user}: put `{key.get_name()} "
        f"{key.get_base64()}` into the authorized_keys of {place.user} there"
    )


def _broken(place: Place, stage: str, error: BaseException | None) -> str:
    said = f": {error}" if error is not None and str(error) else ""
    return f"{place.shown} ended the connection during the {stage}{said}"


def tunnel(
    transport: paramiko.Transport, place: Place, through: str, attempt: Attempt
) -> paramiko.Channel:
    """A channel to the place's address, opened by the jump host."""
    try:
        return transport.open_channel(
            "direct-tcpip",
            (place.address, place.port),
            ("127.0.0.1", 0),
            timeout=attempt.remaining(),
        )
    except ChannelException as error:
        raise NoAnswer(
            Reason.UNREACHABLE,
            f"the jump host {through} can't reach {place.shown}: {_why_closed(error)}",
        ) from error
    except (paramiko.SSHException, EOFError, OSError) as error:
        attempt.remaining()
        raise NoAnswer(
            Reason.UNREACHABLE, f"the jump host {through} opened no tunnel: {error}"
        ) from error


def _why_closed(error: ChannelException) -> str:
    if error.code == 1:
        return "it forbids tunnels (AllowTcpForwarding, PermitOpen)"
    return f"it found no open port there ({error.text})"


def run(
    transport: paramiko.Transport, place: Place, command: Command, limit: int, attempt: Attempt
) -> Ended:
    """Run one command; both streams are drained at once, each up to `limit` bytes.

    SessionRefused and ConnectionLost say that nothing ran; the caller may try again.
    """
    channel = _open(transport, attempt)
    arrived = Arrived(channel)
    attempt.stop = lambda: _wake(channel, arrived)
    channel.in_buffer.set_event(arrived)
    channel.in_stderr_buffer.set_event(arrived)
    try:
        attempt.remaining()
        attempt.stage = "opened a session and did not start the command"
        _start(transport, channel, command, attempt)
        attempt.stage = "started the command and never ended it"
        return _drained(channel, arrived, place, limit, attempt)
    finally:
        attempt.done = True
        with suppress(paramiko.SSHException, EOFError, OSError):
            channel.close()


def _open(transport: paramiko.Transport, attempt: Attempt) -> Any:
    attempt.stage = "kept the connection and opened no session"
    try:
        return transport.open_session(timeout=attempt.remaining())
    except ChannelException as error:
        raise SessionRefused(error.text) from error
    except (paramiko.SSHException, EOFError, OSError) as error:
        attempt.remaining()
        if transport.is_active():  # paramiko keeps one error for all threads: ours was taken
            raise SessionRefused(str(error)) from error
        raise ConnectionLost(str(error)) from error


def _start(transport: paramiko.Transport, channel: Any, command: Command, attempt: Attempt) -> None:
    """No end of the input is sent, and no command needs one: paramiko may send it after a command
    that was quick has ended, and then sshd cuts the whole connection ("nonexistent channel").
    """
    try:
        channel.exec_command(command.line)
        attempt.remaining()
        if command.stdin:
            channel.settimeout(attempt.remaining())
            channel.sendall(command.stdin)
    except (paramiko.SSHException, EOFError, OSError) as error:
        attempt.remaining()
        if transport.is_active():
            raise SessionRefused(str(error)) from error
        raise ConnectionLost(str(error)) from error


def _drained(channel: Any, arrived: Arrived, place: Place, limit: int, attempt: Attempt) -> Ended:
    stdout, stderr = bytearray(), bytearray()
    while True:
        arrived.begin()
        ended = channel.closed or (channel.eof_received and channel.exit_status_ready())
        while channel.recv_ready() or channel.recv_stderr_ready():
            attempt.remaining()
            if channel.recv_ready():
                stdout += channel.recv(_CHUNK)
            if channel.recv_stderr_ready():
                stderr += channel.recv_stderr(_CHUNK)
            if max(len(stdout), len(stderr)) > limit:
                raise _too_much(place, limit, "stdout" if len(stdout) > limit else "stderr")
        left = attempt.remaining()
        if ended:
            return Ended(bytes(stdout), bytes(stderr), channel.exit_status)
        arrived.wait(min(left, _POLL_SECONDS))


def _too_much(place: Place, limit: int, stream: str) -> NoAnswer:
    return NoAnswer(
        Reason.TRUNCATED,
        f"the command on {place.shown} printed more than {limit} bytes on its {stream}; "
        "a narrower command, or a larger ssh.max_bytes, would help",
    )


def _wake(channel: Any, arrived: Arrived) -> None:
    channel.event.set()  # ends exec_command's own wait, which has no timeout
    arrived.wake()
