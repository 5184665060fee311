"""Whether the pods of a workload keep anything on a disk, from their specs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailhound.flow import Reading
from tailhound_collectors.pods import PodParams, pods_of

_IN_MEMORY = frozenset({"configMap", "secret", "projected", "downwardAPI"})
_NO_DISK = ("/dev", "/sys", "/proc", "/run", "/var/run", "/etc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Volumes:
    """`on_disk`: a claim, a host's folder or an emptyDir that is not in memory.

    False still leaves the image's own layer and logs, which no request waits for as a rule.
    """

    on_disk: bool | None = None


class VolumesCollector:
    """`kubernetes.volumes`: what the pods of the workload mount."""

    name = "kubernetes.volumes"
    params = PodParams
    facts = Volumes

    def collect(self, params: PodParams) -> Reading[Volumes]:
        """One list, or one pod."""
        pods = yield from pods_of(params)
        if not pods:
            return Volumes()
        return Volumes(on_disk=any(_holds_disk(pod.get("spec", {})) for pod in pods))


def _holds_disk(spec: Mapping[str, Any]) -> bool:
    if any(one.get("volumeDevices") for one in spec.get("containers") or ()):
        return True
    return any(_on_disk(volume) for volume in spec.get("volumes") or ())


def _on_disk(volume: Mapping[str, Any]) -> bool:
    kinds = {name for name, value in volume.items() if name != "name" and value is not None}
    if kinds <= _IN_MEMORY:
        return False
    if "emptyDir" in kinds:
        return (volume["emptyDir"] or {}).get("medium") != "Memory"
    path = str((volume.get("hostPath") or {}).get("path") or "")
    return not any(path == folder or path.startswith(f"{folder}/") for folder in _NO_DISK)
