"""Evidence from pod specs: limits, quality of service, who manages the workload."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from tailhound.flow import Reading, read
from tailhound.model import Missing, Reason
from tailhound.requests import GetObject, KubeObject, ListObjects

_SUFFIXES = {"n": "1e-9", "u": "1e-6", "m": "1e-3", "": "1", "k": "1e3"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PodParams:
    """Which pods: by the workload's selector, else the first of `pods` by name."""

    namespace: str
    pods: tuple[str, ...]
    container: str = ""
    selector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What the pod specs say about the serving container.

    Where pods differ, `cpu_limit_cores` is the lowest limit, and `has_cpu_limit` is true when any
    pod has one. `may_have_exclusive_cpus`: Guaranteed with whole cores, the condition under which
    the static CPU manager gives CPUs of its own and switches the quota off.
    """

    has_cpu_limit: bool | None = None
    cpu_limit_cores: float | None = None
    cpu_request_cores: float | None = None
    may_have_exclusive_cpus: bool | None = None
    qos_class: str | None = None
    managed_by: str | None = None


class ContainerCollector:
    """`kubernetes.container`: the CPU limit of the serving container, from the pod specs."""

    name = "kubernetes.container"
    params = PodParams
    facts = Container

    def collect(self, params: PodParams) -> Reading[Container]:
        """One list, or one pod."""
        pods = yield from pods_of(params)
        specs = [
            (pod, container)
            for pod in pods
            for container in pod.get("spec", {}).get("containers", ())
            if container.get("name") == params.container or not params.container
        ]
        if not specs:
            return Container()
        limits = [_cores(_resources(pod, container, "limits")) for pod, container in specs]
        known = [limit for limit in limits if limit is not None]
        requests = [_cores(_resources(pod, container, "requests")) for pod, container in specs]
        first = specs[0][0]
        qos = str(first.get("status", {}).get("qosClass") or "")
        lowest = min(known, default=None)
        return Container(
            has_cpu_limit=bool(known),
            cpu_limit_cores=lowest,
            cpu_request_cores=min((r for r in requests if r is not None), default=None),
            may_have_exclusive_cpus=_whole(qos, lowest),
            qos_class=qos or None,
            managed_by=_manager(first.get("metadata", {})),
        )


def pods_of(params: PodParams) -> Reading[Sequence[KubeObject]]:
    """The pods of the workload; none when nobody may list or get them."""
    if params.selector:
        reply = yield from read(
            ListObjects(
                api="v1",
                resource="pods",
                namespace=params.namespace,
                label_selector=params.selector,
            )
        )
        if not isinstance(reply, Missing):
            return [pod for pod in reply if pod.get("metadata", {}).get("name") in params.pods]
        if reply.reason is not Reason.EMPTY:
            return ()
    if not params.pods or not params.namespace:
        return ()
    pod = yield from read(
        GetObject(api="v1", resource="pods", namespace=params.namespace, name=params.pods[0])
    )
    return () if isinstance(pod, Missing) else (pod,)


def _resources(pod: KubeObject, container: Mapping[str, Any], kind: str) -> object:
    """What is in force: the status of an in-place resize first, then the spec."""
    for status in pod.get("status", {}).get("containerStatuses") or ():
        if status.get("name") == container.get("name") and status.get("resources"):
            return (status["resources"].get(kind) or {}).get("cpu")
    return ((container.get("resources") or {}).get(kind) or {}).get("cpu")


def _cores(quantity: object) -> float | None:
    """A Kubernetes CPU quantity in cores: "6", "500m", "2.5"; None when absent or unreadable."""
    if quantity is None:
        return None
    text = str(quantity).strip()
    suffix = text[-1:] if text[-1:] in ("n", "u", "m", "k") else ""
    try:
        return float(Decimal(text.removesuffix(suffix)) * Decimal(_SUFFIXES[suffix]))
    except InvalidOperation:
        return None


def _whole(qos: str, limit: float | None) -> bool | None:
    if not qos:
        return None
    return qos == "Guaranteed" and limit is not None and limit.is_integer()


def _manager(metadata: Mapping[str, Any]) -> str:
    labels = metadata.get("labels") or {}
    annotations = metadata.get("annotations") or {}
    if any(str(name).startswith("argocd.argoproj.io/") for name in (*labels, *annotations)):
        return "argocd"
    if any("fluxcd.io/" in str(name) for name in (*labels, *annotations)):
        return "flux"
    return str(labels.get("app.kubernetes.io/managed-by") or "").lower()
