"""`collect`: one collector, its inputs, its facts and its questions."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tailhound import app
from tailhound.transports.recording import load, save
from tests.unit.test_cli import RECORDING, Terminal, terminal

__all__ = ["terminal"]

HOW_MUCH = ("collect", "prometheus.container_cpu", "--replay", str(RECORDING))


@pytest.fixture
def inputs() -> tuple[str, ...]:
    """The inputs that the recorded incident had."""
    (pods,) = {
        answer.request.promql.partition('pod=~"')[2].partition('"')[0]  # type: ignore[attr-defined]
        for answer in load(RECORDING).answers
        if "rate(container_cpu_usage_seconds_total" in answer.request.shown
        and 'pod=~"' in answer.request.shown
    }
    names = pods.replace("|", ",")
    given = ("namespace=llm", f"pods={names}", "container=kserve-container")
    return tuple(word for one in given for word in ("--input", one))


def test_the_facts_come_with_units_and_each_question_with_its_status(
    terminal: Terminal, inputs: tuple[str, ...]
) -> None:
    told = terminal.run(*HOW_MUCH, *inputs)
    lines = told.out.replace("\xa0", " ").splitlines()
    assert told.code == 0
    assert lines[0].startswith("prometheus.container_cpu   collected")
    assert any(line.split() == ["limit_cores", "6", "cores"] for line in lines)
    assert any(line.startswith("  throttled_ratio ") and line.endswith(" %") for line in lines)
    assert any(line.startswith("  containers ") and line.endswith("2 records") for line in lines)
    assert any(line.startswith("  throttled_ratio_series ") and "samples" in line for line in lines)
    assert "13 of 13 questions answered" in lines
    assert sum(line.startswith("  collected ") for line in lines) == 13


def test_json_has_every_declared_fact_with_its_unit(
    terminal: Terminal, inputs: tuple[str, ...]
) -> None:
    said = json.loads(terminal.run(*HOW_MUCH, *inputs, "--format", "json").out)
    assert said["facts"]["limit_cores"] == {"value": 6.0, "unit": "cores"}
    assert said["facts"]["throttled_ratio"]["unit"] == "ratio"
    assert len(said["asked"]) == 13
    assert {one["status"] for one in said["asked"]} == {"collected"}


def test_a_list_may_be_given_by_commas_or_by_several_flags(
    terminal: Terminal, inputs: tuple[str, ...]
) -> None:
    apart: list[str] = []
    for one in inputs[1::2]:
        name, _, value = one.partition("=")
        apart += [word for part in value.split(",") for word in ("--input", f"{name}={part}")]
    assert len(apart) > len(inputs)
    first = json.loads(terminal.run(*HOW_MUCH, *inputs, "--format", "json").out)
    again = json.loads(terminal.run(*HOW_MUCH, *apart, "--format", "json").out)
    assert again["facts"] == first["facts"]


def test_what_was_asked_can_be_kept_and_asked_again(
    terminal: Terminal, inputs: tuple[str, ...]
) -> None:
    kept = str(terminal.folder / "kept.json")
    first = terminal.run(*HOW_MUCH, *inputs, "--format", "json", "--record", kept)
    assert len(load(Path(kept)).answers) == 13
    argv = ("collect", "prometheus.container_cpu", "--replay", kept, *inputs, "--format", "json")
    again = terminal.run(*argv)
    assert json.loads(again.out)["facts"] == json.loads(first.out)["facts"]


def test_without_a_backend_it_ends_with_3_and_says_what_to_configure(
    terminal: Terminal, inputs: tuple[str, ...]
) -> None:
    told = terminal.run("collect", "prometheus.container_cpu", *inputs)
    assert told.code == 3
    assert "set prometheus.url" in told.out
    assert "limit_cores" in told.out
    assert "not measured" in told.out


def test_an_answer_that_is_not_in_the_recording_is_told(
    terminal: Terminal, inputs: tuple[str, ...]
) -> None:
    whole = load(RECORDING)
    path = terminal.folder / "part.json"
    kept = tuple(a for a in whole.answers if "resource_limits" not in a.request.shown)
    save(replace(whole, answers=kept), path)
    argv = ("collect", "prometheus.container_cpu", "--replay", str(path), *inputs)
    told = terminal.run(*argv)
    assert told.code == 0
    assert "12 of 13 questions answered" in told.out
    assert "a recording has no answer to this" in told.out


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        ((), "name a collector"),
        (("prometheus.container_cp",), "did you mean prometheus.container_cpu?"),
        (("prometheus.node_cpu",), "also needs --input nodes=..."),
        (("prometheus.node_cpu", "--input", "nodes="), "also needs --input nodes=..."),
        (("prometheus.node_cpu", "--input", "node=a"), "takes nodes"),
        (("prometheus.node_cpu", "--input", "nodes"), "write NAME=VALUE"),
        (
            ("prometheus.engine", "--input=namespace=a", "--input=pods=b", "--input=usual=1h"),
            "usual.0: ",
        ),
    ],
)
def test_a_wrong_call_ends_with_2_and_says_what_to_write(
    terminal: Terminal, argv: tuple[str, ...], why: str
) -> None:
    told = terminal.run("collect", *argv)
    assert told.code == 2
    assert why in told.err
    assert told.out == ""


def test_the_list_names_every_collector_its_inputs_and_facts(terminal: Terminal) -> None:
    told = terminal.run("collect", "--list")
    lines = told.out.splitlines()
    assert told.code == 0
    assert [line for line in lines if not line.startswith(" ")] == list(app.collectors())
    at = lines.index("prometheus.container_cpu")
    assert lines[at + 1] == "    inputs  namespace pods [container] [usual]"
    assert "limit_cores (cores)" in lines[at + 2]
    assert "containers (set)" in lines[at + 2]
