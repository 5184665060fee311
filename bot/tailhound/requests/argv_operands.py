"""Which files are read, and which words may follow a tool's options."""

import re

_READABLE = re.compile(
    r"/sys/(?!kernel/(debug|tracing|security)|firmware).+"
    r"|/proc/[0-9]+/(status|stat|statm|sched|schedstat|cgroup|numa_maps|io|limits|comm)"
    r"|/proc/(?!kmsg|kcore|kpage|sysrq-trigger|acpi|bus/|[0-9]+/|self|thread-self|keys).+"
    r"|/etc/(os-release|resolv\.conf|hosts|nsswitch\.conf|fstab|machine-id)"
    r"|/run/systemd/resolve/resolv\.conf"
    r"|/var/log/(kern\.log|messages|syslog|dmesg)"
)
_TOUCHY = re.compile(r"vpd|rom|config|resource[0-9]+(_wc)?|trace_pipe|remove|rescan|reset")
_RECURSIVE = re.compile(
    r"/sys/(class/infiniband/[^/]+/ports/[^/]+/.+|devices/system/(cpu|node).*|fs/cgroup/.+)"
)


def why_no_path(path: str) -> str | None:
    """Why a file is not read; None = it is a plain file that tells the host's own state."""
    if not path.startswith("/"):
        return f"{path!r} is no absolute path"
    parts = path.split("/")[1:]
    if any(part in ("", ".", "..") for part in parts):
        return f"{path!r} is not in its shortest form (no `..`, `.` or `//`)"
    if not _READABLE.fullmatch(path) or _TOUCHY.fullmatch(parts[-1]):
        return f"{path} is none of the host's plain state files (it may hold secrets, or act)"
    return None


def paths(words: tuple[str, ...], _options: frozenset[str]) -> str | None:
    """Files, at least one."""
    if not words:
        return "without a file it would wait for its standard input"
    return next((why for path in words if (why := why_no_path(path))), None)


def pattern_and_paths(words: tuple[str, ...], options: frozenset[str]) -> str | None:
    """A pattern, then files; with -r only where a folder is small and safe to read."""
    if why := paths(words[1:], options):
        return why
    wide = [path for path in words[1:] if "-r" in options and not _RECURSIVE.fullmatch(path)]
    return f"-r below {wide[0]} reads too much" if wide else None


def counted(words: tuple[str, ...], _options: frozenset[str]) -> str | None:
    """Devices, and either no number or an interval with its count."""
    numbers = [word for word in words if word.isdigit()]
    if len(numbers) == 1:
        return "an interval without a count runs for ever: give both"
    if len(numbers) > 2 or any(len(number) > 3 or number == "0" for number in numbers):
        return "interval and count are 1 to 999"
    return None


def none(words: tuple[str, ...], _options: frozenset[str]) -> str | None:
    """No operand at all."""
    return f"{words[0]!r} has no place here" if words else None


def no_assignment(words: tuple[str, ...], _options: frozenset[str]) -> str | None:
    """Names without a value."""
    if not words:
        return "without a name it has nothing to read"
    return next((f"{word!r} would be written" for word in words if "=" in word), None)


def no_secrets(words: tuple[str, ...], _options: frozenset[str]) -> str | None:
    """Anything but Secrets."""
    asked = " ".join(words[1:]).lower()
    return "it would print secrets" if re.search(r"(^|[ ,])secrets?($|[ ,./])", asked) else None


def one(words: tuple[str, ...], _options: frozenset[str]) -> str | None:
    """Exactly one."""
    return None if len(words) == 1 else "exactly one of them is asked"


def format_only(words: tuple[str, ...], _options: frozenset[str]) -> str | None:
    """Only date's own formats."""
    return None if all(word.startswith("+") for word in words) else "it would set the clock"
