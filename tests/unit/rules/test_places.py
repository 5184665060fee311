"""YAML with places, and hostile files: each is a clear finding, quickly, and nothing runs."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.errors import RunbookErrors
from tailhound.rules import parsing, places
from tailhound.rules.places import Items, Pairs, Scalar
from tests.driving import thread_seconds

from .kit import findings


def read(source: str | bytes) -> Pairs:
    return parsing.read("r.yaml", source)[0]


def scalar(source: str, *steps: str | int) -> Scalar:
    node = places.follow(read(source), steps)
    assert isinstance(node, Scalar)
    return node


def test_every_value_knows_its_line_and_column() -> None:
    source = "a: 1\nb:\n  - x: 'é'  # comment\n    y: [p, q]\n"
    place = scalar(source, "b", 0, "y", 1).place
    assert (place.line, place.column, place.length) == (4, 12, 1)
    assert scalar(source, "b", 0, "x").at(0, 1).column == 9


def test_a_piece_of_a_plain_or_quoted_value_has_its_own_place() -> None:
    assert scalar("a: cpu.x > 1", "a").at(4, 1).column == 8
    assert scalar('a: "cpu.x > 1"', "a").at(4, 1).column == 9


def test_a_value_over_several_lines_has_one_place() -> None:
    folded = scalar("a: >\n  one\n  two\n", "a")
    assert folded.at(5, 2) == folded.place
    escaped = scalar('a: "\\u0063pu"', "a")
    assert escaped.at(1, 1) == escaped.place


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("12", 12),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
        ("0x1f", 31),
        ("1_000", "1_000"),
        ("12:30:00", "12:30:00"),
        ("2026-11-30", "2026-11-30"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("'12'", "12"),
    ],
)
def test_values_are_those_of_yaml_1_2(text: str, value: object) -> None:
    found = scalar(f"a: {text}", "a").value
    assert (type(found), found) == (type(value), value)


def test_a_key_given_twice_is_told_and_the_rest_is_read() -> None:
    node, found = parsing.read("r.yaml", "a: 1\nb: 2\na: 3\nb: 4\n")
    assert [str(finding) for finding in found] == [
        "r.yaml:3:1: 'a' is given twice (first on line 1)",
        "r.yaml:4:1: 'b' is given twice (first on line 2)",
    ]
    assert places.plain(node) == {"a": 1, "b": 2}


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{last}'] * 9)}]\n"
    for last, name in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE: list[tuple[str, str | bytes, str]] = [
    ("bomb", BOMB, "1:4: an anchor (`&name`) is not allowed; write the value out"),
    ("alias", "a: 1\nb: *a\n", "2:4: an alias"),
    ("cycle", "a: &a\n  b: *a\n", "1:4: an anchor"),
    ("python", "a: !!python/object/apply:os.system ['touch hacked']\n", "1:4: a tag (`!!python"),
    ("tag", "a: !secret x\n", "1:4: a tag (`!secret`) is not allowed"),
    ("int", "a: !!int '3'\n", "1:4: a tag (`!!int`)"),
    ("merge", "a: &b {c: 1}\nd: {<<: *b}\n", "1:4: an anchor"),
    ("deep list", "a: " + "[" * 200_000, "nest"),
    ("deep mapping", "a: " + "{b: " * 50_000, "is nested more than 24 levels deep"),
    ("deep block", "".join(" " * i + "a:\n" for i in range(500)), "is nested more than 24"),
    ("many", "a: [" + "x," * 60_000 + "]", "the file holds more than 20,000 values"),
    ("null byte", "a: 1\nb: x\x00y\n", "2:5: holds the control character U+0000; remove it"),
    ("escape", "a: \x1b[31mred\n", "1:4: holds the control character U+001B"),
    ("surrogate", "a: \ud800\n", "not UTF-8 text; save the file as UTF-8"),
    ("latin-1", b"a: 1\nb: caf\xe9\n", "2:7: not UTF-8 text; save the file as UTF-8"),
    ("utf-16", "runbook: x\n".encode("utf-16"), "1:1: not UTF-8 text"),
    ("huge", b"#" * 10_000_000, "is 10,000,000 bytes long; a runbook file may have 262,144"),
    ("huge text", "é" * 200_000, "is 400,000 bytes long"),
    ("list", "- a\n- b\n", "1:1: must hold `key: value` lines"),
    ("scalar", "hello\n", "1:1: must hold `key: value` lines"),
    ("empty", "", "1:1: is empty; a runbook starts with `runbook: <id>`"),
    ("comment", "# nothing\n", "1:1: is empty"),
    ("two", "a: 1\n---\nb: 2\n", "2:1: a second document begins here"),
    ("key", "? [a, b]\n: 1\n", "1:3: a key must be text"),
    ("unclosed", "a: [1, 2\n", "2:1: not YAML: did not find expected ',' or ']'"),
    ("colon", "a: b: c\n", "1:5: not YAML: mapping values are not allowed in this context"),
    ("tab", "a:\n\tb: 1\n", "2:1: not YAML: found character that cannot start any token"),
    ("directive", "%YAML 9.9\n---\na: 1\n", "1:1: not YAML: found incompatible YAML document"),
]


@pytest.mark.parametrize(("name", "source", "told"), HOSTILE, ids=[name for name, _, _ in HOSTILE])
def test_a_hostile_file_is_one_clear_finding_and_no_wait(
    name: str, source: str | bytes, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with thread_seconds(1.0):
        found = findings(source)
    assert any(told in str(finding) for finding in found), [str(finding) for finding in found]
    assert not list(tmp_path.iterdir())


def test_a_byte_order_mark_is_no_content() -> None:
    assert places.plain(read("\ufeffa: 1\n")) == {"a": 1}


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab:-[]{}&*!'\"#%|>\n \t,?\x00é~1.", max_size=60))
def test_no_text_escapes_as_another_exception(source: str) -> None:
    with contextlib.suppress(RunbookErrors):
        assert isinstance(places.plain(parsing.read("r.yaml", source)[0]), dict)


def test_a_tree_without_a_value() -> None:
    node = read("a: {b: 1, c: [x, y]}\n")
    assert places.plain(places.without(node, ("a", "c", 0))) == {"a": {"b": 1, "c": ["y"]}}
    assert places.plain(places.without(node, ("a", "b"))) == {"a": {"c": ["x", "y"]}}
    assert places.without(node, ("z", "b")) == node
    assert isinstance(places.follow(node, ("a", "c")), Items)
