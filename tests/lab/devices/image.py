"""What is in a guest: this machine's own programs with their libraries, and a kernel's modules.

Nothing is installed for it and nothing in it is patched: the tools are those that hosts run.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.lab.devices import archive
from tests.lab.devices.archive import Node

INIT = Path(__file__).with_name("init.sh")

PROGRAMS = (
    *(
        f"/usr/sbin/{name}"
        for name in ("nvme", "ibstat", "ibstatus", "perfquery", "ethtool", "smartctl", "sshd")
    ),
    *(
        f"/usr/bin/{name}"
        for name in (
            *("bash", "busybox", "cat", "dash", "dd", "df", "dmesg", "grep", "ls", "lsblk"),
            *("lscpu", "nice", "sed", "timeout", "true", "uname"),
            *("ib_write_bw", "ibv_devinfo", "iostat", "ip", "lspci", "mpstat", "rdma", "ss"),
        )
    ),
    "/usr/sbin/tc",
)
"""Each under the path that the product's allow-list or PATH finds it at."""

_LOADED_AT_RUN_TIME = (
    "/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so",
    "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1",
    "/etc/libibverbs.d/rxe.driver",
    "/usr/share/misc/pci.ids",
)
MODULES = (
    *("crc32_generic", "crc32_pclmul"),  # rdma_rxe asks for them by name, so no dependency says so
    *("virtio_pci", "virtio_net", "virtio_rng", "nvme", "rdma_rxe", "ib_umad", "ib_uverbs"),
    *("rdma_ucm", "sch_netem"),
)
_LINKS = {
    "bin": "usr/bin",
    "sbin": "usr/sbin",
    "lib": "usr/lib",
    "lib64": "usr/lib64",
    "usr/bin/sh": "dash",
}
_FOLDERS = ("dev", "proc", "run/sshd", "sys", "tmp", "var/empty")
_ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/bin/false\n",
    "shadow": "root:*:19000:0:99999:7:::\n",
    "group": "root:x:0:\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\n",
    "ssh/sshd_config": """\
HostKey /etc/ssh/hostkey
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
""",
}
_LIBRARY = re.compile(r"(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def nodes(modules: Mapping[str, bytes], host_key: bytes, client: bytes) -> Iterator[Node]:
    """Everything in the guest. `modules` in the order in which they are to be loaded."""
    for path, target in _LINKS.items():
        yield archive.link(path, target)
    for path in _FOLDERS:
        yield archive.folder(path)
    for path, text in _ETC.items():
        yield archive.file(f"etc/{path}", text.encode())
    yield archive.file("etc/ssh/hostkey", host_key, 0o600)
    yield archive.folder("root", 0o700)
    yield archive.folder("root/.ssh", 0o700)
    yield archive.file("root/.ssh/authorized_keys", client, 0o600)
    yield archive.file("init", INIT.read_bytes(), 0o755)
    for name, data in modules.items():
        yield archive.file(f"usr/lib/modules/{name}", data)
    listed = "".join(f"/usr/lib/modules/{name}\n" for name in modules)
    yield archive.file("etc/modlist", listed.encode())
    for found in _with_libraries():
        yield archive.file(str(_in_guest(found)), found.read_bytes(), 0o755)


def _with_libraries() -> Iterator[Path]:
    for path in map(Path, (*PROGRAMS, *_LOADED_AT_RUN_TIME)):
        yield path
        yield from _libraries(path)


def _libraries(path: Path) -> Iterator[Path]:
    """What the loader brings for a program; nothing for a script or a static program."""
    if path.read_bytes()[:4] != b"\x7fELF":
        return
    said = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False).stdout
    for found in _LIBRARY.findall(said):
        yield Path(found)


def _in_guest(path: Path) -> Path:
    """Folders are resolved (/lib is /usr/lib), the name is kept: it is what the loader asks for."""
    return (path.parent.resolve() / path.name).relative_to("/")
