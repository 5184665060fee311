"""The SSH transport against real sshd: answers, refusals, silence, and what must not happen."""

import asyncio
import contextlib
import socket
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import paramiko
import psutil
import pytest
from paramiko.common import MSG_CHANNEL_EOF

from tailhound.errors import SettingsError
from tailhound.flow import Turn
from tailhound.model import Missing, Reason
from tailhound.requests.ssh import Output, RunOnHost
from tailhound.settings import Host, Secret, Ssh
from tailhound.transports import ssh_links
from tailhound.transports.ssh import SshTransport
from tests.lab.conftest import Needs
from tests.lab.sshd import SshHost, SshHosts, free_port, make_key

pytestmark = pytest.mark.lab
T = TypeVar("T")
NASTY = 'it\'s $(id) "two" `id` ;&|*?[a] \\n ~ # !x {1,2} >z <y é'


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


@dataclass
class Site:
    """The settings of one test: where the hosts are, and what differs."""

    hosts: SshHosts

    def settings(self, *hosts: SshHost, **changes: Any) -> Ssh:
        places = {host.name: Host(address=host.address, port=host.port) for host in hosts}
        base: dict[str, Any] = {
            "user": self.hosts.user,
            "key": Secret(file=str(self.hosts.key)),
            "known_hosts": str(self.hosts.known_hosts),
            "hosts": places,
        }
        return Ssh(**{**base, **changes})


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


def turn(seconds: float) -> Turn:
    return Turn(time.monotonic() + seconds, datetime.now(UTC))


def using(settings: Ssh, work: Callable[[SshTransport], Awaitable[T]]) -> T:
    """Run a flow with a transport, close it, and see that every thread has ended."""
    before = set(threading.enumerate())

    async def whole() -> T:
        transport = SshTransport(settings)
        try:
            return await work(transport)
        finally:
            transport.close()

    result = asyncio.run(whole())
    assert wait_until(lambda: not (set(threading.enumerate()) - before), 1.0), threading.enumerate()
    return result


def wait_until(true: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def ask(
    settings: Ssh, host: str, *argv: str, seconds: float = 5.0, twice: bool = False
) -> Output | Missing:
    return using(
        settings,
        lambda transport: transport.ask(
            RunOnHost(host=host, argv=argv, twice=twice), turn(seconds)
        ),
    )


def missing(answer: Output | Missing, reason: Reason) -> str:
    assert isinstance(answer, Missing), answer
    assert answer.reason is reason, answer
    return answer.detail


def output(answer: Output | Missing) -> Output:
    assert isinstance(answer, Output), answer
    return answer


# What a host answers


def test_a_command_answers_with_its_streams_and_status(site: Site, gpu1: SshHost) -> None:
    answer = output(ask(site.settings(gpu1), "gpu-1", "lscpu", "-J"))
    assert answer == Output("out\n", "err\n", 3)


def test_bytes_that_are_no_utf8_are_replaced(site: Site, gpu1: SshHost) -> None:
    assert output(ask(site.settings(gpu1), "gpu-1", "uptime")).stdout == "a\ufffdb\n"


def test_locale_colour_and_terminal_are_set_on_the_host(site: Site, gpu1: SshHost) -> None:
    said = output(ask(site.settings(gpu1), "gpu-1", "numactl", "-H")).stdout.splitlines()
    assert {"LC_ALL=C", "LANG=C", "TERM=dumb", "NO_COLOR=1", "S_COLORS=never"} <= set(said)
    path = next(line for line in said if line.startswith("PATH="))
    assert path.startswith(f"PATH={gpu1.bin}:")
    assert path.endswith(":/usr/sbin:/sbin")


def test_an_argument_with_shell_characters_arrives_as_one_argument(
    site: Site, gpu1: SshHost
) -> None:
    settings = site.settings(gpu1, allow=(("say", NASTY),))
    assert output(ask(settings, "gpu-1", "say", NASTY)).stdout == f"1\n{NASTY}\n"


@pytest.mark.parametrize("argument", ["a\nb", "a\x00b", "a\x1b]0;x\x07"])
def test_an_argument_with_a_line_break_or_control_character_is_not_sent(
    site: Site, gpu1: SshHost, argument: str
) -> None:
    before = gpu1.log
    detail = missing(ask(site.settings(gpu1), "gpu-1", "say", argument), Reason.FORBIDDEN)
    assert "control character" in detail
    assert gpu1.log == before


def test_a_command_that_is_refused_or_not_listed_is_not_sent(site: Site, gpu1: SshHost) -> None:
    before = gpu1.log
    settings = site.settings(gpu1)
    assert "refused" in missing(ask(settings, "gpu-1", "dmesg", "-c"), Reason.FORBIDDEN)
    assert "not allowed" in missing(ask(settings, "gpu-1", "say", "x"), Reason.FORBIDDEN)
    assert gpu1.log == before


def test_five_megabytes_on_one_stream_do_not_block_the_other(site: Site, gpu1: SshHost) -> None:
    settings = site.settings(gpu1, max_bytes=8_000_000)
    flooded = output(ask(settings, "gpu-1", "lsblk", "-J", "-b", seconds=10))
    assert (flooded.stdout, len(flooded.stderr)) == ("done\n", 5_000_000)
    flooded = output(ask(settings, "gpu-1", "findmnt", "-J", "-b", seconds=10))
    assert (flooded.stderr, len(flooded.stdout)) == ("done\n", 5_000_000)


def test_more_than_the_cap_is_truncated_and_the_connection_goes_on(
    site: Site, gpu1: SshHost
) -> None:
    async def flow(transport: SshTransport) -> tuple[Any, ...]:
        return (
            await transport.ask(RunOnHost(host="gpu-1", argv=("findmnt", "-J", "-b")), turn(5)),
            await transport.ask(RunOnHost(host="gpu-1", argv=("lsblk", "-J", "-b")), turn(5)),
            await transport.ask(RunOnHost(host="gpu-1", argv=("uname", "-r")), turn(5)),
        )

    log_ins = gpu1.log.count("Accepted publickey")
    first, second, third = using(site.settings(gpu1, max_bytes=100_000), flow)
    assert "100000 bytes on its stdout" in missing(first, Reason.TRUNCATED)
    assert "100000 bytes on its stderr" in missing(second, Reason.TRUNCATED)
    assert output(third).exit_code == 0
    assert gpu1.log.count("Accepted publickey") == log_ins + 1


def test_a_tool_that_is_not_there_is_named_with_its_package(site: Site, gpu1: SshHost) -> None:
    detail = missing(ask(site.settings(gpu1), "gpu-1", "nvidia-smi", "-L"), Reason.NOT_APPLICABLE)
    assert detail.startswith("no such tool `nvidia-smi` on gpu-1")


def test_a_tool_that_may_not_be_executed_is_forbidden(site: Site, gpu1: SshHost) -> None:
    gpu1.tool("dcgmi", "#!/bin/sh\n").chmod(0o644)
    detail = missing(ask(site.settings(gpu1), "gpu-1", "dcgmi", "nvlink", "-e"), Reason.FORBIDDEN)
    assert "may not execute `dcgmi nvlink -e`" in detail


def test_a_command_that_hangs_is_ended_on_the_host(site: Site, gpu1: SshHost) -> None:
    started = time.monotonic()
    answer = ask(site.settings(gpu1), "gpu-1", "ibstat", seconds=1.6)
    assert missing(answer, Reason.TIMEOUT) == "`ibstat` on gpu-1 did not end within 1 s"
    assert time.monotonic() - started < 1.6
    assert wait_until(lambda: not gpu1.commands(), 2)


def test_a_command_that_ignores_the_first_signal_is_killed(site: Site, gpu1: SshHost) -> None:
    answer = ask(site.settings(gpu1), "gpu-1", "ibstatus", seconds=1.6)
    assert "started the command and never ended it" in missing(answer, Reason.TIMEOUT)
    assert wait_until(lambda: not _runs(gpu1, "ibstatus"), 4)


def _runs(host: SshHost, name: str) -> bool:
    for process in host.commands():
        with contextlib.suppress(psutil.NoSuchProcess):
            if any(word.endswith(f"/{name}") for word in process.cmdline()):
                return True
    return False


def test_a_session_that_is_killed_is_not_an_empty_answer(site: Site, gpu1: SshHost) -> None:
    detail = missing(ask(site.settings(gpu1), "gpu-1", "df", "-P", "-k"), Reason.UNREACHABLE)
    assert "without an exit status" in detail


def test_a_host_that_dies_during_a_command_is_not_an_empty_answer(
    site: Site, host: Callable[..., SshHost]
) -> None:
    dying = host("dying")
    dying.tool("ibstat", "#!/bin/sh\necho 'CA mlx5_0'\nsleep 30\n")

    async def flow(transport: SshTransport) -> Any:
        asked = asyncio.create_task(
            transport.ask(RunOnHost(host="dying", argv=("ibstat",)), turn(5))
        )
        while not _runs(dying, "ibstat"):
            await asyncio.sleep(0.01)
        dying.cut()
        return await asked

    assert "without an exit status" in missing(
        using(site.settings(dying), flow), Reason.UNREACHABLE
    )


def test_a_connection_that_died_idle_is_made_anew(site: Site, host: Callable[..., SshHost]) -> None:
    rebooted = host("rebooted")
    question = RunOnHost(host="rebooted", argv=("uname", "-r"))

    async def flow(transport: SshTransport) -> tuple[Any, Any]:
        first = await transport.ask(question, turn(5))
        rebooted.cut()
        return first, await transport.ask(question, turn(5))

    first, second = using(site.settings(rebooted), flow)
    assert output(first) == output(second)


def test_noise_of_the_log_in_shell_is_cut_off(site: Site, host: Callable[..., SshHost]) -> None:
    noisy = host(
        "noisy",
        options=('ForceCommand echo Welcome; echo Beware >&2; eval "$SSH_ORIGINAL_COMMAND"',),
    )
    noisy.tool("lscpu", "#!/bin/sh\necho out; echo err >&2\n")
    answer = output(ask(site.settings(noisy), "noisy", "lscpu", "-J"))
    assert (answer.stdout, answer.stderr) == ("out\n", "err\n")


def test_an_account_that_runs_no_command_is_told_apart_from_empty_output(
    site: Site, host: Callable[..., SshHost]
) -> None:
    closed = host("closed", options=("ForceCommand echo This account is not available; exit 1",))
    detail = missing(ask(site.settings(closed), "closed", "uname", "-r"), Reason.FORBIDDEN)
    assert "runs no command: it said 'This account is not available'" in detail


# As root


@pytest.mark.parametrize(
    "says",
    [
        "sudo: a password is required",
        "sudo: a terminal is required to read the password",
        "sudo: sorry, you must have a tty to run sudo",
        "Sorry, user th is not allowed to execute '/usr/sbin/nvme list' as root on gpu-2.",
        "th is not in the sudoers file.",
    ],
)
def test_a_missing_sudoers_rule_is_named(
    site: Site, host: Callable[..., SshHost], says: str
) -> None:
    guarded = host("guarded")
    guarded.tool("sudo", f'#!/bin/sh\necho "{says}" >&2\nexit 1\n')
    argv = ("/usr/sbin/nvme", "list", "-o", "json")
    detail = missing(ask(site.settings(guarded), "guarded", *argv), Reason.FORBIDDEN)
    assert detail.endswith(f"{site.hosts.user} ALL=(root) NOPASSWD: /usr/sbin/nvme list -o json")


def test_a_full_path_goes_through_sudo_unless_the_site_says_no(
    site: Site, host: Callable[..., SshHost]
) -> None:
    root = host("root")
    root.tool("sudo", '#!/bin/sh\necho "as root: $*"\n')
    argv = ("/usr/bin/dmesg", "-T")
    answer = output(ask(site.settings(root), "root", *argv))
    assert answer.stdout == "as root: -n /usr/bin/dmesg -T\n"
    answer = output(ask(site.settings(root), "root", "uname", "-r"))
    assert "as root" not in answer.stdout
    asked = ask(site.settings(root, sudo=False), "root", *argv)
    assert "as root" not in output(asked).stdout


def test_a_tool_that_sudo_does_not_find_is_a_missing_tool(
    site: Site, host: Callable[..., SshHost]
) -> None:
    bare = host("bare")
    bare.tool("sudo", '#!/bin/sh\necho "sudo: $2: command not found" >&2\nexit 1\n')
    argv = ("/usr/sbin/turbostat", "--quiet", "--show", "Core,CPU,Busy%,Bzy_MHz,PkgTmp")
    detail = missing(
        ask(site.settings(bare), "bare", *argv, "-n", "1", "-i", "2"), Reason.NOT_APPLICABLE
    )
    assert "`turbostat` on bare" in detail


def test_a_failure_of_the_tool_under_sudo_is_an_answer(
    site: Site, host: Callable[..., SshHost]
) -> None:
    dead = host("dead-drive")
    dead.tool("sudo", "#!/bin/sh\necho 'failed to open /dev/nvme0: no such device' >&2\nexit 1\n")
    argv = ("/usr/sbin/nvme", "smart-log", "-o", "json", "/dev/nvme0")
    assert output(ask(site.settings(dead), "dead-drive", *argv)).exit_code == 1


# Two readings


def test_a_counter_is_read_twice_with_the_gap_between(
    site: Site, host: Callable[..., SshHost]
) -> None:
    counting = host("counting")
    counting.folder.chmod(0o777)
    counting.tool(
        "ibstat", f"#!/bin/sh\necho x >> {counting.folder}/n; wc -l < {counting.folder}/n\n"
    )
    settings = site.settings(counting, gap_seconds=0.3)
    answer = output(ask(settings, "counting", "ibstat", twice=True))
    assert answer.stdout == "1\n"
    assert answer.second == Output("2\n", "", 0)
    assert 0.3 <= answer.gap_seconds < 0.6
    assert counting.log.count("Accepted publickey") == 1


def test_a_gap_that_does_not_fit_is_not_asked(site: Site, gpu1: SshHost) -> None:
    settings = site.settings(gpu1, gap_seconds=10.0)
    detail = missing(
        ask(settings, "gpu-1", "cat", "/proc/uptime", seconds=5, twice=True), Reason.SKIPPED
    )
    assert "two readings 10 s apart don't fit" in detail


def test_a_second_reading_that_fails_is_no_answer(site: Site, host: Callable[..., SshHost]) -> None:
    failing = host("failing")
    failing.folder.chmod(0o777)
    once = f"#!/bin/sh\nmv {failing.bin}/nvidia-smi {failing.folder}/gone; echo 1\n"
    failing.tool("nvidia-smi", once)
    failing.bin.chmod(0o777)
    settings = site.settings(failing, gap_seconds=0.05)
    answer = ask(settings, "failing", "nvidia-smi", "-L", twice=True)
    detail = missing(answer, Reason.NOT_APPLICABLE)
    assert detail.startswith("the second reading failed: no such tool `nvidia-smi`")


# Who may log in, and where


def test_a_wrong_key_is_forbidden_with_the_line_to_add(
    site: Site, gpu1: SshHost, tmp_path: Path
) -> None:
    key = make_key(tmp_path / "other")
    settings = site.settings(gpu1, key=Secret(file=str(key)))
    detail = missing(ask(settings, "gpu-1", "uname", "-r"), Reason.FORBIDDEN)
    assert " ".join((tmp_path / "other.pub").read_text().split()[:2]) in detail
    assert "authorized_keys" in detail


def test_a_key_from_the_environment_works_and_an_encrypted_one_is_refused(
    site: Site, gpu1: SshHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_KEY_OF_TEST", site.hosts.key.read_text())
    settings = site.settings(gpu1, key=Secret(env="SSH_KEY_OF_TEST"))
    assert output(ask(settings, "gpu-1", "uname", "-r")).exit_code == 0
    locked = tmp_path / "locked"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "word", "-f", str(locked)], check=True
    )
    settings = site.settings(gpu1, key=Secret(file=str(locked)))
    assert "encrypted" in missing(ask(settings, "gpu-1", "uname", "-r"), Reason.SKIPPED)
    settings = site.settings(gpu1, key=Secret(file=str(tmp_path / "absent")))
    assert "can't read" in missing(ask(settings, "gpu-1", "uname", "-r"), Reason.SKIPPED)
    settings = site.settings(gpu1, key=None)
    assert "no ssh.key" in missing(ask(settings, "gpu-1", "uname", "-r"), Reason.SKIPPED)


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_other_kinds_of_key_work_too(site: Site, gpu1: SshHost, tmp_path: Path, kind: str) -> None:
    key = tmp_path / kind
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(key)], check=True)
    authorized = gpu1.folder / "authorized_keys"
    kept = authorized.read_text()
    authorized.write_text(kept + (tmp_path / f"{kind}.pub").read_text())
    answer = ask(site.settings(gpu1, key=Secret(file=str(key))), "gpu-1", "uname", "-r")
    authorized.write_text(kept)
    assert output(answer).exit_code == 0


def _known(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "known_hosts"
    path.write_text("# ours\n\n" + "\n".join(lines) + "\nbroken line\nx ssh-ed25519 !!!\n")
    return str(path)


def test_an_unknown_host_key_is_not_trusted(site: Site, gpu1: SshHost, tmp_path: Path) -> None:
    log_ins = gpu1.log.count("Accepted publickey")
    for known in (_known(tmp_path, f"other {gpu1.public_key}"), str(tmp_path / "absent")):
        detail = missing(
            ask(site.settings(gpu1, known_hosts=known), "gpu-1", "uname", "-r"),
            Reason.UNREACHABLE,
        )
        assert f"host key of [127.0.0.1]:{gpu1.port} is unknown" in detail
        assert "SHA256:" in detail
    assert gpu1.log.count("Accepted publickey") == log_ins


def test_a_changed_host_key_is_told_apart(site: Site, gpu1: SshHost, tmp_path: Path) -> None:
    other = make_key(tmp_path / "new").with_suffix(".pub").read_text()
    known = _known(tmp_path, f"[127.0.0.1]:{gpu1.port} {other}")
    detail = missing(
        ask(site.settings(gpu1, known_hosts=known), "gpu-1", "uname", "-r"), Reason.UNREACHABLE
    )
    assert "has CHANGED" in detail


def test_a_revoked_host_key_is_not_trusted(site: Site, gpu1: SshHost, tmp_path: Path) -> None:
    known = _known(tmp_path, gpu1.known_hosts_line, f"@revoked * {gpu1.public_key}")
    detail = missing(
        ask(site.settings(gpu1, known_hosts=known), "gpu-1", "uname", "-r"), Reason.UNREACHABLE
    )
    assert "@revoked" in detail


def test_a_host_is_found_hashed_by_name_and_by_wildcard(
    site: Site, gpu1: SshHost, tmp_path: Path
) -> None:
    hashed = tmp_path / "hashed"
    hashed.write_text(gpu1.known_hosts_line + "\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(hashed)], check=True, capture_output=True)
    assert hashed.read_text().startswith("|1|")
    named = _known(tmp_path, f"[gpu-1]:{gpu1.port} {gpu1.public_key}")
    for known in (str(hashed), named):
        settings = site.settings(gpu1, known_hosts=known)
        assert output(ask(settings, "gpu-1", "uname", "-r")).exit_code == 0
    wild = _known(tmp_path, f"[127.0.0.*]:{gpu1.port},!other {gpu1.public_key}")
    settings = site.settings(gpu1, known_hosts=wild)
    assert output(ask(settings, "gpu-1", "uname", "-r")).exit_code == 0
    barred = _known(tmp_path, f"*,![127.0.0.1]:{gpu1.port},![gpu-1]:* {gpu1.public_key}")
    settings = site.settings(gpu1, known_hosts=barred)
    missing(ask(settings, "gpu-1", "uname", "-r"), Reason.UNREACHABLE)


@pytest.mark.parametrize(
    "name",
    ["-oProxyCommand=id", "a;b", "$(id)", "a b", "a\nb", "", "a..b", "x" * 300, "../x", "é", "@x"],
)
def test_a_hostile_host_name_never_reaches_the_resolver(
    site: Site, gpu1: SshHost, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolved(*_: object, **__: object) -> None:
        raise AssertionError("the resolver was asked")

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    answer = ask(site.settings(gpu1, any_host=True), name, "uname", "-r")
    assert "no host name" in missing(answer, Reason.SKIPPED)


def test_a_host_that_is_not_listed_is_asked_only_when_the_site_says_so(
    site: Site, gpu1: SshHost
) -> None:
    detail = missing(ask(site.settings(gpu1), "gpu-9", "uname", "-r"), Reason.SKIPPED)
    assert "not among ssh.hosts" in detail
    detail = missing(
        ask(site.settings(gpu1, any_host=True), "gpu-9.invalid", "uname", "-r", seconds=20),
        Reason.UNREACHABLE,
    )
    assert "does not resolve" in detail


@pytest.mark.parametrize(
    ("hosts", "says"),
    [
        ({"a": Host(jump="b")}, "there is no host 'b'"),
        ({"a": Host(jump="b"), "b": Host(jump="a")}, "never end"),
        ({"a": Host(address="-oX")}, "neither a host name nor an IP address"),
        ({"a": Host(user="x y")}, "no user name"),
        ({"a b": Host()}, "neither a host name"),
    ],
)
def test_a_wrong_inventory_is_an_error_at_start(hosts: dict[str, Host], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        SshTransport(Ssh(hosts=hosts))
    with pytest.raises(SettingsError, match=r"ssh\.user"):
        SshTransport(Ssh(user="-l root"))


# Hosts that do not let us in


def test_a_refused_port_is_unreachable_at_once(site: Site, gpu1: SshHost) -> None:
    settings = site.settings(hosts={"down": Host(address="127.0.0.1", port=free_port("127.0.0.1"))})
    detail = missing(ask(settings, "down", "uname", "-r"), Reason.UNREACHABLE)
    assert "refuses connections" in detail


@contextlib.contextmanager
def serving(talk: Callable[[socket.socket], None] | None) -> Iterator[Host]:
    """A port that accepts; `talk` is what it says to each client (None: never accepts)."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                with contextlib.suppress(OSError):
                    client, _ = server.accept()
                    with client:
                        if talk is not None:
                            talk(client)

        thread = threading.Thread(target=serve, daemon=True)
        if talk is not None:
            server.settimeout(0.02)
            thread.start()
        try:
            yield Host(address="127.0.0.1", port=server.getsockname()[1])
        finally:
            ended.set()
            if talk is not None:
                thread.join(5)


def until_closed(client: socket.socket) -> None:
    client.settimeout(5)
    with contextlib.suppress(OSError):
        while client.recv(1024):
            pass


def drip(client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            client.sendall(b"S")
            time.sleep(0.02)


def banner_only(client: socket.socket) -> None:
    client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    until_closed(client)


@pytest.mark.parametrize(
    ("talk", "reason", "says"),
    [
        (None, Reason.TIMEOUT, "sent no SSH banner"),
        (drip, Reason.TIMEOUT, "sent no SSH banner"),
        (banner_only, Reason.TIMEOUT, "did not finish the key exchange"),
        (lambda client: None, Reason.UNREACHABLE, "closed the connection before its SSH banner"),
        (
            lambda client: client.sendall(b"HTTP/1.1 400 Bad\x1b[31m\r\n\r\n"),
            Reason.UNREACHABLE,
            "is no SSH server; it said 'HTTP/1.1 400 Bad",
        ),
        (
            lambda client: client.sendall(b"SSH-2.0-x\r\n"),
            Reason.UNREACHABLE,
            "ended the connection during the key exchange",
        ),
        (
            lambda client: client.sendall(b"SSH-2.0-x\r\n" + b"\x00" * 4096),
            Reason.UNREACHABLE,
            "ended the connection during the key exchange",
        ),
    ],
)
def test_a_port_that_does_not_let_us_in_has_its_own_sentence(
    site: Site, talk: Callable[[socket.socket], None] | None, reason: Reason, says: str
) -> None:
    with serving(talk) as place:
        started = time.monotonic()
        answer = ask(site.settings(hosts={"odd": place}), "odd", "uname", "-r", seconds=0.4)
        assert time.monotonic() - started < 1.0
    assert says in missing(answer, reason)
    assert "\x1b" not in missing(answer, reason)


def test_a_host_with_too_many_log_ins_under_way_says_so(
    site: Site, host: Callable[..., SshHost]
) -> None:
    busy = host("busy", options=("MaxStartups 1",))
    with contextlib.ExitStack() as waiting:
        assert wait_until(lambda: _waits_for_log_in(waiting, busy), 5)
        detail = missing(ask(site.settings(busy), "busy", "uname", "-r"), Reason.UNREACHABLE)
    assert "MaxStartups" in detail


def _waits_for_log_in(waiting: contextlib.ExitStack, host: SshHost) -> bool:
    """Take the only place of MaxStartups 1; False while sshd still counts an earlier client."""
    client = waiting.enter_context(socket.create_connection((host.address, host.port)))
    client.settimeout(5)
    try:
        return client.recv(4) == b"SSH-"
    except ConnectionResetError:
        return False


def test_a_host_that_allows_few_sessions_still_answers_everything(
    site: Site, host: Callable[..., SshHost]
) -> None:
    narrow = host("narrow", options=("MaxSessions 2",))
    narrow.tool("ibstat", "#!/bin/sh\nsleep 0.02; echo ok\n")

    async def flow(transport: SshTransport) -> list[Any]:
        question = RunOnHost(host="narrow", argv=("ibstat",))
        return await asyncio.gather(*(transport.ask(question, turn(8)) for _ in range(12)))

    assert [output(answer).stdout for answer in using(site.settings(narrow), flow)] == ["ok\n"] * 12


def test_a_host_that_allows_no_session_says_so(site: Site, host: Callable[..., SshHost]) -> None:
    none = host("none", options=("MaxSessions 0",))
    detail = missing(ask(site.settings(none), "none", "uname", "-r"), Reason.FORBIDDEN)
    assert "MaxSessions" in detail


@pytest.mark.parametrize("wrapper", [False, True], ids=["shell", "wrapper"])
def test_what_reaches_the_host_after_a_quick_command_ended_cuts_nobody(
    site: Site,
    host: Callable[..., SshHost],
    monkeypatch: pytest.MonkeyPatch,
    wrapper: bool,
) -> None:
    """sshd ends a connection on which something comes for a session that is over."""
    sent: Any = getattr(paramiko.Transport, "_send_user_message")  # noqa: B009 - not in its types
    ended = bytes([MSG_CHANNEL_EOF])

    def held_up(transport: paramiko.Transport, message: paramiko.Message) -> None:
        if message.asbytes().startswith(ended):
            time.sleep(0.1)  # a busy machine: the thread that sends has to wait for its turn
        sent(transport, message)

    monkeypatch.setattr(paramiko.Transport, "_send_user_message", held_up)
    options = (f"ForceCommand {_quick_wrapper(site.hosts.folder)}",) if wrapper else ()
    gpu3 = host("gpu-3", options=options)

    async def flow(transport: SshTransport) -> list[Any]:
        asked = RunOnHost(host="gpu-3", argv=("uname", "-r"))
        slow = RunOnHost(host="gpu-3", argv=("ss", "-s"))
        return await asyncio.gather(
            *(transport.ask(one, turn(5)) for one in (asked, slow, asked, asked))
        )

    gpu3.tool("ss", "#!/bin/sh\nsleep 0.4\n")
    answers = using(site.settings(gpu3, wrapper=wrapper), flow)
    assert [getattr(one, "exit_code", one) for one in answers] == [0] * 4


def _quick_wrapper(folder: Path) -> Path:
    """Runs what its one line of input asks for, and reads no further."""
    program = folder / "wrapper"
    program.write_text(
        "#!/usr/bin/python3 -I\nimport json, os, sys\n"
        "asked = json.loads(sys.stdin.buffer.readline())\n"
        "for stream in (1, 2):\n    os.write(stream, asked['mark'].encode() + b'\\n')\n"
        "os.execvp(asked['argv'][0], asked['argv'])\n"
    )
    program.chmod(0o755)
    return program


def test_many_questions_share_one_connection(site: Site, gpu1: SshHost) -> None:
    async def flow(transport: SshTransport) -> list[Any]:
        question = RunOnHost(host="gpu-1", argv=("uname", "-r"))
        return await asyncio.gather(*(transport.ask(question, turn(8)) for _ in range(40)))

    log_ins = gpu1.log.count("Accepted publickey")
    answers = using(site.settings(gpu1), flow)
    assert all(output(answer).exit_code == 0 for answer in answers)
    assert gpu1.log.count("Accepted publickey") == log_ins + 1


# By way of another host


def _jumping(site: Site, jump: SshHost, target: SshHost, **target_changes: Any) -> Ssh:
    there = {"address": target.address, "port": target.port, "jump": "bastion", **target_changes}
    hosts = {"bastion": Host(address=jump.address, port=jump.port), "inner": Host(**there)}
    return site.settings(hosts=hosts)


def test_a_host_is_reached_through_its_jump_host(
    site: Site, gpu1: SshHost, host: Callable[..., SshHost]
) -> None:
    jump = host("jump", address="127.0.0.7")
    answer = output(ask(_jumping(site, jump, gpu1), "inner", "lscpu", "-J"))
    assert answer == Output("out\n", "err\n", 3)
    assert "from 127.0.0.1 port" in gpu1.log
    assert "Accepted publickey" in jump.log


def test_what_fails_behind_or_at_the_jump_host_is_told_apart(
    site: Site, gpu1: SshHost, host: Callable[..., SshHost], tmp_path: Path
) -> None:
    jump = host("jump2")
    closed = _jumping(site, jump, gpu1, port=free_port("127.0.0.1"))
    detail = missing(ask(closed, "inner", "uname", "-r"), Reason.UNREACHABLE)
    assert "can't reach inner" in detail
    forbidding = host("jump3", options=("AllowTcpForwarding no",))
    detail = missing(
        ask(_jumping(site, forbidding, gpu1), "inner", "uname", "-r"), Reason.UNREACHABLE
    )
    assert "forbids tunnels" in detail
    known = _known(tmp_path, gpu1.known_hosts_line)
    settings = _jumping(site, jump, gpu1).model_copy(update={"known_hosts": known})
    detail = missing(ask(settings, "inner", "uname", "-r"), Reason.UNREACHABLE)
    assert "by way of bastion" in detail
    assert "host key" in detail


def test_the_host_key_behind_a_jump_host_is_checked_too(
    site: Site, gpu1: SshHost, host: Callable[..., SshHost], tmp_path: Path
) -> None:
    jump = host("jump4")
    known = _known(tmp_path, jump.known_hosts_line)
    settings = _jumping(site, jump, gpu1).model_copy(update={"known_hosts": known})
    detail = missing(ask(settings, "inner", "uname", "-r"), Reason.UNREACHABLE)
    assert f"host key of [127.0.0.1]:{gpu1.port} is unknown" in detail


def test_silence_behind_a_jump_host_ends_at_the_deadline(
    site: Site, host: Callable[..., SshHost]
) -> None:
    jump = host("jump5")
    with serving(None) as place:
        behind = place.model_copy(update={"jump": "bastion"})
        bastion = Host(address=jump.address, port=jump.port)
        settings = site.settings(hosts={"bastion": bastion, "inner": behind})
        started = time.monotonic()
        answer = ask(settings, "inner", "uname", "-r", seconds=0.6)
        assert time.monotonic() - started < 1.3
    assert "did not finish the key exchange" in missing(answer, Reason.TIMEOUT)


# Giving up


async def _freed_after(transport: SshTransport, host: str, *argv: str, after: float) -> float:
    """Seconds from cancelling a question to the last of its threads being free."""
    asked = asyncio.create_task(transport.ask(RunOnHost(host=host, argv=argv), turn(30)))
    await asyncio.sleep(after)
    started = time.monotonic()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    while transport.pool.busy:
        await asyncio.sleep(0.005)
    return time.monotonic() - started


@pytest.mark.parametrize("talk", [None, drip, banner_only])
def test_cancelling_frees_the_thread_while_the_host_lets_us_wait(
    site: Site, talk: Callable[[socket.socket], None] | None
) -> None:
    with serving(talk) as place:
        settings = site.settings(hosts={"odd": place}, timeout_seconds=30.0)
        seconds = using(
            settings, lambda transport: _freed_after(transport, "odd", "uname", "-r", after=0.2)
        )
    assert seconds < 0.5


def test_cancelling_frees_the_thread_while_a_command_runs(site: Site, gpu1: SshHost) -> None:
    async def flow(transport: SshTransport) -> tuple[float, Any]:
        seconds = await _freed_after(transport, "gpu-1", "ibstat", after=0.3)
        return seconds, await transport.ask(RunOnHost(host="gpu-1", argv=("uname", "-r")), turn(5))

    log_ins = gpu1.log.count("Accepted publickey")
    seconds, next_answer = using(site.settings(gpu1, timeout_seconds=30.0), flow)
    assert seconds < 0.5
    assert output(next_answer).exit_code == 0
    assert gpu1.log.count("Accepted publickey") == log_ins + 1


def _freeze(host: SshHost) -> None:
    for process in host.sessions():
        process.suspend()


def test_a_connection_that_falls_silent_ends_at_the_deadline_and_is_replaced(
    site: Site, host: Callable[..., SshHost]
) -> None:
    frozen = host("frozen")
    question = RunOnHost(host="frozen", argv=("uname", "-r"))

    async def flow(transport: SshTransport) -> tuple[Any, float, Any]:
        await transport.ask(question, turn(5))
        _freeze(frozen)
        started = time.monotonic()
        silent = await transport.ask(question, turn(0.4))
        while transport.pool.busy:
            await asyncio.sleep(0.005)
        freed = time.monotonic() - started - 0.4
        return silent, freed, await transport.ask(question, turn(5))

    silent, freed, answer = using(site.settings(frozen), flow)
    assert "opened no session" in missing(silent, Reason.TIMEOUT)
    assert freed < 0.5
    assert output(answer).exit_code == 0


def test_cancelling_a_question_on_a_silent_connection_frees_the_thread(
    site: Site, host: Callable[..., SshHost]
) -> None:
    frozen = host("frozen2")

    async def flow(transport: SshTransport) -> float:
        await transport.ask(RunOnHost(host="frozen2", argv=("uname", "-r")), turn(5))
        _freeze(frozen)
        return await _freed_after(transport, "frozen2", "uname", "-r", after=0.1)

    assert using(site.settings(frozen, timeout_seconds=30.0), flow) < 0.5


def test_closing_ends_what_is_under_way(site: Site, gpu1: SshHost) -> None:
    async def flow(transport: SshTransport) -> Any:
        asked = asyncio.create_task(
            transport.ask(RunOnHost(host="gpu-1", argv=("ibstat",)), turn(30))
        )
        await asyncio.sleep(0.3)
        transport.close()
        return await asyncio.wait_for(asked, 0.5)

    answer = using(site.settings(gpu1, timeout_seconds=30.0), flow)
    assert isinstance(answer, Missing)


@pytest.mark.parametrize("talk", [None, banner_only])
def test_closing_ends_the_wait_for_a_host_that_says_nothing(
    site: Site, talk: Callable[[socket.socket], None] | None
) -> None:
    async def flow(transport: SshTransport) -> Any:
        question = RunOnHost(host="odd", argv=("uname", "-r"))
        asked = asyncio.create_task(transport.ask(question, turn(30)))
        await asyncio.sleep(0.2)
        transport.close()
        ended = await asyncio.wait_for(asked, 0.5)
        return ended, await transport.ask(question, turn(5))

    with serving(talk) as place:
        ended, late = using(site.settings(hosts={"odd": place}, timeout_seconds=30.0), flow)
    assert isinstance(ended, Missing)
    assert isinstance(late, Missing)


def test_a_connection_that_nobody_uses_is_closed(
    site: Site, gpu1: SshHost, host: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_links, "_IDLE_SECONDS", 0.0)
    idle = host("idle")

    async def flow(transport: SshTransport) -> bool:
        await transport.ask(RunOnHost(host="idle", argv=("uname", "-r")), turn(5))
        held = bool(idle.sessions())
        await transport.ask(RunOnHost(host="gpu-1", argv=("uname", "-r")), turn(5))
        return held and wait_until(lambda: not idle.sessions(), 2)

    assert using(site.settings(gpu1, idle), flow)


def test_three_abandoned_reads_open_the_breaker_of_that_host_alone(
    site: Site, gpu1: SshHost
) -> None:
    with serving(None) as place:
        here = Host(address=gpu1.address, port=gpu1.port)
        settings = site.settings(hosts={"hung": place, "gpu-1": here}, timeout_seconds=0.4)
        question = RunOnHost(host="hung", argv=("uname", "-r"))

        async def flow(transport: SshTransport) -> list[Any]:
            answers: list[Any] = [await transport.ask(question, turn(5)) for _ in range(4)]
            return [*answers, await transport.ask(RunOnHost(host="gpu-1", argv=("true",)), turn(5))]

        *silent, skipped, healthy = using(settings, flow)
    assert [missing(one, Reason.TIMEOUT) for one in silent]
    assert "left 3 reads in a row" in missing(skipped, Reason.SKIPPED)
    assert output(healthy).exit_code == 0


def test_fifty_hung_hosts_hold_no_thread_and_delay_nobody(site: Site, gpu1: SshHost) -> None:
    with serving(None) as place:
        hosts = {f"hung-{n}": place for n in range(50)}
        hosts["gpu-1"] = Host(address=gpu1.address, port=gpu1.port)
        settings = site.settings(hosts=hosts, concurrency=4)

        async def flow(transport: SshTransport) -> tuple[float, Any, list[Any], int, float]:
            hung = [
                asyncio.create_task(
                    transport.ask(RunOnHost(host=f"hung-{n}", argv=("uname", "-r")), turn(1.5))
                )
                for n in range(50)
                for _ in range(2)
            ]
            await asyncio.sleep(0.2)
            started = time.monotonic()
            healthy = await transport.ask(RunOnHost(host="gpu-1", argv=("true",)), turn(5))
            took = time.monotonic() - started
            answers = await asyncio.gather(*hung)
            return took, healthy, list(answers), transport.pool.busy, time.monotonic() - started

        took, healthy, answers, busy, whole = using(settings, flow)
    assert output(healthy).exit_code == 0
    assert took < 1.0
    assert whole < 2.0
    assert busy == 0
    assert len([missing(answer, Reason.TIMEOUT) for answer in answers]) == 100


def test_fifty_hosts_that_hang_in_the_key_exchange_give_their_threads_back(site: Site) -> None:
    with contextlib.ExitStack() as stack:
        hosts = {f"hung-{n}": stack.enter_context(serving(banner_only)) for n in range(50)}

        async def flow(transport: SshTransport) -> tuple[list[Any], float]:
            questions = [RunOnHost(host=name, argv=("uname", "-r")) for name in hosts]
            until = turn(1.0)
            answers = await asyncio.gather(*(transport.ask(one, until) for one in questions))
            started = time.monotonic()
            while transport.pool.busy:
                await asyncio.sleep(0.005)
            return list(answers), time.monotonic() - started

        answers, freed = using(site.settings(hosts=hosts, concurrency=16), flow)
    assert freed < 0.5
    assert Reason.TIMEOUT in {one.reason for one in answers} <= {Reason.TIMEOUT, Reason.SKIPPED}
