"""Label and field selectors, as the API server understands them."""

import re
from collections.abc import Mapping
from typing import Any

_SET = re.compile(r"(?P<key>\S+)\s+(?P<how>in|notin)\s*\(\s*(?P<values>[^()]*)\)")
_EQUAL = re.compile(r"(?P<key>[^=!,\s]+)\s*(?P<how>==|=|!=)\s*(?P<value>[^=!,\s]*)")
_NAME = re.compile(r"([a-z0-9.-]+/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")

FIELDS = {
    "pods": {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "status.phase"}
    | {"spec.serviceAccountName", "status.podIP", "status.nominatedNodeName"},
    "events": {f"involvedObject.{part}" for part in ("kind", "name", "namespace", "uid")}
    | {"involvedObject.apiVersion", "involvedObject.fieldPath", "reason", "type", "source"},
    "nodes": {"spec.unschedulable"},
    "namespaces": {"status.phase"},
}


class SelectorError(ValueError):
    """The selector is refused; the text is the API server's."""


def labels_fit(selector: str, labels: Mapping[str, str]) -> bool:
    """Whether every requirement of a label selector holds. SelectorError when it can't be read."""
    return all([_requirement_fits(part, labels) for part in _parts(selector)])


def _parts(selector: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^(]*\))", selector) if part.strip()]


def _requirement_fits(part: str, labels: Mapping[str, str]) -> bool:
    if match := _SET.fullmatch(part):
        values = {value.strip() for value in match["values"].split(",")}
        inside = labels.get(_key(match["key"])) in values
        return inside if match["how"] == "in" else not inside
    if match := _EQUAL.fullmatch(part):
        equal = labels.get(_key(match["key"])) == match["value"]
        return not equal if match["how"] == "!=" else equal
    if part.startswith("!"):
        return _key(part[1:].strip()) not in labels
    return _key(part) in labels


def _key(key: str) -> str:
    if not _NAME.fullmatch(key):
        raise SelectorError(f"unable to parse requirement: invalid label key {key!r}")
    return key


def fields_fit(selector: str, resource: str, found: Mapping[str, Any]) -> bool:
    """Whether a field selector holds. SelectorError for a field that the resource lacks."""
    allowed = {"metadata.name", "metadata.namespace"} | FIELDS.get(resource, set())
    fits = True
    for part in _parts(selector):
        match = _EQUAL.fullmatch(part)
        if not match:
            raise SelectorError(f"invalid selector: '{part}'; can't understand '{part}'")
        if match["key"] not in allowed:
            raise SelectorError(f"field label not supported: {match['key']}")
        equal = _field(found, match["key"]) == match["value"]
        fits = fits and (not equal if match["how"] == "!=" else equal)
    return fits


def _field(found: Any, path: str) -> str:
    for part in path.split("."):
        found = found.get(part, "") if isinstance(found, Mapping) else ""
    return str(found).lower() if isinstance(found, bool) else str(found or "")
