"""SSH evidence that YAML defines."""

from typing import Any

import pytest

from tailhound.flow import Read
from tailhound.model.facts import Kind
from tailhound.requests import Output, RunOnHost
from tailhound.rules.evidence.ssh import increase, key_value
from tailhound.rules.evidence.values import number_of
from tailhound.rules.schema_evidence import KeyFact
from tailhound.rules.yaml_evidence import schema_for
from tests.driving import TIMEOUT, thread_seconds
from tests.unit.rules.yaml_evidence_kit import ask, asked, made, told

NIC = """\
ssh:
  on: $node
  run: [cat, /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence]
  parse: number
  fact: out_of_sequence
  unit: count
  twice: 10s
"""


def reading(first: str, second: str | None = None, exit_code: int = 0) -> Output:
    later = None if second is None else Output(second, "", 0)
    return Output(first, "", exit_code, later, 10.0 if second is not None else 0.0)


def test_a_counter_read_twice_gives_its_increase() -> None:
    collector = made(NIC)
    (request,) = asked(collector, node="gpu-1")
    assert request == RunOnHost(host="gpu-1", argv=request.argv, twice=True)  # type: ignore[attr-defined]
    assert ask(collector, reading("44\n", "1044\n"), node="gpu-1") == {"out_of_sequence": 1000.0}


@pytest.mark.parametrize(
    "reply",
    [
        reading("1044\n", "44\n"),
        reading("5\n", "4294967295\n"),
        reading("4294967295\n", "4294967295\n"),
        reading("44\n"),
        reading("44\n", "x\n"),
        reading("", "44\n"),
        reading("44\n", "45\n", exit_code=1),
        Output("44\n", "", 0, Output("", "gone", 255), 10.0),
        TIMEOUT,
    ],
)
def test_a_counter_that_was_reset_saturated_or_not_read_is_unknown(reply: Any) -> None:
    assert ask(made(NIC), reply, node="gpu-1") == {"out_of_sequence": None}


def test_a_set_of_hosts_gives_a_record_for_each() -> None:
    collector = made(NIC.replace("$node", "$nodes").replace("  twice: 10s\n", ""))
    fact = schema_for(collector)["out_of_sequence"]
    assert (fact.kind, list(fact.fields)) == (Kind.SET, ["host", "value"])

    def answer(request: Read[Any]) -> Any:
        return TIMEOUT if request.backend == "ssh b" else reading("7\n")

    found = ask(collector, answer, nodes=("a", "b", "a"))
    assert found["out_of_sequence"] == (
        {"host": "a", "value": 7.0},
        {"host": "b", "value": None},
    )
    assert ask(collector, answer, nodes=())["out_of_sequence"] is None


def test_the_ways_to_read_an_output() -> None:
    base = "ssh:\n  on: $node\n  run: [cat, /proc/meminfo]\n"
    lines = made(base + "  parse: lines\n  fact: rows\n")
    assert ask(lines, reading("a\n\n b\n"), node="n") == {"rows": 2}
    text = made(base + "  parse: text\n  fact: word\n")
    assert ask(text, reading(" always madvise \n"), node="n") == {"word": "always madvise"}
    keys = made(base + "  parse: key_value\n  facts: {free_bytes: {key: MemFree, unit: bytes}}\n")
    assert ask(keys, reading("MemTotal: 8 kB\nMemFree:    4 kB\n"), node="n") == {
        "free_bytes": 4096.0
    }
    some = "  parse: json\n  facts: {used: {jmespath: 'a.b', unit: count}}\n"
    found = made(base + some)
    assert ask(found, reading('{"a": {"b": 3}}'), node="n") == {"used": 3.0}
    for bad in ("not json", "[" * 100_000, "", '{"a": 1}'):
        assert ask(found, reading(bad), node="n") == {"used": None}


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("[cat,", "[rm,", "refused"),
        ("[cat, /sys", "[cat, /etc/shadow, /sys", "/etc/shadow"),
        ("out_of_sequence]", "$node/x]", "`$name` stands only as one whole argument"),
        ("on: $node", "on: $nod", "no input named 'nod'; did you mean 'node'?"),
        ("  fact: out_of_sequence\n", "", "`parse: number` needs `fact: <name>`"),
        ("parse: number", "parse: json", "`parse: json` needs `facts:"),
        ("run: [cat,", "run: [cat, $nodes,", "$nodes is a set; one value is needed here"),
    ],
)
def test_wrong_ssh_evidence_is_refused(old: str, new: str, wrong: str) -> None:
    assert old in NIC
    assert wrong in told(NIC.replace(old, new, 1))


def test_an_increase_needs_two_numbers() -> None:
    assert increase(1, 4) == 3.0
    assert increase(4, 4) == 0.0
    assert increase(None, 4) is None
    assert increase(4, "5") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("44\n", 44.0), ("1.5e3", 1500.0), ("500m", 0.5), ("4Gi", 4 * 2.0**30), ("1k", 1000.0)]
    + [(bad, None) for bad in ("", "x", "1 2", "0x10", "nan", "inf", "9" * 400, True, None, [1])],
)
def test_a_number_is_read_or_not_measured(text: object, value: float | None) -> None:
    assert number_of(text) == value


def test_a_key_is_literal_and_stands_at_the_start_of_a_line() -> None:
    text = "XMemFree: 1 kB\nMemFree: 2 kB\na.c: 5\n"
    assert key_value(text, KeyFact(key="MemFree", unit="bytes")) == 2048.0
    assert key_value(text, KeyFact(key="MemFree", unit="count")) == 2.0
    assert key_value("abc: 5\n", KeyFact(key="a.c", unit="count")) is None
    assert key_value("MemFreeX: 5\n", KeyFact(key="MemFree", unit="count")) is None


@pytest.mark.parametrize(
    "text", ["K" + " " * 2_000_000, "K: 1" + " " * 2_000_000 + "x", "K" * 999_999]
)
def test_a_hostile_output_is_read_quickly(text: str) -> None:
    with thread_seconds(1.0):
        assert key_value(text, KeyFact(key="K", unit="count")) is None
        assert number_of(text) is None
