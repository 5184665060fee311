"""`nvme error-log`, `ana-log` and `list-subsys`."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document, objects
from tailhound_collectors.parse.lines import agreed, complete, pairs, word
from tailhound_collectors.parse.numbers import ALL_ONES_64, based, json_integer
from tailhound_collectors.parse.tool import Parsed, absent, nothing, unparsable

HARMLESS_STATUS = frozenset({0x2002, 0x4004, 0x6002})
"""Invalid Field: what a drive answers to a probe for something that it does not have."""

_LEADING = re.compile(r"0x[0-9a-fA-F]{1,16}|\d{1,20}")
_FABRIC_PATH = re.compile(r"^\s*\+-\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)(?:\s+(\S+))?\s*$")
_SUBSYSTEM = re.compile(r"^(nvme-subsys\d+) - NQN=(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEntry:
    """One error that the drive logged. `probing`: an admin command with an invalid field."""

    error_number: int
    submission_queue: int | None
    status: int | None
    status_text: str | None
    lba: int | None
    nsid: int | None
    probing: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorLog:
    """The errors that the drive logged. Slots whose error count is 0 are empty, not errors."""

    entries: tuple[ErrorEntry, ...]
    slot_count: int
    valid_count: int
    truncated: bool = False


def error_log(output: Output) -> Parsed:
    """ErrorLog."""
    found = document(output.stdout)
    rest = False
    if isinstance(found, Missing):
        lines, rest = complete(output.stdout)
        slots = [Keys(agreed(pairs(block))) for block in _blocks(lines)]
    elif "errors" not in Keys(found.value):
        return unparsable("it has no errors")
    else:
        slots = Keys(found.value).each("errors")
    known = [slot for slot in slots if json_integer(slot.get("error_count")) is not None]
    if not known and isinstance(found, Missing):
        return found if not slots else nothing(output, "no entry has an error_count")
    entries = tuple(_entry(slot) for slot in known if json_integer(slot.get("error_count")))
    return ErrorLog(
        entries=entries, slot_count=len(known), valid_count=len(entries), truncated=rest
    )


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines of each entry; the dots around its title are left out."""
    block: list[str] | None = None
    for line in lines:
        if line.strip().startswith("Entry["):
            if block is not None:
                yield block
            block = []
        elif block is not None and line.strip(". "):
            block.append(line)
    if block is not None:
        yield block


def _entry(slot: Keys) -> ErrorEntry:
    queue = json_integer(slot.get("sqid"))
    shown = slot.get("status_field")
    status = json_integer(shown)
    if status is None and isinstance(shown, str):
        leading = _LEADING.match(shown)
        status = based(leading[0]) if leading else None
    lba = json_integer(slot.get("lba"))
    known = queue is not None and status is not None
    return ErrorEntry(
        error_number=json_integer(slot.get("error_count")) or 0,
        submission_queue=queue,
        status=status,
        status_text=word(shown.partition("(")[2].rstrip(")")) if isinstance(shown, str) else None,
        lba=None if lba == ALL_ONES_64 else lba,
        nsid=json_integer(slot.get("nsid")),
        probing=queue == 0 and status in HARMLESS_STATUS if known else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnaGroup:
    """One group of namespaces and how this path reaches it (optimized, inaccessible, ...)."""

    number: int | None
    state: str | None
    namespace_count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnaLog:
    """Asymmetric namespace access. `as_text`: nvme-cli 2.5 prints text although JSON is asked."""

    change_count: int | None
    group_count: int | None
    groups: tuple[AnaGroup, ...] = ()
    as_text: bool = False
    truncated: bool = False


def ana_log(output: Output) -> Parsed:
    """AnaLog, from JSON or text."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        return _ana_text(output, found)
    log = Keys(found.value)
    if "chgcnt" not in log and "ngrps" not in log:
        return unparsable("it has neither chgcnt nor ngrps")
    groups = [
        AnaGroup(
            number=json_integer(group.get("grpid")),
            state=word(group.text("state")),
            namespace_count=json_integer(group.get("nnsids")),
        )
        for _, value in log.items()
        for group in objects(value)
        if "grpid" in group
    ]
    return AnaLog(
        change_count=json_integer(log.get("chgcnt")),
        group_count=json_integer(log.get("ngrps")),
        groups=tuple(groups),
    )


def _ana_text(output: Output, why: Missing) -> Parsed:
    lines, rest = complete(output.stdout)
    found: list[list[tuple[str, str]]] = [[]]
    for key, value in pairs(lines):
        if key == "grpid":
            found.append([])
        found[-1].append((key, value))
    head = Keys(agreed(found[0]))
    change, groups = (based(head.text(key) or "") for key in ("chgcnt", "ngrps"))
    if change is None and groups is None:
        return why if not output.stdout.strip() else nothing(output, "it has no chgcnt")
    listed = tuple(_ana_group(Keys(agreed(part))) for part in found[1:])
    return AnaLog(
        change_count=change,
        group_count=groups,
        groups=listed,
        as_text=True,
        truncated=rest or (groups is not None and len(listed) < groups),
    )


def _ana_group(group: Keys) -> AnaGroup:
    return AnaGroup(
        number=based(group.text("grpid") or ""),
        state=word(group.text("state")),
        namespace_count=based(group.text("nnsids") or ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """One way to a subsystem. `address` is a PCI address or traddr=...,trsvcid=... ."""

    controller: str | None
    transport: str | None
    address: str | None
    state: str | None
    ana_state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsystem:
    """One NVMe subsystem and the paths to it."""

    name: str | None
    nqn: str | None
    paths: tuple[Path, ...]
    live_path_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsystems:
    """The NVMe subsystems of a host."""

    subsystems: tuple[Subsystem, ...]
    truncated: bool = False


def list_subsystems(output: Output) -> Parsed:
    """Subsystems; 1.x prints an object, 2.x an array of hosts, both are read."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        return _subsystems_text(output) if "nvme-subsys" in output.stdout else found
    hosts = list(objects(found.value)) or [Keys(found.value)]
    if not any("Subsystems" in host for host in hosts):
        return (
            absent("no NVMe subsystem on this host")
            if found.value == []
            else unparsable("it has no Subsystems")
        )
    listed = tuple(_subsystem(item) for host in hosts for item in _merged(host))
    return Subsystems(subsystems=listed) if listed else absent("no NVMe subsystem on this host")


def _merged(host: Keys) -> list[Keys]:
    """1.x prints a subsystem's name and its paths as two objects of the list."""
    found: list[Keys] = []
    for item in host.each("Subsystems"):
        if "Name" not in item and "Paths" in item and found:
            found[-1] = Keys({**dict(found[-1].items()), **dict(item.items())})
        else:
            found.append(item)
    return found


def _subsystem(item: Keys) -> Subsystem:
    paths = tuple(
        Path(
            controller=word(path.text("Name")),
            transport=word(path.text("Transport")),
            address=word(path.text("Address")),
            state=word(path.text("State")),
            ana_state=word(path.text("ANAState")),
        )
        for path in item.each("Paths")
    )
    return _with_paths(word(item.text("Name")), word(item.text("NQN")), paths)


def _with_paths(name: str | None, nqn: str | None, paths: tuple[Path, ...]) -> Subsystem:
    live = sum(path.state == "live" for path in paths)
    return Subsystem(name=name, nqn=nqn, paths=paths, live_path_count=live)


def _subsystems_text(output: Output) -> Parsed:
    lines, rest = complete(output.stdout)
    found: list[tuple[str, str, list[Path]]] = []
    for line in lines:
        if head := _SUBSYSTEM.match(line):
            found.append((head[1], head[2], []))
        elif found and (path := _FABRIC_PATH.match(line)):
            name, transport, address, state, ana = (word(part) for part in path.groups())
            found[-1][2].append(
                Path(
                    controller=name,
                    transport=transport,
                    address=address,
                    state=state,
                    ana_state=ana,
                )
            )
    if not found:
        return nothing(output, "no subsystem is named")
    listed = tuple(_with_paths(word(name), word(nqn), tuple(paths)) for name, nqn, paths in found)
    return Subsystems(subsystems=listed, truncated=rest)
