"""A real etcd and kube-apiserver as the lab's ApiServer: one for a whole run, loaded per scenario.

The server checks and completes each object (a dry run); the lab then writes it into etcd with the
scenario's UID, times, generation, status, which no client can set. One change of etcd brings all of
a scenario, one takes all that came since the start away, whoever made it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.lab.apiserver import TOKEN
from tests.lab.cluster import Cluster, Kind
from tests.lab.kube import roles, storage
from tests.lab.kube.binaries import Binaries
from tests.lab.kube.plane import ADMIN, ControlPlane
from tests.lab.kube.storage import Object
from tests.lab.process import LabError, wait_until
from tests.lab.statuses import USER

_ROLES = "/apis/rbac.authorization.k8s.io/v1"
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class RealApiServer:
    """One server; `load` replaces what it serves.

    An object that it refuses is served as the scenario has it, and `remarks` say why.
    """

    def __init__(self, binaries: Binaries, folder: Path) -> None:
        self.plane = ControlPlane(binaries, folder)
        self.server = f"https://127.0.0.1:{self.plane.port}"
        self.token, self.admin_token = TOKEN, ADMIN
        self.ca_file = self.plane.ca_file
        self.remarks: Sequence[str] = ()
        self._own = self._served()
        self._granted: set[tuple[str, str, str]] = set()
        self._custom: frozenset[Kind] = frozenset()
        self._base: dict[str, bytes] = {}
        self._loaded: dict[str, set[str]] = {}
        self._bind()
        self._begin = self.plane.etcd.revision

    def load(
        self,
        cluster: Cluster,
        forbidden: frozenset[str],
        logs: Mapping[str, str],
        *,
        whole: bool = False,
    ) -> None:
        """Serve these objects, and nothing of what was there before."""
        self.clear()
        self.remarks = ()
        objects = [self._real(kind, whole) for kind, whole in cluster.everything()]
        custom = {kind for kind, _ in objects} - set(self._own.values())
        for kind in custom:
            self._define(kind)
        self._custom = frozenset(custom)
        self._grant(roles.everything(forbidden, custom) if whole else roles.shipped(forbidden))
        self.plane.kubelet.logs = dict(logs)
        spaces, others = storage.split(objects)
        self._put(spaces)
        self._put(others)

    def clear(self) -> None:
        """Take away what came since the start; what was changed of the start is put back."""
        etcd = self.plane.etcd
        came = etcd.under("/registry/", created_after=self._begin, values=False)
        keys = [one.key for one in came if not storage.is_the_servers(one.key)]
        if keys or self._base:
            etcd.change(self._base, keys)
            for path, uids in self._loaded.items():
                wait_until(partial(self._is_gone, path, uids), f"{path} to be cleared")
        self._base, self._loaded, self._custom = {}, {}, frozenset()

    def compact(self) -> None:
        """Forget the past: who still pages through an older list gets 410."""
        self.plane.etcd.compact()

    def stop(self) -> None:
        """End it."""
        self.plane.stop()

    def _put(self, objects: Sequence[Object]) -> None:
        """Write these, and wait until the server's caches, which readers see, have them."""
        puts = {self._key(kind, whole): self._stored(kind, whole) for kind, whole in objects}
        if not puts:
            return
        here = self.plane.etcd.get(puts)
        self._base |= {one.key: one.value for one in here if one.created <= self._begin}
        self.plane.etcd.change(puts)
        came: dict[str, set[str]] = {}
        for kind, whole in objects:
            came.setdefault(_list_of(kind), set()).add(whole["metadata"]["uid"])
        for path, uids in came.items():
            self._loaded[path] = uids | self._loaded.get(path, set())
            wait_until(partial(self._has, path, uids), f"{path} to be served as stored")

    def _key(self, kind: Kind, whole: Mapping[str, Any]) -> str:
        metadata = whole["metadata"]
        namespace = metadata.get("namespace", "")
        return storage.key_of(kind, namespace, metadata["name"], custom=kind in self._custom)

    def _stored(self, kind: Kind, whole: Mapping[str, Any]) -> bytes:
        """What the server makes of it. What it would refuse is stored as the scenario has it.

        So is a custom resource: no schema checks it, and a new kind's first creation takes 2 s.
        """
        if kind in self._custom:
            return storage.encoded(storage.asked(whole))
        metadata = whole["metadata"]
        path = _list_of(kind, metadata.get("namespace", ""))
        trial = "" if kind.resource == "services" else "&dryRun=All"  # a service gets its address
        reply = self.plane.ask("POST", f"{path}?fieldValidation=Warn{trial}", storage.asked(whole))
        said = str(reply.body.get("message", ""))
        if reply.code == 400:
            raise LabError(f"{kind.kind} {metadata['name']} is no such object: {said}")
        if reply.code == 409:
            return storage.encoded(storage.asked(whole))
        if reply.code >= 300:
            self.remarks = (*self.remarks, said)
            return storage.encoded(storage.asked(whole))
        unknown = [text for text in reply.warnings if " field " in text]
        told = [f"{kind.kind} {metadata['name']}: {text}" for text in unknown]
        self.remarks = (*self.remarks, *told)
        return storage.merged(whole, reply.body)

    def _has(self, path: str, uids: set[str]) -> bool:
        return uids <= self._cached(path)

    def _is_gone(self, path: str, uids: set[str]) -> bool:
        is_custom = any(path == _list_of(kind) for kind in self._custom)
        if is_custom:
            return self.plane.ask("GET", path).code == 404
        return not uids & self._cached(path)

    def _cached(self, path: str) -> set[str]:
        """The UIDs in the cache that readers see. One change arrives there object by object."""
        items = self.plane.asked("GET", f"{path}?resourceVersion=0").body.get("items") or ()
        return {item["metadata"].get("uid", "") for item in items}

    def _bind(self) -> None:
        self.plane.asked("POST", f"{_ROLES}/clusterroles", roles.role(()))
        self.plane.asked("POST", f"{_ROLES}/clusterrolebindings", roles.binding(USER))
        self._grant(roles.shipped())

    def _grant(self, rules: Sequence[roles.Rule]) -> None:
        """Let the reader do just this from now on."""
        before, after = self._granted, roles.grants(rules)
        if before == after:
            return
        self.plane.asked("PUT", f"{_ROLES}/clusterroles/{roles.READER}", roles.role(rules))
        changed = min(before ^ after)
        wait_until(lambda: self._may(*changed) == (changed in after), "the role to be in force")
        self._granted = after

    def _may(self, verb: str, group: str, resource: str) -> bool:
        plain, _, sub = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": plain, "subresource": sub}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": USER, "resourceAttributes": attributes},
        }
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return bool(self.plane.asked("POST", path, review).body["status"]["allowed"])

    def _define(self, kind: Kind) -> None:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        self.plane.asked("POST", path, storage.definition(kind))
        where = _list_of(kind)
        wait_until(lambda: self.plane.ask("GET", where).code == 200, f"{where} to be served")

    def _served(self) -> dict[tuple[str, str], Kind]:
        """Every kind that this server brings, by apiVersion and kind."""
        replies = [self.plane.asked("GET", root, Accept=_DISCOVERY) for root in ("/api", "/apis")]
        kinds = [kind for reply in replies for kind in storage.discovered(reply.body)]
        return {(kind.api_version, kind.kind): kind for kind in kinds}

    def _real(self, kind: Kind, whole: Mapping[str, Any]) -> Object:
        """The kind as this server has it: its plural and scope may differ from a guess."""
        known = self._own.get((kind.api_version, kind.kind), kind)
        metadata = dict(whole["metadata"])
        if known.namespaced:
            metadata.setdefault("namespace", "default")
        else:
            metadata.pop("namespace", None)
        return known, {**whole, "metadata": metadata}


def _list_of(kind: Kind, namespace: str = "") -> str:
    base = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.api_version}"
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"{base}{within}/{kind.resource}"
