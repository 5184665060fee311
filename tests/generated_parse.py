"""The page of what `tailhound parse` reads, made from the parsers."""

import dataclasses
import inspect
import typing
from collections.abc import Iterator
from typing import Any

from tailhound.model.facts import Fact, Kind, schema_of
from tailhound_collectors.parse import ALL, Tool

INTRODUCTION = """\
# Reading the output of a host's tools

`tailhound parse TOOL FILE` turns what a tool printed into facts, offline: a file from a ticket, a
support bundle, or your own terminal. `tailhound parse --list` names the tools; the name may also be
written as the command, as in `tailhound parse "nvme smart-log" smart.txt`.

```
$ nvme smart-log /dev/nvme0 -o json > smart.json 2> smart.err; echo $?
$ tailhound parse nvme-smart-log smart.json --stderr smart.err --exit-code 0
{
  "tool": "nvme-smart-log",
  "status": "collected",
  "reason": "",
  "facts": {"critical_warning": 0, "temperature_celsius": 38.0, ...}
}
```

Give the exit code and the other stream where you have them: they say why there is nothing.

| status | what it means | exit code |
|---|---|---|
| `collected` | the facts are there; `null` = the tool does not say | 0 |
| `truncated` | the end is missing; the facts are what could be read (`null`: nothing) | 0 (1) |
| `empty` | the tool printed nothing | 1 |
| `forbidden` | sudo or a right is missing; the reason names the rule | 1 |
| `not-applicable` | no such device, feature or tool on this host | 1 |
| `timeout` | the tool was stopped | 1 |
| `unreachable` | device, driver, network or API server did not answer | 1 |
| `unparsable` | this is not what the tool prints | 1 |

A mistake in the call ends with exit code 2.

## What to know

- **`null` is unknown.** `N/A`, `[Not Supported]`, 65535 of a window that has not run, all-ones
  counters, a label that is not known, a file that is not there: none of them is 0, "not active" or
  healthy.
- **A counter is not an event.** Most counters are since boot, since the last reset, or since the
  device was made. Only the difference of two readings tells of now.
- **A last line without its newline is not read**: it may end inside a number. An output that was
  cut exactly between two lines can't be told from a whole one; sums and percentiles over all of it
  are then those of the part.
- **Locales**: run tools with `LC_ALL=C`. Grouped whole numbers and decimal commas are read where
  they are clear, and unknown where they are not. What the kernel prints itself is never grouped.
- **Units**: seconds, bytes, degrees Celsius, ratios from 0 to 1, whatever the tool printed.
- The shape that is present decides how it is read, never a version number.

The page is made from the code by `make docs`. Which evidence convicts, and which does not, stands
with the [causes](causes/index.md).
"""


def parse_page() -> str:
    """Each tool: the command, other names, what its facts mean, and their units."""
    return "\n".join([INTRODUCTION, *(_section(tool) for tool in ALL)])


def _section(tool: Tool) -> str:
    also = ", ".join(f"`{name}`" for name in tool.also)
    parts = [f"## {tool.name}\n", f"Reads `{tool.command}`.{f' Also: {also}.' if also else ''}\n"]
    parts += [f"{inspect.getdoc(tool.facts)}\n"]
    rows = [f"| `{name}` | {unit} |" for name, unit in _facts(tool.facts, "")]
    if rows:
        parts += ["| fact | unit |", "|---|---|", *rows, ""]
    parts += [f"`{name}`: {' '.join(doc.split())}\n" for name, doc in _records(tool.facts, "")]
    return "\n".join(parts)


def _facts(facts: type[Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, fact in schema_of(facts).items():
        yield prefix + name, _unit(name, fact)
        if fact.kind is Kind.SET:
            yield from _facts(_record(facts, name), f"{prefix}{name}.")


def _unit(name: str, fact: Fact) -> str:
    """The unit of a number; what the model has no unit for stands at the end of the name."""
    if fact.kind is not Kind.NUMBER:
        return str(fact.kind.value)
    own = {"mhz": "MHz", "watts": "W", "gbps": "Gbit/s", "minutes": "minutes", "kelvin": "K"}
    own |= {"gigatransfers": "GT/s"}
    last = name.rpartition("_")[2]
    return own.get(last, "number") if fact.unit == "none" else fact.unit


def _records(facts: type[Any], prefix: str) -> Iterator[tuple[str, str]]:
    """What the records of each set are."""
    for name, fact in schema_of(facts).items():
        if fact.kind is Kind.SET:
            record = _record(facts, name)
            yield prefix + name, inspect.getdoc(record) or ""
            yield from _records(record, f"{prefix}{name}.")


def _record(facts: type[Any], name: str) -> type[Any]:
    """The class of a set's records."""
    hint = typing.get_type_hints(facts)[name]
    record: type[Any] = typing.get_args(hint)[0]
    assert dataclasses.is_dataclass(record)
    return record
