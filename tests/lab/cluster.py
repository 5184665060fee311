"""The objects of a scenario's cluster, completed as an API server completes them."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.lab import times

_NAMESPACE = uuid.UUID("5d0d1f8e-6a53-4f4e-9d50-5a2f7a1c0b11")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind that the server serves: `resource` is the plural."""

    group: str
    version: str
    kind: str
    resource: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """As manifests write it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """As messages write it: `deployments.apps`."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


def _kinds() -> Iterable[Kind]:
    core = "Pod Service Event ConfigMap Endpoints PersistentVolumeClaim ServiceAccount Secret"
    for kind in f"{core} LimitRange ResourceQuota ReplicationController".split():
        plural = kind.lower() if kind == "Endpoints" else f"{kind.lower()}s"
        yield Kind("", "v1", kind, plural, True)
    for kind in ("Node", "Namespace", "PersistentVolume"):
        yield Kind("", "v1", kind, f"{kind.lower()}s", False)
    for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"):
        yield Kind("apps", "v1", kind, f"{kind.lower()}s", True)
    for kind in ("Job", "CronJob"):
        yield Kind("batch", "v1", kind, f"{kind.lower()}s", True)
    for version in ("v1", "v2"):
        name = "HorizontalPodAutoscaler"
        yield Kind("autoscaling", version, name, f"{name.lower()}s", True)
    yield Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", True)
    yield Kind("coordination.k8s.io", "v1", "Lease", "leases", True)
    yield Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", True)
    yield Kind("networking.k8s.io", "v1", "Ingress", "ingresses", True)
    yield Kind("storage.k8s.io", "v1", "StorageClass", "storageclasses", False)


BUILT_IN = tuple(_kinds())


def uid(kind: str, namespace: str, name: str) -> str:
    """The UID of an object: the same in every run."""
    return str(uuid.uuid5(_NAMESPACE, f"{kind}/{namespace}/{name}"))


class Cluster:
    """What is stored: kinds, and the objects of each, by namespace and name."""

    def __init__(self, manifests: Iterable[Mapping[str, Any]], now: float) -> None:
        self._kinds = {(kind.group, kind.version, kind.resource): kind for kind in BUILT_IN}
        self._objects: dict[Kind, dict[tuple[str, str], Mapping[str, Any]]] = {}
        for version, manifest in enumerate(manifests, start=100):
            kind = self._kind_of(manifest)
            whole = _completed(kind, manifest, str(version), now)
            metadata = whole["metadata"]
            self._objects.setdefault(kind, {})[metadata.get("namespace", ""), metadata["name"]] = (
                whole
            )
        self._with_owners()
        self.resource_version = "1000"

    def served(self, group: str, version: str) -> bool:
        """Whether anything of this group and version exists."""
        return any(key[:2] == (group, version) for key in self._kinds)

    def kind(self, group: str, version: str, resource: str) -> Kind | None:
        """The kind behind a resource name."""
        return self._kinds.get((group, version, resource))

    def get(self, kind: Kind, namespace: str, name: str) -> Mapping[str, Any] | None:
        """One object."""
        return self._objects.get(kind, {}).get((namespace, name))

    def list(self, kind: Kind, namespace: str) -> list[Mapping[str, Any]]:
        """All objects of a namespace ("" = of all), in the order of their names."""
        stored = self._objects.get(kind, {})
        return [stored[key] for key in sorted(stored) if not namespace or key[0] == namespace]

    def everything(self) -> Iterator[tuple[Kind, Mapping[str, Any]]]:
        """All objects, with their kinds."""
        for kind, stored in self._objects.items():
            for whole in stored.values():
                yield kind, whole

    def _kind_of(self, manifest: Mapping[str, Any]) -> Kind:
        group, _, version = str(manifest["apiVersion"]).rpartition("/")
        for kind in self._kinds.values():
            if (kind.group, kind.version, kind.kind) == (group, version, manifest["kind"]):
                return kind
        name = str(manifest["kind"])
        namespaced = bool(manifest["metadata"].get("namespace"))
        custom = Kind(group, version, name, f"{name.lower()}s", namespaced)
        self._kinds[group, version, custom.resource] = custom
        return custom

    def _with_owners(self) -> None:
        known = {
            (kind.kind, *key): (kind.api_version, whole["metadata"]["uid"])
            for kind, stored in self._objects.items()
            for key, whole in stored.items()
        }
        for stored in self._objects.values():
            for (namespace, _), whole in stored.items():
                for owner in whole["metadata"].get("ownerReferences", ()):
                    where = (owner["kind"], namespace, owner["name"])
                    api, found = known.get(where, ("v1", uid(*where)))
                    owner.setdefault("apiVersion", api)
                    owner.setdefault("uid", found)
                    owner.setdefault("controller", True)
                    owner.setdefault("blockOwnerDeletion", True)


def _completed(kind: Kind, manifest: Mapping[str, Any], version: str, now: float) -> dict[str, Any]:
    """What the server adds: UID, versions, namespace, times.

    An object without creationTimestamp is as old as its status says (pods), else thirty days.
    """
    whole = json.loads(json.dumps(times.filled(dict(manifest), now)))
    metadata = whole["metadata"]
    if kind.namespaced:
        metadata.setdefault("namespace", "default")
    else:
        metadata.pop("namespace", None)
    started = (whole.get("status") or {}).get("startTime")
    old = started or times.rfc3339(now - 30 * 86400)
    metadata.setdefault("creationTimestamp", old)
    metadata.setdefault("uid", uid(kind.kind, metadata.get("namespace", ""), metadata["name"]))
    metadata.setdefault("resourceVersion", version)
    if kind.group and kind.kind != "Event":
        metadata.setdefault("generation", 1)
    filled: dict[str, Any] = whole
    return filled
