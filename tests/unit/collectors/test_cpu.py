"""How much CPU a container used, and how often its quota stopped it."""

from typing import Any

import pytest

from tailhound.model.facts import Sample
from tailhound.requests import Ranged
from tailhound_collectors.cpu import (
    ContainerCpu,
    ContainerCpuCollector,
    ContainerParams,
    NodeCpu,
    NodeCpuCollector,
    NodeParams,
)
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

PARAMS = ContainerParams(namespace="llm", pods=("a", "b"), container="vllm")


def rows(a: float, b: float) -> Any:
    return vector(({"pod": "a", "container": "vllm"}, a), ({"pod": "b", "container": "vllm"}, b))


def collected(answers: dict[str, Any], default: Any = EMPTY) -> ContainerCpu:
    return drive(ContainerCpuCollector().collect(PARAMS), by_text(answers, default))


THROTTLED = {
    "# from": (Ranged((), (Sample(1.0, 0.5), Sample(2.0, 0.6))),),
    "sum (rate(container_cpu_cfs_throttled_periods": {
        "now": vector(({}, 0.6)),
        "past": vector(({}, 0.02)),
    },
    "(rate(container_cpu_cfs_throttled_periods": rows(0.2, 6.0),
    "(rate(container_cpu_cfs_throttled_seconds": rows(0.01, 1.4),
    "(rate(container_cpu_cfs_periods": rows(10, 10),
    "container_cpu_usage": rows(1, 5.9),
    "kube_pod_container_resource_limits": rows(6, 6),
}


def test_the_pod_that_loses_the_most_time_is_shown() -> None:
    facts = collected(THROTTLED)
    assert (facts.pod, facts.container) == ("b", "vllm")
    assert facts.throttled_ratio == 0.6
    assert facts.throttled_ratio_usual == 0.02
    assert facts.lost_seconds_per_second == 1.4
    assert facts.used_of_limit_ratio == 5.9 / 6
    assert facts.throttled_pods_count == 1
    assert facts.pods_count == 2
    assert facts.throttled_ratio_series == (Sample(1.0, 0.5), Sample(2.0, 0.6))


@pytest.mark.parametrize(
    ("lost", "throttled", "others"),
    [(0.049, 1, 0), (0.051, 2, 1)],
)
def test_an_idle_burster_is_none_of_the_pods_that_are_throttled(
    lost: float, throttled: int, others: int
) -> None:
    """It shows a high share of few periods, and loses next to no time."""
    burster = {
        "(rate(container_cpu_cfs_throttled_periods": rows(9.0, 6.0),
        "(rate(container_cpu_cfs_throttled_seconds": rows(lost, 1.4),
    }
    facts = collected(THROTTLED | burster)
    assert (facts.pod, facts.throttled_pods_count) == ("b", throttled)
    assert facts.others_throttled_count == others


def test_where_nobody_counts_lost_time_the_share_alone_tells_who_is_throttled() -> None:
    answers = {
        "(rate(container_cpu_cfs_throttled_periods": rows(9.0, 6.0),
        "(rate(container_cpu_cfs_throttled_seconds": TIMEOUT,
    }
    facts = collected(THROTTLED | answers)
    assert (facts.throttled_pods_count, facts.others_throttled_count) == (2, 1)


def test_the_containers_of_one_pod_are_one_pod() -> None:
    def two(share: float) -> Any:
        return vector(
            ({"pod": "a", "container": "vllm"}, share), ({"pod": "a", "container": "proxy"}, share)
        )

    answers = {
        "(rate(container_cpu_cfs_throttled_periods": two(6.0),
        "(rate(container_cpu_cfs_throttled_seconds": two(1.0),
        "(rate(container_cpu_cfs_periods": two(10),
    }
    facts = collected(THROTTLED | answers)
    assert (facts.throttled_pods_count, facts.others_throttled_count) == (1, 0)


def test_no_series_of_periods_means_that_none_are_counted() -> None:
    facts = collected({"container_cpu_usage": rows(1, 1)})
    assert facts.quota_counted is False
    assert facts.usage_counted is True
    assert facts.throttled_ratio is None


def test_a_prometheus_that_does_not_answer_says_nothing_about_the_quota() -> None:
    facts = collected({}, default=TIMEOUT)
    assert facts == ContainerCpu()


def test_a_share_that_nobody_measured_is_no_zero() -> None:
    one = vector(({"pod": "a", "container": "vllm"}, 10))
    facts = collected({"container) (rate(container_cpu_cfs_periods": one}, default=TIMEOUT)
    assert facts.pod == "a"
    assert facts.throttled_ratio is None
    assert facts.throttled_pods_count is None


def test_of_several_pods_none_is_the_worst_when_nothing_tells_which() -> None:
    answers = THROTTLED | {
        "(rate(container_cpu_cfs_throttled_periods": TIMEOUT,
        "(rate(container_cpu_cfs_throttled_seconds": TIMEOUT,
    }
    facts = collected(answers)
    assert (facts.pod, facts.throttled_ratio, facts.quota_counted) == (None, None, True)


def test_an_idle_container_was_not_stopped() -> None:
    facts = collected(
        {
            "(rate(container_cpu_cfs_throttled_periods": rows(0, 0),
            "(rate(container_cpu_cfs_periods": rows(0, 0),
        }
    )
    assert facts.throttled_ratio == 0.0


def test_the_busiest_node_is_shown() -> None:
    facts = drive(
        NodeCpuCollector().collect(NodeParams(nodes=("n1", "n2"))),
        by_text(
            {
                "1 - avg": vector(({"nodename": "n1"}, 0.2), ({"nodename": "n2"}, 0.95)),
                "pressure": vector(({"nodename": "n2"}, 0.3)),
            }
        ),
    )
    assert facts == NodeCpu(node="n2", busy_ratio=0.95, idle_ratio=1.0 - 0.95, pressure=0.3)


def test_a_node_without_an_exporter_is_unknown() -> None:
    assert drive(NodeCpuCollector().collect(NodeParams(nodes=())), by_text({})) == NodeCpu()
