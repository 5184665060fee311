"""Just enough HTTP/1.1 for both ends of a benchmark on loopback: it must cost next to nothing."""

from dataclasses import dataclass

_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


@dataclass(frozen=True, slots=True)
class Message:
    """A request or an answer. `start` is its first line."""

    start: str
    body: bytes

    @property
    def status(self) -> int:
        """Of an answer."""
        return int(self.start.split(" ", 2)[1])

    @property
    def path(self) -> str:
        """Of a request, query included."""
        return self.start.split(" ", 2)[1]


class Incoming:
    """Bytes as they come -> whole messages. Bodies need a Content-Length."""

    def __init__(self) -> None:
        self._bytes = b""

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are whole now."""
        self._bytes += data
        found = []
        while message := self._next():
            found.append(message)
        return found

    def _next(self) -> Message | None:
        end = self._bytes.find(_END)
        if end < 0:
            return None
        head = self._bytes[:end]
        first = end + len(_END)
        last = first + _length(head)
        if len(self._bytes) < last:
            return None
        body = self._bytes[first:last]
        self._bytes = self._bytes[last:]
        return Message(head.partition(b"\r\n")[0].decode("latin-1"), body)


def _length(head: bytes) -> int:
    lower = head.lower()
    at = lower.find(_LENGTH)
    if at < 0:
        return 0
    return int(lower[at + len(_LENGTH) :].partition(b"\r\n")[0])


def request(method: str, path: str, body: bytes, headers: str = "") -> bytes:
    """A request over a connection that stays open."""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"{headers}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def answer(body: bytes, status: str = "200 OK") -> bytes:
    """A JSON answer over a connection that stays open."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
