"""What the guests are made of, without starting one."""

import pytest

from tests.lab.devices import requirements
from tests.lab.devices.archive import archived, file, folder, link


def test_a_missing_tool_is_named_with_the_package_that_holds_it() -> None:
    absent = requirements.missing(lambda path: path != "/usr/sbin/nvme")
    assert absent == ("nvme-cli",)


def test_the_advice_is_a_line_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.uname", lambda: _Machine("x86_64"))
    assert requirements.advice(("kmod", "nvme-cli")).endswith(
        "apt-get install -y --no-install-recommends kmod nvme-cli"
    )
    assert requirements.advice(()) == ""


def test_a_machine_of_another_kind_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.uname", lambda: _Machine("aarch64"))
    assert "aarch64" in requirements.advice(())


def test_every_tool_in_a_guest_belongs_to_a_package_or_to_the_base_system() -> None:
    absent = requirements.missing(lambda path: False)
    of_no_package = [name for name in absent if name.startswith("(")]
    assert set(requirements.PACKAGES) <= set(absent)
    assert "(the package of /usr/bin/cat)" in of_no_package
    assert not [name for name in of_no_package if "sbin" in name]


def test_an_archive_holds_each_folder_once_and_before_what_is_in_it() -> None:
    nodes = (link("bin", "usr/bin"), folder("root", 0o700), file("root/.ssh/a", b"key", 0o600))
    pieces = list(archived((*nodes, file("root/.ssh/a", b"again"))))
    assert [name(piece) for piece in pieces] == [
        "bin",
        "root",
        "root/.ssh",
        "root/.ssh/a",
        "TRAILER!!!",
    ]
    assert [piece[14:22] for piece in pieces[:4]] == [
        b"0000a1ff",
        b"000041c0",
        b"000041ed",
        b"00008180",
    ]
    assert pieces[3].endswith(b"key\0")
    assert all(len(piece) % 4 == 0 for piece in pieces)


def name(piece: bytes) -> str:
    return piece[110 : piece.index(b"\0", 110)].decode()


class _Machine:
    def __init__(self, machine: str) -> None:
        self.machine = machine
