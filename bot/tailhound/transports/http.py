"""HTTP as our reads need it, below the two client libraries: guarded sockets, capped bodies.

Both libraries (prometheus-api-client over requests, and kubernetes) stand on urllib3. Their
connection pools get the connection classes of this module, which tell the current `Call` about
their socket, so that giving the call up ends whatever blocks: connecting, the TLS handshake,
headers without end, a body that drips.
"""

import contextlib
import http.client
import json
import socket
import ssl
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from tailhound.model import Missing, Reason
from tailhound.model.redaction import plain, redacted
from tailhound.transports.sockets import Call, connect, spoken

CHUNK: Final = 64 * 1024
T = TypeVar("T")
BROKEN: Final = (OSError, urllib3.exceptions.HTTPError, http.client.HTTPException)
"""What the libraries raise when the network or the peer is at fault (requests' errors included)."""
_current = threading.local()


class NoAnswer(Exception):
    """Ends one question from deep inside: `missing` is what its asker gets. Never leaves here."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.missing = Missing(reason, detail)


@contextlib.contextmanager
def under_way(call: Call) -> Iterator[None]:
    """Inside, the connections of this thread belong to the call."""
    _current.call = call
    try:
        yield
    finally:
        _current.call = None
        call.end()


def current_call() -> Call:
    """The call that this thread works on."""
    call: Call | None = getattr(_current, "call", None)
    if call is None:
        raise RuntimeError("a guarded connection is used outside under_way()")
    return call


class _Guarded(HTTPConnection):
    """Connects within the call's deadline, and shows its socket to the call."""

    def _new_conn(self) -> socket.socket:
        try:
            return connect(self._dns_host, self.port or self.default_port, current_call())
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(self, "no connection in time") from error
        except OSError as error:
            raise NewConnectionError(self, f"no connection: {error}") from error

    def request(self, *args: Any, **options: Any) -> None:
        call = current_call()
        call.reused = self.sock is not None
        if self.sock is not None:
            call.stage = "accepted the request and sent nothing"
            call.attach(self.sock)
        super().request(*args, **options)


class _GuardedTls(_Guarded, HTTPSConnection):
    """The same over TLS."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Guarded


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _GuardedTls


def guard(manager: urllib3.PoolManager) -> urllib3.PoolManager:
    """The pool manager, with guarded connections from now on."""
    manager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}
    return manager


def once_more(call: Call, ask: Callable[[], T]) -> T:
    """Ask, and ask again only if a kept connection turned out to be closed by the server.

    Then nothing of the first request was worked on: it is the one case in which HTTP clients may
    send a request again.
    """
    try:
        return ask()
    except BROKEN:
        if not call.reused or call.heard:
            raise
        call.remaining()
    return ask()


def body_of(response: Any, cap: int, of: int | None = None) -> bytes:
    """The decoded body of a urllib3 response that was not read yet.

    NoAnswer(TRUNCATED) when it is longer than `cap` bytes after decoding: then the connection is
    dropped and nothing of the body is used. NoAnswer(UNPARSABLE) for an unknown or broken encoding.
    `of` is the cap to tell, when this body is one of several that share it.
    """
    call = current_call()
    call.heard = True
    call.stage = "began to answer and did not finish"
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    try:
        body = b"".join(_decoded(_raw(response, call), encoding, cap, of or cap))
    except BaseException:
        response.close()
        raise
    response.release_conn()
    if call.cancelled:  # a body without a length ends where the shut down socket ends
        raise TimeoutError("the call was given up")
    call.answered = True
    return body


def _raw(response: Any, call: Call) -> Iterator[bytes]:
    while chunk := response.read(CHUNK, decode_content=False):
        yield chunk
        call.remaining()


def _decoded(chunks: Iterator[bytes], encoding: str, cap: int, of: int) -> Iterator[bytes]:
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        raise NoAnswer(Reason.UNPARSABLE, f"the answer is encoded as {plain(encoding, 40)!r}")
    decoder = zlib.decompressobj(31) if encoding.endswith("gzip") else None
    left = cap
    for chunk in chunks:
        part = _inflated(decoder, chunk, left + 1) if decoder else chunk
        left -= len(part)
        if left < 0:
            raise NoAnswer(
                Reason.TRUNCATED, f"the answer is over {size(of)} and was not used; ask for less"
            )
        yield part
    if decoder and not decoder.eof:
        raise NoAnswer(Reason.TRUNCATED, "the compressed answer ends in the middle")


def _inflated(decoder: Any, chunk: bytes, at_most: int) -> bytes:
    try:
        part: bytes = decoder.decompress(chunk, at_most)
    except zlib.error as error:
        raise NoAnswer(Reason.UNPARSABLE, f"the answer is not gzip: {error}") from error
    return part


def json_of(body: bytes, content_type: str) -> Any:
    """The body as JSON; NoAnswer(UNPARSABLE) with its first words when it is none."""
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        seen = plain(redacted(body[:2000].decode("utf-8", "replace")), 80).replace("\n", " ")
        kind = plain(content_type, 40) or "no content type"
        raise NoAnswer(
            Reason.UNPARSABLE, f"the answer is not JSON ({kind}) but starts with {seen!r}"
        ) from error


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def said(text: Any, limit: int = 200) -> str:
    """What a server said about itself, safe to show on one line."""
    return plain(redacted(" ".join(str(text)[:4000].split())), limit)


def size(count: int) -> str:
    """Bytes for people: 8 MiB, 64 KiB."""
    for unit, name in ((1024 * 1024, "MiB"), (1024, "KiB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"


def chain_of(error: BaseException) -> list[BaseException]:
    """The error and everything it wraps, in whichever way the libraries wrap."""
    found: list[BaseException] = []
    todo: list[Any] = [error]
    while todo:
        one = todo.pop(0)
        if isinstance(one, BaseException) and one not in found:
            found.append(one)
            todo += [getattr(one, "reason", None), *one.args, one.__cause__, one.__context__]
    return found


def why(error: BaseException, where: str, call: Call, ca_setting: str) -> Missing:
    """Why a call that ended with an error of the network has no answer, and what would help.

    `where` is the address that was asked, `ca_setting` the key that sets which CA is trusted.
    """
    chain = chain_of(error)
    for kind, reason, text in _TROUBLES:
        found = next((one for one in chain if isinstance(one, kind)), None)
        if found is not None:
            detail = text.format(
                where=where,
                error=said(getattr(found, "verify_message", "") or _os_words(found)),
                ca=ca_setting,
                stage=call.stage,
                seconds=spoken(call.seconds),
            )
            return Missing(reason, detail)
    return Missing(Reason.UNREACHABLE, f"{where}: {type(error).__name__}: {said(error)}")


def _os_words(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)


_Kinds = type[BaseException] | tuple[type[BaseException], ...]
_TROUBLES: tuple[tuple[_Kinds, Reason, str], ...] = (
    (
        ssl.SSLCertVerificationError,
        Reason.UNREACHABLE,
        "the certificate of {where} is not trusted ({error}): set {ca} to the file of its CA",
    ),
    (
        socket.gaierror,
        Reason.UNREACHABLE,
        "the name in {where} does not resolve ({error})",
    ),
    (
        ConnectionRefusedError,
        Reason.UNREACHABLE,
        "{where} refused the connection: is it running, and does a network policy allow it?",
    ),
    (
        (TimeoutError, urllib3.exceptions.TimeoutError),
        Reason.TIMEOUT,
        "{where} {stage} for {seconds}",
    ),
    (
        ssl.SSLError,
        Reason.UNREACHABLE,
        "no TLS with {where} ({error}): is the address http:// rather than https://?",
    ),
    (
        (ConnectionError, http.client.HTTPException, urllib3.exceptions.ProtocolError),
        Reason.UNREACHABLE,
        "{where} {stage}: the connection broke ({error})",
    ),
    (OSError, Reason.UNREACHABLE, "no connection to {where} ({error})"),
)
