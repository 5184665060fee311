"""Questions to the Kubernetes API. All of them are GETs; the path is built from checked parts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

from tailhound.errors import Refused
from tailhound.flow import Read
from tailhound.model.plainly import BROKEN

KubeObject: TypeAlias = Mapping[str, Any]
"""An object as the API sends it (JSON)."""

_ITS_OWN = ("coordination.k8s.io", "flowcontrol.apiserver.k8s.io")
"""Groups whose objects tell how the API server does: whether it takes heartbeats, whom it turns
away."""

_PART = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


def _part(value: str) -> str:
    if not _PART.fullmatch(value):
        raise Refused(f"{value[:60]!r} can't be part of a Kubernetes API path")
    return value


def _path(api: str, resource: str, namespace: str, name: str) -> str:
    group, _, version = api.rpartition("/")
    base = f"/apis/{_part(group)}/{_part(version)}" if group else f"/api/{_part(version)}"
    within = f"/namespaces/{_part(namespace)}" if namespace else ""
    tail = f"/{quote(_part(name))}" if name else ""
    return f"{base}{within}/{_part(resource)}{tail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GetObject(Read[KubeObject]):
    """One object. `api` is "v1" or "apps/v1"; `resource` is the plural ("pods").

    Refused when a part is no Kubernetes name. An object that does not exist is Missing(EMPTY).
    `exact` asks without resourceVersion (guards, previews).
    """

    api: str
    resource: str
    name: str
    namespace: str = ""
    exact: bool = False

    def __post_init__(self) -> None:
        _path(self.api, self.resource, self.namespace, self.name)

    @property
    def backend(self) -> str:
        """The API server."""
        return "kubernetes"

    @property
    def is_about_server(self) -> bool:
        """Whether the API server itself is diagnosed by it: asked also while that refuses most."""
        return self.api.rpartition("/")[0] in _ITS_OWN

    @property
    def path(self) -> str:
        """The path below the server's address, with its query."""
        path = _path(self.api, self.resource, self.namespace, self.name)
        return path if self.exact else f"{path}?resourceVersion=0"

    @property
    def shown(self) -> str:
        """The request line."""
        return f"GET {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListObjects(Read[tuple[KubeObject, ...]]):
    """The objects of one namespace, or of one node by field selector.

    A bounded list (namespace, or `spec.nodeName` selector) is read from the server's cache
    (resourceVersion=0); anything wider is paged by 500. An empty list is an answer, not Missing.
    Refused when a part is no Kubernetes name, or a selector holds a lone surrogate.
    """

    api: str
    resource: str
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""

    def __post_init__(self) -> None:
        _path(self.api, self.resource, self.namespace, "")
        for selector in (self.label_selector, self.field_selector):
            if BROKEN.search(selector):
                raise Refused(f"{selector[:60]!r} can't be a selector: it is no valid text")

    @property
    def backend(self) -> str:
        """The API server."""
        return "kubernetes"

    @property
    def bounded(self) -> bool:
        """Whether a namespace or a node bounds the answer."""
        return bool(self.namespace) or self.field_selector.startswith("spec.nodeName=")

    @property
    def is_about_server(self) -> bool:
        """Whether the API server itself is diagnosed by it: asked also while that refuses most."""
        return self.api.rpartition("/")[0] in _ITS_OWN

    @property
    def path(self) -> str:
        """The path of the first page, with its query."""
        asked = {
            "labelSelector": self.label_selector,
            "fieldSelector": self.field_selector,
            **({"resourceVersion": "0"} if self.bounded else {"limit": "500"}),
        }
        query = urlencode({name: value for name, value in asked.items() if value})
        return f"{_path(self.api, self.resource, self.namespace, '')}?{query}"

    @property
    def shown(self) -> str:
        """The request line."""
        return f"GET {self.path}"
