"""Kubernetes evidence: one object, or the objects of a list, and values taken out by JMESPath."""

from collections.abc import Mapping
from typing import Any

from tailhound.flow import Reading, read
from tailhound.model import Missing
from tailhound.model.facts import Schema
from tailhound.requests import GetObject, ListObjects
from tailhound.rules.condition.typed import meant
from tailhound.rules.evidence.common import Whole, Workshop, facts_class, params_class, text_of
from tailhound.rules.evidence.values import JsonPath, json_path
from tailhound.rules.schema_evidence import KubernetesEvidence

APIS: Mapping[str, str] = {
    "pods": "v1",
    "nodes": "v1",
    "services": "v1",
    "endpoints": "v1",
    "events": "v1",
    "namespaces": "v1",
    "resourcequotas": "v1",
    "limitranges": "v1",
    "persistentvolumes": "v1",
    "persistentvolumeclaims": "v1",
    "deployments": "apps/v1",
    "replicasets": "apps/v1",
    "statefulsets": "apps/v1",
    "daemonsets": "apps/v1",
    "jobs": "batch/v1",
    "horizontalpodautoscalers": "autoscaling/v2",
    "poddisruptionbudgets": "policy/v1",
    "endpointslices": "discovery.k8s.io/v1",
    "scaledobjects": "keda.sh/v1alpha1",
    "inferencepools": "inference.networking.k8s.io/v1",
}
"""Resources whose API group needs no `api:`."""

_SECRET = frozenset({"secrets", "serviceaccounts", "tokenreviews", "certificatesigningrequests"})
_CLUSTER_WIDE = frozenset({"nodes", "namespaces", "persistentvolumes"})
_PARAMETERS = ("namespace", "name", "label_selector", "field_selector")


class KubernetesCollector:
    """Reads an object, or a list, once. What the answer does not hold takes its default; without an
    answer nothing is measured.
    """

    def __init__(
        self,
        name: str,
        shop: Workshop,
        request: Mapping[str, "str | Whole"],
        paths: Mapping[str, JsonPath],
    ) -> None:
        self.name = name
        self.schema: Schema = {fact: path.fact for fact, path in paths.items()}
        self.params: type[Any] = params_class(shop)
        self.facts: type[Any] = facts_class(self.schema)
        self._request = dict(request)
        self._paths = dict(paths)

    def collect(self, params: Any) -> Reading[Any]:
        """One GET."""
        told: dict[str, Any] = {key: text_of(value, params) for key, value in self._request.items()}
        one = "name" in told
        reply: Any = yield from read(GetObject(**told) if one else ListObjects(**told))
        if isinstance(reply, Missing):
            return self.facts()
        document: Any = reply if one else list(reply)
        return self.facts(**{fact: path.of(document) for fact, path in self._paths.items()})


def compile_kubernetes(
    name: str, shop: Workshop, told: KubernetesEvidence
) -> KubernetesCollector | None:
    """The collector; None, with findings in the shop, when something is wrong."""
    request = _request(shop, told)
    paths: dict[str, JsonPath] = {}
    for fact, value in told.facts.items():
        shop.fact_name(fact, ("kubernetes", "facts", fact))
        path = json_path(value)
        if isinstance(path, str):
            shop.wrong(("kubernetes", "facts", fact, "jmespath"), path)
        else:
            paths[fact] = path
    return None if shop.findings else KubernetesCollector(name, shop, request, paths)


def _request(shop: Workshop, told: KubernetesEvidence) -> dict[str, "str | Whole"]:
    verb = "get" if told.get else "list"
    resource = told.get or told.list or ""
    request: dict[str, str | Whole] = {"resource": resource}
    if bool(told.get) == bool(told.list):
        shop.wrong(("kubernetes",), "give either `get: <resource>` or `list: <resource>`")
        return request
    request["api"] = _api(shop, told, resource, verb)
    for key in _PARAMETERS:
        value = getattr(told, key)
        if value is not None:
            request[key] = _parameter(shop, key, value, verb)
    if verb == "get" and told.name is None:
        shop.wrong(("kubernetes",), "`get` needs `name:`; to see several objects, use `list`")
    if verb == "get" and resource not in _CLUSTER_WIDE and told.namespace is None:
        shop.wrong(("kubernetes",), f"`get: {resource}` needs `namespace:`")
    return request


def _api(shop: Workshop, told: KubernetesEvidence, resource: str, verb: str) -> str:
    if resource.lower() in _SECRET:
        shop.wrong(("kubernetes", verb), f"{resource} are never read")
    if told.api is None and resource not in APIS:
        message = f"no resource named {resource!r}{meant(resource, APIS)} Or give its `api:`"
        shop.wrong(("kubernetes", verb), message)
    return told.api or APIS.get(resource, "v1")


def _parameter(shop: Workshop, key: str, value: str, verb: str) -> "str | Whole":
    steps = ("kubernetes", key)
    allowed = ("namespace", "name") if verb == "get" else _PARAMETERS[:1] + _PARAMETERS[2:]
    if key not in allowed:
        shop.wrong(steps, f"`{verb}` takes no `{key}:`")
    found = shop.whole(value, steps, "parameter")
    if isinstance(found, Whole) and shop.used[found.name]:
        shop.wrong(steps, f"${found.name} is a set; one value is needed here")
    return found
