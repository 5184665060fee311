"""The collectors that ask a host about its devices, on emulated ones."""

import pytest

from tailhound_collectors.drive_health import DriveHealthCollector, DriveParams
from tailhound_collectors.rdma_host import HostParams, HostRdmaCollector
from tests.lab.devices.conftest import Bot
from tests.lab.devices.faults import link_down, warning
from tests.lab.devices.guest import Guest

pytestmark = [pytest.mark.devices, pytest.mark.timeout(300)]
Guests = tuple[Guest, Guest]


def test_the_drive_collector_says_that_a_drive_is_failing_only_while_it_says_so(
    bot: Bot, guests: Guests
) -> None:
    guest, _ = guests
    params = DriveParams(nodes=(guest.name,), device="nvme0n1")
    healthy = bot.collected(guest, DriveHealthCollector(), params)
    with warning(guest, 4):
        failing = bot.collected(guest, DriveHealthCollector(), params)
    assert (healthy["failing"], failing["failing"]) == (False, True)
    assert (healthy["transport"], healthy["model"]) == ("pcie", "QEMU NVMe Ctrl")
    assert healthy["local"] is False  # a virtual drive says nothing of what is behind it
    assert healthy["temperature_celsius"] == 50


def test_the_rdma_collector_counts_the_port_whose_link_is_down(bot: Bot, guests: Guests) -> None:
    guest, _ = guests
    params = HostParams(nodes=(guest.name,))
    healthy = bot.collected(guest, HostRdmaCollector(), params)
    with link_down(guest):
        down = bot.collected(guest, HostRdmaCollector(), params)
    assert (healthy["has_ports"], healthy["inactive_ports_count"]) == (True, 0)
    assert (down["ports_count"], down["inactive_ports_count"]) == (1, 1)
