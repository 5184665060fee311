"""Evidence that YAML defines, compiled and asked."""

from collections.abc import Mapping
from typing import Any

from tailhound.errors import Finding
from tailhound.flow import Collector, Read
from tailhound.model import Missing
from tailhound.model.facts import values_of
from tailhound.requests.argv import SHIPPED
from tailhound.rules import parsing, places
from tailhound.rules.inputs import Input
from tailhound.rules.schema_evidence import Evidence
from tailhound.rules.yaml_evidence import Surroundings, compile_evidence
from tests.driving import EMPTY, drive

INPUTS = {
    "namespace": Input(name="namespace", from_label="namespace"),
    "pod": Input(name="pod", phrase="the pod"),
    "pods": Input(name="pods", phrase="all pods of the workload"),
    "node": Input(name="node", phrase="the node"),
    "nodes": Input(name="nodes", phrase="the nodes they run on"),
}


def attempt(text: str, onset: str = "") -> tuple[Collector[Any, Any] | None, tuple[Finding, ...]]:
    node, _ = parsing.read("r.yaml", text)
    told = Evidence.model_validate(places.plain(node))
    return compile_evidence("e", told, node, Surroundings("r", INPUTS, SHIPPED), onset)


def made(text: str, onset: str = "") -> Collector[Any, Any]:
    collector, found = attempt(text, onset)
    assert collector is not None, [str(finding) for finding in found]
    return collector


def told(text: str, onset: str = "") -> str:
    collector, found = attempt(text, onset)
    assert collector is None
    return "\n".join(str(finding) for finding in found)


def ask(collector: Collector[Any, Any], answer: Any, **params: Any) -> Mapping[str, Any]:
    replies = answer if callable(answer) else (lambda _: answer)
    return values_of(drive(collector.collect(collector.params(**params)), replies))


def asked(collector: Collector[Any, Any], **params: Any) -> list[Read[Any]]:
    requests: list[Read[Any]] = []

    def answer(request: Read[Any]) -> Missing:
        requests.append(request)
        return EMPTY

    drive(collector.collect(collector.params(**params)), answer)
    return requests
