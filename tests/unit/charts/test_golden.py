"""The charts of real incidents, kept as files: `TAILHOUND_UPDATE_GOLDEN=1` writes them anew."""

import json
import os
from dataclasses import asdict
from typing import Any

import pytest

from tailhound.charts.alt import table
from tailhound.charts.chart import Chart, Role, charts_from_json, charts_to_json
from tailhound.charts.plan import charts_of
from tests.unit.charts.samples import GOLDEN, LATER, RECORDED, recorded

NAMES = sorted(path.stem for path in RECORDED.glob("*.json"))


def plain(value: Any) -> Any:
    """A part of a chart as people can review it: of samples how many, the first and the last."""
    if isinstance(value, Role):
        return value.value
    if isinstance(value, dict):
        return {
            name: [[len(run), run[0], run[-1]] for run in inner] if name == "runs" else plain(inner)
            for name, inner in value.items()
        }
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def written(chart: Chart) -> dict[str, Any]:
    rows = table(chart)
    return {**plain(asdict(chart)), "table": [list(rows.head), *map(list, rows.rows)]}


@pytest.mark.parametrize("name", NAMES)
def test_the_charts_of_an_incident_are_those_on_file(name: str) -> None:
    found = [written(chart) for chart in charts_of(recorded(name), LATER)]
    text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    path = GOLDEN / f"{name}.json"
    if os.environ.get("TAILHOUND_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_no_file_is_left_over_from_an_incident_that_is_gone() -> None:
    assert [path.stem for path in sorted(GOLDEN.glob("*.json"))] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_charts_cross_to_the_process_that_draws_unchanged(name: str) -> None:
    charts = charts_of(recorded(name), LATER)
    assert charts_from_json(charts_to_json(charts)) == charts
