"""Batches and waits, asked of a server of each kind; the test answers each question."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tailhound.flow import Read
from tailhound.model import Missing, Reason
from tailhound.model.facts import Sample
from tailhound.requests import GetObject, Query, Ranged, RangeQuery
from tailhound_collectors.batching import Batching, BatchingCollector, reacted
from tailhound_collectors.batching_config import (
    BatchingConfig,
    BatchingConfigCollector,
    BatchingConfigParams,
)
from tailhound_collectors.engine import EngineParams
from tests.driving import EMPTY, drive, vector

PARAMS = EngineParams(namespace="rec", pods=("p-0", "p-1"))
PENDING = "nv_inference_pending_request_count"


def names(*exist: str) -> Any:
    return vector(*(({"__name__": name}, 1.0) for name in exist))


TRITON = names("nv_inference_request_success", PENDING)
TORCHSERVE = names("ts_inference_requests_total")
TENSORFLOW = names(
    ":tensorflow:serving:request_latency_count",
    ":tensorflow:serving:batching_session:queuing_latency_count",
)


def pods(*values: float) -> Any:
    return vector(*(({"pod": f"p-{at}"}, value) for at, value in enumerate(values)))


def ranged(*values: float, start: float = 0.0) -> Any:
    samples = tuple(Sample(at=start + 15.0 * at, value=value) for at, value in enumerate(values))
    return (Ranged(labels=(), samples=samples),)


Answers = Mapping[str, Any]


def answering(kind: Any, answers: Answers, asked: list[str] | None = None) -> Callable[..., Any]:
    """The first answer whose words all stand in the question; nothing is there otherwise."""

    def answer(request: Read[Any]) -> Any:
        if asked is not None:
            asked.append(request.shown)
        if "__name__=~" in request.shown:
            return kind
        if isinstance(request, RangeQuery):
            key = "range load" if request.promql.startswith("sum (rate") else "range wait"
            return answers.get(key, EMPTY)
        found = (
            reply
            for words, reply in answers.items()
            if all(word in request.shown for word in words.split())
        )
        return next(found, EMPTY)

    return answer


TRITON_ANSWERS: Answers = {
    "by (model) compute_infer": vector(({"model": "bert"}, 9.0)),
    "by (model)": vector(({"model": "bert"}, 9.0)),
    "by (pod) exec_count": pods(20, 10),
    "by (pod) request_success": pods(28, 14),
    f"by (pod) {PENDING}": pods(0.4, 0.2),
    "sum nv_inference_count exec_count": vector(({}, 1.3)),
    "compute_input compute_infer compute_output": vector(({}, 0.0065)),
    "nv_inference_queue_duration_us ago": vector(({}, 0.002)),
    "nv_inference_queue_duration_us": vector(({}, 0.0088)),
    "nv_inference_request_duration_us": vector(({}, 0.0154)),
}


def collected(kind: Any, answers: Answers, asked: list[str] | None = None) -> Batching:
    return drive(BatchingCollector().collect(PARAMS), answering(kind, answers, asked))


def test_triton_tells_waits_batches_and_how_busy_it_is() -> None:
    facts = collected(TRITON, TRITON_ANSWERS)
    assert (facts.engine, facts.model, facts.continuous) == ("triton", "bert", False)
    assert (facts.wait_seconds, facts.wait_seconds_usual) == (0.0088, 0.002)
    assert facts.wait_ratio == pytest.approx(4.4)
    assert facts.wait_share_ratio == pytest.approx(0.0088 / 0.0154)
    assert (facts.average_batch_count, facts.requests_per_second) == (1.3, 42)
    assert facts.pods_count == 2
    assert (facts.pending_count, facts.execution_seconds) == (0.4, 0.0065)
    assert facts.busy_count == pytest.approx(0.13)
    assert facts.turn_seconds == pytest.approx(0.13 * 0.0065)


def test_only_the_slowest_model_is_asked_about() -> None:
    asked: list[str] = []
    collected(TRITON, TRITON_ANSWERS, asked)
    later = [shown for shown in asked if "by (model)" not in shown and "__name__" not in shown]
    assert later
    assert all('model="bert"' in shown for shown in later)


def test_torchserve_counts_no_batches_and_has_no_gauge_of_who_waits() -> None:
    facts = collected(
        TORCHSERVE,
        {
            "by (model_name)": vector(({"model_name": "a"}, 9.0)),
            "by (pod) ts_inference_requests_total": pods(4, 2),
            "ts_inference_latency_microseconds ts_queue_latency_microseconds": vector(({}, 0.03)),
            "ts_queue_latency_microseconds": vector(({}, 0.08)),
            "ts_inference_latency_microseconds": vector(({}, 0.11)),
        },
    )
    assert (facts.engine, facts.model, facts.continuous) == ("torchserve", "a", False)
    assert facts.average_batch_count is None
    assert facts.pending_count == pytest.approx(4 * 0.08), "arrivals times their wait"
    assert facts.busy_count == pytest.approx(4 * 0.03), "as if each request were an execution"


def test_tensorflow_serving_tells_requests_for_each_run() -> None:
    facts = collected(
        TENSORFLOW,
        {
            "by (pod) wrapped_run_count": pods(12),
            "by (pod) request_latency_count": pods(15),
            "sum queuing_latency_count wrapped_run_count": vector(({}, 1.25)),
            "runtime_latency queuing_latency": vector(({}, 0.008)),
            "queuing_latency_sum": vector(({}, 0.017)),
            "request_latency_sum": vector(({}, 0.026)),
        },
    )
    assert (facts.engine, facts.model, facts.average_batch_count) == ("tf-serving", None, 1.25)
    assert facts.busy_count == pytest.approx(12 * 0.008)
    assert facts.pending_count == pytest.approx(15 * 0.017)


@pytest.mark.parametrize(
    "name", ["vllm:num_requests_running", "sglang:num_running_reqs", "tgi_batch_current_size"]
)
def test_engines_that_batch_at_any_step_are_not_asked_for_waits(name: str) -> None:
    asked: list[str] = []
    facts = collected(names(name), {}, asked)
    assert facts.continuous is True
    assert facts.wait_seconds is None
    assert len(asked) == 1


INFLIGHT = names("nv_inference_request_success", "nv_trt_llm_kv_cache_block_metrics")


@pytest.mark.parametrize(
    ("reply", "continuous"),
    [
        (vector(({}, 3.0)), True),
        (EMPTY, False),
        (Missing(Reason.TIMEOUT, "slow"), None),
    ],
)
def test_triton_batches_in_flight_only_for_models_of_tensorrt_llm(
    reply: Any, continuous: bool | None
) -> None:
    answers = {"count (nv_trt_llm": reply, **TRITON_ANSWERS}
    facts = collected(INFLIGHT, answers)
    assert facts.continuous is continuous
    assert (facts.wait_seconds is None) is (continuous is True)


def test_a_plain_http_server_tells_nothing_of_batches() -> None:
    facts = collected(names("http_request_duration_seconds_count"), {})
    assert (facts.engine, facts.continuous, facts.wait_seconds) == ("http", None, None)


def test_what_is_not_answered_stays_unknown() -> None:
    assert collected(EMPTY, {}) == Batching()
    facts = collected(TRITON, {})
    assert (facts.engine, facts.continuous) == ("triton", False)
    measured = (facts.wait_seconds, facts.pending_count, facts.busy_count, facts.turn_seconds)
    assert measured == (None, None, None, None)


def test_without_executions_of_triton_nobody_knows_how_busy_it_is() -> None:
    answers = {key: value for key, value in TRITON_ANSWERS.items() if "exec_count" not in key}
    facts = collected(TRITON, answers)
    assert (facts.busy_count, facts.average_batch_count) == (None, None)


FALLING = ([20.0] * 20 + [40.0] * 20, [0.0090] * 20 + [0.0081] * 20)


def test_the_reaction_compares_the_wait_at_high_and_at_low_load() -> None:
    loads, waits = FALLING
    answers = {**TRITON_ANSWERS, "range load": ranged(*loads), "range wait": ranged(*waits)}
    facts = collected(TRITON, answers)
    assert facts.load_swing_ratio == pytest.approx(2)
    assert facts.reaction_ratio == pytest.approx(0.9)
    assert facts.wait_seconds_series == ranged(*waits)[0].samples


def react(loads: list[float], waits: list[float], now: float | None) -> Any:
    return reacted(ranged(*waits)[0].samples, ranged(*loads)[0].samples, now)


def test_waits_from_before_the_present_ones_do_not_count() -> None:
    loads, waits = [100.0] * 60 + FALLING[0], [0.001] * 60 + FALLING[1]
    swing, reaction = react(loads, waits, 0.0085)
    assert (swing, reaction) == (pytest.approx(2), pytest.approx(0.9))


def test_what_came_within_a_rate_window_of_the_change_is_a_mixture() -> None:
    loads = [100.0] * 10 + [60.0] * 8 + [20.0] * 6 + [22.0] * 6
    waits = [0.001] * 10 + [0.005] * 8 + [0.009] * 12
    assert react(loads, waits, 0.009) == (pytest.approx(1.1), pytest.approx(1.0))


def test_a_queue_grows_with_its_load() -> None:
    swing, reaction = react([30.0] * 20 + [60.0] * 20, [0.05] * 20 + [0.09] * 20, 0.09)
    assert (swing, reaction) == (pytest.approx(2), pytest.approx(1.8))


@pytest.mark.parametrize(
    ("loads", "waits", "now"),
    [
        ([20.0] * 11, [0.009] * 11, 0.009),
        ([20.0] * 40, [0.009] * 40, None),
        ([0.0] * 40, [0.009] * 40, 0.009),
        ([20.0] * 40, [0.001] * 40, 0.009),
        ([], [0.009] * 40, 0.009),
    ],
)
def test_too_little_tells_no_reaction(
    loads: list[float], waits: list[float], now: float | None
) -> None:
    assert react(loads, waits, now) == (None, None)


# ---- settings ----

CONFIG = (
    'name: "bert" max_batch_size: 100 instance_group [{ count: 3 }] '
    "dynamic_batching { preferred_batch_size: [25] max_queue_delay_microseconds: 10000 }"
)


def pod(volume: Mapping[str, Any], mount: Mapping[str, Any], **container: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "p-0"},
        "spec": {
            "containers": [
                {"name": "main", "volumeMounts": [{"name": "v", **mount}], **container},
                {"name": "sidecar", "volumeMounts": [{"name": "other", "mountPath": "/x"}]},
            ],
            "volumes": [
                {"name": "v", **volume},
                {"name": "other", "configMap": {"name": "unrelated"}},
            ],
        },
    }


DATA: Mapping[str, Any] = {"config.pbtxt": CONFIG}
PLAIN = pod({"configMap": {"name": "bert-config"}}, {"mountPath": "/models/bert"})


def settings(
    of: Any = PLAIN,
    data: Mapping[str, Any] | Missing = DATA,
    kind: Any = TRITON,
    answers: Answers = TRITON_ANSWERS,
    asked: list[str] | None = None,
) -> BatchingConfig:
    prometheus = answering(kind, answers)

    def answer(request: Read[Any]) -> Any:
        if isinstance(request, Query):
            return prometheus(request)
        assert isinstance(request, GetObject)
        if asked is not None:
            asked.append(request.path)
        if request.resource == "pods":
            return of
        return data if isinstance(data, Missing) else {"kind": "ConfigMap", "data": data}

    params = BatchingConfigParams(namespace="rec", pods=("p-0",), container="main")
    return drive(BatchingConfigCollector().collect(params), answer)


def test_the_window_is_read_from_the_config_map_that_the_serving_container_mounts() -> None:
    asked: list[str] = []
    facts = settings(asked=asked)
    assert facts.read is True
    assert facts.source == "ConfigMap bert-config, config.pbtxt"
    assert (facts.window_seconds, facts.max_batch_count) == (0.01, 100)
    assert (facts.preferred_batch_count, facts.instances_count) == (25, 3)
    assert facts.window_batch_count == pytest.approx(1.28)
    assert facts.fill_seconds == pytest.approx(24 / 28)
    assert [path.partition("?")[0] for path in asked if "configmaps" in path] == [
        "/api/v1/namespaces/rec/configmaps/bert-config"
    ]


@pytest.mark.parametrize(
    ("volume", "mount", "key"),
    [
        (
            {"configMap": {"name": "c"}},
            {"mountPath": "/m/x.pbtxt", "subPath": "k.pbtxt"},
            "k.pbtxt",
        ),
        (
            {"configMap": {"name": "c", "items": [{"key": "bert", "path": "bert/config.pbtxt"}]}},
            {"mountPath": "/models"},
            "bert",
        ),
        (
            {"projected": {"sources": [{"secret": {"name": "s"}}, {"configMap": {"name": "c"}}]}},
            {"mountPath": "/models/bert"},
            "config.pbtxt",
        ),
    ],
)
def test_a_config_map_may_be_mounted_in_many_ways(
    volume: Mapping[str, Any], mount: Mapping[str, Any], key: str
) -> None:
    assert settings(pod(volume, mount), {key: CONFIG, "else": "x"}).window_seconds == 0.01


def test_the_settings_of_another_model_are_not_taken_for_its_own() -> None:
    other = {"config.pbtxt": CONFIG.replace('"bert"', '"ranker"')}
    assert settings(data=other) == BatchingConfig(read=False)


def test_settings_that_contradict_each_other_are_unknown() -> None:
    both = {"a.pbtxt": CONFIG, "b.pbtxt": CONFIG.replace("10000", "20000")}
    assert settings(data=both) == BatchingConfig(read=False)
    same = {"a.pbtxt": CONFIG, "b.pbtxt": CONFIG}
    assert settings(data=same).window_seconds == 0.01


def test_the_settings_of_the_only_model_are_read_though_prometheus_is_silent() -> None:
    facts = settings(kind=Missing(Reason.TIMEOUT, "slow"))
    assert (facts.window_seconds, facts.window_batch_count, facts.fill_seconds) == (
        0.01,
        None,
        None,
    )


@pytest.mark.parametrize("data", [EMPTY, Missing(Reason.FORBIDDEN, "no"), {}, {"config.pbtxt": 7}])
def test_settings_that_nobody_can_read_are_unknown_and_no_default(data: Any) -> None:
    assert settings(data=data) == BatchingConfig(read=False)


def test_a_model_repository_on_a_volume_cannot_be_read() -> None:
    repository = pod({"persistentVolumeClaim": {"claimName": "m"}}, {"mountPath": "/models"})
    assert settings(repository) == BatchingConfig(read=False)
    assert settings(Missing(Reason.FORBIDDEN, "no")) == BatchingConfig()


def test_a_config_map_with_a_hostile_name_is_not_asked_for() -> None:
    asked: list[str] = []
    hostile = pod({"configMap": {"name": "../secrets/x"}}, {"mountPath": "/models"})
    assert settings(hostile, asked=asked) == BatchingConfig(read=False)
    assert not [path for path in asked if "configmaps" in path or "secrets" in path]


def test_no_more_than_a_handful_of_config_maps_is_asked_for() -> None:
    asked: list[str] = []
    sources = [{"configMap": {"name": f"c{at}"}} for at in range(50)]
    many = pod({"projected": {"sources": sources}}, {"mountPath": "/models/bert"})
    settings(many, asked=asked)
    assert len([path for path in asked if "configmaps" in path]) == 8


def test_tensorflow_serving_is_read_by_its_arguments() -> None:
    args = ["--enable_batching", "--batching_parameters_file=/c/b.txt"]
    of = pod({"configMap": {"name": "c"}}, {"mountPath": "/c"}, args=args)
    data = {"b.txt": "max_batch_size { value: 64 } batch_timeout_micros { value: 20000 }"}
    facts = settings(of, data, kind=TENSORFLOW, answers={"by (pod) request_latency": pods(15)})
    assert (facts.window_seconds, facts.max_batch_count) == (0.02, 64)
    assert facts.window_batch_count == pytest.approx(1.3)


def test_engines_that_batch_at_any_step_have_no_settings_of_this_kind() -> None:
    assert settings(kind=names("vllm:num_requests_running")) == BatchingConfig(read=False)
