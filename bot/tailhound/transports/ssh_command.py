"""What is sent to a host for one argv, and what its end means."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from tailhound.model import Missing, Reason
from tailhound.model.redaction import plain
from tailhound.requests.argv import needs_root
from tailhound.requests.argv_sudoers import sudoers_line
from tailhound.requests.ssh import Output

WRAPPER = "tailhound-host"
_ENVIRONMENT = "LC_ALL=C LANG=C TERM=dumb NO_COLOR=1 S_COLORS=never"
_KILL_AFTER = 2
_PACKAGES = {
    "nvme": "nvme-cli",
    "iostat": "sysstat",
    "mpstat": "sysstat",
    "pidstat": "sysstat",
    "ibstat": "infiniband-diags",
    "ibstatus": "infiniband-diags",
    "perfquery": "infiniband-diags",
    "ibv_devinfo": "ibverbs-utils",
    "rdma": "iproute2 (with rdma)",
    "ss": "iproute2",
    "ip": "iproute2",
    "lspci": "pciutils",
    "smartctl": "smartmontools",
    "turbostat": "linux-cpupower",
    "mtr": "mtr-tiny",
    "ping": "iputils-ping",
    "dcgmi": "datacenter-gpu-manager",
    "nvidia-smi": "the NVIDIA driver",
    "timeout": "coreutils",
}
_SUDO_REFUSES = re.compile(
    r"^sudo: .*(password is required|terminal is required|must have a tty|no tty present"
    r"|account validation failure|PAM)|is not (allowed to|in the sudoers)|may not run sudo",
    re.MULTILINE,
)
_SUDO_FINDS_NOTHING = re.compile(r"^sudo: \S+: command not found", re.MULTILINE)
_NO_SUDO = re.compile(r"sudo['’]?: .*(not found|No such file)")


@dataclass(frozen=True, slots=True)
class Command:
    """One argv on its way to a host: what is executed, what is sent to its standard input.

    `mark` is random; the command prints it before its own output on both streams, and whatever a
    log-in shell said before it is dropped.
    """

    argv: tuple[str, ...]
    line: str
    stdin: bytes
    mark: str
    seconds: int
    as_root: bool


def through_shell(argv: Sequence[str], mark: str, seconds: int, *, sudo: bool) -> Command:
    """A command line for any log-in shell: made of quoted literals and one allowed argv.

    It ends by itself after `seconds`: nothing else ends a command whose connection is gone.
    """
    as_root = sudo and needs_root(argv)
    asked = shlex.join(["sudo", "-n", *argv] if as_root else argv)
    script = (
        f"PATH=$PATH:/usr/sbin:/sbin; export PATH; echo {mark}; echo {mark} >&2; "
        f"{_ENVIRONMENT} exec timeout -k {_KILL_AFTER} {seconds} {asked} </dev/null"
    )
    return Command(
        tuple(argv), f"exec /bin/sh -c {shlex.quote(script)}", b"", mark, seconds, as_root
    )


def through_wrapper(argv: Sequence[str], mark: str, seconds: int, *, sudo: bool) -> Command:
    """A JSON line for the forced command `tailhound-host`, which needs no shell for the argv."""
    as_root = sudo and needs_root(argv)
    asked = {"argv": list(argv), "mark": mark, "seconds": seconds, "sudo": as_root}
    stdin = json.dumps(asked).encode() + b"\n"
    return Command(tuple(argv), WRAPPER, stdin, mark, seconds, as_root)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: both streams, and the exit status (-1 = the host gave none)."""

    stdout: bytes
    stderr: bytes
    status: int


def meaning(command: Command, ended: Ended, host: str, user: str) -> Output | Missing:
    """The output, or why there is none. A tool's own failure is an answer, for its parser to read.

    What failed before the tool ran, and what stopped it, is Missing: never "it printed nothing".
    """
    shown = shlex.join(command.argv)
    stdout = _after_mark(ended.stdout, command.mark)
    stderr = _after_mark(ended.stderr, command.mark) or ""
    if ended.status == -1:
        return Missing(
            Reason.UNREACHABLE,
            f"`{shown}` on {host} ended without an exit status: it was killed, or the session cut",
        )
    if stdout is None:
        said = plain(_text(ended.stdout + ended.stderr).strip(), 200) or "nothing"
        return Missing(
            Reason.FORBIDDEN,
            f"the account {user} on {host} runs no command: it said {said!r}. It needs a shell "
            "such as /bin/sh, or the forced command tailhound-host together with ssh.wrapper: true",
        )
    if stdout.startswith("refused: ") and not command.line.startswith("exec "):
        return Missing(Reason.FORBIDDEN, f"tailhound-host on {host}: {plain(stdout.strip(), 400)}")
    return _why_not_run(command, ended.status, stderr, host, user) or Output(
        stdout, stderr, ended.status
    )


def _why_not_run(
    command: Command, status: int, stderr: str, host: str, user: str
) -> Missing | None:
    shown = shlex.join(command.argv)
    if status == 124:
        detail = f"`{shown}` on {host} did not end within {command.seconds} s"
        return Missing(Reason.TIMEOUT, detail)
    if status == 137:
        detail = f"`{shown}` on {host} was killed: not ended in time, or no memory was left"
        return Missing(Reason.TIMEOUT, detail)
    if status == 127:
        return _no_tool(_absent(command, stderr), host)
    if status == 126:
        said = plain(stderr.strip(), 200)
        return Missing(Reason.FORBIDDEN, f"{user} may not execute `{shown}` on {host}: {said}")
    return _sudo_says(command, stderr, host, user) if command.as_root and status else None


def _sudo_says(command: Command, stderr: str, host: str, user: str) -> Missing | None:
    if _SUDO_FINDS_NOTHING.search(stderr):
        return _no_tool(command.argv[0].rsplit("/", 1)[-1], host)
    if not _SUDO_REFUSES.search(stderr):
        return None
    return Missing(
        Reason.FORBIDDEN,
        f"sudo on {host} refuses `{shlex.join(command.argv)}`; add to /etc/sudoers.d/tailhound: "
        f"{sudoers_line(command.argv, user)}",
    )


def _absent(command: Command, stderr: str) -> str:
    if re.search(r"timeout: (command )?not found", stderr):
        return "timeout"
    if command.as_root and _NO_SUDO.search(stderr):
        return "sudo"
    return command.argv[0].rsplit("/", 1)[-1]


def _no_tool(tool: str, host: str) -> Missing:
    package = _PACKAGES.get(tool, tool)
    return Missing(
        Reason.NOT_APPLICABLE,
        f"no such tool `{tool}` on {host}; to have this evidence, install {package} there",
    )


def _after_mark(stream: bytes, mark: str) -> str | None:
    """What follows the line with the mark; None when it never came."""
    _, found, rest = stream.partition(mark.encode() + b"\n")
    return _text(rest) if found else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")
