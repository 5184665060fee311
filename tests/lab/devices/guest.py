"""A guest: an emulated machine with an NVMe drive, a soft-RoCE device and an SSH server.

It reaches nothing but its fabric, which is one other guest, and it dies with the test process.
"""

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.devices.build import Image
from tests.lab.devices.qmp import Qmp
from tests.lab.process import LabError, Server, free_port

ADDRESS = "127.0.0.1"
_DRIVE_BYTES = 256 * 1024 * 1024
_BOOT_SECONDS = 180.0
"""Four seconds on an idle machine; the rest is for one that is very busy."""
_MEMORY_MIB = 256
_LISTENING = "Server listening on"


@dataclass(frozen=True, slots=True)
class Plan:
    """What differs between guests. `bad_sector` is one of 512 bytes that can't be read."""

    name: str
    fabric_address: str
    bad_sector: int | None = None


class Guest:
    """One that runs."""

    def __init__(self, plan: Plan, image: Image, folder: Path, fabric: str) -> None:
        self.name = plan.name
        self.fabric_address = plan.fabric_address
        self.port = free_port(ADDRESS)
        self._image = image
        self._folder = folder
        self._known_hosts = folder / f"{plan.name}.known_hosts"
        self._known_hosts.write_text(self.known_hosts_line + "\n")
        drive = folder / f"{plan.name}.img"
        drive.touch()
        os.truncate(drive, _DRIVE_BYTES)
        argv = (*_machine(image, plan), *self._devices(plan, drive, fabric))
        self._server = Server(argv, folder / f"{plan.name}.console")
        self._server.name = f"the guest {plan.name}"

    @property
    def known_hosts_line(self) -> str:
        """The line that makes a client trust this guest."""
        return f"[{ADDRESS}]:{self.port} {self._image.host_key}"

    @property
    def control(self) -> Path:
        """The path of its control socket."""
        return self._folder / f"{self.name}.qmp"

    def wait_for_control(self) -> None:
        """Wait until QEMU listens: also the fabric's socket is there then."""
        self._server.ready(self.control.exists)

    def wait_until_up(self) -> None:
        """Wait until the SSH server says on the console that it listens, then for its greeting.

        Not by connecting again and again: QEMU takes connections long before the server is there,
        and one that is given up costs the guest as much as one that is used.
        """
        self._server.ready(lambda: _LISTENING in self.console(), _BOOT_SECONDS)
        with socket.create_connection((ADDRESS, self.port), timeout=_BOOT_SECONDS) as first:
            greeting = first.recv(4)
        if greeting != b"SSH-":
            raise LabError(f"{self.name} greets with {greeting!r}; its console: {self.console()}")

    def console(self) -> str:
        """What the kernel and the SSH server wrote."""
        return self._server.log.read_text(errors="replace")

    def qmp(self) -> Qmp:
        """A new connection to its control socket."""
        return Qmp(self.control)

    def argv(self, *command: str) -> list[str]:
        """How to run a command in the guest beside the product, to make trouble or load."""
        options = ("BatchMode=yes", f"UserKnownHostsFile={self._known_hosts}", "ConnectTimeout=20")
        named = [word for option in options for word in ("-o", option)]
        where = ["-i", str(self._image.key), "-p", str(self.port), f"root@{ADDRESS}"]
        return ["ssh", "-F", "/dev/null", *named, *where, *command]

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run it to its end."""
        return subprocess.run(
            self.argv(*command), capture_output=True, text=True, timeout=60, check=False
        )

    def must(self, *command: str) -> str:
        """What it printed; LabError when it failed."""
        done = self.run(*command)
        if done.returncode:
            raise LabError(f"{command} in {self.name} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    @property
    def pid(self) -> int:
        """The process id of its QEMU."""
        return self._server.pid

    def stop(self) -> None:
        """End it at once."""
        self._server.kill()

    def _devices(self, plan: Plan, drive: Path, fabric: str) -> tuple[str, ...]:
        """The log-in network reaches nothing (restrict). The drive can be pulled: it is no root."""
        fault = "" if plan.bad_sector is None else _unreadable(plan.bad_sector)
        last = plan.fabric_address.rpartition(".")[2]
        return (
            *("-serial", "stdio"),
            *("-qmp", f"unix:{self.control},server=on,wait=off"),
            *("-netdev", f"user,id=net0,restrict=on,hostfwd=tcp:{ADDRESS}:{self.port}-:22"),
            *("-device", "virtio-net-pci,netdev=net0,romfile="),
            *("-device", "virtio-rng-pci"),
            *("-netdev", f"{fabric},id=net1"),
            "-device",
            f"virtio-net-pci,netdev=net1,id=fabric,romfile=,mac=52:54:00:00:0a:{int(last):02x}",
            *("-blockdev", f"driver=file,filename={drive},node-name=file0"),
            *("-blockdev", f"driver=blkdebug,image=file0,node-name=faulty0{fault}"),
            *("-blockdev", "driver=raw,file=faulty0,node-name=drive0"),
            *("-device", f"nvme,id=nvme0,serial={serial(plan.name)},drive=drive0"),
        )


def serial(name: str) -> str:
    """The serial number of a guest's drive."""
    return f"SN-{name}"


def _machine(image: Image, plan: Plan) -> Sequence[str]:
    told = f"name={plan.name} fabric={plan.fabric_address}"
    quick = "quiet mitigations=off random.trust_cpu=on no_timer_check"
    return (
        *("setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", "-name", plan.name),
        *("-accel", "tcg,tb-size=64", "-cpu", "max", "-smp", "1", "-m", str(_MEMORY_MIB)),
        *("-nodefaults", "-nographic", "-no-reboot"),
        *("-kernel", str(image.kernel), "-initrd", str(image.root)),
        *("-append", f"console=ttyS0 panic=-1 {quick} {told}"),
    )


def _unreadable(sector: int) -> str:
    return "".join(
        f",inject-error.0.{key}={value}"
        for key, value in (
            ("event", "read_aio"),
            ("errno", 5),
            ("sector", sector),
            ("once", "off"),
        )
    )


@contextlib.contextmanager
def two_guests(image: Image, left: Plan, right: Plan) -> Iterator[tuple[Guest, Guest]]:
    """Both, up, joined by a cable; nothing of them is left behind."""
    with tempfile.TemporaryDirectory(prefix="th-guest-") as made, contextlib.ExitStack() as stack:
        folder = Path(made)
        cable = f"stream,addr.type=unix,addr.path={folder / 'cable'}"
        first = Guest(left, image, folder, f"{cable},server=on")
        stack.callback(first.stop)
        first.wait_for_control()
        second = Guest(right, image, folder, f"{cable},server=off")
        stack.callback(second.stop)
        for guest in (first, second):
            guest.wait_until_up()
        yield first, second
