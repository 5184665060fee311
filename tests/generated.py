"""Pages that are made from the code: `python -m tests.generated` writes them, a test compares."""

import dataclasses
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tailhound import app
from tailhound.flow import Collector
from tailhound.model.facts import Kind, Schema, schema_of
from tailhound.rules.schema import json_schema
from tests.generated_parse import parse_page

ROOT = Path(__file__).parents[1]

INTRODUCTION = """\
# Collectors

A collector is one kind of evidence. A runbook names it with `collect:`; its facts are what
conditions may look at. A fact that nobody measured is *unknown*: never zero, never healthy.

Parameters are filled by name from what is known of the incident (`namespace`, `pods`, `container`,
`nodes`, `workload`, `selector`, `cluster`), from the site (`usual`, `metric_prefix`), and from
`with:` in the runbook. `usual` are the seconds before now at which the same question is asked
again: an hour, a day and a week.

The unit says how conditions may compare a fact and how people read it
([units](runbooks.md#thresholds)). A *set* has records; their fields stand below it, behind a dot.
A *series* holds samples over time, for `onset:` and charts. `X_usual` is the usual value of `X`.

This page is made from the code by `make docs`.
"""

CAUSES = """\
# The causes that tailhound knows

Whatever else makes a service slow is *no cause confirmed*. This page is made from the runbooks by
`make docs`.

| cause | runbook |
|---|---|"""


def pages() -> Mapping[str, str]:
    """The text of each page by its path in the repository."""
    return {
        "docs/authors/collectors.md": collectors_page(app.collectors()),
        "docs/authors/runbook.schema.json": json.dumps(json_schema(), indent=2) + "\n",
        "docs/responders/causes/index.md": causes_page(),
        "docs/responders/parse.md": parse_page(),
    }


def collectors_page(collectors: Mapping[str, Collector[Any, Any]]) -> str:
    """Each collector: what it is, what it needs, what it tells, and in which units."""
    parts = [_section(collectors[name]) for name in sorted(collectors)]
    return "\n".join([INTRODUCTION, *parts])


def _section(collector: Collector[Any, Any]) -> str:
    names = [f"`{field.name}`" for field in dataclasses.fields(collector.params)]
    rows = [f"| `{name}` | {unit} |" for name, unit in facts(schema_of(collector.facts))]
    return "\n".join(
        [
            f"## {collector.name}\n",
            f"{inspect.getdoc(collector.facts)}\n",
            f"Parameters: {', '.join(names) or 'none'}.\n",
            "| fact | unit |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def causes_page() -> str:
    """Every shipped runbook with its headline and its page."""
    rows = []
    for path in sorted((ROOT / "runbooks").glob("*.yaml")):
        runbook = yaml.safe_load(path.read_text(encoding="utf-8"))
        status = "" if runbook.get("status", "active") == "active" else " (draft)"
        rows.append(
            f"| {runbook['cause']}{status} | [{runbook['runbook']}]({Path(runbook['docs']).name}) |"
        )
    return "\n".join([CAUSES, *rows, ""])


def facts(schema: Schema, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every fact with its unit, the fields of sets behind a dot."""
    for name, fact in schema.items():
        yield prefix + name, fact.unit if fact.kind is Kind.NUMBER else fact.kind.value
        yield from facts(fact.fields, f"{prefix}{name}.")


def main() -> int:
    """Write all pages."""
    for path, text in pages().items():
        (ROOT / path).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
