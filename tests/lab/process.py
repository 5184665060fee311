"""Starting real servers: free ports, waiting for a condition, stopping by process id."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


class LabError(Exception):
    """A part of the lab did not come up; the text says which, and what it printed."""


def free_port(host: str = "127.0.0.1") -> int:
    """A TCP port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(happened: Callable[[], bool], what: str, seconds: float = 15.0) -> None:
    """Look every 20 ms until it happened; LabError after `seconds`."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise LabError(f"{what} did not happen within {seconds:g} s")
        time.sleep(0.02)


def fetched(url: str, timeout: float = 5.0) -> bytes | None:
    """The body of a 200 answer, or None."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:  # noqa: S310 - loopback, ours
            body: bytes = answer.read()
            return body if answer.status == 200 else None
    except (OSError, urllib.error.URLError):
        return None


class Server:
    """A process of ours. It gets its own group, and is gone after `stop`.

    `env` adds to the environment.
    """

    def __init__(
        self, argv: Sequence[str], log: Path, env: Mapping[str, str] | None = None
    ) -> None:
        self.name = Path(argv[0]).name
        self.log = log
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **(env or {})},
            )

    def ready(self, answers: Callable[[], bool], seconds: float = 15.0) -> None:
        """Wait until it answers; LabError with the end of its log when it does not."""

        def up() -> bool:
            if self._process.poll() is not None:
                raise LabError(f"{self.name} ended with {self._process.returncode}: {self.tail()}")
            return answers()

        try:
            wait_until(up, f"{self.name} to be ready", seconds)
        except LabError as error:
            raise LabError(f"{error}; its log ends: {self.tail()}") from error

    def tail(self) -> str:
        """The last lines of its log."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-2000:]

    def stop(self) -> None:
        """Ask it to end, then end it."""
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            try:
                self._process.wait(timeout=3)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._process.wait(timeout=5)

    def kill(self) -> None:
        """End it at once: nothing of its state is worth keeping."""
        if self._process.poll() is None:
            self._signal(signal.SIGKILL)
            self._process.wait(timeout=10)

    def ended(self, seconds: float) -> None:
        """Wait until it has ended by itself; LabError when it has not."""
        try:
            self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise LabError(f"{self.name} did not end within {seconds:g} s") from None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return


class BlackHole:
    """A listening socket that takes connections and never answers."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._socket = socket.socket()
        self._socket.bind((host, 0))
        self._socket.listen(4096)
        self.host = host
        self.port: int = self._socket.getsockname()[1]

    def stop(self) -> None:
        """Close it; who still waits gets a reset."""
        self._socket.close()
