"""Other names for pods, workloads, nodes and namespaces, everywhere in a scenario."""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.lab.scenario import Answer, HostSpec, Scenario
from tests.lab.series import Series, parsed

Rename = Callable[[str], str]

_POD_TAIL = re.compile(r"(.+)-([a-z0-9]{5})")
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_OWNERS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
_KEPT_KEYS = ("image", "imageID", "apiVersion", "kind")
_LABELS = {
    "pod": ("pod", "exported_pod"),
    "node": ("node", "nodename", "Hostname"),
    "namespace": ("namespace", "exported_namespace"),
}


def retexted(series: Series, name: str, labels: Mapping[str, str]) -> Series:
    """The series under another name or other labels."""
    inner = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items())
    text = f"{name}{{{inner}}}" if labels else name
    kind = "gauge" if series.gauge else "counter" if series.counter else "histogram"
    return series.model_copy(update={kind: text})


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def renamed(given: Scenario) -> Scenario | None:
    """The same incident in another cluster: no name of the old one is left."""
    names = new_names(given)
    if not names:
        return None
    change = _replacer(names)
    kubernetes = given.kubernetes
    if kubernetes:
        kubernetes = kubernetes.model_copy(
            update={
                "objects": tuple(everywhere(item, change) for item in kubernetes.objects),
                "logs": {change(name): log for name, log in kubernetes.logs.items()},
            }
        )
    return dataclasses.replace(
        given,
        alert=given.alert.model_copy(
            update={
                "labels": everywhere(dict(given.alert.labels), change),
                "annotations": everywhere(dict(given.alert.annotations), change),
            }
        ),
        series=tuple(_with_labels(one, change) for one in given.series),
        kubernetes=kubernetes,
        hosts={change(name): _host(spec, given, change) for name, spec in given.hosts.items()},
        unreachable=frozenset(change(name) for name in given.unreachable),
        config=everywhere(given.config, change),
    )


def new_names(given: Scenario) -> dict[str, str]:
    """Old name -> new name; names of the cluster's own namespaces stay."""
    found = {kind: set(_from_series(given, labels)) for kind, labels in _LABELS.items()}
    found["node"] |= set(given.hosts)
    names: dict[str, str] = {}
    for kind, namespace, name in _objects(given):
        if kind.lower() in found:
            found[kind.lower()].add(name)
        elif kind in _OWNERS and not namespace.startswith("kube-"):
            names[name] = f"moved-{name}"
    names |= {name: f"{name}-eu" for name in found["namespace"] if not _of_the_cluster(name)}
    names |= {name: f"machine-{_tail(name, 6)}" for name in found["node"]}
    for pod in found["pod"]:
        match = _POD_TAIL.fullmatch(pod)
        base = names.get(match[1], match[1]) if match else pod
        if match:
            names[pod] = f"{base}-{_tail(pod, 5)}"
    return {old: new for old, new in names.items() if old}


def _of_the_cluster(namespace: str) -> bool:
    return not namespace or namespace == "default" or namespace.startswith("kube-")


def _from_series(given: Scenario, labels: tuple[str, ...]) -> Iterator[str]:
    for series in given.series:
        carried = parsed(series.text)[1]
        yield from (carried[label] for label in labels if carried.get(label))


def _objects(given: Scenario) -> Iterator[tuple[str, str, str]]:
    for item in given.kubernetes.objects if given.kubernetes else ():
        metadata = item["metadata"]
        yield str(item["kind"]), str(metadata.get("namespace", "")), str(metadata["name"])


def _tail(name: str, length: int) -> str:
    digest = hashlib.sha256(name.encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])


def _replacer(names: Mapping[str, str]) -> Rename:
    """Whole names, also before `-`: a workload's name is the beginning of its pods' names."""
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w-])({either})(?=-[a-z0-9]|(?![\w-]))")
    return lambda text: pattern.sub(lambda found: names[found[1]], text)


def everywhere(value: Any, change: Rename) -> Any:
    """A JSON value with every text changed, keys too; images, kinds and file paths stay."""
    if isinstance(value, Mapping):
        return {
            change(key) if isinstance(key, str) else key: inner
            if key in _KEPT_KEYS
            else everywhere(inner, change)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [everywhere(inner, change) for inner in value]
    return change(value) if isinstance(value, str) and not value.startswith("/") else value


def _with_labels(series: Series, change: Rename) -> Series:
    name, labels = parsed(series.text)
    return retexted(series, name, {key: change(value) for key, value in labels.items()})


def _host(spec: HostSpec, given: Scenario, change: Rename) -> HostSpec:
    tools = {
        tool: tuple(_answer(answer, given, change) for answer in answers)
        for tool, answers in spec.tools.items()
    }
    files = {
        change(path): content
        if isinstance(content, str)
        else content.model_copy(update={"text": change(content.text)})
        for path, content in spec.files.items()
    }
    return spec.model_copy(update={"tools": tools, "files": files})


def _answer(answer: Answer, given: Scenario, change: Rename) -> Answer:
    """What a tool prints, with the text of its file in place of the file."""
    text = answer.stdout
    if answer.stdout_file:
        text = (given.folder / answer.stdout_file).read_text(encoding="utf-8")
    return answer.model_copy(
        update={
            "words": tuple(map(change, answer.words)),
            "stdout": text if text is None else change(text),
            "stdout_file": None,
            "stderr": change(answer.stderr),
            "then": _answer(answer.then, given, change) if answer.then else None,
        }
    )
