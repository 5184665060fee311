"""What the kernel reported of one drive: aborted requests, resets, errors."""

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.drive_kind import controller_of
from tailhound_collectors.parse import TOOLS, parse
from tailhound_collectors.parse.kernel_facts import KernelLog

JOURNAL = (
    "/usr/bin/journalctl",
    "-k",
    "-o",
    "short-iso-precise",
    "--no-pager",
    "--since",
    "-30min",
)
RING = ("/usr/bin/dmesg", "--time-format=iso", "--level=emerg,alert,crit,err,warn")
_NO_ENTRIES = "-- No entries --"


def faults(
    device: str, journal: Output | Missing | None, ring: Output | Missing | None
) -> int | None:
    """How many lines of the last half hour tell of trouble with the drive.

    The journal knows the half hour. The kernel's own ring goes back for weeks: without a line about
    the drive it acquits it, with one nobody can tell when that was.
    """
    lately = _lines(device, journal)
    if lately is not None:
        return lately
    return 0 if _lines(device, ring) == 0 else None


def _lines(device: str, reply: Output | Missing | None) -> int | None:
    if reply is None or isinstance(reply, Missing):
        return None
    if reply.exit_code == 0 and reply.stdout.strip() == _NO_ENTRIES:
        return 0
    found = parse(TOOLS["dmesg"], reply)
    if not isinstance(found, KernelLog) or found.truncated:
        return None
    own = {device, controller_of(device)} - {""}
    return sum(event.device in own for event in found.events)
