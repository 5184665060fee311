"""Values from outside: shown, and harmless."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.slack import escape


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!channel>", "&lt;!channel&gt;"),
        ("a & b", "a &amp; b"),
        ("&lt;", "&amp;lt;"),
        ("*bold* ~gone~ _slanted_ snake_case", "∗bold∗ ∼gone∼ ˍslantedˍ snake_case"),
        (":fire: 12:30", "∶fire∶ 12:30"),
        ("ana@example.com", "ana＠example․com"),
        ("https://evil.example/x", "https:∕∕evil․example/x"),
        ("2.5 s, v0.23", "2.5 s, v0.23"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07label", "label"),
        ("a\u202eb\u200bc\ufeffd\u2066e", "abcde"),
        ("one\r\n\ttwo\u2028three", "one two three"),
        ("12.4\u00a0s", "12.4\u00a0s"),
        ("\ud800", "\ufffd"),
        ("`code`", "'code'"),
    ],
)
def test_a_value_does_nothing(text: str, shown: str) -> None:
    assert escape.value(text) == shown


def test_a_value_is_cut_before_it_is_escaped() -> None:
    assert escape.value("x" * 50 + "<" * 50, 60) == "x" * 50 + "&lt;" * 3 + "…" + "&lt;" * 6


def test_a_long_value_keeps_head_and_tail() -> None:
    shown = escape.value(f"chat-json-{'7c9f' * 40}-x2k4q")
    assert len(shown) == 60
    assert shown.startswith("chat-json-7c9f")
    assert shown.endswith("…-x2k4q")


def test_a_code_span_can_not_be_ended_from_inside() -> None:
    assert escape.code("a`b") == "`a'b`"
    assert escape.code("``") == "`''`"
    assert escape.code(" \u200b ") == "`(empty)`"


def test_what_an_author_wrote_keeps_its_code_spans_unless_the_cut_opens_one() -> None:
    assert escape.said("Lower `--max-num-seqs`") == "Lower `--max-num-seqs`"
    assert escape.said("Lower `--max-num-seqs` to 192 in steps", 20) == "Lower '--max-… steps"
    assert "```" not in escape.said("```\ncode\n```")


def test_a_sentence_keeps_host_names_to_copy() -> None:
    text = "http://prometheus.monitoring:9090 refused *us*"
    assert escape.sentence(text) == "http://prometheus.monitoring:9090 refused ∗us∗"


def test_a_megabyte_is_cut_before_anything_looks_at_it() -> None:
    shown = escape.value("a" * 1_000_000 + "tail", 60)
    assert len(shown) == 60
    assert shown.endswith("aatail")


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(text=st.text(max_size=200), limit=st.integers(1, 80))
def test_any_text_stays_within_its_room(text: str, limit: int) -> None:
    for shown in (escape.value(text, limit), escape.said(text, limit)):
        assert len(shown) <= max(2 * limit, 5)
        assert "<" not in shown
        assert ">" not in shown
        assert "\n" not in shown
        shown.encode("utf-8")


@pytest.mark.parametrize("made", [escape.value, escape.sentence, escape.said])
def test_half_an_emoji_is_not_made_whole_by_a_colon_behind_it(made: Callable[[str], str]) -> None:
    for text in ("llm/:fire", "x:a", ":+1", "::a"):
        assert not re.search(r":[a-z0-9_+'-]+:", f"{made(text)}: more")
    assert made("prometheus:9090") == "prometheus:9090"
    assert made("prometheus:9090 is gone") == "prometheus:9090 is gone"
