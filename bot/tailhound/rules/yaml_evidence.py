"""Evidence defined in YAML, compiled to objects that are collectors like any other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailhound.errors import Finding
from tailhound.flow import Collector
from tailhound.model.facts import Schema, schema_of
from tailhound.rules.evidence.common import Workshop
from tailhound.rules.evidence.kube import compile_kubernetes
from tailhound.rules.evidence.promql import compile_promql
from tailhound.rules.evidence.ssh import Allows, compile_ssh
from tailhound.rules.inputs import Input
from tailhound.rules.places import Node
from tailhound.rules.schema_evidence import Evidence

__all__ = ["Allows", "Surroundings", "compile_evidence", "schema_for"]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an evidence is compiled in: the runbook's id and inputs, the hosts' allow-list."""

    runbook: str
    inputs: Mapping[str, Input]
    allow: Allows


def schema_for(collector: Collector[Any, Any]) -> Schema:
    """The facts of a collector, whether Python or YAML defines it."""
    found = getattr(collector, "schema", None)
    return found if isinstance(found, dict) else schema_of(collector.facts)


def compile_evidence(
    name: str, told: Evidence, node: Node, around: Surroundings, onset: str = ""
) -> tuple[Collector[Any, Any] | None, tuple[Finding, ...]]:
    """The collector of a promql, kubernetes or ssh evidence, or all that is wrong with it.

    `onset` names the fact whose series is wanted, "" for none.
    """
    shop = Workshop(f"{around.runbook}.{name}", node, around.inputs, told.with_)
    made: Collector[Any, Any] | None = None
    if told.promql is not None:
        usual = told.compare_to == "usual"
        full = f"promql {shop.label}"
        made = compile_promql(full, shop, told.promql, usual=usual, onset=onset)
    elif told.kubernetes is not None:
        made = compile_kubernetes(f"kubernetes {shop.label}", shop, told.kubernetes)
    elif told.ssh is not None:
        made = compile_ssh(f"ssh {shop.label}", shop, told.ssh, around.allow)
    return made, tuple(shop.findings)
