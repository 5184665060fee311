"""Facts that are written and whose shape is wrong: one mistake is one finding.

What is said elsewhere about such a fact can't be checked, and must not be complained about: the
fact stands for anything, a number of whatever unit.
"""

from collections.abc import Mapping

from tailhound.model.facts import Fact, Kind, Schema
from tailhound.rules.condition.units import ANY
from tailhound.rules.places import Node, Pairs, Scalar
from tailhound.rules.schema_evidence import Evidence

_KINDS = {"text": Kind.TEXT, "yes/no": Kind.YESNO}
_ANYTHING = Fact(Kind.NUMBER, ANY)


def lost_facts(told: Evidence, written: Node | None) -> Schema:
    """The facts of an evidence that `written` holds and `told`, without its mistakes, does not."""
    if told.promql is not None:
        lost = _entries(_child(written, "promql"), told.promql)
        found: dict[str, Fact] = {}
        for name, node in lost.items():
            found |= _of_query(name, node, usual=told.compare_to == "usual")
        return found
    if told.kubernetes is not None:
        facts = _child(_child(written, "kubernetes"), "facts")
        return {
            name: _of_kind(node) for name, node in _entries(facts, told.kubernetes.facts).items()
        }
    if told.ssh is None:
        return {}
    ssh = _child(written, "ssh")
    lost = _entries(_child(ssh, "facts"), told.ssh.facts)
    found = {name: _of_kind(node) for name, node in lost.items()}
    if told.ssh.fact and told.ssh.unit is None and _child(ssh, "unit") is not None:
        found[told.ssh.fact] = _ANYTHING
    return found


def is_halved(told: Evidence, written: Node | None) -> bool:
    """Whether a fact out of JSON has lost its unit or kind, without which it can't be read."""
    for way, part in (("kubernetes", told.kubernetes), ("ssh", told.ssh)):
        facts = _child(_child(written, way), "facts")
        for name, fact in part.facts.items() if part is not None else ():
            asked = [_child(_child(facts, name), key) for key in ("unit", "kind")]
            kept = getattr(fact, "unit", None) or getattr(fact, "kind", None)
            if any(node is not None for node in asked) and not kept:
                return True
    return False


def _child(node: Node | None, key: str) -> Node | None:
    return node.get(key) if isinstance(node, Pairs) else None


def _entries(node: Node | None, kept: Mapping[str, object]) -> dict[str, Node]:
    entries = node.entries if isinstance(node, Pairs) else ()
    return {key.text: value for key, value in entries if key.text not in kept}


def _of_query(name: str, node: Node, *, usual: bool) -> dict[str, Fact]:
    each = _child(node, "each")
    if isinstance(each, Scalar):
        values = ("value", "value_usual", "value_ratio")
        fields = {each.text: Fact(Kind.TEXT), **dict.fromkeys(values, _ANYTHING)}
        return {name: Fact(Kind.SET, fields=fields)}
    names = (name, f"{name}_usual", f"{name}_ratio") if usual else (name,)
    series = dict.fromkeys((f"{name}_series", f"{name}_usual_series"), Fact(Kind.SERIES))
    return {**dict.fromkeys(names, _ANYTHING), **series}


def _of_kind(node: Node) -> Fact:
    kind = _child(node, "kind")
    return Fact(_KINDS.get(kind.text, Kind.NUMBER), ANY) if isinstance(kind, Scalar) else _ANYTHING
