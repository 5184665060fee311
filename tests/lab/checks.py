"""checks.txt of a scenario: queries and the values that they must give."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.series import Series, parsed

_ROW = re.compile(
    r"#   (?:\{(?P<labels>.*)\} )?(?P<value>\(empty\)|[-+0-9.e]+|NaN|[+-]?Inf)(?: .*)?"
)


@dataclass(frozen=True, slots=True)
class Check:
    """One query with its rows: some of the labels, and the value. No row: the answer is empty."""

    query: str
    rows: tuple[tuple[dict[str, str], float], ...]


Answer = Sequence[tuple[dict[str, str], float]]


def read(path: Path) -> Iterator[Check]:
    """Every query of the file that has a recorded answer."""
    query, rows = "", list[tuple[dict[str, str], float]]()
    recorded = False
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        match = _ROW.fullmatch(line)
        if match:
            recorded = True
            if match["value"] != "(empty)":
                rows.append((_labels(match["labels"] or ""), float(match["value"])))
        elif not line.startswith("#   "):
            if recorded:
                yield Check(query, tuple(rows))
            query, rows, recorded = line.removeprefix("# ").strip(), [], False


def _labels(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in re.split(r",(?=[A-Za-z_]\w*=)", text) if part)


def tolerance(check: Check, series: Sequence[Series]) -> float:
    """3 %, and what the jitter of the series that the query names adds to both readings."""
    jitter = [
        one.jitter
        for one in series
        if re.search(rf"\b{re.escape(parsed(one.text)[0])}(_bucket|_sum|_count)?\b", check.query)
    ]
    return 0.03 + 2 * max(jitter, default=0.0)


def misses(check: Check, answer: Answer, relative: float) -> Iterator[str]:
    """What differs between the recorded and the real answer."""
    if len(answer) != len(check.rows):
        yield f"{len(answer)} rows instead of {len(check.rows)}"
    for labels, value in check.rows:
        fitting = [seen for real, seen in answer if labels.items() <= real.items()]
        close = [seen for seen in fitting if abs(seen - value) <= max(relative * abs(value), 1e-9)]
        if not close:
            yield f"{labels} gives {fitting or 'nothing'}, recorded {value:g}"
