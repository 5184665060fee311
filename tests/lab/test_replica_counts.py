"""How many replicas are in service, by a real Prometheus: the right number, or none at all."""

import time
from collections.abc import Iterator

import pytest

from tailhound_collectors.replica_queries import desired, in_service
from tailhound_collectors.workload_names import WorkloadParams
from tests.lab.conftest import Needs
from tests.lab.history import Sampled
from tests.lab.prometheus import Prometheus
from tests.lab.series import parsed

pytestmark = pytest.mark.lab

NOW = float(int(time.time()))
PODS = ("notebook", "trainer")
Exposed = dict[str, float]

A_HAS_NODE = {'kube_pod_info{pod="notebook",node="n1"}': 1.0}
B_HAS_NODE = {'kube_pod_info{pod="trainer",node="n2"}': 1.0}
A_WAITS = {'kube_pod_info{pod="notebook"}': 1.0, 'kube_pod_created{pod="notebook"}': 100.0}
B_WAITS = {'kube_pod_info{pod="trainer"}': 1.0, 'kube_pod_created{pod="trainer"}': 100.0}
A_READY = {
    'kube_pod_status_ready{pod="notebook",condition="true"}': 1.0,
    'kube_pod_status_ready{pod="notebook",condition="false"}': 0.0,
}
B_UNREADY = {
    'kube_pod_status_ready{pod="trainer",condition="true"}': 0.0,
    'kube_pod_status_ready{pod="trainer",condition="false"}': 1.0,
}
OTHER_READY = {'kube_pod_status_ready{pod="other",condition="true"}': 1.0}
BOTH_PLACED = A_HAS_NODE | B_HAS_NODE

BY_PODS: dict[str, tuple[Exposed, float | None, float | None]] = {
    "both tell": (BOTH_PLACED | A_READY | B_UNREADY, 2, 1),
    "one waits for a node beside one that is ready": (A_HAS_NODE | A_READY | B_WAITS, 2, 1),
    "one has a node, and its kubelet has not seen it": (BOTH_PLACED | A_READY, 2, 1),
    "neither tells, but another of the namespace does": (BOTH_PLACED | OTHER_READY, 2, 0),
    "readiness is left out": (BOTH_PLACED, 2, None),
    "of readiness only the false ones are kept": (
        BOTH_PLACED | {'kube_pod_status_ready{pod="notebook",condition="false"}': 0.0},
        2,
        None,
    ),
    "readiness is left out, and none has a node": (A_WAITS | B_WAITS, 2, 0),
    "readiness is left out, and only one has a node": (A_HAS_NODE | B_WAITS, 2, None),
    "readiness is left out, and of one nobody tells the node": (
        A_WAITS | {'kube_pod_created{pod="trainer"}': 100.0},
        2,
        None,
    ),
    "the earlier series of a pod that now has a node is still there": (
        A_WAITS | A_HAS_NODE,
        1,
        None,
    ),
    "only creations are told": ({'kube_pod_created{pod="notebook"}': 100.0}, 1, None),
    "nothing is told": (OTHER_READY, None, None),
}

SPEC = {'kube_deployment_spec_replicas{deployment="chat"}': 2.0}
AVAILABLE = {'kube_deployment_status_replicas_available{deployment="chat"}': 1.0}
SET_SPEC = {'kube_statefulset_replicas{statefulset="chat"}': 3.0}
SET_READY = {'kube_statefulset_status_replicas_ready{statefulset="chat"}': 3.0}

BY_OWNERS: dict[str, tuple[Exposed, float | None, float | None]] = {
    "a Deployment": (SPEC | AVAILABLE, 2, 1),
    "a Deployment and a StatefulSet of one name": (SPEC | AVAILABLE | SET_SPEC | SET_READY, 5, 4),
    "of one of them nobody tells what is ready": (SPEC | AVAILABLE | SET_SPEC, 5, None),
    "of neither": (SPEC | SET_SPEC, 5, None),
}


def space(kind: str, name: str) -> str:
    return f"{kind}-{name}".replace(" ", "-").replace(",", "")


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory, needs: Needs) -> Iterator[Prometheus]:
    needs("prometheus")
    server = Prometheus(tmp_path_factory.mktemp("prometheus")).start()
    told = [
        Sampled({"__name__": metric, **labels, "namespace": space(kind, name)}, [value])
        for kind, cases in (("pods", BY_PODS), ("owners", BY_OWNERS))
        for name, (exposed, _, _) in cases.items()
        for text, value in exposed.items()
        for metric, labels in [parsed(text)]
    ]
    try:
        server.write(told, [NOW])
        yield server
    finally:
        server.stop()


def counted(prometheus: Prometheus, promql: str) -> float | None:
    found = prometheus.query(promql, NOW)
    assert len(found) <= 1
    assert all(labels == {} for labels, _ in found)
    return found[0][1] if found else None


@pytest.mark.parametrize("name", BY_PODS)
def test_pods_are_counted_whole_or_not_at_all(prometheus: Prometheus, name: str) -> None:
    params = WorkloadParams(namespace=space("pods", name), pods=PODS)
    counts = (counted(prometheus, desired(params)), counted(prometheus, in_service(params)))
    assert counts == BY_PODS[name][1:]


@pytest.mark.parametrize("name", BY_OWNERS)
def test_owners_are_counted_whole_or_not_at_all(prometheus: Prometheus, name: str) -> None:
    params = WorkloadParams(namespace=space("owners", name), workload="chat")
    counts = (counted(prometheus, desired(params)), counted(prometheus, in_service(params)))
    assert counts == BY_OWNERS[name][1:]
