"""When a thread that waits for a command's output has something to do."""

import threading
from typing import Any

_PIECES = 8
"""So many pieces of output, each of at most 32 KiB, may wait; the window of a channel is 2 MiB."""


class Arrived:
    """What paramiko's buffers set whenever something comes: wakes the reader when it is worth it.

    A command's output comes in several pieces (two marks, the text, the end of each stream, the
    exit status, the end of the session). Waking a thread for each costs more than reading them.
    """

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self._awake = threading.Event()
        self._pieces = 0

    def set(self) -> None:
        """Something came. Called with the lock of a buffer held: it must not look into one."""
        self._pieces += 1
        if self._channel.closed or self._pieces >= _PIECES:
            self._awake.set()

    def clear(self) -> None:
        """A buffer is empty: that says nothing about the other one."""

    def wake(self) -> None:
        """Wake the reader, whatever came."""
        self._awake.set()

    def begin(self) -> None:
        """The reader looks at all that is there now."""
        self._pieces = 0
        self._awake.clear()

    def wait(self, seconds: float) -> bool:
        """Until it is worth looking, at most so long; whether it is."""
        return self._awake.wait(seconds)
