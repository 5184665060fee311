"""What a benchmark gives: rows, each with its probe; how they are printed."""

import json
import os
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure. `probe` is what a bare program gives for the same I/O, in the same unit.

    `better` says which way is good. `details` are further numbers, for `--json`.
    """

    benchmark: str
    name: str
    value: float
    unit: str
    probe: float
    better: Literal["more", "less"]
    how: str
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float | None:
        """1 = as good as the probe, 0.5 = half as fast or twice as large; None of a zero."""
        if self.better == "more":
            return self.value / self.probe if self.probe > 0 else None
        return self.probe / self.value if self.value > 0 else None


def machine() -> dict[str, str]:
    """What the figures depend on; `load` is how many wanted a core in the last minute."""
    return {
        "cores": str(os.cpu_count() or 0),
        "load": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def as_json(rows: Sequence[Row], at: Mapping[str, str]) -> str:
    """All rows as JSON; `at` is the machine as it was before."""
    told = [{**asdict(row), "share": row.share} for row in rows]
    return json.dumps({"machine": dict(at), "rows": told}, indent=2) + "\n"


def show(rows: Sequence[Row], at: Mapping[str, str], console: Console) -> None:
    """All rows as a table; `at` is the machine as it was before."""
    table = Table(
        title=f"{at['cores']} cores, load {at['load']} before, Python {at['python']}, "
        f"SQLite {at['sqlite']}",
        title_justify="left",
        caption="of the probe: 1.00 = as good as the bare program; twice as slow or large is 0.50",
        caption_justify="left",
    )
    for heading, options in _COLUMNS.items():
        table.add_column(heading, **options)
    for row in rows:
        share = row.share
        table.add_row(
            f"{row.benchmark}: {row.name}",
            number(row.value),
            row.unit,
            number(row.probe),
            "-" if share is None else f"{share:.2f}",
            row.how,
        )
    console.print(table)


_COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "figure": {"min_width": 28},
    "value": {"justify": "right", "no_wrap": True},
    "unit": {"no_wrap": True},
    "probe": {"justify": "right", "no_wrap": True},
    "of the probe": {"justify": "right", "no_wrap": True},
    "how": {"style": "dim", "overflow": "fold"},
}


def number(value: float) -> str:
    """Three digits that count: 2,412 / 38.1 / 0.0123."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:,.3g}"
