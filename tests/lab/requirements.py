"""Which real components the tests need, and which are missing on this machine.

`python -m tests.lab.requirements` prints one line for each missing part; exit code 1 when one is.
"""

import os
import shutil
import sys
from dataclasses import dataclass

from tests.lab import postgres
from tests.lab.kube import binaries
from tests.standins import emulate


@dataclass(frozen=True, slots=True)
class Part:
    """A program that tests run for real. `used_for` completes "needed to ..."."""

    program: str
    package: str
    used_for: str
    as_root: bool = False

    @property
    def present(self) -> bool:
        """Whether it is on the PATH or where Debian puts servers, and may do its work."""
        found = shutil.which(self.program, path=_PATH) is not None
        return found and (os.geteuid() == 0 or not self.as_root)

    @property
    def advice(self) -> str:
        """What is missing, why it matters, and how to get it."""
        if self.as_root and shutil.which(self.program, path=_PATH):
            return f"{self.program} needs root, to {self.used_for}: run the tests as root"
        return (
            f"{self.program} is missing, needed to {self.used_for}: "
            f"apt-get install -y --no-install-recommends {self.package}"
        )


@dataclass(frozen=True, slots=True)
class KubeApiServer(Part):
    """It comes in no package: it is built, once for a machine."""

    @property
    def present(self) -> bool:
        """Whether one that is new enough is at hand."""
        return binaries.kube_apiserver() is not None

    @property
    def advice(self) -> str:
        """What is missing or too old, why it matters, and how to get it."""
        return (
            f"{self.program} {'.'.join(map(str, binaries.OLDEST))} or newer is missing"
            f"{binaries.explained()}, needed to {self.used_for}: python -m tests.lab.kube.build "
            "(minutes, once; kept outside of the checkout), or name a folder in KUBEBUILDER_ASSETS"
        )


@dataclass(frozen=True, slots=True)
class PostgreSql(Part):
    """It lies in a folder by its version, and refuses to be root."""

    @property
    def present(self) -> bool:
        """Whether there is one that may run here."""
        return postgres.binaries() is not None


@dataclass(frozen=True, slots=True)
class Emulate(Part):
    """It comes from npm, with a Node.js of its own from PyPI."""

    @property
    def present(self) -> bool:
        """Whether it is in the cache."""
        return emulate.program() is not None

    @property
    def advice(self) -> str:
        """What is missing, why it matters, and how to get it."""
        return (
            f"{self.program} {emulate.VERSION} is missing, needed to {self.used_for}: "
            "python -m tests.standins.emulate (once; kept outside of the checkout)"
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
        Part("unshare", "util-linux", "give each host its own /sys and /proc files", True),
        Part("etcd", "etcd-server", "keep what a real API server stores"),
        PostgreSql("postgres", "postgresql", "run everything on PostgreSQL too"),
        KubeApiServer("kube-apiserver", "", "read a scenario's cluster from a real API server"),
        Emulate("emulate", "", "compare the stand-in of Slack with another one"),
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
