"""What a variant of a scenario changes, and what it leaves alone."""

import json
from pathlib import Path

import pytest

from tests.accuracy import naming, neighbours, perturb, shifting
from tests.accuracy.running import asks_for
from tests.lab import scenario
from tests.lab.scenario import Scenario
from tests.lab.series import Series, parsed

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.fixture(scope="module")
def given() -> Scenario:
    return scenario.load(SCENARIOS / "kv-clear-positive")


def _by_text(found: Scenario, text: str) -> Series:
    return next(one for one in found.series if text in one.text)


def _everything(found: Scenario) -> str:
    """All texts of a scenario, without the names of metrics."""
    labels = [parsed(one.text)[1] for one in found.series]
    objects = list(found.kubernetes.objects) if found.kubernetes else []
    hosts = {name: spec.model_dump(mode="json") for name, spec in found.hosts.items()}
    return json.dumps([labels, objects, dict(found.alert.labels), hosts])


def test_twice_the_traffic_leaves_the_machine_and_gauges_alone(given: Scenario) -> None:
    changed = perturb.rates(2)(given)
    assert changed is not None
    for text, factor in (
        ("vllm:num_preemptions_total", 2),
        ("vllm:time_to_first_token_seconds", 2),
        ("container_cpu_cfs_periods_total", 1),
        ("node_cpu_seconds_total", 1),
    ):
        before = [phase.per_second or 0 for phase in _by_text(given, text).phases]
        after = [phase.per_second or 0 for phase in _by_text(changed, text).phases]
        assert after == [factor * rate for rate in before], text
    assert _by_text(changed, "kv_cache_usage_perc") == _by_text(given, "kv_cache_usage_perc")


def test_a_server_whose_batches_fill_its_time_has_no_variant_with_half_of_them() -> None:
    full = scenario.load(SCENARIOS / "batching-busy-instance")
    assert perturb.rates(0.5)(full) is None
    assert perturb.rates(2)(full) is not None
    assert perturb.rates(0.5)(scenario.load(SCENARIOS / "batching-clear-positive")) is not None


def test_no_old_name_is_left_after_renaming(given: Scenario) -> None:
    changed = naming.renamed(given)
    assert changed is not None
    text = _everything(changed)
    for name in naming.new_names(given):
        if name != "chat":  # the beginning of a model's name, which stays a word
            assert f'"{name}"' not in text, name
    assert len({one.text for one in changed.series}) == len(given.series)


def test_a_renamed_pod_still_begins_with_the_name_of_its_replica_set(given: Scenario) -> None:
    changed = naming.renamed(given)
    assert changed is not None
    assert changed.kubernetes is not None
    pods = [item for item in changed.kubernetes.objects if item["kind"] == "Pod"]
    assert len(pods) == 2
    for pod in pods:
        owner = pod["metadata"]["ownerReferences"][0]["name"]
        assert pod["metadata"]["name"].startswith(f"{owner}-")


def test_images_stay_when_names_change(given: Scenario) -> None:
    changed = naming.renamed(given)
    assert changed is not None
    assert "registry.example/vllm:v0.23.0" in _everything(changed)


def test_what_a_tool_prints_is_renamed_too() -> None:
    whole = scenario.load(SCENARIOS / "43-ssd-garbage-collection")
    changed = naming.renamed(whole)
    assert changed is not None
    assert set(changed.hosts) & set(whole.hosts) == set()
    for spec in changed.hosts.values():
        assert all(answer.stdout_file is None for tool in spec.tools.values() for answer in tool)


def test_the_neighbour_is_another_workload_as_it_usually_is(given: Scenario) -> None:
    changed = neighbours.with_neighbour(given)
    assert changed is not None
    added = changed.series[len(given.series) :]
    assert added
    for one in added:
        labels = parsed(one.text)[1]
        pod = labels.get("exported_pod") or labels["pod"]
        assert pod.startswith("neighbour-")
        assert len(one.phases) == 1
    assert _by_text(changed, "chat-6d9f7c5b8-4kq9z") == _by_text(given, "chat-6d9f7c5b8-4kq9z")


def test_the_neighbour_loses_no_time_even_where_its_model_always_did(given: Scenario) -> None:
    changed = neighbours.with_neighbour(given)
    assert changed is not None
    added = changed.series[len(given.series) :]
    throttled = [one for one in added if "throttled" in one.text]
    assert throttled
    assert all(one.phases[0].per_second == 0 for one in throttled)


def test_an_earlier_onset_moves_the_alert_with_it_and_no_heartbeat(given: Scenario) -> None:
    changed = shifting.earlier(given)
    assert changed is not None
    assert changed.alert.since == given.alert.since - 300
    assert [phase.until for phase in _by_text(changed, "kv_cache").phases] == [-1020, 0]
    assert changed.kubernetes is not None
    node = next(item for item in changed.kubernetes.objects if item["kind"] == "Node")
    assert node["status"]["conditions"][0]["lastHeartbeatTime"] == "-1m"


def test_a_later_onset_stays_before_the_alert(given: Scenario) -> None:
    changed = shifting.later(given)
    assert changed is not None
    assert changed.alert.since == -240
    assert [phase.until for phase in _by_text(changed, "kv_cache").phases] == [-540, 0]


def test_what_happened_after_the_alert_keeps_its_time() -> None:
    late = scenario.load(SCENARIOS / "cold-start-asked-late")
    ends = {phase.until for one in late.series for phase in one.phases}
    after = {end for end in ends if late.alert.since < end < 0}
    assert after
    changed = shifting.earlier(late)
    if changed is not None:
        assert after <= {phase.until for one in changed.series for phase in one.phases}


def test_a_start_that_goes_on_has_no_other_onset() -> None:
    starting = scenario.load(SCENARIOS / "cold-start-rollout-as-ever")
    assert shifting.earlier(starting) is None
    assert shifting.later(starting) is None


def test_an_old_vllm_has_no_name_of_the_new_one(given: Scenario) -> None:
    changed = perturb.old_vllm(given)
    assert changed is not None
    names = {perturb.family(one) for one in changed.series}
    assert "vllm:gpu_cache_usage_perc" in names
    assert "vllm:time_per_output_token_seconds" in names
    assert not names & {"vllm:kv_cache_usage_perc", "vllm:inter_token_latency_seconds"}
    assert all(
        "engine" not in parsed(one.text)[1]
        for one in changed.series
        if one.text.startswith("vllm:")
    )


def test_an_old_vllm_stays_as_it_is() -> None:
    assert perturb.old_vllm(scenario.load(SCENARIOS / "kv-vllm-v0-names")) is None


@pytest.mark.parametrize(
    ("question", "family", "asked"),
    [
        ("sum(rate(vllm:x_seconds_bucket[5m]))", "vllm:x_seconds", True),
        ('{__name__=~"vllm:(x|y)_seconds_sum"}', "vllm:y_seconds", True),
        ('{__name__=~"vllm:(x|y)_seconds_sum"}', "vllm:z_seconds", False),
        ("up", "vllm:z_seconds", False),
    ],
)
def test_a_family_is_asked_for_by_its_name_or_by_a_pattern(
    question: str, family: str, asked: bool
) -> None:
    assert asks_for(question, family) is asked


def test_only_families_that_nobody_asks_for_may_be_dropped(given: Scenario) -> None:
    found = perturb.droppable(given, ["vllm:kv_cache_usage_perc"], asks_for)
    assert "vllm:kv_cache_usage_perc" not in found
    assert "DCGM_FI_DEV_GPU_UTIL" in found


@pytest.mark.parametrize("name", ["kv-clear-positive", "cpu-label-hostile"])
def test_every_variant_keeps_what_is_expected(name: str) -> None:
    whole = scenario.load(SCENARIOS / name)
    for variant in perturb.PERTURBATIONS:
        changed = perturb.variant(variant, whole)
        assert changed is not None, variant
        assert changed.expect == whole.expect
        assert not changed.full_chain
        texts = [one.text for one in changed.series]
        assert len(texts) == len(set(texts)), variant
