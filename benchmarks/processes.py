"""Child processes of a benchmark: started, waited for, measured, and always ended."""

import contextlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
READY_SECONDS = 30.0
STOP_SECONDS = 10.0
LOOK_SECONDS = 0.004


class BenchmarkFailed(Exception):
    """What was to be measured did not work; the text says what, and what it printed."""


def wait_until(holds: Callable[[], bool], what: str, seconds: float = READY_SECONDS) -> None:
    """Look again and again until it holds; BenchmarkFailed after `seconds`."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise BenchmarkFailed(f"{what}: not within {seconds:g} s")
        time.sleep(LOOK_SECONDS)


class Child:
    """`python ARGUMENTS...` in a process group of its own; ended when the `with` block is left."""

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        self._arguments = tuple(arguments)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Child":
        with self._log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The process id; BenchmarkFailed before the start."""
        if self._process is None:
            raise BenchmarkFailed(f"{self._name} was not started")
        return self._process.pid

    @property
    def _name(self) -> str:
        return " ".join(self._arguments[:3])

    def address(self) -> str:
        """The first address that it prints: it can be asked from then on."""
        found: list[str] = []

        def is_told() -> bool:
            self._must_run()
            found.extend(ADDRESS.findall(self.printed()))
            return bool(found)

        wait_until(is_told, f"the address of {self._name}")
        return found[0]

    def memory(self) -> float:
        """Its proportional set size now, in MiB."""
        self._must_run()
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
        raise BenchmarkFailed("the kernel tells no Pss in smaps_rollup")

    def stop(self) -> None:
        """Ask it to end; end it when it doesn't."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _must_run(self) -> None:
        if self._process is None or self._process.poll() is not None:
            raise BenchmarkFailed(f"{self._name} has ended; it printed: {self.printed()[-2000:]}")

    def printed(self) -> str:
        """All that it printed so far."""
        with contextlib.suppress(FileNotFoundError):
            return self._log.read_text(encoding="utf-8", errors="replace")
        return ""


def output_of(arguments: Sequence[str], seconds: float) -> str:
    """What `python ARGUMENTS...` prints; BenchmarkFailed when it fails or takes too long."""
    try:
        argv = [sys.executable, *arguments]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds, check=True)
    except subprocess.TimeoutExpired as error:
        raise BenchmarkFailed(f"{arguments[1]} did not end within {seconds:g} s") from error
    except subprocess.CalledProcessError as error:
        raise BenchmarkFailed(f"{arguments[1]} failed: {error.stderr[-2000:]}") from error
    return done.stdout
