"""How a command starts."""

import gc
from pathlib import Path

import pytest

from tailhound import cli


def test_garbage_is_collected_again_whatever_a_command_came_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["serve", "--config", str(tmp_path / "none.yaml")]) == cli.USAGE
    assert gc.isenabled()
    assert cli.main(["check", str(tmp_path)]) == cli.USAGE
    assert gc.isenabled()
    assert "none.yaml" in capsys.readouterr().err


def test_nothing_is_collected_while_a_command_grows() -> None:
    with cli.growing():
        assert not gc.isenabled()
    assert gc.isenabled()
