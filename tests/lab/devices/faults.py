"""Faults, put into a guest's devices and taken out again."""

import contextlib
from collections.abc import Callable, Iterator

from tests.lab.devices.guest import Guest, serial


@contextlib.contextmanager
def warning(guest: Guest, byte: int) -> Iterator[None]:
    """The drive's health log has this critical warning."""

    def set_to(value: int) -> None:
        with guest.qmp() as qmp:
            where = {"path": "/machine/peripheral/nvme0", "property": "smart_critical_warning"}
            qmp.command("qom-set", **where, value=value)

    with undone(lambda: set_to(byte), lambda: set_to(0)):
        yield


@contextlib.contextmanager
def link_down(guest: Guest) -> Iterator[None]:
    """The cable of the RDMA device is pulled."""

    def up(is_up: bool) -> None:
        with guest.qmp() as qmp:
            qmp.command("set_link", name="fabric", up=is_up)

    with undone(lambda: up(False), lambda: up(True)):
        yield


@contextlib.contextmanager
def removed_drive(guest: Guest) -> Iterator[None]:
    """The drive is pulled from its slot, and put back at the end."""
    with guest.qmp() as qmp:
        qmp.command("device_del", id="nvme0")
        qmp.wait_for("DEVICE_DELETED")
        try:
            yield
        finally:
            told = {"id": "nvme0", "serial": serial(guest.name), "drive": "drive0"}
            qmp.command("device_add", driver="nvme", **told)


@contextlib.contextmanager
def loss(guest: Guest, percent: int) -> Iterator[None]:
    """What the guest sends into the fabric is lost, at random."""
    rule = ("dev", "eth1", "root", "netem", "loss", f"{percent}%")
    with undone(
        lambda: guest.must("tc", "qdisc", "add", *rule),
        lambda: guest.must("tc", "qdisc", "del", *rule[:3]),
    ):
        yield


@contextlib.contextmanager
def undone(make: Callable[[], object], undo: Callable[[], object]) -> Iterator[None]:
    make()
    try:
        yield
    finally:
        undo()
