"""How batching settings are read out of files and arguments that anybody may have written."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound_collectors.batch_settings import (
    MountedFile,
    Settings,
    tf_serving,
    torchserve,
    triton,
)
from tailhound_collectors.pbtxt import parsed

CONFIG = """
# the model of the case
name: "bert"  platform: 'tensorrt_plan';
max_batch_size: 100
instance_group [ { kind: KIND_GPU, count: 3 } ]
input [ { name: "ids" dims: [ -1, 1 ] }, < name: "mask" > ]
dynamic_batching {
  preferred_batch_size: [ 50, 25, 100 ]
  max_queue_delay_microseconds: 10000
  default_queue_policy { timeout_action: REJECT }
}
"""


def file(text: str, path: str = "/models/bert/config.pbtxt") -> MountedFile:
    return MountedFile(config_map="c", key=path.rpartition("/")[2], path=path, text=text)


def one(text: str, path: str = "/models/bert/config.pbtxt") -> Settings:
    (found,) = triton([file(text, path)])
    return found


def test_triton_settings_are_read_by_meaning() -> None:
    assert one(CONFIG) == Settings(
        source="ConfigMap c, config.pbtxt",
        model="bert",
        window_seconds=0.01,
        max_batch_count=100,
        preferred_count=25,
        instances_count=3,
    )


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("max_batch_size: 8 dynamic_batching { }", 0),
        ("max_batch_size: 8 dynamic_batching: { preferred_batch_size: 4 }", 0),
        ("max_batch_size: 8", 0),
        ("max_batch_size: 1 dynamic_batching { max_queue_delay_microseconds: 500 }", 0),
        ("dynamic_batching { max_queue_delay_microseconds: 500 }", 0.0005),
        ("max_batch_size: 8 dynamic_batching { max_queue_delay_microseconds: -5 }", 0),
        (
            "max_batch_size: 8 sequence_batching { oldest { max_queue_delay_microseconds: 500 } }",
            0.0005,
        ),
        (
            "max_batch_size: 8 sequence_batching { direct { max_queue_delay_microseconds: 500 } }",
            0.0005,
        ),
    ],
)
def test_the_window_is_what_the_batcher_waits_at_most(text: str, window: float) -> None:
    assert one(text).window_seconds == pytest.approx(window)


def test_a_model_without_a_name_has_that_of_its_folder() -> None:
    assert one("max_batch_size: 8", "/models/ranker/config.pbtxt").model == "ranker"


def test_instances_count_for_each_named_gpu() -> None:
    groups = "instance_group [ { count: 2 gpus: [ 0, 1 ] }, { kind: KIND_CPU } ]"
    assert one(groups).instances_count == 5
    assert one("max_batch_size: 8").instances_count is None


def test_the_largest_batch_is_unknown_where_triton_makes_it_up() -> None:
    assert one('name: "a"').max_batch_count is None


@pytest.mark.parametrize(
    "text",
    ["max_batch_size: ", "a { b: 1", "a: [1, 2", "}", "a: 1 }", '"a": 1', "a: }", "{" * 5000,
     "a{" * 5000 + "}" * 5000, "a: 'open"],
)  # fmt: skip
def test_what_is_no_message_tells_nothing(text: str) -> None:
    assert list(triton([file(text)])) == []


def test_an_empty_file_and_a_file_of_another_kind_tell_no_window_of_their_own() -> None:
    assert list(triton([file(CONFIG, "/models/bert/readme.md")])) == []
    assert one("").window_seconds == 0


def test_numbers_that_are_none_are_left_out() -> None:
    fields = parsed("a: nan a: inf a: 1e999 a: x a: 3 b: 'x' 'y'")
    assert fields is not None
    assert fields.numbers("a") == (3.0,)
    assert (fields.text("b"), fields.number("b"), fields.number("c")) == ("xy", None, None)


@given(st.text(alphabet="ab:{}[]<>,;\"'#\\ \n1.", max_size=80))
def test_any_text_is_read_or_refused_and_never_raises(text: str) -> None:
    parsed(text)
    list(triton([file(text)]))
    list(torchserve([file(text, "/c/config.properties")]))


def test_a_long_text_is_read_in_linear_time() -> None:
    start = perf_counter()
    assert parsed("a: 'b' " * 60_000) is not None
    assert parsed("a" * 2_000_000) is None
    assert perf_counter() - start < 5


MODELS = r"""
# comment
models={\
  "bert": {"1.0": {"marName": "a.mar", "minWorkers": 2, "batchSize": 8, "maxBatchDelay": 50}},\
  "tiny": {"1.0": {"marName": "b.mar"}},\
  "odd": {"1.0": {"batchSize": true, "maxBatchDelay": "soon"}, "2.0": 7}\
}
"""


def served(text: str) -> dict[str, Settings]:
    return {one.model: one for one in torchserve([file(text, "/config/config.properties")])}


def test_torchserve_settings_come_from_its_properties() -> None:
    found = served(MODELS)
    assert found["bert"].window_seconds == pytest.approx(0.05)
    assert (found["bert"].max_batch_count, found["bert"].instances_count) == (8, 2)


def test_torchserve_holds_nothing_back_with_its_default_size_of_one() -> None:
    found = served(MODELS)
    assert (found["tiny"].window_seconds, found["tiny"].max_batch_count) == (0, 1)
    assert (found["odd"].window_seconds, found["odd"].max_batch_count) == (0, 1)


def test_torchserve_waits_a_tenth_of_a_second_unless_told() -> None:
    found = served('models={"a": {"1": {"batchSize": 4}}}')
    assert found["a"].window_seconds == pytest.approx(0.1)


def test_a_torchserve_snapshot_is_read_too() -> None:
    text = 'model_snapshot={"models": {"a": {"1": {"batchSize": 4, "maxBatchDelay": 7}}}}'
    assert served(text)["a"].window_seconds == pytest.approx(0.007)


@pytest.mark.parametrize("text", ["models=", "models={", "models=[1]", "models=" + "[" * 90_000])
def test_broken_properties_tell_nothing(text: str) -> None:
    assert served(text) == {}


BATCHING = "max_batch_size { value: 64 } batch_timeout_micros { value: 20000 }"
ON = {"enable-batching": "true", "batching-parameters-file": "/c/batching.txt"}


def told(text: str, given: dict[str, str], *, batches: bool = False) -> list[Settings]:
    return list(tf_serving([file(text, "/c/batching.txt")], given, batches=batches))


def test_tensorflow_serving_reads_the_file_that_its_argument_names() -> None:
    (found,) = told(BATCHING + " num_batch_threads { value: 4 }", ON)
    assert found.window_seconds == pytest.approx(0.02)
    assert (found.max_batch_count, found.instances_count) == (64, 4)
    (found,) = told("num_batch_threads { value: 4 }", ON)
    assert (found.window_seconds, found.max_batch_count) == (0, 1000)


def test_tensorflow_serving_does_not_wait_unless_it_is_told_to_batch() -> None:
    for given_ in ({"model-name": "a"}, {"enable-batching": "false"}):
        (found,) = told(BATCHING, given_)
        assert (found.window_seconds, found.max_batch_count) == (0, 1)
    (found,) = told(BATCHING, {"enable-batching": ""})
    assert (found.window_seconds, found.max_batch_count) == (0, 1000)


def test_tensorflow_serving_that_batches_without_an_argument_is_told_elsewhere() -> None:
    assert told(BATCHING, {"model-name": "a"}, batches=True) == []
    assert told(BATCHING, {}) == []
    assert told("", ON | {"batching-parameters-file": "/other"}) == []
