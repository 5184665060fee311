"""What the guests are made of, and what of it is missing on this machine."""

import os
from collections.abc import Callable, Mapping
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


def _is_there(path: str) -> bool:
    return Path(path).exists()


def missing(is_there: Callable[[str], bool] = _is_there) -> tuple[str, ...]:
    """The packages to install, by name."""
    known = {path for paths in PACKAGES.values() for path in paths}
    absent = [name for name, paths in PACKAGES.items() if not all(map(is_there, paths))]
    base = [path for path in PROGRAMS if path not in known and not is_there(path)]
    return (*absent, *(f"(the package of {path})" for path in base))


def advice(packages: tuple[str, ...] | None = None) -> str:
    """What to do about what is missing; empty when nothing is."""
    if os.uname().machine != "x86_64":
        return f"the guests are made of x86_64 programs: this machine is {os.uname().machine}"
    if packages is None:
        packages = missing()
    if not packages:
        return ""
    return (
        "to emulate devices, install: "
        f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    )
