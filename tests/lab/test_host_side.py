"""What is installed on a host: the sudoers rules and the forced command."""

import fnmatch
import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.errors import SettingsError
from tailhound.model import Missing, Reason
from tailhound.requests.argv import SHIPPED, AllowList, Entry, needs_root
from tailhound.requests.argv_holes import HOLES
from tailhound.requests.argv_sudoers import sudoers, sudoers_line, wrapper_list
from tailhound.requests.ssh import Output
from tailhound.settings import Host, Secret, Ssh
from tests.lab.conftest import Needs
from tests.lab.ssh.kit import ask, missing, output
from tests.lab.sshd import SshHosts

pytestmark = pytest.mark.lab
HERE = Path(__file__).parents[2] / "deploy" / "host"
WRAPPER = HERE / "tailhound-host"


def test_the_shipped_files_are_those_of_the_shipped_list() -> None:
    assert (HERE / "tailhound.sudoers").read_text() == sudoers(SHIPPED)
    assert (HERE / "allowed.json").read_text() == wrapper_list(SHIPPED)


def test_visudo_accepts_the_rules(tmp_path: Path) -> None:
    visudo = shutil.which("visudo", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if visudo is None:
        advice = "visudo is missing, needed to check the sudoers rules: apt-get install sudo"
        if os.environ.get("CI") == "true":
            pytest.fail(advice)
        pytest.skip(advice)
    site = AllowList.of([["/usr/bin/x", "a,b:c=d\\e", "<nvme>", "<int>", "<rdma-device>"]])
    lines = [
        sudoers_line(("/usr/bin/x", "a b*?[c]!#"), "bot"),
        sudoers_line(("/usr/bin/y",), "bot"),
    ]
    for text in (sudoers(SHIPPED), sudoers(site, "bot"), "\n".join(lines) + "\n"):
        path = tmp_path / "rules"
        path.write_text(text)
        path.chmod(0o440)
        done = subprocess.run(
            [visudo, "-cf", str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def _rules() -> list[str]:
    rules = [line.split("NOPASSWD: ", 1) for line in sudoers(SHIPPED).splitlines()]
    return [rule[1].replace("\\", "") for rule in rules if len(rule) == 2]


RULES = _rules()
ROOTED = [entry for entry in SHIPPED.entries if needs_root(entry.texts)]


def test_no_rule_holds_a_star_and_every_command_as_root_has_one() -> None:
    assert not any("*" in rule or "?" in rule for rule in RULES)
    for entry in ROOTED:
        shown = " ".join(entry.example)
        assert any(fnmatch.fnmatchcase(shown, rule) for rule in RULES), shown


@settings(max_examples=60)
@given(entry=st.sampled_from(ROOTED), extra=st.sampled_from(["-b", "--clear", "/dev/sda", "x"]))
def test_no_rule_allows_one_more_argument(entry: Entry, extra: str) -> None:
    shown = " ".join((*entry.example, extra))
    assert not any(fnmatch.fnmatchcase(shown, rule) for rule in RULES)


def test_a_hole_that_sudoers_cannot_bound_is_an_error() -> None:
    site = AllowList.of([["/usr/bin/x", "<fields>"]])
    with pytest.raises(SettingsError, match="can't be bounded in sudoers"):
        sudoers(site)


# The forced command


@pytest.fixture(scope="module")
def wrapper() -> dict[str, Any]:
    return runpy.run_path(str(WRAPPER), run_name="tailhound_host")


def test_the_wrapper_knows_the_same_holes(wrapper: dict[str, Any]) -> None:
    assert wrapper["HOLES"] == {kind: hole.regex for kind, hole in HOLES.items()}


ENTRIES = json.loads((HERE / "allowed.json").read_text())
ARGUMENTS = st.sampled_from(
    [argument for entry in SHIPPED.entries for argument in (*entry.texts, *entry.example)]
) | st.text(max_size=8)


@settings(max_examples=60, deadline=None)
@given(argv=st.lists(ARGUMENTS, min_size=1, max_size=6))
def test_the_wrapper_allows_what_the_list_allows(argv: list[str], wrapper: dict[str, Any]) -> None:
    assert wrapper["allowed"](argv, ENTRIES) == any(e.fits(argv) for e in SHIPPED.entries)


def test_the_wrapper_allows_every_example_of_the_list(wrapper: dict[str, Any]) -> None:
    for entry in SHIPPED.entries:
        assert wrapper["allowed"](list(entry.example), ENTRIES)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"", "not one JSON line"),
        (b"uname -r\n", "not one JSON line"),
        (b"[]\n", "not one JSON line"),
        (b'{"mark": "x", "argv": ["uname"], "seconds": 1, "sudo": false}\n', "the mark"),
        (b'{"mark": "0123abcd", "argv": [], "seconds": 1, "sudo": false}\n', "the argv"),
        (b'{"mark": "0123abcd", "argv": "uname", "seconds": 1, "sudo": false}\n', "the argv"),
        (b'{"mark": "0123abcd", "argv": ["a\\u0000"], "seconds": 1, "sudo": false}\n', "the argv"),
        (b'{"mark": "0123abcd", "argv": ["uname"], "seconds": 999, "sudo": false}\n', "seconds"),
        (b'{"mark": "0123abcd", "argv": ["uname"], "seconds": true, "sudo": false}\n', "seconds"),
        (b'{"mark": "0123abcd", "argv": ["nvme"], "seconds": 1, "sudo": true}\n', "full path"),
    ],
)
def test_the_wrapper_refuses_a_malformed_request(
    line: bytes, says: str, wrapper: dict[str, Any]
) -> None:
    with pytest.raises(wrapper["Refused"], match=says):
        wrapper["request"](line)


def test_the_wrapper_trusts_only_a_list_that_root_alone_can_write(
    tmp_path: Path, wrapper: dict[str, Any]
) -> None:
    path = tmp_path / "allowed.json"
    path.write_text("{}")
    path.chmod(0o666)
    with pytest.raises(wrapper["Refused"], match="root alone"):
        wrapper["entries"](str(path))
    with pytest.raises(wrapper["Refused"], match="can't read"):
        wrapper["entries"](str(tmp_path / "absent"))


@pytest.fixture(scope="module")
def wrapped(needs: Needs) -> Iterator[tuple[SshHosts, Ssh]]:
    """A host whose only command is the wrapper, with a list of its own."""
    needs("sshd", "ssh-keygen")
    with SshHosts() as hosts:
        listed = hosts.folder / "allowed.json"
        listed.write_text('[["say", "<int>", "$(id) \'\\"`;|"], ["uname", "-r"], ["ibstat"]]')
        listed.chmod(0o644)
        script = hosts.folder / "tailhound-host"
        text = WRAPPER.read_text().replace("/etc/tailhound/allowed.json", str(listed))
        if not Path("/usr/bin/python3").exists():
            text = text.replace("#!/usr/bin/python3", f"#!{sys.executable}")
        script.write_text(text)
        script.chmod(0o755)
        host = hosts.start("gpu-1", options=(f"ForceCommand {script}",))
        host.tool("say", '#!/bin/sh\nprintf "%s\\n" "$#" "$@"; cat; echo "$LC_ALL" >&2; exit 4\n')
        host.tool("ibstat", "#!/bin/sh\nsleep 20\n")
        yield (
            hosts,
            Ssh(
                user=hosts.user,
                key=Secret(file=str(hosts.key)),
                known_hosts=str(hosts.known_hosts),
                hosts={"gpu-1": Host(address=host.address, port=host.port)},
                allow=(("shipped",), ("say", "<int>", "$(id) '\"`;|"), ("say", "other")),
                wrapper=True,
            ),
        )


@pytest.fixture
def as_root() -> None:
    if os.geteuid() != 0 and os.environ.get("CI") != "true":
        pytest.skip("the wrapper trusts only a list that belongs to root: run the tests as root")


@pytest.mark.usefixtures("as_root")
def test_a_wrapped_host_runs_a_command_of_its_list_without_a_shell(
    wrapped: tuple[SshHosts, Ssh],
) -> None:
    answer = output(ask(wrapped[1], "gpu-1", "say", "7", "$(id) '\"`;|"))
    assert answer == Output("2\n7\n$(id) '\"`;|\n", "C\n", 4)


@pytest.mark.usefixtures("as_root")
def test_a_wrapped_host_refuses_what_only_our_list_allows(wrapped: tuple[SshHosts, Ssh]) -> None:
    detail = missing(ask(wrapped[1], "gpu-1", "say", "other"), Reason.FORBIDDEN)
    assert "tailhound-host on gpu-1: refused" in detail
    assert '["say", "other"] is not in' in detail


@pytest.mark.usefixtures("as_root")
def test_a_wrapped_host_ends_a_command_that_hangs(wrapped: tuple[SshHosts, Ssh]) -> None:
    answer = ask(wrapped[1], "gpu-1", "ibstat", seconds=1.7)
    assert "did not end within 1 s" in missing(answer, Reason.TIMEOUT)


def test_a_wrapped_host_runs_nothing_for_whoever_holds_the_key(
    wrapped: tuple[SshHosts, Ssh],
) -> None:
    answer = ask(wrapped[1].model_copy(update={"wrapper": False}), "gpu-1", "uname", "-r")
    assert isinstance(answer, Missing)
    assert answer.reason is Reason.FORBIDDEN
    assert "tailhound-host" in answer.detail
