"""Why a command gave nothing: sudo, rights, a missing tool, no device. Each with what would help.

Looked at only when no fact was found, so that a warning beside a good answer changes nothing.
"""

import re
from dataclasses import dataclass

from tailhound.model import Missing, Reason
from tailhound.model.redaction import plain
from tailhound.requests import Output
from tailhound_collectors.parse.tool import Tool

TIMED_OUT = frozenset({124, 137})
"""Exit codes of timeout(1): it stopped the command, or had to kill it."""

_LOOKED_AT = 16384


@dataclass(frozen=True, slots=True)
class _Refusal:
    code: str
    reason: Reason
    pattern: re.Pattern[str]
    fix: str


def _refusal(code: str, reason: Reason, pattern: str, fix: str) -> _Refusal:
    return _Refusal(code, reason, re.compile(pattern, re.MULTILINE | re.IGNORECASE), fix)


_SUDO = (
    # sudo: a password is required
    #   sudo: src/conversation.c and plugins/sudoers/auth/sudo_auth.c
    _refusal(
        "sudo_password_required",
        Reason.FORBIDDEN,
        r"^sudo: .*(?:password is required|terminal is required|no tty present|must have a tty)",
        "sudo has no NOPASSWD rule for this command (or PAM wants to ask): add the line for "
        "exactly this argv to the sudoers file",
    ),
    # Sorry, user bot is not allowed to execute '/usr/sbin/nvme list' as root on node-1.
    _refusal(
        "sudo_not_allowed",
        Reason.FORBIDDEN,
        r"is not (?:allowed to (?:execute|run)|in the sudoers)|may not run sudo",
        "the sudoers rule does not allow this argv: compare it with the rule, word for word",
    ),
    _refusal(
        "sudo_account",
        Reason.FORBIDDEN,
        r"^sudo: .*(?:account validation failure|PAM )",
        "PAM refuses the account: look at the host's PAM rules for sudo",
    ),
    # sudo: nvme: command not found
    _refusal("tool_missing", Reason.NOT_APPLICABLE, r"^sudo: \S+: command not found", "{install}"),
)
_KUBECTL = (
    # Error from server (Forbidden): nodes is forbidden: User "bot" cannot list resource "nodes"
    _refusal(
        "kubernetes_forbidden",
        Reason.FORBIDDEN,
        r"\(Forbidden\)|cannot (?:get|list|watch) resource",
        "RBAC does not allow it: the line names verb and resource to add to the role",
    ),
    _refusal(
        "object_missing",
        Reason.EMPTY,
        r"^Error from server \(NotFound\)",
        "there is no such object: look at its name and namespace",
    ),
    _refusal(
        "api_unreachable",
        Reason.UNREACHABLE,
        r"^Unable to connect to the server|^The connection to the server .{1,200} was refused",
        "the API server did not answer from this host",
    ),
)
_RIGHTS = (
    _refusal(
        "permission_denied",
        Reason.FORBIDDEN,
        r"Permission denied|Operation not permitted|access denied|must be (?:run as )?root"
        r"|needs? root|not authorized",
        "run it as root through its sudoers line (dmesg: kernel.dmesg_restrict is 1)",
    ),
)
_ABSENT = (
    _refusal(
        "tool_missing",
        Reason.NOT_APPLICABLE,
        r": command not found\s*$|^\S+: .{0,40}: not found\s*$|No such file or directory: '\S+'$",
        "{install}",
    ),
    # No devices were found / No IB devices found / No NVMe devices detected.
    #   each tool's own words for a machine without the device
    _refusal(
        "no_device",
        Reason.NOT_APPLICABLE,
        r"No (?:IB |NVMe )?devices(?: were)? (?:found|detected)|^Fatal error:\s+No devices"
        r"|no device matches name|No such device|Failed to get IB devices list"
        r"|Failed to open NETLINK_RDMA|No NUMA available|no stats available|No data available"
        r"|No such file or directory|is ib_umad module loaded|client_register for mgmt"
        r"|no or unknown cpufreq driver|can't list|Operation not supported|Not supported",
        "there is no {needs} on this host, or it has gone since",
    ),
    _refusal(
        "command_unknown",
        Reason.NOT_APPLICABLE,
        r"unknown (?:sub-?)?command|Invalid sub-?command|(?:unrecognized|invalid|unknown) option"
        r"|is not a valid field",
        "this version of {program} has no such command or field: update {package}",
    ),
    _refusal(
        "no_answer",
        Reason.UNREACHABLE,
        r"iberror: failed|mad_rpc_open_port|NVML: Driver/library version mismatch"
        r"|couldn't communicate with the NVIDIA driver|Failed to initialize NVML"
        r"|Network is unreachable|Name or service not known|name resolution",
        "the device, driver or network did not answer {program}",
    ),
)
_ALL = (*_SUDO, *_KUBECTL, *_RIGHTS, *_ABSENT)


def refusal(output: Output, tool: Tool) -> Missing | None:
    """The reason why this output holds no facts; None when it gives none."""
    said = f"{output.stderr[:_LOOKED_AT]}\n{output.stdout[:_LOOKED_AT]}"
    for known in _ALL:
        if found := known.pattern.search(said):
            return Missing(known.reason, f"{known.code}: {_fix(known, tool)}{_line(said, found)}")
    return _by_exit_code(output, tool)


def _by_exit_code(output: Output, tool: Tool) -> Missing | None:
    if output.exit_code == 127:
        return Missing(Reason.NOT_APPLICABLE, f"tool_missing: {_install(tool)}")
    if output.exit_code in TIMED_OUT:
        return Missing(
            Reason.TIMEOUT,
            f"timed_out: {tool.program} did not end in time and was stopped; a device that hangs "
            "does this, do not repeat it in a loop",
        )
    if output.exit_code != 0 and output.stderr.strip():
        said = plain(output.stderr.strip(), 200)
        return Missing(
            Reason.UNPARSABLE, f"failed: {tool.program} ended with {output.exit_code}: {said}"
        )
    return None


def _fix(known: _Refusal, tool: Tool) -> str:
    return known.fix.format(
        install=_install(tool),
        needs=tool.needs,
        program=tool.program,
        package=tool.package or tool.program,
    )


def _install(tool: Tool) -> str:
    where = f": install the package {tool.package}" if tool.package else ""
    return f"there is no {tool.program} on this host{where}"


def _line(said: str, found: re.Match[str]) -> str:
    """The line that says so, in parentheses."""
    start = said.rfind("\n", 0, found.start()) + 1
    end = said.find("\n", found.end())
    line = plain(said[start : end if end >= 0 else len(said)].strip(), 200)
    return f" ({line})" if line else ""
