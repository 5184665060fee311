"""`deploy/setup.sh` on machines that lack something: it says what, and what to do."""

import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from deploy.constraints import normalised

ROOT = Path(__file__).parents[2]


class Machine:
    """A PATH on which some programs are replaced by scripts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "bin"
        self.folder.mkdir()
        self.log = folder / "log"

    def program(self, name: str, script: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def setup(self, venv: Path, **environ: str) -> "subprocess.CompletedProcess[str]":
        surroundings: Mapping[str, str] = {
            "PATH": f"{self.folder}:/usr/bin:/bin",
            "LOG": str(self.log),
            **environ,
        }
        return subprocess.run(
            ["/bin/sh", "deploy/setup.sh", str(venv)],
            cwd=ROOT,
            env=dict(surroundings),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


WITHOUT_VENV = f'case "$*" in *ensurepip*) exit 1;; *) exec {sys.executable} "$@";; esac'
PACKAGE = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"


def test_a_missing_python_is_named(machine: Machine, tmp_path: Path) -> None:
    done = machine.setup(tmp_path / "venv", PYTHON="python9")
    assert done.returncode == 1
    assert done.stderr.startswith("There is no 'python9'. On Debian: apt-get install python3 ")


def test_an_old_python_is_told_with_its_version(machine: Machine, tmp_path: Path) -> None:
    script = 'case "$*" in *version_info*) exit 1;; *python_version*) echo 3.9.2;; esac'
    machine.program("python3", script)
    done = machine.setup(tmp_path / "venv")
    assert done.returncode == 1
    assert "needs Python 3.11 or later; 'python3' is 3.9.2" in done.stderr


def test_without_the_venv_module_a_user_is_told_what_to_run(
    machine: Machine, tmp_path: Path
) -> None:
    machine.program("python3", WITHOUT_VENV)
    machine.program("id", "echo 1000")
    machine.program("apt-get", 'echo "$*" >> "$LOG"')
    done = machine.setup(tmp_path / "venv")
    assert done.returncode == 1
    assert done.stderr.endswith(f"Run: sudo apt-get install {PACKAGE}\n")
    assert not machine.log.exists()
    assert not (tmp_path / "venv").exists()


def test_without_the_venv_module_root_gets_it_installed(machine: Machine, tmp_path: Path) -> None:
    fake = f'case "$*" in *ensurepip*) exit 1;; "-m venv "*) exit 7;; esac; {WITHOUT_VENV}'
    machine.program("python3", fake)
    machine.program("id", "echo 0")
    machine.program("apt-get", 'echo "$*" >> "$LOG"')
    done = machine.setup(tmp_path / "venv")
    assert done.returncode == 7, "it goes on to make the environment"
    asked = machine.log.read_text(encoding="utf-8").splitlines()
    assert asked[0].startswith("update")
    assert asked[1].startswith("install -y")
    assert asked[1].endswith(f" {PACKAGE}")


def test_an_environment_that_works_is_kept(machine: Machine, tmp_path: Path) -> None:
    """pip is replaced by a script that notes how it was called."""
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    kept = venv / "kept"
    kept.touch()
    python = venv / "bin" / "python"
    python.write_text('#!/bin/sh\necho "$*" >> "$LOG"\n', encoding="utf-8")
    python.chmod(0o755)
    done = machine.setup(venv, PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr
    assert kept.exists()
    last = machine.log.read_text(encoding="utf-8").splitlines()[-1]
    assert last.startswith("-m pip install ")
    assert last.endswith("-c constraints.txt -e .[dev]")


def test_a_package_index_that_fails_is_told(machine: Machine, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    python = venv / "bin" / "python"
    python.write_text('#!/bin/sh\ncase "$*" in *install*) exit 1;; esac\n', encoding="utf-8")
    python.chmod(0o755)
    done = machine.setup(venv, PYTHON=sys.executable)
    assert done.returncode == 1
    assert "PIP_INDEX_URL names another" in done.stderr


def test_every_dependency_of_the_project_is_pinned() -> None:
    """`make constraints` writes the file; what pyproject.toml names must be in it."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    asked = {normalised(Requirement(text).name) for text in requires("tailhound") or ()}
    assert asked - pinned == set()
