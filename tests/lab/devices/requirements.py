"""What the guests are made of, and what of it is missing on this machine."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.lab.devices.image import PROGRAMS

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "qemu-system-x86": ("/usr/bin/qemu-system-x86_64",),
    "busybox-static": ("/usr/bin/busybox",),
    "kmod": ("/usr/sbin/depmod", "/usr/sbin/modprobe"),
    "nvme-cli": ("/usr/sbin/nvme",),
    "infiniband-diags": ("/usr/sbin/ibstat", "/usr/sbin/ibstatus", "/usr/sbin/perfquery"),
    "ibverbs-utils": ("/usr/bin/ibv_devinfo",),
    "ibverbs-providers": ("/etc/libibverbs.d/rxe.driver",),
    "iproute2": ("/usr/bin/ip", "/usr/bin/rdma", "/usr/bin/ss", "/usr/sbin/tc"),
    "perftest": ("/usr/bin/ib_write_bw",),
    "smartmontools": ("/usr/sbin/smartctl",),
    "sysstat": ("/usr/bin/iostat", "/usr/bin/mpstat"),
    "ethtool": ("/usr/sbin/ethtool",),
    "pciutils": ("/usr/bin/lspci",),
    "pci.ids": ("/usr/share/misc/pci.ids",),
    "openssh-server": ("/usr/sbin/sshd",),
    "openssh-client": ("/usr/bin/ssh", "/usr/bin/ssh-keygen"),
    "apt": ("/usr/bin/apt-get", "/usr/bin/apt-cache"),
    "dpkg": ("/usr/bin/dpkg-deb",),
    "util-linux": ("/usr/bin/setpriv",),
}
"""By Debian package: the files that are needed of it."""


def missing() -> tuple[str, ...]:
    """The packages to install, by name."""
    known = {path for paths in PACKAGES.values() for path in paths}
    absent = [name for name, paths in PACKAGES.items() if not all(map(_is_there, paths))]
    base = [path for path in PROGRAMS if path not in known and not _is_there(path)]
    return (*absent, *(f"(the package of {path})" for path in base))


def advice() -> str:
    """What to do about what is missing; empty when nothing is."""
    if os.uname().machine != "x86_64":
        return (
            f"the guests are x86_64, built of this machine's programs: {os.uname().machine} is not"
        )
    packages = missing()
    if not packages:
        return ""
    return (
        "to emulate devices, install: "
        f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    )


def _is_there(path: str) -> bool:
    return Path(path).exists() or shutil.which(Path(path).name) == path
