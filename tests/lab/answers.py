"""What the stand-in API server answers: from a request line to a body, or an ApiError."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.lab import statuses
from tests.lab.cluster import Cluster, Kind
from tests.lab.kube import roles
from tests.lab.selectors import SelectorError, fields_fit, labels_fit


class Answers:
    """From a request line to an answer: objects, lists, logs, or an ApiError."""

    def __init__(
        self, cluster: Cluster, rules: Sequence[roles.Rule], logs: Mapping[str, str]
    ) -> None:
        self._cluster, self._rules, self._logs = cluster, rules, logs

    def of(self, method: str, target: str) -> Mapping[str, Any] | str:
        """The body of the answer; ApiError for everything that is not 200."""
        url = urlsplit(target)
        asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if url.path in ("/readyz", "/livez", "/healthz"):
            return "ok"
        if url.path == "/version":
            return {"major": "1", "minor": "34", "gitVersion": "v1.34.1", "platform": "linux/amd64"}
        place = _place(method, url.path)
        verb = statuses.VERBS.get(method) or ("get" if place.name else "list")
        kind, namespace, name, sub = place.kind, place.namespace, place.name, place.sub
        resource = f"{kind.resource}/{sub}" if sub else kind.resource
        if not roles.allows(self._rules, verb, kind.group, resource):
            raise statuses.forbidden(verb, kind, namespace, name, sub)
        kind = self._known(place)
        if sub:
            return self._log(kind, namespace, name, sub, asked)
        return self._one(kind, namespace, name) if name else self._page(kind, namespace, asked)

    def _known(self, place: "_Place") -> Kind:
        """The kind that is served there."""
        asked, namespace, name = place.kind, place.namespace, place.name
        if not self._cluster.served(asked.group, asked.version):
            raise statuses.no_such_path()
        kind = self._cluster.kind(asked.group, asked.version, asked.resource)
        if kind is None or (namespace and not kind.namespaced):
            raise statuses.no_such_resource()
        if kind.namespaced and not namespace and name:
            raise statuses.no_such_resource()
        return kind

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
        tail = int(asked.get("tailLines", len(lines)))
        return "".join(lines[max(len(lines) - tail, 0) :])

    def _page(self, kind: Kind, namespace: str, asked: Mapping[str, str]) -> Mapping[str, Any]:
        version = asked.get("resourceVersion", "")
        if asked.get("watch") in ("1", "true"):
            raise statuses.bad_request("this stand-in serves no watches")
        if version and not version.isdigit():
            raise statuses.bad_request(
                f'invalid resource version: resourceVersion: Invalid value: "{version}": '
                f'strconv.ParseUint: parsing "{version}": invalid syntax'
            )
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


@dataclass(frozen=True, slots=True)
class _Place:
    """What a path names; of the kind only group, version and resource are known."""

    kind: Kind
    namespace: str
    name: str
    sub: str


def _place(method: str, path: str) -> _Place:
    """Kind, namespace, name and subresource that a path names."""
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        raise statuses.forbidden_path(method, path)
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    name, sub = [*rest[1:], "", ""][:2]
    return _Place(Kind(group, version, "", rest[0], bool(namespace)), namespace, name, sub)


def _token(position: int) -> str:
    return base64.urlsafe_b64encode(json.dumps({"start": position}).encode()).decode()


def _position(token: str) -> int:
    if not token:
        return 0
    try:
        return int(json.loads(base64.urlsafe_b64decode(token))["start"])
    except (ValueError, KeyError, TypeError) as error:
        raise statuses.bad_request("continue key is not valid") from error
