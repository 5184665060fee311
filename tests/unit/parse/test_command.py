"""`tailhound parse`: arguments, standard input, exit codes."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tailhound.cli import main
from tailhound_collectors.parse import ALL
from tests.unit.parse.cases import HOST_CASES

SMART = str(HOST_CASES / "nvme-smart-log-02.txt")


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The JSON on standard output."""
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_facts_are_printed_with_their_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "nvme-smart-log", SMART]) == 0
    said = printed(capsys)
    assert list(said) == ["tool", "status", "reason", "facts"]
    assert (said["tool"], said["status"], said["reason"]) == ("nvme-smart-log", "collected", "")
    assert said["facts"]["temperature_celsius"] == 38.0


@pytest.mark.parametrize("name", ["nvme smart-log", "NVME-SMART-LOG", "nvme_smart_log"])
def test_a_tool_may_be_named_by_its_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", name, SMART]) == 0
    assert printed(capsys)["tool"] == "nvme-smart-log"


@pytest.mark.parametrize("file", [[], ["-"]])
def test_standard_input_is_read_without_a_file(
    file: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = b"critical_warning : 0\ntemperature : 34 \xb0C (307 K)\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert main(["parse", "nvme-smart-log", *file]) == 0
    assert printed(capsys)["facts"]["temperature_celsius"] == 34.0


def test_the_other_stream_and_the_exit_code_say_why_there_is_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    out.write_text("")
    err.write_text("sudo: a password is required\n")
    assert main(["parse", "iostat", str(out), "--stderr", str(err), "--exit-code", "1"]) == 1
    said = printed(capsys)
    assert (said["status"], said["facts"]) == ("forbidden", None)
    assert said["reason"].startswith("sudo_password_required: ")
    assert main(["parse", "iostat", str(out), "--exit-code", "127"]) == 1
    assert printed(capsys)["status"] == "not-applicable"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["nvme-smartlog", SMART], "did you mean nvme-smart-log?"),
        (["no-such-tool", SMART], "--list names all of them"),
        (["iostat", "/no/such/file"], "/no/such/file: can't be read"),
        (["iostat", str(HOST_CASES)], "can't be read"),
        ([], "name a tool"),
    ],
)
def test_a_mistake_in_the_call_ends_with_2_and_says_what_to_do(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["parse", *argv]) == 2
    streams = capsys.readouterr()
    assert said in streams.err
    assert streams.out == ""


def test_an_exit_code_that_is_no_number_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["parse", "iostat", SMART, "--exit-code", "many"])
    assert stopped.value.code == 2
    assert "--exit-code" in capsys.readouterr().err


def test_the_list_names_every_tool_with_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for tool in ALL:
        assert any(line.split(" | ")[0] == tool.name for line in lines)
        assert f"    reads  {tool.command}" in lines
