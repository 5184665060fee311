"""QEMU's control socket (QMP): how faults are put into a guest's devices from outside."""

import json
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.lab.process import LabError

_SECONDS = 20.0


class Qmp:
    """A connection to one QEMU. Events are kept until they are waited for."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_SECONDS)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rb")
        self._events: list[str] = []
        self._message()  # the greeting
        self.command("qmp_capabilities")

    def __enter__(self) -> "Qmp":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lines.close()
        self._socket.close()

    def command(self, name: str, /, **arguments: object) -> object:
        """What QEMU returns; LabError with its words when it refuses."""
        asked = {"execute": name, "arguments": arguments}
        self._socket.sendall(json.dumps(asked).encode() + b"\n")
        while True:
            message = self._message()
            if "error" in message:
                raise LabError(f"QEMU refuses {name}: {message['error'].get('desc')}")
            if "return" in message:
                return message["return"]
            self._keep(message)

    def wait_for(self, event: str) -> None:
        """Wait for an event, also one that came already; LabError when it does not come."""
        end = time.monotonic() + _SECONDS
        while event not in self._events:
            if time.monotonic() > end:
                raise LabError(f"QEMU did not say {event} within {_SECONDS:g} s")
            self._keep(self._message())
        self._events.remove(event)

    def _keep(self, message: Mapping[str, Any]) -> None:
        if "event" in message:
            self._events.append(message["event"])

    def _message(self) -> Mapping[str, Any]:
        try:
            line = self._lines.readline()
        except TimeoutError as error:
            raise LabError(f"QEMU said nothing for {_SECONDS:g} s") from error
        if not line:
            raise LabError("QEMU closed its control socket")
        message: Mapping[str, Any] = json.loads(line)
        return message
