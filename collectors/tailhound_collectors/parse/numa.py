"""`numactl -H`: the memory nodes of a host."""

import re
from dataclasses import dataclass

from tailhound.requests import Output
from tailhound_collectors.parse.lines import columns, complete
from tailhound_collectors.parse.numbers import integer, multiplied
from tailhound_collectors.parse.tool import Parsed, nothing

_MIB = 1024 * 1024
_AVAILABLE = re.compile(r"^available: (\d{1,4}) nodes?\b")
_LINE = re.compile(r"^node (\d{1,4}) (cpus|size|free):(.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumaNode:
    """One node. A node without CPUs is memory of a GPU or of a CXL device. Ids may have gaps."""

    node: int
    cpu_count: int | None = None
    size_bytes: int | None = None
    free_bytes: int | None = None
    free_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Numa:
    """The nodes of a host."""

    nodes: tuple[NumaNode, ...]
    node_count: int | None = None
    truncated: bool = False


def numactl(output: Output) -> Parsed:
    """Numa."""
    lines, rest = complete(output.stdout)
    found: dict[int, dict[str, str]] = {}
    count = None
    for line in lines:
        if available := _AVAILABLE.match(line):
            count = int(available[1])
        elif row := _LINE.match(line):
            found.setdefault(int(row[1]), {})[row[2]] = row[3].strip()
    if not found:
        return nothing(output, "it names no node")
    nodes = tuple(_node(number, values) for number, values in found.items())
    return Numa(
        nodes=nodes, node_count=count, truncated=rest or (count is not None and len(nodes) < count)
    )


def _node(number: int, values: dict[str, str]) -> NumaNode:
    size, free = (_size(values.get(key, "")) for key in ("size", "free"))
    return NumaNode(
        node=number,
        cpu_count=len(columns(values["cpus"])) if "cpus" in values else None,
        size_bytes=size,
        free_bytes=free,
        free_ratio=free / size if free is not None and size else None,
    )


def _size(text: str) -> int | None:
    return multiplied(integer(text.removesuffix("MB")), _MIB) if text.endswith("MB") else None
