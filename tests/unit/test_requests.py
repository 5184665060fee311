"""Questions as data: what a hostile value becomes before it is part of one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tailhound.errors import Refused
from tailhound.requests import ListObjects
from tailhound.requests.prometheus import matchers, quoted
from tailhound.settings import Profile

ANY = st.text(st.characters(exclude_categories=()), max_size=40)
"""Any text that JSON can carry, lone surrogates included."""


@given(ANY)
def test_any_value_is_one_promql_string_that_can_be_sent(value: str) -> None:
    text = quoted(value)
    inside = text[1:-1].replace("\\\\", "").replace('\\"', "")
    assert text.encode("utf-8")
    assert '"' not in inside
    assert "\n" not in text


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert matchers(pod="a\ud800b", node=("x\udfff.",)) == '{pod="a\ufffdb",node=~"x\ufffd\\\\."}'


@pytest.mark.parametrize("name", ["label_selector", "field_selector"])
def test_a_selector_with_a_lone_surrogate_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="can't be a selector"):
        ListObjects(api="v1", resource="pods", namespace="prod", **{name: "a=\ud800"})


@pytest.mark.parametrize("prefix", ['x"', "ray-vllm:", "1ray_", "vllm:\n", " "])
def test_a_metric_prefix_that_is_no_part_of_a_name_is_refused(prefix: str) -> None:
    with pytest.raises(ValidationError):
        Profile(metric_prefix=prefix)
