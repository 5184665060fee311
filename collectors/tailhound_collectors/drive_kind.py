"""Whether a block device is a drive of this host, or only looks like one."""

import re
from dataclasses import dataclass

from tailhound_collectors.parse.nvme_logs import Subsystems

_NVME = re.compile(r"(nvme\d{1,3})n\d{1,3}")
_VOLUMES = re.compile(
    # Amazon Elastic Block Store | Google PersistentDisk: nvme_card-pd | MSFT NVMe Accelerator v1.0
    #   the model names of network volumes in `nvme list` on these clouds
    r"Elastic Block|nvme_card-pd|MSFT NVMe Accelerator"
    r"|Virtual_?Disk|Virtual Disk|VBOX|QEMU",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DriveKind:
    """The model, and how the host reaches it ("pcie", "rdma", "tcp", "fc")."""

    model: str | None = None
    transport: str | None = None


def controller_of(device: str) -> str:
    """The controller of an NVMe namespace: nvme0 of nvme0n1; "" for any other device."""
    found = _NVME.fullmatch(device)
    return found[1] if found else ""


def kind_of(device: str, model: str | None, subsystems: Subsystems | None) -> DriveKind:
    """The transport is that of the subsystem with the device's number.

    With native multipath nvme0n1 is namespace 1 of subsystem 0, and its paths have other numbers;
    without it both numbers are the same controller's.
    """
    controller = controller_of(device)
    transports = {
        path.transport
        for subsystem in (subsystems.subsystems if subsystems else ())
        for path in subsystem.paths
        if path.transport
        and (subsystem.name == f"nvme-subsys{controller[4:]}" or path.controller == controller)
    }
    return DriveKind(model, transports.pop() if len(transports) == 1 else None)


def provided(model: str | None) -> bool:
    """Whether the model is a volume that a provider or hypervisor makes up."""
    return model is not None and _VOLUMES.search(model) is not None
