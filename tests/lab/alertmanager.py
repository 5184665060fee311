"""A real Alertmanager, and the rule -> Alertmanager -> webhook chain."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

from tests.lab.notification import GROUP_BY, RECEIVER
from tests.lab.process import LabError, Server, fetched, free_port, wait_until
from tests.lab.scenario import AlertSpec


class Alertmanager:
    """One server that sends everything to one webhook, with bearer authentication."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.address}"
        self._folder = folder
        self._server: Server | None = None

    def start(self, webhook: str, token: str) -> "Alertmanager":
        """Start it and wait until it is ready."""
        self._folder.mkdir(parents=True, exist_ok=True)
        config = self._folder / "alertmanager.yml"
        config.write_text(yaml.safe_dump(_config(webhook, token)), encoding="utf-8")
        argv = [
            "prometheus-alertmanager",
            f"--config.file={config}",
            f"--storage.path={self._folder / 'data'}",
            f"--web.listen-address={self.address}",
            f"--web.external-url={self.url}",
            "--cluster.listen-address=",
        ]
        self._server = Server(argv, self._folder / "alertmanager.log")
        self._server.ready(lambda: fetched(f"{self.url}/-/ready") is not None)
        return self

    def stop(self) -> None:
        """End it."""
        if self._server:
            self._server.stop()


def _config(webhook: str, token: str) -> dict[str, object]:
    authorization = {"type": "Bearer", "credentials": token}
    hook = {
        "url": webhook,
        "send_resolved": True,
        "max_alerts": 0,
        "http_config": {"authorization": authorization},
    }
    return {
        "route": {
            "receiver": RECEIVER,
            "group_by": list(GROUP_BY),
            "group_wait": "0s",
            "group_interval": "200ms",
            "repeat_interval": "1h",
        },
        "receivers": [{"name": RECEIVER, "webhook_configs": [hook]}],
    }


def rule_file(alert: AlertSpec) -> str:
    """The alerting rule of a full-chain scenario, evaluated five times a second."""
    labels = {name: value for name, value in alert.labels.items() if name != "alertname"}
    rule = {
        "alert": alert.labels["alertname"],
        "expr": alert.rule.expr,
        "for": f"{alert.rule.wait:g}s",
        "labels": labels,
        "annotations": alert.all_annotations,
    }
    groups = [{"name": "scenario", "interval": "200ms", "rules": [rule]}]
    return yaml.safe_dump({"groups": groups})


def wait_for_discovery(prometheus: str) -> None:
    """Wait until Prometheus has found its Alertmanager (about 5 s after its start)."""

    def found() -> bool:
        body = fetched(f"{prometheus}/api/v1/alertmanagers")
        return bool(body and json.loads(body)["data"]["activeAlertmanagers"])

    wait_until(found, "Prometheus to find its Alertmanager", 30)


class Receiver:
    """A webhook that keeps the first notification it gets."""

    def __init__(self, token: str) -> None:
        self._arrived = threading.Event()
        self._body = b""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(token, self._take))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/webhook/alertmanager"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def _take(self, body: bytes) -> None:
        if not self._arrived.is_set():
            self._body = body
            self._arrived.set()

    def body(self, seconds: float = 30.0) -> bytes:
        """The notification, waited for."""
        if not self._arrived.wait(seconds):
            raise LabError(f"no notification arrived within {seconds:g} s")
        return self._body

    def stop(self) -> None:
        """End it."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)


def _handler(token: str, take: Callable[[bytes], None]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            known = self.headers.get("Authorization") == f"Bearer {token}"
            if known:
                take(body)
            self.send_response(200 if known else 401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing to log: the notification is kept."""

    return Handler
