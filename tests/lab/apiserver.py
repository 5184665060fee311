"""A strict stand-in of a kube-apiserver, for reading: HTTPS on loopback, tokens, RBAC answers.

It answers as the real one does (the Status bodies are shaped as recorded ones are) and refuses what
the real one refuses: no token 401, a resource outside the role 403, every write 403, an unknown
field selector 400. A real server can take its place: `ApiServer` is what the lab asks of either.
"""

import base64
import json
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from tests.lab import certificate, statuses
from tests.lab.cluster import Cluster, Kind
from tests.lab.selectors import SelectorError, fields_fit, labels_fit
from tests.lab.statuses import ApiError

TOKEN = "lab-reading-token"
USER = "tailhound-reader"


class ApiServer(Protocol):
    """What the lab needs of an API server, stand-in or real.

    `remarks` say what of the loaded objects a real server would not have taken, and why.
    """

    server: str
    token: str
    ca_file: Path
    remarks: Sequence[str]

    def load(self, cluster: Cluster, forbidden: frozenset[str], logs: Mapping[str, str]) -> None:
        """Serve these objects from now on. `forbidden` are resources the token may not read."""

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

    def load(self, cluster: Cluster, forbidden: frozenset[str], logs: Mapping[str, str]) -> None:
        """Serve these objects from now on."""
        self._answers = Answers(cluster, forbidden, logs)

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


class Answers:
    """From a request line to an answer: objects, lists, logs, or an ApiError."""

    def __init__(
        self, cluster: Cluster, forbidden: frozenset[str], logs: Mapping[str, str]
    ) -> None:
        self._cluster, self._forbidden, self._logs = cluster, forbidden, logs

    def of(self, method: str, target: str) -> Mapping[str, Any] | str:
        """The body of the answer; ApiError for everything that is not 200."""
        url = urlsplit(target)
        asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if url.path in ("/readyz", "/livez", "/healthz"):
            return "ok"
        if url.path == "/version":
            return {"major": "1", "minor": "34", "gitVersion": "v1.34.1", "platform": "linux/amd64"}
        kind, namespace, name, sub = self._place(url.path)
        verb = statuses.VERBS.get(method) or ("get" if name else "list")
        if method != "GET" or {kind.resource, kind.qualified} & self._forbidden:
            raise statuses.forbidden(USER, verb, kind, namespace, name)
        if sub:
            return self._log(kind, namespace, name, sub, asked)
        return self._one(kind, namespace, name) if name else self._page(kind, namespace, asked)

    def _place(self, path: str) -> tuple[Kind, str, str, str]:
        """Kind, namespace, name and subresource behind a path."""
        parts = [part for part in path.split("/") if part]
        if parts[:1] == ["api"] and len(parts) > 2:
            group, version, rest = "", parts[1], parts[2:]
        elif parts[:1] == ["apis"] and len(parts) > 3:
            group, version, rest = parts[1], parts[2], parts[3:]
        else:
            raise statuses.no_such_path()
        if not self._cluster.served(group, version):
            raise statuses.no_such_path()
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        kind = self._cluster.kind(group, version, rest[0])
        if kind is None or (namespace and not kind.namespaced) or len(rest) > 3:
            raise statuses.no_such_resource()
        if kind.namespaced and not namespace and len(rest) > 1:
            raise statuses.no_such_resource()
        name, sub = [*rest[1:], "", ""][:2]
        return kind, namespace, name, sub

    def _one(self, kind: Kind, namespace: str, name: str) -> Mapping[str, Any]:
        found = self._cluster.get(kind, namespace, name)
        if found is None:
            raise statuses.not_found(kind, name)
        return found

    def _log(
        self, kind: Kind, namespace: str, name: str, sub: str, asked: Mapping[str, str]
    ) -> str:
        if (kind.resource, sub) != ("pods", "log"):
            raise statuses.no_such_resource()
        pod = self._one(kind, namespace, name)
        names = [container["name"] for container in pod["spec"]["containers"]]
        container = asked.get("container") or (names[0] if len(names) == 1 else "")
        if container not in names:
            raise statuses.bad_request(
                f"a container name must be specified for pod {name}, choose one of: {names}"
            )
        text = self._logs.get(f"{namespace}/{name}/{container}")
        if text is None:
            raise statuses.no_kubelet()
        lines = text.splitlines(keepends=True)
        return "".join(lines[-int(asked["tailLines"]) :] if "tailLines" in asked else lines)

    def _page(self, kind: Kind, namespace: str, asked: Mapping[str, str]) -> Mapping[str, Any]:
        version = asked.get("resourceVersion", "")
        if asked.get("watch") in ("1", "true"):
            raise statuses.bad_request("this stand-in serves no watches")
        if version and not version.isdigit():
            raise statuses.bad_request(f'invalid resource version "{version}"')
        if version not in ("", "0") and asked.get("continue"):
            raise statuses.bad_request(
                "specifying resource version is not allowed when using continue"
            )
        found = self._selected(kind, namespace, asked)
        begin = _position(asked.get("continue", ""))
        limit = 0 if version == "0" else int(asked.get("limit") or 0)
        page = found[begin : begin + limit] if limit else found[begin:]
        metadata: dict[str, Any] = {"resourceVersion": self._cluster.resource_version}
        left = len(found) - begin - len(page)
        if left:
            metadata |= {"continue": _token(begin + len(page)), "remainingItemCount": left}
        items = [
            {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
            for item in page
        ]
        head = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version}
        return {**head, "metadata": metadata, "items": items}

    def _selected(
        self, kind: Kind, namespace: str, asked: Mapping[str, str]
    ) -> list[Mapping[str, Any]]:
        labels, fields = asked.get("labelSelector", ""), asked.get("fieldSelector", "")
        try:
            labels_fit(labels, {})
            fields_fit(fields, kind.resource, {})
            return [
                found
                for found in self._cluster.list(kind, namespace)
                if labels_fit(labels, found["metadata"].get("labels") or {})
                and fields_fit(fields, kind.resource, found)
            ]
        except SelectorError as error:
            raise statuses.bad_request(str(error)) from error


def _token(position: int) -> str:
    return base64.urlsafe_b64encode(json.dumps({"start": position}).encode()).decode()


def _position(token: str) -> int:
    if not token:
        return 0
    try:
        return int(json.loads(base64.urlsafe_b64decode(token))["start"])
    except (ValueError, KeyError, TypeError) as error:
        raise statuses.bad_request("continue key is not valid") from error
