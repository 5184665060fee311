"""Files that say something else from the second reading on.

The kernel tells (inotify) when a file was read for the first time; after the gap its content is
replaced in place, so that every bind mount of it shows the new one.
"""

import ctypes
import os
import select
import struct
import threading
import time
from pathlib import Path

_IN_ACCESS = 0x1
_EVENT = struct.Struct("iIII")


class SecondReadings:
    """One thread that watches all such files of a lab."""

    def __init__(self, gap_seconds: float) -> None:
        self._gap = gap_seconds
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._inotify = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._inotify < 0:
            raise OSError(ctypes.get_errno(), "inotify is not to be had")
        self._wake_read, self._wake_write = os.pipe()
        self._lock = threading.Lock()
        self._then: dict[int, tuple[Path, bytes]] = {}
        self._due: dict[int, float] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def watch(self, path: Path, then: str) -> None:
        """From the gap after the first reading on, `path` says `then`."""
        with self._lock:
            watch = self._libc.inotify_add_watch(self._inotify, bytes(path), _IN_ACCESS)
            if watch < 0:
                raise OSError(ctypes.get_errno(), f"{path} can't be watched")
            self._then[watch] = (path, then.encode(errors="surrogateescape"))

    def stop(self) -> None:
        """End the thread and close what it uses."""
        os.write(self._wake_write, b".")
        self._thread.join(timeout=5)
        for descriptor in (self._inotify, self._wake_read, self._wake_write):
            os.close(descriptor)

    def _run(self) -> None:
        while True:
            soonest = min(self._due.values(), default=None)
            wait = None if soonest is None else max(soonest - time.monotonic(), 0)
            ready, _, _ = select.select([self._inotify, self._wake_read], [], [], wait)
            if self._wake_read in ready:
                return
            if ready:
                self._note()
            self._replace()

    def _note(self) -> None:
        data = os.read(self._inotify, 65536)
        position = 0
        while position < len(data):
            watch, _, _, length = _EVENT.unpack_from(data, position)
            position += _EVENT.size + length
            with self._lock:
                if watch in self._then:
                    self._due.setdefault(watch, time.monotonic() + self._gap)

    def _replace(self) -> None:
        now = time.monotonic()
        for watch in [watch for watch, due in self._due.items() if due <= now]:
            del self._due[watch]
            with self._lock:
                path, content = self._then.pop(watch)
            with path.open("r+b") as file:
                file.write(content)
                file.truncate()
