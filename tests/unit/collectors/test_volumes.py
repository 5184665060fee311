"""Whether pods keep anything on a disk."""

from typing import Any

import pytest

from tailhound_collectors.pods import PodParams
from tailhound_collectors.volumes import Volumes, VolumesCollector
from tests.driving import TIMEOUT, by_text, drive


def on_disk(*volumes: Any, **container: Any) -> bool | None:
    spec = {"containers": [{"name": "vllm", **container}], "volumes": list(volumes)}
    pod = {"metadata": {"name": "a"}, "spec": spec}
    params = PodParams(namespace="llm", pods=("a",), selector="app=x")
    answers = by_text({"labelSelector": (pod,)})
    return drive(VolumesCollector().collect(params), answers).on_disk


@pytest.mark.parametrize(
    "volume",
    [
        {"persistentVolumeClaim": {"claimName": "kv"}},
        {"hostPath": {"path": "/mnt/kv"}},
        {"hostPath": {"path": "/devices"}},
        {"emptyDir": {}},
        {"emptyDir": None, "ephemeral": {}},
        {"csi": {"driver": "local.example"}},
    ],
)
def test_what_lies_on_a_disk(volume: Any) -> None:
    assert on_disk({"name": "v", **volume}) is True


@pytest.mark.parametrize(
    "volume",
    [
        {"emptyDir": {"medium": "Memory"}},
        {"configMap": {"name": "x"}},
        {"secret": {"secretName": "x"}},
        {"projected": {"sources": []}},
        {"hostPath": {"path": "/dev/infiniband"}},
        {"hostPath": {"path": "/sys"}},
    ],
)
def test_what_does_not(volume: Any) -> None:
    assert on_disk({"name": "v", **volume}) is False


def test_a_raw_block_device_is_a_disk() -> None:
    assert on_disk(volumeDevices=[{"name": "kv", "devicePath": "/dev/kv"}]) is True


def test_a_pod_without_volumes_keeps_nothing() -> None:
    assert on_disk() is False


def test_pods_that_nobody_may_see_are_unknown() -> None:
    params = PodParams(namespace="llm", pods=("a",), selector="app=x")
    assert drive(VolumesCollector().collect(params), by_text({}, TIMEOUT)) == Volumes()
