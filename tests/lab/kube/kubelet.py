"""A stand-in kubelet for every node: it serves container logs to a real API server.

The API server reaches its kubelets through an egress proxy on a UNIX socket, and that proxy is
here. So a node keeps whatever address the scenario gives it, and nothing leaves the machine.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingUnixStreamServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_LONGEST = 8192


class Kubelet:
    """`logs` are texts by `namespace/pod/container`."""

    def __init__(self, path: Path, certificate: Path, key: Path) -> None:
        self.logs: Mapping[str, str] = {}
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server = _Server(str(path), _Connection)
        self._server.kubelet, self._server.context = self, context
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="lab-kubelet", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def answer(self, target: str) -> tuple[int, bytes]:
        """Status and body of one request."""
        url = urlsplit(target)
        parts = [unquote(part) for part in url.path.split("/") if part]
        text = self.logs.get("/".join(parts[1:])) if parts[:1] == ["containerLogs"] else None
        if text is None:
            return 404, f"no log of {'/'.join(parts[1:])}\n".encode()
        asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
        lines = text.splitlines(keepends=True)
        if "tailLines" in asked:
            lines = lines[max(len(lines) - int(asked["tailLines"]), 0) :]
        return 200, "".join(lines).encode()[: int(asked.get("limitBytes") or 1 << 30)]


class _Server(ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64
    kubelet: Kubelet
    context: ssl.SSLContext


class _Connection(BaseRequestHandler):
    """One CONNECT of the API server, then TLS, then requests."""

    server: _Server

    def handle(self) -> None:
        """Whatever address is asked for, this kubelet answers."""
        with contextlib.suppress(OSError):  # the API server went away: nobody to answer
            if not self._connected():
                return
            with self.server.context.wrap_socket(self.request, server_side=True) as secure:
                _Requests(secure, self.client_address, self.server)

    def _connected(self) -> bool:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.request.recv(1)
            head += byte
            if not byte or len(head) > _LONGEST:
                return False
        self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        return head.startswith(b"CONNECT ")


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: Any
    request: socket.socket

    def do_GET(self) -> None:
        code, body = self.server.kubelet.answer(self.path)
        self.send_response(code)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """The API server's own log says what was asked."""


def egress(path: Path) -> str:
    """The API server's configuration that leads to this kubelet."""
    return f"""apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: {path}
"""
