"""Which real components the tests need, and which are missing on this machine.

`python -m tests.lab.requirements` prints one line for each missing part; exit code 1 when one is.
"""

import shutil
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A program that tests run for real. `used_for` completes "needed to ..."."""

    program: str
    package: str
    used_for: str

    @property
    def present(self) -> bool:
        """Whether it is on the PATH or where Debian puts servers."""
        return shutil.which(self.program, path=_PATH) is not None

    @property
    def advice(self) -> str:
        """What is missing, why it matters, and how to get it."""
        return (
            f"{self.program} is missing, needed to {self.used_for}: "
            f"apt-get install -y --no-install-recommends {self.package}"
        )


_PATH = ":".join(("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"))

PARTS = {
    part.program: part
    for part in (
        Part("prometheus", "prometheus", "answer PromQL from a scenario's history"),
        Part("promtool", "prometheus", "check the alert rules"),
        Part("prometheus-alertmanager", "prometheus-alertmanager", "send real notifications"),
        Part("amtool", "prometheus-alertmanager", "check the Alertmanager receiver"),
        Part("sshd", "openssh-server", "run commands on real SSH hosts"),
        Part("ssh-keygen", "openssh-client", "make the keys of the SSH hosts"),
        Part("unshare", "util-linux", "give each host its own /sys and /proc files"),
        Part("chromium", "chromium", "look at the web pages as a browser does"),
    )
}


def missing() -> tuple[Part, ...]:
    """The parts that are not on this machine."""
    return tuple(part for part in PARTS.values() if not part.present)


def main() -> int:
    """Print what is missing; 0 when nothing is."""
    absent = missing()
    for part in absent:
        sys.stdout.write(part.advice + "\n")
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
