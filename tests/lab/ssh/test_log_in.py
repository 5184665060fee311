"""Who may log in to a host, and which host keys are trusted."""

import socket
import subprocess
from pathlib import Path

import pytest

from tailhound.errors import SettingsError
from tailhound.model import Reason
from tailhound.settings import Host, Secret, Ssh
from tailhound.transports.ssh import SshTransport
from tests.lab.ssh.kit import Site, ask, known_file, missing, output
from tests.lab.sshd import SshHost, make_key

pytestmark = pytest.mark.lab


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


def test_an_unknown_host_key_is_not_trusted(site: Site, gpu1: SshHost, tmp_path: Path) -> None:
    log_ins = gpu1.log.count("Accepted publickey")
    for known in (known_file(tmp_path, f"other {gpu1.public_key}"), str(tmp_path / "absent")):
        detail = missing(
            ask(site.settings(gpu1, known_hosts=known), "gpu-1", "uname", "-r"),
            Reason.UNREACHABLE,
        )
        assert f"host key of [127.0.0.1]:{gpu1.port} is unknown" in detail
        assert "SHA256:" in detail
    assert gpu1.log.count("Accepted publickey") == log_ins


def test_a_changed_host_key_is_told_apart(site: Site, gpu1: SshHost, tmp_path: Path) -> None:
    other = make_key(tmp_path / "new").with_suffix(".pub").read_text()
    known = known_file(tmp_path, f"[127.0.0.1]:{gpu1.port} {other}")
    detail = missing(
        ask(site.settings(gpu1, known_hosts=known), "gpu-1", "uname", "-r"), Reason.UNREACHABLE
    )
    assert "has CHANGED" in detail


def test_a_revoked_host_key_is_not_trusted(site: Site, gpu1: SshHost, tmp_path: Path) -> None:
    known = known_file(tmp_path, gpu1.known_hosts_line, f"@revoked * {gpu1.public_key}")
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
    named = known_file(tmp_path, f"[gpu-1]:{gpu1.port} {gpu1.public_key}")
    for known in (str(hashed), named):
        settings = site.settings(gpu1, known_hosts=known)
        assert output(ask(settings, "gpu-1", "uname", "-r")).exit_code == 0
    wild = known_file(tmp_path, f"[127.0.0.*]:{gpu1.port},!other {gpu1.public_key}")
    settings = site.settings(gpu1, known_hosts=wild)
    assert output(ask(settings, "gpu-1", "uname", "-r")).exit_code == 0
    barred = known_file(tmp_path, f"*,![127.0.0.1]:{gpu1.port},![gpu-1]:* {gpu1.public_key}")
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
