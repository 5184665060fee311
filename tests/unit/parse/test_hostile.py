"""What no tool prints: any text ends as facts or a Missing, in time that grows with its length."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.model import Missing
from tailhound.model.facts import schema_of, values_of
from tailhound.requests import Output
from tailhound_collectors.parse import ALL, TOOLS, Tool, parse, tool_named
from tests.driving import on_this_thread
from tests.unit.parse.cases import Case, cases

TEXTS = [case.text for case in cases()]
LINES = [line for text in TEXTS for line in text.split("\n")]
a_tool = st.sampled_from(ALL)


def sound(tool: Tool, output: Output) -> None:
    """It ends as a Missing that says why, or as facts that can be kept."""
    found = parse(tool, output)
    if isinstance(found, Missing):
        assert ": " in found.detail
        assert len(found.detail) < 1000
    else:
        assert isinstance(found, tool.facts)
        json.dumps(values_of(found), allow_nan=False)


@given(tool=a_tool, text=st.text(), stderr=st.text(), exit_code=st.integers(-1, 255))
@settings(max_examples=150, deadline=None)
def test_any_text_ends_as_facts_or_as_a_reason(
    tool: Tool, text: str, stderr: str, exit_code: int
) -> None:
    sound(tool, Output(text, stderr, exit_code))


@given(tool=a_tool, lines=st.lists(st.sampled_from(LINES), max_size=40), data=st.randoms())
@settings(max_examples=200, deadline=None)
def test_lines_of_all_tools_in_any_order_end_as_facts_or_as_a_reason(
    tool: Tool, lines: list[str], data: random.Random
) -> None:
    data.shuffle(lines)
    sound(tool, Output("\n".join(lines) + "\n", "", 0))


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_the_outputs_of_other_tools_end_as_facts_or_as_a_reason(tool: Tool) -> None:
    for text in TEXTS:
        sound(tool, Output(text, "", 0))


def hostile(size: int) -> dict[str, str]:
    """Texts of this size that break parsers which look twice."""
    return {
        "spaces": " " * size,
        "newlines": "\n" * size,
        "brackets": "[" * size,
        "objects": '{"a":' * (size // 5),
        "lines of brackets": "[\n" * (size // 2),
        "lines of objects": '{"a":1,\n' * (size // 8),
        "nested strings": f'["{"x" * 1000}",\n' * (size // 1006),
        "one number": "1" * size,
        "columns": "1234567 " * (size // 8) + "\n",
        "colons": ":" * size,
        "keys": "".join(f"k{at}: {at}\n" for at in range(size // 14)),
        "the same key": "a: 1\n" * (size // 5),
        "dots": "a:" + "." * size + "1\n",
        "commas": "1," * (size // 2) + "\n",
        "elements": "<?xml?><a>" + "<b>" * (size // 3),
        "a long element": "<?xml version='1.0'?><l><gpu><x>" + "A" * size,
        "indented": "\n".join(" " * (at % 200) + "a : 1" for at in range(size // 106)),
    }


def seconds(tool: Tool, text: str) -> float:
    """Processor time of one parse."""
    with on_this_thread() as took:
        sound(tool, Output(text, "", 0))
    return took.seconds


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_8_kib_of_hostile_text_take_no_half_second(tool: Tool) -> None:
    for name, text in hostile(1 << 13).items():
        assert seconds(tool, text) < 0.5, name


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_a_mib_of_hostile_text_takes_time_in_proportion(tool: Tool) -> None:
    large = hostile(1 << 20)
    for name, small in hostile(1 << 17).items():
        least = max(seconds(tool, small), 0.02)
        assert seconds(tool, large[name]) < 8 * least * 4, name


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.file)
def test_a_mib_of_its_own_output_is_read_in_seconds(case: Case) -> None:
    text = case.text
    for part in (text, text.split("\n")[0] + "\n", text.replace("\n", "") + "\n"):
        assert seconds(case.tool, part * ((1 << 20) // len(part))) < 10


def test_an_entity_bomb_is_refused() -> None:
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">'
        '<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><nvidia_smi_log>&b;</nvidia_smi_log>'
    )
    found = parse(TOOLS["nvidia-smi-x"], Output(bomb, "", 0))
    assert isinstance(found, Missing)
    assert "entities" in found.detail


def test_every_tool_declares_facts_that_runbooks_can_use() -> None:
    assert len({tool.name for tool in ALL}) == len(ALL) == 46
    assert sum(len(tool.also) + 1 for tool in ALL) == len(TOOLS)
    for tool in ALL:
        schema_of(tool.facts)
        assert "truncated" in schema_of(tool.facts) or tool.name == "sudo"


def test_a_tool_is_found_by_its_command_as_well() -> None:
    written = {
        "nvme smart-log": "nvme-smart-log",
        "ethtool -S": "ethtool-s",
        "ibv_devinfo": "ibv-devinfo",
        "nvidia-smi -q -x": "nvidia-smi-x",
        "rdma statistic": "rdma-statistic",
    }
    for name, wanted in written.items():
        found = tool_named(name)
        assert found is not None
        assert found.name == wanted
    assert tool_named("format") is None
