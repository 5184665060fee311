"""What real hosts answer to the SSH transport: as themselves, as root, and in two readings."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from tailhound.model import Reason
from tailhound.requests.ssh import Output, RunOnHost
from tailhound.transports.ssh import SshTransport
from tests.lab.ssh.kit import Site, ask, missing, output, runs, turn, using, wait_until
from tests.lab.sshd import SshHost

pytestmark = pytest.mark.lab

NASTY = 'it\'s $(id) "two" `id` ;&|*?[a] \\n ~ # !x {1,2} >z <y é'


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
    assert wait_until(lambda: not runs(gpu1, "ibstatus"), 4)


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
        while not runs(dying, "ibstat"):
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
