"""A real etcd on loopback, and the few calls that the lab makes, over its JSON gateway."""

import base64
import http.client
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.process import LabError, Server, fetched, free_port

_OPS = 10_000


@dataclass(frozen=True, slots=True)
class Stored:
    """A key as it is stored. `created` is the revision of its creation."""

    key: str
    value: bytes
    created: int


class Etcd:
    """One member, which forgets everything when it ends."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._data = folder / "etcd"
        self._port, peer = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        argv = [str(program), "--name", "lab", "--data-dir", str(self._data), "--unsafe-no-fsync"]
        argv += ["--listen-client-urls", self.url, "--advertise-client-urls", self.url]
        argv += ["--listen-peer-urls", f"http://127.0.0.1:{peer}", "--log-level", "error"]
        argv += ["--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}"]
        argv += ["--initial-cluster", f"lab=http://127.0.0.1:{peer}"]
        argv += ["--max-txn-ops", str(_OPS)]
        self._server = Server(argv, folder / "etcd.log")

    def wait(self) -> None:
        """Until it answers."""
        self._server.ready(lambda: fetched(f"{self.url}/health") is not None)

    def stop(self) -> None:
        """End it and remove its data."""
        self._server.kill()
        shutil.rmtree(self._data, ignore_errors=True)

    @property
    def revision(self) -> int:
        """The revision of the newest change."""
        return int(self._call("range", {"key": _coded("-"), "limit": 1})["header"]["revision"])

    def under(self, prefix: str, *, created_after: int = 0, values: bool = True) -> list[Stored]:
        """What is stored below a prefix that ends with a slash."""
        asked = {"key": _coded(prefix), "range_end": _coded(prefix[:-1] + "0")}
        asked |= {"min_create_revision": str(created_after + 1)} if created_after else {}
        found = self._call("range", asked | {"keys_only": not values}).get("kvs", ())
        return [_stored(one) for one in found]

    def get(self, keys: Iterable[str]) -> list[Stored]:
        """Those of the keys that are stored."""
        found = self._txn([{"request_range": {"key": _coded(key)}} for key in keys])
        parts = [part["response_range"] for part in found.get("responses", ())]
        return [_stored(one) for part in parts for one in part.get("kvs", ())]

    def change(self, puts: Mapping[str, bytes], deletes: Iterable[str] = ()) -> int:
        """All at once; the revision of the change."""
        asked: list[dict[str, Any]] = [
            {"request_put": {"key": _coded(key), "value": base64.b64encode(value).decode()}}
            for key, value in puts.items()
        ]
        asked += [{"request_delete_range": {"key": _coded(key)}} for key in deletes]
        return int(self._txn(asked)["header"]["revision"])

    def compact(self) -> None:
        """Forget every revision but the newest."""
        self._call("compaction", {"revision": str(self.revision), "physical": True})

    def _txn(self, parts: list[dict[str, Any]]) -> Mapping[str, Any]:
        if len(parts) > _OPS:
            raise LabError(f"{len(parts)} objects at once are more than the lab's etcd takes")
        return self._call("txn", {"success": parts})

    def _call(self, what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        path = "/v3/kv/" + what
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("POST", path, json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise LabError(f"etcd refuses {path}: {text[:300].decode(errors='replace')}")
        found: Mapping[str, Any] = json.loads(text)
        return found


def _coded(key: str) -> str:
    return base64.b64encode(key.encode()).decode()


def _stored(found: Mapping[str, Any]) -> Stored:
    key = base64.b64decode(found["key"]).decode()
    value = base64.b64decode(found.get("value", ""))
    return Stored(key, value, int(found["create_revision"]))
