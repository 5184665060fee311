"""What pod specs say about CPU limits."""

from typing import Any

import pytest

from tailhound_collectors.pods import Container, ContainerCollector, PodParams, _cores
from tests.driving import TIMEOUT, by_text, drive


def pod(name: str, limit: str | None, **status: Any) -> Any:
    resources = {"limits": {"cpu": limit}, "requests": {"cpu": "2"}} if limit else {}
    return {
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "Helm"}},
        "spec": {"containers": [{"name": "vllm", "resources": resources}, {"name": "log"}]},
        "status": {"qosClass": "Burstable", **status},
    }


def collected(*pods: Any, selector: str = "app=x") -> Container:
    names = tuple(item["metadata"]["name"] for item in pods)
    params = PodParams(namespace="llm", pods=names, container="vllm", selector=selector)
    return drive(
        ContainerCollector().collect(params), by_text({"labelSelector": pods, "pods/": pods[0]})
    )


def test_the_lowest_limit_counts() -> None:
    facts = collected(pod("a", "6"), pod("b", "500m"))
    assert (facts.has_cpu_limit, facts.cpu_limit_cores) == (True, 0.5)
    assert facts.managed_by == "helm"


def test_without_a_limit_there_is_none() -> None:
    facts = collected(pod("a", None))
    assert (facts.has_cpu_limit, facts.cpu_limit_cores) == (False, None)
    assert facts.may_have_exclusive_cpus is False


def test_guaranteed_with_whole_cores_may_be_exclusive() -> None:
    assert collected(pod("a", "4", qosClass="Guaranteed")).may_have_exclusive_cpus is True
    assert collected(pod("a", "4500m", qosClass="Guaranteed")).may_have_exclusive_cpus is False


def test_an_in_place_resize_is_what_is_in_force() -> None:
    resized = {"name": "vllm", "resources": {"limits": {"cpu": "9"}}}
    assert collected(pod("a", "6", containerStatuses=[resized])).cpu_limit_cores == 9.0


def test_without_a_selector_one_pod_is_asked() -> None:
    assert collected(pod("a", "6"), selector="").cpu_limit_cores == 6.0


def test_no_answer_is_no_statement_about_the_limit() -> None:
    params = PodParams(namespace="llm", pods=("a",), container="vllm", selector="app=x")
    assert drive(ContainerCollector().collect(params), by_text({}, default=TIMEOUT)) == Container()


@pytest.mark.parametrize(
    ("quantity", "cores"),
    [
        ("6", 6.0),
        ("500m", 0.5),
        ("2.5", 2.5),
        (4, 4.0),
        ("1500000u", 1.5),
        (None, None),
        ("x", None),
    ],
)
def test_quantities_are_read_as_kubernetes_writes_them(
    quantity: object, cores: float | None
) -> None:
    assert _cores(quantity) == cores
