"""The parts of the SSH transport that need no host."""

import asyncio
import base64
import errno
import itertools
import json
import shlex
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.model import Missing, Reason
from tailhound.requests.argv_sudoers import sudoers_line
from tailhound.requests.ssh import Output
from tailhound.settings import Host, Ssh
from tailhound.transports.ssh_arrived import Arrived
from tailhound.transports.ssh_command import (
    Command,
    Ended,
    meaning,
    through_shell,
    through_wrapper,
)
from tailhound.transports.ssh_inventory import Inventory, Place
from tailhound.transports.ssh_known_hosts import KnownHosts, KnownKey, host_names, known_key
from tailhound.transports.ssh_leg import Leg, why_bad_greeting, why_unreachable
from tailhound.transports.ssh_slots import Slots

MARK = "0123456789abcdef"
ARGUMENT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


def ended(
    argv: tuple[str, ...], status: int, stdout: str = "", stderr: str = ""
) -> Output | Missing:
    command = through_shell(argv, MARK, 7, sudo=True)
    marked = (f"{MARK}\n{stdout}".encode(), f"{MARK}\n{stderr}".encode())
    return meaning(command, Ended(*marked, status), "gpu-1", "diag")


@given(arguments=st.lists(ARGUMENT, max_size=4))
def test_the_remote_line_splits_into_exactly_the_argv(arguments: list[str]) -> None:
    argv = ("cat", *arguments)
    *shell, script = shlex.split(through_shell(argv, MARK, 7, sudo=True).line)
    assert shell == ["exec", "/bin/sh", "-c"]
    _, _, started = script.partition(" exec timeout -k 2 7 ")
    *asked, nothing = shlex.split(started)
    assert (tuple(asked), nothing) == (argv, "</dev/null")


@settings(max_examples=25, deadline=None)
@given(arguments=st.lists(ARGUMENT, min_size=1, max_size=3))
def test_a_real_shell_hands_the_argv_over_unchanged(arguments: list[str]) -> None:
    line = through_shell(("printf", "%s|", *arguments), MARK, 7, sudo=True).line
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True)
    expected = "".join(f"{argument}|" for argument in arguments)
    assert done.stdout.decode() == f"{MARK}\n{expected}"
    assert done.stderr == f"{MARK}\n".encode()


def test_a_command_has_no_input_to_wait_for() -> None:
    line = through_shell(("cat",), MARK, 7, sudo=True).line
    done = subprocess.run(["/bin/sh", "-c", line], input=b"typed", capture_output=True, check=True)
    assert done.stdout == f"{MARK}\n".encode()


def test_only_a_full_path_gets_sudo_and_only_when_the_site_wants_it() -> None:
    argv = ("/usr/sbin/nvme", "list")
    assert "sudo -n /usr/sbin/nvme list" in through_shell(argv, MARK, 7, sudo=True).line
    assert "sudo" not in through_shell(argv, MARK, 7, sudo=False).line
    assert "sudo" not in through_shell(("uname", "-r"), MARK, 7, sudo=True).line


def test_the_wrapper_gets_one_json_line() -> None:
    command = through_wrapper(("/usr/sbin/nvme", "a\nb"), MARK, 7, sudo=True)
    assert command.stdin.count(b"\n") == 1
    asked = {"argv": ["/usr/sbin/nvme", "a\nb"], "mark": MARK, "seconds": 7, "sudo": True}
    assert json.loads(command.stdin) == asked


@pytest.mark.parametrize("status", [0, 1, 2, 8, 94, 255])
def test_any_exit_code_of_the_tool_itself_is_an_answer(status: int) -> None:
    assert ended(("ibstat",), status, "out", "err") == Output("out", "err", status)


@pytest.mark.parametrize(
    ("status", "stderr", "reason", "says"),
    [
        (124, "", Reason.TIMEOUT, "`ibstat` on gpu-1 did not end within 7 s"),
        (137, "", Reason.TIMEOUT, "was killed"),
        (127, "timeout: failed to run command 'ibstat'", Reason.NOT_APPLICABLE, "infiniband-diags"),
        (127, "sh: 1: timeout: not found", Reason.NOT_APPLICABLE, "no such tool `timeout`"),
        (126, "Permission denied", Reason.FORBIDDEN, "diag may not execute `ibstat`"),
        (-1, "", Reason.UNREACHABLE, "without an exit status"),
    ],
)
def test_an_end_that_is_not_the_tools_own_is_missing_with_its_reason(
    status: int, stderr: str, reason: Reason, says: str
) -> None:
    answer = ended(("ibstat",), status, "", stderr)
    assert isinstance(answer, Missing)
    assert answer.reason is reason
    assert says in answer.detail


def test_sudo_that_is_not_installed_is_named() -> None:
    said = "timeout: failed to run command 'sudo': No such file or directory"
    answer = ended(("/usr/sbin/nvme", "list"), 127, "", said)
    assert isinstance(answer, Missing)
    assert "no such tool `sudo`" in answer.detail


def test_a_refusal_of_sudo_gives_the_rule_with_its_special_characters_escaped() -> None:
    argv = ("/usr/bin/dmesg", "--time-format=iso", "--level=emerg,alert")
    answer = ended(argv, 1, "", "sudo: a password is required\n")
    assert isinstance(answer, Missing)
    assert answer.detail.endswith(sudoers_line(argv, "diag"))
    assert "--time-format\\=iso --level\\=emerg\\,alert" in answer.detail


def test_words_of_sudo_in_another_tools_output_are_no_refusal() -> None:
    said = "sudo: a password is required\n"
    assert ended(("ibstat",), 1, "", said) == Output("", said, 1)
    assert ended(("/usr/sbin/nvme", "list"), 0, "", said) == Output("", said, 0)


@given(stdout=st.binary(max_size=60), stderr=st.binary(max_size=60), status=st.integers(-1, 255))
def test_no_bytes_of_a_host_are_an_exception(stdout: bytes, stderr: bytes, status: int) -> None:
    for through in (through_shell, through_wrapper):
        command: Command = through(("/usr/sbin/nvme", "list"), MARK, 7, sudo=True)
        answer = meaning(command, Ended(stdout, stderr, status), "gpu-1", "diag")
        assert isinstance(answer, Missing)  # the mark never came
        mark = MARK.encode() + b"\n"
        answer = meaning(command, Ended(mark + stdout, stderr, status), "gpu-1", "diag")
        assert isinstance(answer, Output | Missing)


# Inventory


def test_a_place_knows_its_names_for_known_hosts() -> None:
    assert host_names(("10.0.0.1", "gpu-1"), 22) == ("10.0.0.1", "gpu-1")
    assert host_names(("10.0.0.1", "gpu-1"), 2222) == ("[10.0.0.1]:2222", "[gpu-1]:2222")
    inventory = Inventory(
        Ssh(hosts={"gpu-1": Host(address="10.0.0.1", jump="b", user="x"), "b": Host()})
    )
    place = inventory.place("gpu-1")
    assert isinstance(place, Place)
    assert (place.user, place.shown) == ("x", "gpu-1 (10.0.0.1:22)")
    assert place.jump == Place("b", "b", 22, "tailhound")


@given(name=st.text(max_size=300))
def test_a_name_from_outside_is_a_plain_host_name_or_not_asked(name: str) -> None:
    place = Inventory(Ssh(any_host=True)).place(name)
    if isinstance(place, Place):
        assert name.replace("-", "a").replace(".", "a").replace("_", "a").isalnum()
        assert name.isascii()
        assert not name.startswith(("-", "."))


# Host keys

KEY = base64.b64encode(b"\x00\x00\x00\x0bssh-ed25519 key").decode()


@given(text=st.text(max_size=200))
def test_no_text_of_a_known_hosts_file_is_an_exception(text: str) -> None:
    for line in (text, f"@revoked {text}", f"|1|{text} ssh-ed25519 {KEY}", f"{text} x {KEY}"):
        key = known_key(line.replace("\n", " "))
        if key is not None:
            assert isinstance(key.names_host("[10.0.0.1]:22"), bool)


def test_a_file_that_is_not_there_knows_no_host() -> None:
    known = KnownHosts.read("/nonexistent/known_hosts")
    assert known.kinds(("a",)) == ()
    assert "/nonexistent/known_hosts" in str(known.why_not(("a",), "ssh-ed25519", b"k"))


NAME = st.sampled_from(["a", "b", "c", "[a]:22", "*", "!a", "?", "[a]:*", "|1|x|y"])


@given(
    lines=st.lists(st.tuples(st.lists(NAME, min_size=1, max_size=3), st.booleans()), max_size=6),
    asked=st.lists(st.sampled_from(["a", "b", "[a]:22", "d"]), min_size=1, max_size=2),
)
def test_the_lines_of_a_host_are_found_whatever_else_the_file_holds(
    lines: list[tuple[list[str], bool]], asked: list[str]
) -> None:
    keys = tuple(
        KnownKey(tuple(names), f"kind-{number}", b"%d" % number, revoked)
        for number, (names, revoked) in enumerate(lines)
    )
    known = KnownHosts(keys, "known_hosts")
    about = [key for key in keys if any(key.names_host(name) for name in asked)]
    assert known.kinds(asked) == tuple(key.kind for key in about if not key.revoked)
    for key in keys:
        is_trusted = key in about and not key.revoked
        assert (known.why_not(asked, key.kind, key.blob) is None) is is_trusted


def test_a_file_that_changed_is_read_anew_and_one_that_did_not_is_not(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_text(f"a ssh-ed25519 {KEY}\n", encoding="ascii")
    first = KnownHosts.read(str(path))
    assert KnownHosts.read(str(path)) is first
    for text in (f"b ssh-ed25519 {KEY}\n", f"a ssh-rsa {KEY}\n", ""):
        replaced = tmp_path / "new"
        replaced.write_text(text, encoding="ascii")
        replaced.rename(path)
        assert KnownHosts.read(str(path)).keys == tuple(filter(None, [known_key(text)]))
    path.unlink()
    assert KnownHosts.read(str(path)).keys == ()


# What comes from a host


@given(
    sent=st.lists(st.binary(min_size=1, max_size=40), max_size=8),
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=5),
)
def test_bytes_come_in_order_and_complete_in_whatever_pieces_they_are_read(
    sent: list[bytes], sizes: list[int]
) -> None:
    here, there = socket.socketpair()
    with here, there:
        leg = Leg(here, b"SSH-2.0-x\r\n")
        for part in sent:
            there.sendall(part)
        there.shutdown(socket.SHUT_WR)
        found = b""
        for size in itertools.cycle(sizes):
            part = leg.recv(size)
            if not part:
                break
            assert len(part) <= size
            found += part
    assert found == b"SSH-2.0-x\r\n" + b"".join(sent)


def test_nothing_to_read_is_a_timeout_and_a_shut_leg_is_an_end() -> None:
    here, there = socket.socketpair()
    with here, there:
        leg = Leg(here)
        leg.settimeout(0.01)
        with pytest.raises(TimeoutError):
            leg.recv(16)
        there.sendall(b"late")
        assert leg.recv(3) == b"lat"
        leg.shut()
        assert leg.recv(3) == b"e"
        assert leg.recv(3) == b""


@dataclass
class Session:
    """As much of a channel as is looked at."""

    closed: bool = False


def test_a_reader_sleeps_until_much_has_come_or_the_session_ended() -> None:
    session = Session()
    arrived = Arrived(session)
    for _ in range(7):
        arrived.set()
        arrived.clear()
    assert not arrived.wait(0)
    arrived.set()
    assert arrived.wait(0)
    arrived.begin()
    arrived.set()
    assert not arrived.wait(0)
    session.closed = True
    arrived.set()
    assert arrived.wait(0)


def test_a_reader_is_woken_when_its_question_is_given_up() -> None:
    arrived = Arrived(Session())
    arrived.wake()
    assert arrived.wait(0)


# Greetings


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "refuses connections"),
        (OSError(errno.EHOSTUNREACH, "x"), "no route"),
        (OSError(errno.ENETUNREACH, "x"), "no route"),
        (ConnectionResetError(errno.ECONNRESET, "x"), "closed the connection before"),
        (socket.gaierror(-2, "x"), "does not resolve"),
        (OSError(errno.EACCES, "x"), "Permission denied"),
    ],
)
def test_each_way_to_have_no_connection_has_its_own_sentence(error: OSError, says: str) -> None:
    assert says in why_unreachable("gpu-1", error)


def test_too_many_log_ins_are_told_apart_from_a_closed_door() -> None:
    assert "too many log-ins" in why_bad_greeting("gpu-1", b"Exceeded MaxStartups\r\n")
    assert "before its SSH banner" in why_bad_greeting("gpu-1", b"")


# Slots


def test_slots_are_handed_to_who_waits_longest_and_a_cancelled_wait_loses_none() -> None:
    async def flow() -> list[str]:
        slots, order = Slots(1), []

        async def use(name: str) -> None:
            await slots.take()
            order.append(name)
            await asyncio.sleep(0)
            slots.give()

        await slots.take()
        waiting = [asyncio.create_task(use(name)) for name in "abcd"]
        await asyncio.sleep(0)
        waiting[1].cancel()
        slots.give()
        waiting[2].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert slots.taken == 0
        return order

    assert asyncio.run(flow()) == ["a", "d"]


def test_a_slot_given_to_a_wait_that_is_cancelled_at_that_moment_is_not_lost() -> None:
    async def flow() -> int:
        slots = Slots(1)
        await slots.take()
        waiting = asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        slots.give()  # hands over to `waiting`, which has not run yet
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.sleep(0)
        return slots.taken

    assert asyncio.run(flow()) == 0


def test_slots_shrink_below_what_the_host_refused_but_never_to_none() -> None:
    async def flow() -> None:
        slots = Slots(6)
        for _ in range(4):
            await slots.take()
        assert slots.shrink()
        assert slots.limit == 3
        for _ in range(3):
            slots.give()
        assert not slots.shrink()
        assert slots.limit == 1

    asyncio.run(flow())
