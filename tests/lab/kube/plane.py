"""etcd and kube-apiserver, running, and an administrator's connection to them."""

import http.client
import json
import shutil
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.lab import certificate
from tests.lab.apiserver import TOKEN
from tests.lab.kube.binaries import Binaries
from tests.lab.kube.etcd import Etcd
from tests.lab.kube.kubelet import Kubelet, egress
from tests.lab.process import LabError, Server, free_port, wait_until
from tests.lab.statuses import USER

ADMIN = "lab-admin-token"
_JSON = "application/json"
_NEVER = ("ServiceAccount", "TaintNodesByCondition", "Priority")
"""Admission that waits for, or writes in place of, a controller that the lab does not run."""
_AT_START = (
    *(f"/api/v1/namespaces/{name}" for name in ("default", "kube-system", "kube-public")),
    "/api/v1/namespaces/kube-node-lease",
    "/api/v1/namespaces/default/services/kubernetes",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the API server to the administrator."""

    code: int
    body: Mapping[str, Any]
    warnings: tuple[str, ...]


class ControlPlane:
    """One etcd member, one API server, one stand-in kubelet; everything ends with `stop`."""

    def __init__(self, binaries: Binaries, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.ca_file, self._key = certificate.self_signed(folder)
        self._stack = ExitStack()
        with ExitStack() as undo:
            undo.callback(self._stack.close)
            self.kubelet = self._kubelet(folder)
            self.etcd = Etcd(binaries.etcd, folder)
            self._stack.callback(self.etcd.stop)
            self.port = free_port()
            argv, calm = self._argv(binaries.apiserver, folder), {"GOGC": "400"}
            self._server = Server(argv, folder / "kube.log", calm)  # ready with a quarter less CPU
            self._stack.callback(self._server.kill)
            self._wait()
            undo.pop_all()

    def stop(self) -> None:
        """End all of it."""
        self._stack.close()

    @property
    def pid(self) -> int:
        """The API server's process id."""
        return self._server.pid

    def connection(self) -> http.client.HTTPSConnection:
        """A new connection, not yet open."""
        context = ssl.create_default_context(cafile=str(self.ca_file))
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, **other: str
    ) -> Reply:
        """One request, the administrator's unless `other` headers say something else."""
        headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": _JSON, "Accept": _JSON}
        text = json.dumps(body) if body is not None else None
        try:
            answer = self._answer(method, path, text, headers | other)
            found = answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        told = tuple(answer.headers.get_all("Warning") or ())
        is_json = "json" in (answer.headers.get("Content-Type") or "")
        return Reply(answer.status, json.loads(found) if is_json else {}, told)

    def _answer(
        self, method: str, path: str, text: str | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """The answer to a request. A connection that the server closed while nothing went over it
        is opened anew for a read, as HTTP has it.
        """
        is_kept = self._connection.sock is not None
        try:
            self._connection.request(method, path, text, dict(headers))
            return self._connection.getresponse()
        except http.client.RemoteDisconnected:
            self._connection.close()
            if not is_kept or method != "GET":
                raise
        self._connection.request(method, path, text, dict(headers))
        return self._connection.getresponse()

    def asked(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, **other: str
    ) -> Reply:
        """As `ask`; LabError when it is refused."""
        reply = self.ask(method, path, body, **other)
        if reply.code >= 300:
            said = reply.body.get("message", "")
            raise LabError(f"the API server refuses {method} {path}: {reply.code} {said}")
        return reply

    def _kubelet(self, folder: Path) -> Kubelet:
        short = Path(tempfile.mkdtemp(prefix="lab-kubelet-"))  # a socket's path has 108 characters
        self._stack.callback(shutil.rmtree, short, ignore_errors=True)
        kubelet = Kubelet(short / "socket", self.ca_file, self._key)
        self._stack.callback(kubelet.stop)
        (folder / "egress.yaml").write_text(egress(short / "socket"), encoding="utf-8")
        tokens = f'{ADMIN},admin,1,"system:masters"\n{TOKEN},{USER},2\n'
        (folder / "tokens.csv").write_text(tokens, encoding="utf-8")
        return kubelet

    def _argv(self, program: Path, folder: Path) -> list[str]:
        return [str(program), *_flags(self.port, self.etcd.url, folder, self.ca_file, self._key)]

    def _wait(self) -> None:
        self.etcd.wait()
        self._connection = self.connection()
        self._stack.callback(self._connection.close)
        self._server.ready(lambda: self._answers("/readyz"), 60)
        for path in _AT_START:
            wait_until(partial(self._answers, path), f"{path} of a new cluster", 20)

    def _answers(self, path: str) -> bool:
        try:
            return self.ask("GET", path).code == 200
        except (OSError, http.client.HTTPException):
            return False


def _flags(port: int, etcd: str, folder: Path, certificate: Path, key: Path) -> Iterator[str]:
    yield f"--etcd-servers={etcd}"
    yield "--storage-media-type=application/json"
    yield "--etcd-compaction-interval=0"
    yield "--bind-address=127.0.0.1"
    yield "--external-hostname=127.0.0.1"
    yield f"--secure-port={port}"
    yield f"--cert-dir={folder}"
    yield f"--tls-cert-file={certificate}"
    yield f"--tls-private-key-file={key}"
    yield f"--egress-selector-config-file={folder / 'egress.yaml'}"
    yield "--service-cluster-ip-range=10.96.0.0/16"
    yield "--service-account-issuer=https://kubernetes.default.svc"
    yield f"--service-account-key-file={certificate}"
    yield f"--service-account-signing-key-file={key}"
    yield "--authorization-mode=RBAC"
    yield f"--token-auth-file={folder / 'tokens.csv'}"
    yield "--anonymous-auth=false"
    yield "--allow-privileged"
    yield f"--disable-admission-plugins={','.join(_NEVER)}"
    yield "--endpoint-reconciler-type=none"
    yield "--profiling=false"
