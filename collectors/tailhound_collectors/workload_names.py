"""Which Deployments, StatefulSets and pods an incident is about, as regular expressions by name.

The inputs tell a workload with its kind, or pods, or only the name of a Service. kube-state-metrics
counts replicas by the name of the Deployment or StatefulSet, so that name is found here: exact when
the kind is known, else out of the names of the pods, else out of the Service's.
"""

import re
from dataclasses import dataclass

from tailhound.requests.prometheus import literal_regex, one_of, quoted

_RANDOM = "[bcdfghjklmnpqrstvwxz2456789]"  # the letters that Kubernetes makes suffixes from
_HASHED = re.compile(rf"^(?P<name>.+)-{_RANDOM}{{4,10}}-{_RANDOM}{{5}}$")
_ORDINAL = re.compile(r"^(?P<name>.+)-\d{1,5}$")
_KNOWN = frozenset({"deployment", "statefulset"})
_POD = f"{_RANDOM}{{4,10}}-{_RANDOM}{{5}}|[0-9]{{1,5}}"
_REVISION = "(-predictor)?(-[0-9]{5}-deployment)?"
"""What KServe and Knative put behind a service's name: `chat-predictor`, `chat-00001-deployment`,
`chat-predictor-00003-deployment`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadParams:
    """Which replicas. All but the namespace may be unknown.

    `knative_service` is the name of a Knative service, from the alert's own label: it says more
    than pods that were found by the namespace.
    """

    namespace: str
    workload: str = ""
    workload_kind: str = ""
    pods: tuple[str, ...] = ()
    container: str = ""
    knative_service: str = ""
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)
    metric_prefix: str = ""


def workload_regex(params: WorkloadParams) -> str:
    """A regular expression for the names of the Deployments and StatefulSets; "" = none known."""
    if params.workload and params.workload_kind in _KNOWN:
        return literal_regex(params.workload)
    if params.knative_service:
        return literal_regex(params.knative_service) + _REVISION
    derived = sorted({name for pod in params.pods for name in _owners(pod)})
    if derived:
        return one_of(derived)
    if params.pods:
        return ""
    return literal_regex(params.workload) + _REVISION if params.workload else ""


def pod_matcher(params: WorkloadParams) -> str:
    """A literal matcher for the pods: those that are known, else by the workload's name."""
    if params.pods and not params.knative_service:
        return f"pod=~{quoted(one_of(params.pods))}"
    return past_pod_matcher(params)


def past_pod_matcher(params: WorkloadParams) -> str:
    """A literal matcher for the pods that the workload has and had, by its name."""
    names = workload_regex(params)
    if names:
        return f"pod=~{quoted(f'({names})-({_POD})')}"
    return f"pod=~{quoted(one_of(params.pods) or '^$none')}"


def revision_matcher(params: WorkloadParams) -> str:
    """A literal matcher for the `revision_name` of Knative's own series."""
    names = workload_regex(params).removesuffix("-deployment")
    known = f"({names})(-[0-9]{{5}})?" if names else "^$none"
    return f"revision_name=~{quoted(known)}"


def workload_of(pod: str) -> str:
    """The workload that a pod's name comes from; the name itself when it has no such suffix."""
    return next(iter(_owners(pod)), pod)


def _owners(pod: str) -> tuple[str, ...]:
    """The workloads that a pod's name may come from; none when it has no suffix of theirs.

    A worker pod of a LeaderWorkerSet (`llm-0-1`) belongs to `llm-0`, and that to `llm`.
    """
    hashed = _HASHED.match(pod)
    if hashed:
        return (hashed["name"],)
    names = []
    match = _ORDINAL.match(pod)
    while match:
        names.append(match["name"])
        match = _ORDINAL.match(match["name"])
    return tuple(names)
