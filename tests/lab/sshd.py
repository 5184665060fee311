"""Real OpenSSH servers on loopback: each a "host" with its own key, its own tools on the PATH.

    with SshHosts() as hosts:
        gpu1 = hosts.start("gpu-1")
        gpu1.tool("nvme", "#!/bin/sh\\necho '{}'\\n")
        ...                              # hosts.user, hosts.key, hosts.known_hosts; gpu1.port

As root the log-in is a user of its own with /bin/sh (root's bash would read ~/.bashrc), else it
is whoever runs the tests. Everything lies in one folder that the user can reach; stopping ends the
servers with all their sessions.
"""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import psutil

SSHD = "/usr/sbin/sshd"
LAB_USER = "th-lab"
_SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_READY_SECONDS = 10.0


class SshdFailed(RuntimeError):
    """An sshd did not come up; the text is its log."""


def lab_user() -> str:
    """The user to log in as: created when root and missing, else the current one."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(LAB_USER).pw_name
    made = subprocess.run(
        ["useradd", "-M", "-d", "/", "-s", "/bin/sh", "-p", "*", LAB_USER],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode not in (0, 9):  # 9: another run was faster
        raise SshdFailed(f"useradd {LAB_USER}: {made.stderr.strip()}")
    return LAB_USER


def free_port(address: str) -> int:
    """A TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


def make_key(path: Path) -> Path:
    """A new ed25519 key pair without a passphrase."""
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", path.name, "-f", str(path)],
        check=True,
    )
    return path


@dataclass(slots=True)
class SshHost:
    """One running sshd. `bin` comes first on the PATH of its sessions."""

    name: str
    address: str
    port: int
    folder: Path
    process: "subprocess.Popen[bytes]"

    @property
    def bin(self) -> Path:
        """The folder of the host's own tools."""
        return self.folder / "bin"

    @property
    def public_key(self) -> str:
        """The host key as in known_hosts: type and base64."""
        return " ".join((self.folder / "hostkey.pub").read_text().split()[:2])

    @property
    def known_hosts_line(self) -> str:
        """The line that makes a client trust this host."""
        return f"[{self.address}]:{self.port} {self.public_key}"

    @property
    def log(self) -> str:
        """What sshd wrote."""
        return (self.folder / "log").read_text(errors="replace")

    def tool(self, name: str, script: str) -> Path:
        """Put an executable on the host's PATH."""
        path = self.bin / name
        path.write_text(script)
        path.chmod(0o755)
        return path

    def sessions(self) -> list[psutil.Process]:
        """The sshd processes that serve a client now, with what they run."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def commands(self) -> list[psutil.Process]:
        """What runs on this host, also when its session is gone: its PATH gives it away."""
        return [process for process in psutil.process_iter() if self._is_path_of(process)]

    def _is_path_of(self, process: psutil.Process) -> bool:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            return process.environ().get("PATH", "").startswith(f"{self.bin}:")
        return False

    def cut(self) -> None:
        """End every session and command at once, as a crash of the host would; sshd goes on."""
        _kill([*self.sessions(), *self.commands()])

    def stop(self) -> None:
        """End the server with all its sessions and commands."""
        self.process.send_signal(signal.SIGSTOP)  # no new session while the last ones end
        self.cut()
        self.process.terminate()
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)


@dataclass(slots=True)
class SshHosts:
    """Several hosts with one client key and one known_hosts file."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="th-ssh-")))
    user: str = field(default_factory=lab_user)
    hosts: dict[str, SshHost] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.chmod(0o755)
        make_key(self.key)
        self.known_hosts.touch()
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)

    def __enter__(self) -> "SshHosts":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def key(self) -> Path:
        """The client's private key."""
        return self.folder / "client"

    @property
    def known_hosts(self) -> Path:
        """The client's known_hosts, with every host that was started."""
        return self.folder / "known_hosts"

    def start(
        self,
        name: str,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        options: Sequence[str] = (),
        path: str = "",
        environment: Mapping[str, str] | None = None,
        wrap: Sequence[str] = (),
    ) -> SshHost:
        """Start a host and wait for its banner.

        `options` are lines of sshd_config (MaxSessions 2). `path` replaces the system's folders
        behind the host's own. `wrap` is a command that ends by running its arguments (unshare -m).
        """
        folder = self.folder / name
        (folder / "bin").mkdir(parents=True)
        make_key(folder / "hostkey")
        port = port or free_port(address)
        lines = self._config(folder, address, port, path or _SYSTEM_PATH, environment or {})
        (folder / "sshd_config").write_text("\n".join((*options, *lines)) + "\n")
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*wrap, SSHD, "-D", "-e", "-f", str(folder / "sshd_config")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        host = SshHost(name, address, port, folder, process)
        self.hosts[name] = host
        _wait_for_banner(host)
        with self.known_hosts.open("a") as known:
            known.write(host.known_hosts_line + "\n")
        return host

    def remove(self, name: str) -> None:
        """End one host and forget its folder."""
        host = self.hosts.pop(name)
        host.stop()
        shutil.rmtree(host.folder, ignore_errors=True)

    def stop(self) -> None:
        """End every host and remove the folder."""
        for host in self.hosts.values():
            host.stop()
        self.hosts.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _config(
        self, folder: Path, address: str, port: int, path: str, environment: Mapping[str, str]
    ) -> tuple[str, ...]:
        keys = folder / "authorized_keys"
        keys.write_text((self.folder / "client.pub").read_text())
        keys.chmod(0o644)
        set_env = " ".join(
            f"{name}={value}"
            for name, value in {"PATH": f"{folder / 'bin'}:{path}", **environment}.items()
        )
        return (
            f"Port {port}",
            f"ListenAddress {address}",
            f"HostKey {folder / 'hostkey'}",
            f"PidFile {folder / 'pid'}",
            f"AuthorizedKeysFile {keys}",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PrintMotd no",
            "UseDNS no",
            f"SetEnv {set_env}",
        )


def _wait_for_banner(host: SshHost) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and host.process.poll() is None:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((host.address, host.port), timeout=1) as probe,
        ):
            if probe.recv(4) == b"SSH-":
                return
        time.sleep(0.01)
    host.stop()
    raise SshdFailed(f"sshd of {host.name} did not come up:\n{host.log}")


def _kill(processes: Sequence[psutil.Process]) -> None:
    """Kill them and wait until none runs; who started them may still have to collect them."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    deadline = time.monotonic() + _READY_SECONDS
    while any(_runs(process) for process in processes) and time.monotonic() < deadline:
        time.sleep(0.002)


def _runs(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
