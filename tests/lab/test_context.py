"""What a diagnosis says beside the cause: scope, shape, load, and what changed before the symptom.

Real components; what is said comes from the series and objects of the scenario alone.
"""

from pathlib import Path

import pytest

from tailhound.model import Diagnosis
from tests.accuracy.running import one_apiserver, ran
from tests.lab import scenario
from tests.lab.conftest import Needs

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def diagnosed(name: str) -> Diagnosis:
    with one_apiserver() as apiserver:
        found = ran(scenario.load(SCENARIOS / name), apiserver).diagnosis
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "scope", "shape", "load"),
    [
        ("cpu-clear-positive", "both pods", "step", "flat"),
        ("kv-one-hot-pod", "1 of 2 pods, on gpu-node-1", "step", "flat"),
        ("cold-start-scale-out", "2 of 4 pods, no data of 2", "step", "up"),
        ("59-agent-limit-breaks-container-start", "one node, ci-3", "step", ""),
        ("comb-unexplained", "both pods", "comb", "flat"),
        ("batching-burst", "the only pod", "ramp", "up"),
    ],
)
def test_scope_shape_and_load_are_told(
    name: str, scope: str, shape: str, load: str, needs: Needs
) -> None:
    needs("prometheus")
    found = diagnosed(name)
    assert (found.scope, found.shape, found.load) == (scope, shape, load)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        (
            "cpu-after-a-change",
            [
                ("scaling", "HPA chat-scaler: New size: 2; reason: cpu resource utilization"),
                ("configmap", "ConfigMap chat-settings changed: COMPILE_THREADS"),
            ],
        ),
        ("cold-start-rollout-slow", [("rollout", "rollout of Deployment chat")]),
        ("cpu-clear-positive", []),
    ],
)
def test_what_changed_before_the_symptom_is_told_and_nothing_else(
    name: str, changed: list[tuple[str, str]], needs: Needs
) -> None:
    needs("prometheus")
    found = diagnosed(name)
    assert [
        (one.kind, one.what[: len(what)])
        for one, (_, what) in zip(found.changed, changed, strict=True)
    ] == changed
    assert found.symptom is not None
    onset = found.symptom.onset
    assert onset is not None
    assert all(one.at is None or one.at <= onset for one in found.changed)
