"""What differs between two pod templates."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.model.redaction import redacted
from tailhound_collectors.template_diff import differences


def spec(**container: Any) -> dict[str, Any]:
    return {"containers": [{"name": "vllm", "image": "registry.example/vllm:v1", **container}]}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({}, {}, ""),
        (
            {},
            {"image": "registry.example/vllm:v2"},
            "image of vllm: v1 -> v2",
        ),
        (
            {},
            {"image": "other.example/vllm:v1"},
            "image of vllm: registry.example/vllm:v1 -> other.example/vllm:v1",
        ),
        (
            {"args": ["--model=a", "--max-num-seqs=128"]},
            {"args": ["--model=a", "--max-num-seqs=256"]},
            "args of vllm: now --max-num-seqs=256 (was --max-num-seqs=128)",
        ),
        (
            {"args": ["--max-num-seqs", "128"]},
            {"args": ["--max-num-seqs", "256"]},
            "args of vllm: now --max-num-seqs 256 (was --max-num-seqs 128)",
        ),
        ({"args": ["a", "b"]}, {"args": ["b", "a"]}, "args of vllm: another order"),
        ({"command": ["serve"]}, {}, "command of vllm: without serve"),
        (
            {"resources": {"limits": {"cpu": "6"}}},
            {"resources": {"limits": {"cpu": "4"}, "requests": {"cpu": "4"}}},
            "limits.cpu of vllm: 6 -> 4; requests.cpu of vllm: none -> 4",
        ),
        (
            {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}]},
            {"env": [{"name": "A", "value": "2"}, {"name": "C", "value": "1"}]},
            "env of vllm: +C, -B, A",
        ),
    ],
)
def test_each_difference_is_told(old: dict[str, Any], new: dict[str, Any], told: str) -> None:
    assert differences(spec(**old), spec(**new)) == told


def test_a_container_that_came_or_went_is_told_and_init_containers_count() -> None:
    more = {"initContainers": [{"name": "fetch"}], **spec()}
    assert differences(spec(), more) == "container fetch added"
    assert differences(more, spec()) == "container fetch removed"


def test_many_differences_are_counted() -> None:
    many = {"containers": [{"name": f"c{at}"} for at in range(9)]}
    assert differences({}, many).endswith("container c5 added; 3 more")
    args = spec(args=[f"--a{at}" for at in range(9)])
    assert differences(spec(), args).endswith("now --a5 and 3 more")


def test_the_value_of_a_variable_is_never_told() -> None:
    old = spec(env=[{"name": "PASS", "value": "old-hunter2"}])
    new = spec(env=[{"name": "PASS", "value": "new-hunter2"}])
    assert differences(old, new) == "env of vllm: PASS"


@pytest.mark.parametrize("args", [["--api-key=sk-verysecret1"], ["--api-key", "sk-verysecret1"]])
def test_a_secret_argument_is_told_with_its_flag_so_that_it_can_be_redacted(
    args: list[str],
) -> None:
    told = redacted(differences(spec(args=["--api-key", "sk-oldsecret"]), spec(args=args)))
    assert "--api-key" in told
    assert "secret" not in told


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "image", "args", "env", "resources", "limits", "containers"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(VALUE, VALUE)
def test_whatever_a_template_holds_is_no_error(old: Any, new: Any) -> None:
    assert isinstance(differences({"containers": old}, {"containers": [new]}), str)
    assert differences({"containers": old}, {"containers": old}) == ""
