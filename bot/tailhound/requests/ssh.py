"""Questions to a host over SSH: one argv, exact, never a shell line."""

import shlex
from dataclasses import dataclass

from tailhound.flow import Read


@dataclass(frozen=True, slots=True)
class Output:
    """What a command printed. The streams are kept apart; `exit_code` is the remote status.

    `second` is the output of the second reading, when `twice` was asked, `gap_seconds` later.
    """

    stdout: str
    stderr: str
    exit_code: int
    second: "Output | None" = None
    gap_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOnHost(Read[Output]):
    """Run one allowed command on a host (a name of the inventory).

    `twice` reads a second time after the site's gap, for counters. Whether the argv is allowed is
    decided twice: when a runbook loads, and in the transport, against the site's list.
    """

    host: str
    argv: tuple[str, ...]
    twice: bool = False

    @property
    def backend(self) -> str:
        """The host."""
        return f"ssh {self.host}"

    @property
    def shown(self) -> str:
        """The command line, quoted for a shell."""
        return shlex.join(self.argv) + ("  # twice" if self.twice else "")
