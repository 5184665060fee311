"""Real tools on real kernels with emulated devices: are faults seen, and healthy ones not?"""

import contextlib
import subprocess
from collections.abc import Iterator

import pytest

from tailhound.model import Missing, Reason
from tailhound.requests import Output
from tailhound_collectors.parse import TOOLS, parse
from tailhound_collectors.parse.ib_counters import RdmaCounters
from tailhound_collectors.parse.ib_ports import RdmaPort, RdmaPorts
from tailhound_collectors.parse.kernel_facts import KernelEvent, KernelLog
from tailhound_collectors.parse.nvme_list import NvmeList
from tailhound_collectors.parse.nvme_smart import SmartLog
from tailhound_collectors.parse.smartctl import SmartCtl
from tests.lab.devices.conftest import GAP_SECONDS, UNREADABLE_SECTOR, Bot
from tests.lab.devices.faults import link_down, loss, removed_drive, warning
from tests.lab.devices.guest import Guest, serial
from tests.lab.process import wait_until

pytestmark = [pytest.mark.devices, pytest.mark.timeout(300)]
Guests = tuple[Guest, Guest]

LIST = ("/usr/sbin/nvme", "list", "-o", "json")
SMART_LOG = ("/usr/sbin/nvme", "smart-log", "-o", "json", "/dev/nvme0")
SMARTCTL = ("/usr/sbin/smartctl", "--json", "-a", "/dev/nvme0")
KERNEL_LOG = ("/usr/bin/dmesg", "--time-format=iso", "--level=emerg,alert,crit,err,warn")
LINK = ("rdma", "-j", "link", "show")
STATISTIC = ("rdma", "-j", "statistic", "show", "link")
HARDWARE = ("grep", "-rsH", "", "/sys/class/infiniband/rxe0/ports/1/hw_counters")
PORTS = {
    "ibstat": ("ibstat",),
    "ibstatus": ("ibstatus",),
    "ibv-devinfo": ("ibv_devinfo", "-v"),
    "rdma-link": LINK,
}
OTHERS = {
    "nvme-error-log": ("/usr/sbin/nvme", "error-log", "-e", "64", "-o", "json", "/dev/nvme0"),
    "nvme-id-ctrl": ("/usr/sbin/nvme", "id-ctrl", "-o", "json", "/dev/nvme0"),
    "nvme-id-ns": ("/usr/sbin/nvme", "id-ns", "-o", "json", "/dev/nvme0n1"),
    "nvme-list-subsys": ("/usr/sbin/nvme", "list-subsys", "-o", "json"),
    "smartctl": SMARTCTL,
    "iostat": ("iostat", "-o", "JSON", "-x", "-d", "-c", "1", "2"),
    "mpstat": ("mpstat", "-P", "ALL", "-o", "JSON", "1", "2"),
    "diskstats": ("cat", "/proc/diskstats"),
    "softnet": ("cat", "/proc/net/softnet_stat"),
    "ethtool": ("ethtool", "eth1"),
    "ethtool-s": ("ethtool", "-S", "eth1"),
    "rdma-statistic": STATISTIC,
    "ib-hw-counters": HARDWARE,
    "lspci": ("lspci", "-D", "-vv", "-s", "0000:00:05.0"),
}


def test_a_healthy_drive_is_there_and_warns_of_nothing(bot: Bot, guests: Guests) -> None:
    for guest in guests:
        (drive,) = bot.facts(NvmeList, guest, "nvme-list", *LIST).devices
        smart = bot.facts(SmartLog, guest, "nvme-smart-log", *SMART_LOG)
        assert (drive.path, drive.serial) == ("/dev/nvme0n1", serial(guest.name))
        assert (smart.critical_warning, warnings(smart)) == (0, ())
        assert (smart.temperature_celsius, smart.media_errors) == (50.0, 0)
        assert bot.facts(SmartCtl, guest, "smartctl", *SMARTCTL).passed is True


@pytest.mark.parametrize("tool", PORTS)
def test_each_tool_says_that_a_healthy_rdma_link_is_up(bot: Bot, guests: Guests, tool: str) -> None:
    for guest in guests:
        found = port(bot, guest, tool)
        assert (found.device, found.active, found.link_up) == ("rxe0", True, True)


@pytest.mark.parametrize("tool", OTHERS)
def test_what_a_tool_prints_on_a_real_device_is_understood(
    bot: Bot, guests: Guests, tool: str
) -> None:
    bot.facts(TOOLS[tool].facts, guests[0], tool, *OTHERS[tool])


def test_a_port_without_a_management_agent_is_not_taken_for_a_healthy_one(
    bot: Bot, guests: Guests
) -> None:
    found = bot.missing(guests[0], "perfquery", "/usr/sbin/perfquery", "-x")
    assert found.reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("byte", "names"),
    [
        (1, ("spare_low",)),
        (4, ("reliability_degraded",)),
        (8 | 4, ("reliability_degraded", "read_only")),
    ],
)
def test_a_drive_that_warns_is_seen_and_only_while_it_does(
    bot: Bot, guests: Guests, byte: int, names: tuple[str, ...]
) -> None:
    guest, neighbour = guests
    with warning(guest, byte):
        smart = bot.facts(SmartLog, guest, "nvme-smart-log", *SMART_LOG)
        judged = bot.facts(SmartCtl, guest, "smartctl", *SMARTCTL)
        beside = bot.facts(SmartLog, neighbour, "nvme-smart-log", *SMART_LOG)
    assert (smart.critical_warning, warnings(smart)) == (byte, names)
    assert judged.passed is False
    assert beside.critical_warning == 0
    after = bot.facts(SmartLog, guest, "nvme-smart-log", *SMART_LOG)
    assert (after.critical_warning, warnings(after)) == (0, ())


def test_an_unreadable_sector_is_found_in_the_kernel_log(bot: Bot, guests: Guests) -> None:
    healthy, faulty = guests
    assert medium_errors(bot, faulty) == ()
    for guest in guests:
        read_sector(guest, UNREADABLE_SECTOR)
    event, *_ = medium_errors(bot, faulty)
    assert (event.device, event.lba, event.actionable) == ("nvme0n1", UNREADABLE_SECTOR, True)
    assert medium_errors(bot, healthy) == ()


def test_a_removed_drive_is_absent_and_not_healthy(bot: Bot, guests: Guests) -> None:
    guest, neighbour = guests
    with removed_drive(guest):
        listed = bot.missing(guest, "nvme-list", *LIST)
        smart = bot.missing(guest, "nvme-smart-log", *SMART_LOG)
        judged = bot.parsed(guest, "smartctl", *SMARTCTL)
        beside = bot.facts(NvmeList, neighbour, "nvme-list", *LIST)
    assert listed.reason is smart.reason is Reason.NOT_APPLICABLE
    assert smart.detail.startswith("no_device: ")
    assert isinstance(judged, Missing) or judged.passed is None
    assert len(beside.devices) == 1
    wait_until(lambda: has_drive(bot, guest), "the drive to be found again")
    assert bot.facts(SmartLog, guest, "nvme-smart-log", *SMART_LOG).critical_warning == 0


def test_an_rdma_link_that_goes_down_is_seen_by_every_tool(bot: Bot, guests: Guests) -> None:
    guest, neighbour = guests
    before = counter(bot, guest, "link_downed")
    with link_down(guest):
        wait_until(lambda: not port(bot, guest, "rdma-link").active, "the link to go down")
        down = {tool: port(bot, guest, tool) for tool in PORTS}
        beside = port(bot, neighbour, "rdma-link")
    assert {tool: found.active for tool, found in down.items()} == dict.fromkeys(PORTS, False)
    assert {down[tool].link_up for tool in PORTS} <= {False, None}
    assert down["ibstat"].link_up is down["rdma-link"].link_up is False
    assert beside.active is True
    wait_until(lambda: port(bot, guest, "rdma-link").active is True, "the link to come up")
    assert counter(bot, guest, "link_downed") == before + 1


def test_loss_between_two_hosts_is_told_from_mere_load_by_what_comes_out_of_sequence(
    bot: Bot, guests: Guests
) -> None:
    sender, receiver = guests
    with load(bot, sender, receiver):
        loaded = growths(bot, guests)
        with loss(sender, percent=5):
            lossy = growths(bot, guests)
    assert loaded[0]["sent_pkts"] > 0
    assert loaded[0]["rcvd_seq_err"] == loaded[1]["out_of_seq_request"] == 0
    assert lossy[0]["rcvd_seq_err"] > 0
    assert lossy[0]["completer_retry_err"] > 0
    assert lossy[1]["out_of_seq_request"] > 0


def warnings(smart: SmartLog) -> tuple[str, ...]:
    names = ("spare_low", "temperature_bad", "reliability_degraded", "read_only", "backup_failed")
    return tuple(name for name in names if getattr(smart, name) is not False)


def port(bot: Bot, guest: Guest, tool: str) -> RdmaPort:
    (found,) = bot.facts(RdmaPorts, guest, tool, *PORTS[tool]).ports
    return found


def has_drive(bot: Bot, guest: Guest) -> bool:
    return isinstance(bot.parsed(guest, "nvme-smart-log", *SMART_LOG), SmartLog)


def medium_errors(bot: Bot, guest: Guest) -> tuple[KernelEvent, ...]:
    events = bot.facts(KernelLog, guest, "dmesg", *KERNEL_LOG).events
    return tuple(event for event in events if event.kind == "medium_error")


def read_sector(guest: Guest, sector: int) -> None:
    source = ("if=/dev/nvme0n1", "of=/dev/null", "bs=512", f"skip={sector}", "count=1")
    guest.run("dd", *source, "iflag=direct")


def counters(output_facts: object) -> dict[str, int]:
    assert isinstance(output_facts, RdmaCounters), output_facts
    (found,) = output_facts.ports
    return {one.name: one.value for one in found.counters if one.value is not None}


def counter(bot: Bot, guest: Guest, name: str) -> int:
    return counters(bot.parsed(guest, "ib-hw-counters", *HARDWARE))[name]


def growths(bot: Bot, guests: Guests) -> list[dict[str, int]]:
    """How much each counter grew between two readings, as the product takes them."""
    return [growth(output) for output in bot.outputs(guests, STATISTIC, twice=True)]


def growth(first: Output) -> dict[str, int]:
    assert first.second is not None
    assert first.gap_seconds >= GAP_SECONDS
    tool = TOOLS["rdma-statistic"]
    before, after = counters(parse(tool, first)), counters(parse(tool, first.second))
    return {name: after[name] - value for name, value in before.items()}


@contextlib.contextmanager
def load(bot: Bot, sender: Guest, receiver: Guest) -> Iterator[None]:
    """RDMA writes go from one guest to the other, slowly, and leave it time for everything else."""
    with contextlib.ExitStack() as stack:
        writes(stack, receiver)
        wait_until(lambda: listens(receiver), "ib_write_bw to listen", 60)
        writes(stack, sender, receiver.fabric_address)
        sent = counter(bot, sender, "sent_pkts")
        wait_until(lambda: counter(bot, sender, "sent_pkts") > sent, "packets to be sent", 60)
        yield
        sender.must("busybox", "killall", "ib_write_bw")  # its peer ends with it


def writes(stack: contextlib.ExitStack, guest: Guest, *peer: str) -> None:
    limit = ("--rate_limit=1", "--rate_units=M", "--rate_limit_type=SW")
    test = ("ib_write_bw", "-d", "rxe0", "-x", "1", "-D", "100", "-s", "4096", "-t", "4", *limit)
    argv = guest.argv("nice", "-n", "19", "timeout", "-k", "1", "120", *test, *peer)
    quiet = subprocess.DEVNULL
    process = stack.enter_context(subprocess.Popen(argv, stdin=quiet, stdout=quiet, stderr=quiet))
    stack.callback(process.kill)


def listens(guest: Guest) -> bool:
    """On the port on which ib_write_bw waits for its peer."""
    return ":18515" in guest.must("ss", "-Hltn")
