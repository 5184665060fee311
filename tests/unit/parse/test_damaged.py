"""Outputs that are cut, grouped by a locale, shifted, incomplete: no exception, no wrong number."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse import parse
from tests.unit.parse.cases import Case, cases, read
from tests.unit.parse.leaves import named, numbers

CASES = cases()
JSON_CASES = [case for case in CASES if re.match(r"[{\[]\s*[\"\[{]", case.text)]
PRINTED_BY_THE_KERNEL = ("diskstats", "kmsg", "rdma-statistic", "softnet", "ethtool-s")
NUMBER = re.compile(r"(?<![\w.:\-/])\d{4,}(?![\w.:\-/])")
GROUPS = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")

a_case = st.sampled_from(CASES)
fast = settings(max_examples=120, deadline=None)


def again(case: Case, text: str) -> Any:
    """Another text of the same tool, parsed."""
    return parse(case.tool, Output(text, "", case.exit_code))


def unchanged(case: Case, damaged: Any) -> None:
    """What is still known stands where it stood, and is the same number."""
    whole = numbers(case.parsed())
    wrong = {at: value for at, value in numbers(damaged).items() if whole.get(at) != value}
    assert not wrong


def same_where_known(case: Case, damaged: Any) -> None:
    """Nothing stands where another number stood; what is new may be there."""
    whole = numbers(case.parsed())
    found = {at: value for at, value in numbers(damaged).items() if at in whole}
    assert found == {at: whole[at] for at in found}, case.file


@given(case=a_case, part=st.floats(0, 1))
@fast
def test_an_output_that_is_cut_anywhere_gives_no_other_number(case: Case, part: float) -> None:
    unchanged(case, again(case, case.text[: int(part * len(case.text))]))


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
def test_an_output_that_is_cut_at_every_place_gives_no_other_number(case: Case) -> None:
    for at in range(len(case.text)):
        unchanged(case, again(case, case.text[:at]))


@pytest.mark.parametrize("mark", [",", ".", "'", "’", "\u00a0", "\u202f"])
def test_a_thousands_separator_gives_the_same_number_or_none(mark: str) -> None:
    for case in CASES:
        damaged = again(case, NUMBER.sub(lambda found: GROUPS.sub(mark, found[0]), case.text))
        if case.tool.name in PRINTED_BY_THE_KERNEL:
            assert named(damaged) <= named(case.parsed()), case.file
        else:
            same_where_known(case, damaged)


def test_a_decimal_comma_gives_the_same_number_or_none() -> None:
    for case in CASES:
        comma = re.sub(r"(?<=\d)\.(?=\d)", ",", case.text)
        assert named(again(case, comma)) <= named(case.parsed()), case.file


def test_locales_that_are_known_are_read_rather_than_dropped() -> None:
    german = "Data Units Read:  61.521.857 [31,4 TB]\nModel Number:  X\n"
    assert read("smartctl", f"smartctl 7.1\n=== START ===\n{german}").data_units_read == 61521857
    french = "critical_warning : 0\ntemperature : 34 C\ndata_units_read : 203\u202f913\u202f228\n"
    assert read("nvme-smart-log", french).data_units_read == 203913228
    head = "Linux 6.1 (h) \t06/18/26 \t_x86_64_\t(8 CPU)\n\nDevice  r/s  r_await  %util\n"
    assert read("iostat", f"{head}sda  10,00  35,28  0,50\n").disks[0].read_wait_seconds == 0.03528
    assert read("iostat", f"{head}sda  10,00  1,280  0,50\n").disks[0].read_wait_seconds is None


@pytest.mark.parametrize("column", [" 7", "\t7", " 7 8.25", " extra"])
def test_further_columns_at_the_end_change_no_number(column: str) -> None:
    for case in CASES:
        lines = [line + column if line.strip() else line for line in case.text.split("\n")]
        same_where_known(case, again(case, "\n".join(lines)))


def test_further_columns_in_front_change_no_number() -> None:
    for case in CASES:
        lines = [f"7 {line}" if line.strip() else line for line in case.text.split("\n")]
        found = named(again(case, "\n".join(lines)))
        known = {(name, value) for name, value in found if not str(name).startswith("7 ")}
        assert known <= named(case.parsed()), case.file


def test_windows_line_ends_change_nothing() -> None:
    for case in CASES:
        assert again(case, case.text.replace("\n", "\r\n")) == case.parsed(), case.file


NOISE = (
    "Failed to open /dev/nvme0\n",
    "[  12.345678] nvme nvme0: note\n",
    "{broken\n",
    "opcode       : 02\nflags        : 00\nrsvd1        : 0000\n",
    "\x1b[1mwarning:\x1b[0m old name\n",
)


@pytest.mark.parametrize("noise", NOISE)
def test_lines_before_a_json_document_are_skipped(noise: str) -> None:
    for case in JSON_CASES:
        assert again(case, noise + case.text) == case.parsed(), case.file


def test_nine_of_the_recorded_outputs_are_json() -> None:
    assert len(JSON_CASES) == 9


@given(case=a_case, data=st.data())
@fast
def test_lines_that_are_missing_or_repeated_give_no_new_number(case: Case, data: Any) -> None:
    lines = case.text.split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    kept = data.draw(st.sampled_from([[], [lines[at], lines[at]]]))
    damaged = again(case, "\n".join([*lines[:at], *kept, *lines[at + 1 :]]))
    assert named(damaged) <= named(case.parsed())


@given(case=a_case, zeros=st.integers(1, 400))
@fast
def test_larger_integers_are_exact_or_unknown(case: Case, zeros: int) -> None:
    larger = NUMBER.sub(lambda found: found[0] + "0" * zeros, case.text)
    damaged = again(case, larger)
    for value in numbers(damaged).values():
        assert isinstance(value, float) or abs(value) < 10**90
    assert json.dumps([float(value) for value in numbers(damaged).values()], allow_nan=False)


def test_128_bit_counters_are_exact() -> None:
    largest = 2**128 - 1
    text = (
        f'{{"temperature": 311, "data_units_read": {largest}, "host_read_commands": "{largest}"}}'
    )
    facts = read("nvme-smart-log", text + "\n")
    assert facts.data_units_read == facts.host_reads == largest
    text = f"temperature : 38 C\ndata_units_read : {largest:,}\n"
    assert read("nvme-smart-log", text).data_units_read == largest


ODD: list[Any] = [
    *(None, True, False, -1, 10**50, 10**400, 1.5, 1e300, "", "N/A", "x" * 500, [], {}, [None]),
    *({"value": None}, "12,345", "-5", [[1]], "\u0663", "NaN"),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON document."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path, *(at for key, item in inner for at in places(item, (*path, key)))]


def edited(value: Any, path: tuple[Any, ...], edit: Callable[[Any, Any], None]) -> str:
    """The document with one place changed."""
    document = json.loads(json.dumps(value))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    edit(inner, path[-1])
    return json.dumps(document) + "\n"


@given(case=st.sampled_from(JSON_CASES), data=st.data())
@fast
def test_keys_that_are_missing_give_no_new_number(case: Case, data: Any) -> None:
    document = json.loads(case.text)
    path = data.draw(st.sampled_from(places(document)[1:]))

    def remove(inner: Any, key: Any) -> None:
        del inner[key]

    damaged = again(case, edited(document, path, remove))
    if path[:4] != ("sysstat", "hosts", 0, "statistics"):  # another sample has other numbers
        assert named(damaged) <= named(case.parsed())


@given(case=st.sampled_from(JSON_CASES), odd=st.sampled_from(ODD), data=st.data())
@fast
def test_values_of_another_kind_raise_nothing(case: Case, odd: Any, data: Any) -> None:
    document = json.loads(case.text)
    path = data.draw(st.sampled_from(places(document)[1:]))
    damaged = again(case, edited(document, path, lambda inner, key: inner.__setitem__(key, odd)))
    assert isinstance(damaged, Missing | case.tool.facts)


@given(case=st.sampled_from(JSON_CASES), data=st.data())
@fast
def test_keys_that_are_new_change_nothing(case: Case, data: Any) -> None:
    document = json.loads(case.text)
    objects = [
        (*path, "a_new_key") for path in places(document) if isinstance(_at(document, path), dict)
    ]
    path = data.draw(st.sampled_from(objects))
    text = edited(document, path, lambda inner, key: inner.__setitem__(key, 7))
    assert numbers(again(case, text)).items() >= numbers(case.parsed()).items()


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document
