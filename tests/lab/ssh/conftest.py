"""A host with real sshd, its site, and hosts for one test."""

from collections.abc import Callable, Iterator

import pytest

from tests.lab.conftest import Needs
from tests.lab.ssh.kit import Site
from tests.lab.sshd import SshHost, SshHosts


@pytest.fixture(scope="module")
def lab(needs: Needs) -> Iterator[SshHosts]:
    needs("sshd", "ssh-keygen")
    with SshHosts() as hosts:
        host = hosts.start("gpu-1")
        host.tool("say", '#!/bin/sh\nprintf "%s\\n" "$#" "$@"\n')
        host.tool("ibstat", "#!/bin/sh\nsleep 30\n")
        host.tool("ibstatus", "#!/bin/sh\ntrap '' TERM\nsleep 30\nsleep 30\n")
        host.tool("lscpu", "#!/bin/sh\necho out; echo err >&2; exit 3\n")
        host.tool("uptime", "#!/bin/sh\nprintf 'a\\377b\\n'\n")
        host.tool("numactl", "#!/bin/sh\nenv | sort\n")
        host.tool("df", "#!/bin/sh\nkill -9 $PPID; kill -9 $$\n")
        host.tool("lsblk", "#!/bin/sh\nhead -c 5000000 /dev/zero >&2; echo done\n")
        host.tool("findmnt", "#!/bin/sh\nhead -c 5000000 /dev/zero; echo done >&2\n")
        yield hosts


@pytest.fixture
def site(lab: SshHosts) -> Site:
    return Site(lab)


@pytest.fixture
def gpu1(lab: SshHosts) -> SshHost:
    return lab.hosts["gpu-1"]


@pytest.fixture
def host(lab: SshHosts) -> Iterator[Callable[..., SshHost]]:
    """Start a host for one test; it is stopped after it."""
    before = set(lab.hosts)
    yield lab.start
    for name in set(lab.hosts) - before:
        lab.remove(name)
