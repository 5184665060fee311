"""A strict stand-in of a kube-apiserver, for reading: HTTPS on loopback, tokens, RBAC answers.

It answers as the real one does (the Status bodies are shaped as recorded ones are) and refuses what
the real one refuses: no token 401, a resource outside the role 403, every write 403, an unknown
field selector 400. A real server can take its place: `ApiServer` is what the lab asks of either.
"""

import json
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

from tests.lab import certificate, statuses
from tests.lab.answers import Answers
from tests.lab.cluster import BUILT_IN, Cluster
from tests.lab.kube import roles
from tests.lab.statuses import ApiError

TOKEN = "lab-reading-token"


class ApiServer(Protocol):
    """What the lab needs of an API server, stand-in or real.

    `remarks` say what of the loaded objects a real server would not have taken, and why.
    """

    server: str
    token: str
    ca_file: Path
    remarks: Sequence[str]

    def load(
        self,
        cluster: Cluster,
        forbidden: frozenset[str],
        logs: Mapping[str, str],
        *,
        whole: bool = False,
    ) -> None:
        """Serve these objects from now on, to a token that has the shipped role.

        `forbidden` are resources that it may not read all the same. With `whole` it may read all
        others that are served.
        """

    def stop(self) -> None:
        """End it."""


class StandIn:
    """The stand-in. `requests` are the request lines that arrived, for tests."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.token = TOKEN
        self.remarks: Sequence[str] = ()
        self.ca_file, key = certificate.self_signed(folder)
        self.requests: list[str] = []
        self.load(Cluster((), 0.0), frozenset(), {})
        self._http = _Https(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.ca_file, key)
        self._http.context = context
        self.server = f"https://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def load(
        self,
        cluster: Cluster,
        forbidden: frozenset[str],
        logs: Mapping[str, str],
        *,
        whole: bool = False,
    ) -> None:
        """Serve these objects from now on."""
        custom = [kind for kind, _ in cluster.everything() if kind not in BUILT_IN]
        rules = roles.everything(forbidden, custom) if whole else roles.shipped(forbidden)
        self._answers = Answers(cluster, rules, logs)

    def stop(self) -> None:
        """Stop serving and close every connection."""
        self._http.shutdown()
        self._http.close_all()
        self._http.server_close()
        self._thread.join(timeout=5)

    def answer(self, method: str, target: str, authorization: str) -> tuple[int, str, bytes]:
        """Status, content type and body of one request."""
        self.requests.append(f"{method} {target}")
        try:
            if authorization != f"Bearer {self.token}":
                raise statuses.unauthorized()
            body = self._answers.of(method, target)
        except ApiError as error:
            return error.code, error.content_type, error.body
        if isinstance(body, str):
            return 200, "text/plain", body.encode()
        return 200, "application/json", json.dumps(body).encode() + b"\n"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        standin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                self.rfile.read(length)
                code, kind, body = standin.answer(
                    self.command, self.path, self.headers.get("Authorization", "")
                )
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

            def log_message(self, *_: object) -> None:
                """The lab keeps `requests` instead of a log."""

        return Handler


class _Https(ThreadingHTTPServer):
    """TLS is shaken in the connection's own thread, so that a silent client blocks nobody."""

    daemon_threads = True
    request_queue_size = 256
    context: ssl.SSLContext

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def finish_request(self, request: Any, client_address: Any) -> None:
        try:
            with self.context.wrap_socket(request, server_side=True) as secure:
                with self._lock:
                    self._open.add(secure)
                try:
                    super().finish_request(secure, client_address)
                finally:
                    with self._lock:
                        self._open.discard(secure)
        except OSError:
            return  # the client went away, or did not trust the certificate: nobody to answer

    def close_all(self) -> None:
        """Cut the connections that clients keep alive."""
        with self._lock:
            for secure in self._open:
                secure.shutdown(socket.SHUT_RDWR)
