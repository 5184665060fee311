"""Values out of texts and JSON: numbers, Kubernetes quantities, JMESPath."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jmespath
import jmespath.exceptions

from tailhound.model.facts import Fact, Kind
from tailhound.rules.schema_evidence import JsonFact

_QUANTITY = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(m|u|n|[kKMGTPE]i?)?")
_SCALE = {
    "": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3,
    "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
}  # fmt: skip
_KINDS = {"number": Kind.NUMBER, "text": Kind.TEXT, "yes/no": Kind.YESNO}
_MAX_TEXT = 2000
_GROWING = {"multi_select_list": 2, "multi_select_dict": 2, "flatten": 4, "pipe": 4}
_COPYING = frozenset({"to_string", "join"})


def number_of(value: Any) -> float | None:
    """A finite number out of a number or a text such as `4`, `1.5e3`, `500m`, `4Gi`."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value.strip()) if len(value) < 60 else None
        value = float(match.group(1)) * _SCALE[match.group(2) or ""] if match else None
    if not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def value_of(value: Any, kind: Kind) -> Any:
    """The value as a fact of this kind, or None."""
    if kind is Kind.NUMBER:
        return number_of(value)
    if kind is Kind.YESNO:
        return value if isinstance(value, bool) else None
    return value[:_MAX_TEXT] if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A checked JMESPath expression, with the fact that it gives."""

    expression: Any
    fact: Fact
    default: Any

    def of(self, document: Any) -> Any:
        """The fact in this document; the default where the document does not hold it."""
        try:
            found = self.expression.search(document)
        except (jmespath.exceptions.JMESPathError, ValueError, TypeError, RecursionError):
            return None
        return value_of(self.default if found is None else found, self.fact.kind)


def json_path(told: JsonFact) -> "JsonPath | str":
    """The compiled expression, or what is wrong with it."""
    kind = _kind(told)
    if kind is None:
        return "say `unit:` for a number, else `kind: text` or `kind: yes/no`"
    if told.default is not None and value_of(told.default, kind) is None:
        return f"the default must be a {kind.value}"
    try:
        expression = jmespath.compile(told.jmespath)
    except (jmespath.exceptions.JMESPathError, RecursionError) as error:
        return f"not JMESPath: {str(error).splitlines()[0][:200]}"
    if growing := _grows(expression.parsed):
        return f"not allowed in JMESPath here: {growing}"
    unit = told.unit or "none"
    return JsonPath(expression, Fact(kind, unit if kind is Kind.NUMBER else "none"), told.default)


def _kind(told: JsonFact) -> Kind | None:
    if told.kind:
        return _KINDS[told.kind]
    if told.unit:
        return Kind.NUMBER
    by_type = {bool: Kind.YESNO, str: Kind.TEXT, int: Kind.NUMBER, float: Kind.NUMBER}
    return by_type.get(type(told.default))


def _grows(tree: Mapping[str, Any]) -> str:
    """What in an expression could make its result explode; "" when nothing could."""
    counts: dict[str, int] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        kind = str(node.get("type"))
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "function_expression" and node.get("value") in _COPYING:
            return f"{node['value']}()"
        if counts[kind] > _GROWING.get(kind, 100):
            return f"more than {_GROWING.get(kind, 100)} times {kind}"
        waiting.extend(child for child in node.get("children", ()) if isinstance(child, Mapping))
    return ""
