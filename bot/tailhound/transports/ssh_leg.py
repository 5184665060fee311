"""The way to a host's port, up to its greeting: no thread waits for a host that says nothing."""

import asyncio
import contextlib
import errno
import os
import socket
from typing import Any

import paramiko

from tailhound.model.redaction import plain

_GREETING_AT_MOST = 8 * 1024
_AHEAD = 32 * 1024


class Leg:
    """What paramiko talks through: a socket, or a channel of the jump host's connection.

    What was read of the greeting comes first. `shut` ends every wait on it and never blocks.
    paramiko reads each packet in two or three small pieces: here that is one read for all that has
    come. Only one thread reads.
    """

    def __init__(self, below: "socket.socket | paramiko.Channel", greeting: bytes = b"") -> None:
        self._below = below
        self._ahead = greeting
        self._at = 0

    def recv(self, size: int) -> bytes:
        """The next bytes; b"" at the end."""
        if self._at == len(self._ahead):
            self._ahead, self._at = self._below.recv(max(size, _AHEAD)), 0
        data = self._ahead[self._at : self._at + size]
        self._at += len(data)
        return data

    def send(self, data: bytes) -> int:
        """Send some of the data; how much."""
        return self._below.send(data)

    def settimeout(self, seconds: float | None) -> None:
        """The longest that one call blocks."""
        self._below.settimeout(seconds)

    def getpeername(self) -> Any:
        """Who is at the other end."""
        return self._below.getpeername()

    @property
    def _closed(self) -> bool:
        return bool(getattr(self._below, "_closed", False))

    def close(self) -> None:
        """Let go of it."""
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._below.close()

    def shut(self) -> None:
        """End every wait on it at once."""
        if isinstance(self._below, socket.socket):
            with contextlib.suppress(OSError):
                self._below.shutdown(socket.SHUT_RDWR)
        else:
            below: Any = self._below
            below.in_buffer.close()


class BadGreeting(Exception):
    """The port answered, but not as an SSH server that lets us in; `said` is what it sent."""

    def __init__(self, said: bytes) -> None:
        super().__init__("bad greeting")
        self.said = said


def unconnected(family: int) -> socket.socket:
    """A non-blocking TCP socket without Nagle's delay, which would cost 40 ms a command."""
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


async def greeted(sock: socket.socket) -> Leg:
    """Wait for the `SSH-` line of the server, on a connected socket. BadGreeting, OSError."""
    loop = asyncio.get_running_loop()
    said = b""
    while not _is_greeting(said):
        data = await loop.sock_recv(sock, 1024)
        said += data
        if not data or len(said) > _GREETING_AT_MOST:
            raise BadGreeting(said)
    sock.setblocking(True)
    return Leg(sock, said)


def _is_greeting(said: bytes) -> bool:
    return any(line.startswith(b"SSH-") for line in said.split(b"\n")[:-1])


def why_unreachable(shown: str, error: OSError) -> str:
    """Why there is no TCP connection, as a sentence with what to look at."""
    if isinstance(error, socket.gaierror):
        return f"the name of {shown} does not resolve; give its address in ssh.hosts"
    if error.errno == errno.ECONNREFUSED:
        return f"{shown} refuses connections: is sshd running and listening on that port?"
    if error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
        return f"there is no route to {shown}: host down, or a firewall rejects"
    if error.errno == errno.ECONNRESET:
        return why_bad_greeting(shown, b"")
    return f"no connection to {shown}: {os.strerror(error.errno) if error.errno else error}"


def why_bad_greeting(shown: str, said: bytes) -> str:
    """Why a port that answered is of no use, as a sentence."""
    if b"MaxStartups" in said:
        return (
            f"sshd of {shown} has too many log-ins under way (MaxStartups); something else keeps "
            "connecting to it, or MaxStartups is too low"
        )
    if not said:
        return (
            f"{shown} closed the connection before its SSH banner: MaxStartups is reached, "
            "or a TCP wrapper or firewall turns this client away"
        )
    line = plain(said[:200].split(b"\n")[0].decode("utf-8", errors="replace"), 80)
    return f"what answers at {shown} is no SSH server; it said {line!r}"
