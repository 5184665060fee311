"""Who changed a Kubernetes object and when, as the object itself tells it. Pure.

`managedFields` keeps, for each manager, the time of its last change: that is all that is left of an
object's past once its events are gone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tailhound.requests import KubeObject

CONTROLLERS = frozenset({"kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"})
"""What carries out the wish of others: never the one who changed something."""


@dataclass(frozen=True, slots=True)
class Touched:
    """One change: by whom, when, through which subresource ("" = the object itself), and which of
    its fields that manager holds.
    """

    at: float
    by: str
    subresource: str
    fields: Mapping[str, Any]


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; nothing of what is none."""
    yield from (one for one in (value if isinstance(value, list | tuple) else ()) if mapping(one))


def metadata(obj: KubeObject) -> Mapping[str, Any]:
    """The object's metadata."""
    return mapping(obj.get("metadata"))


def name(obj: KubeObject) -> str:
    """The object's name."""
    return str(metadata(obj).get("name") or "")


def owners(obj: KubeObject) -> tuple[str, ...]:
    """The names of what owns it."""
    found = items(metadata(obj).get("ownerReferences"))
    return tuple(str(one["name"]) for one in found if one.get("name"))


def created(obj: KubeObject) -> float | None:
    """When it was created, in Unix seconds."""
    return seconds(metadata(obj).get("creationTimestamp"))


def seconds(text: Any) -> float | None:
    """A Kubernetes time in Unix seconds; None when there is none, or it can't be read."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None else None


def touches(obj: KubeObject) -> list[Touched]:
    """Every manager's last change, the newest first; what changed the status alone is left out."""
    found = []
    for entry in items(metadata(obj).get("managedFields")):
        at, part = seconds(entry.get("time")), str(entry.get("subresource") or "")
        if at is not None and part != "status":
            fields = mapping(entry.get("fieldsV1"))
            found.append(Touched(at, str(entry.get("manager") or ""), part, fields))
    return sorted(found, key=lambda one: -one.at)


def people(obj: KubeObject, subresource: str = "") -> list[Touched]:
    """The changes that somebody wished for, not those of Kubernetes' own controllers."""
    return [
        one
        for one in touches(obj)
        if one.subresource == subresource and one.by not in CONTROLLERS and _says(one)
    ]


def _says(one: Touched) -> bool:
    """Whether a manager holds more than the object's metadata (annotations, finalizers)."""
    return not one.fields or bool(set(one.fields) - {"f:metadata"})
