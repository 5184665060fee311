"""The wheel in an environment of its own: it holds and asks for all that it needs.

The environment has the built wheel and the distributions that the wheel's metadata names, nothing
else. Those are linked from the environment of the tests rather than downloaded again (they are half
a gigabyte), so the test needs no network.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

from deploy.constraints import needed
from tailhound import __version__

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.timeout(120), pytest.mark.xdist_group("wheel")]


class Place:
    """An environment of its own, beside an empty working directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.home = folder / "venv"
        venv.create(self.home, symlinks=True)
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self.packages = self.home / "lib" / version / "site-packages"

    def run(self, *argv: str) -> "subprocess.CompletedProcess[str]":
        """A command of the environment, with nothing of ours in its surroundings."""
        return subprocess.run(
            [str(self.home / "bin" / argv[0]), *argv[1:]],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    def said(self, *argv: str) -> str:
        """What a command printed; it must end well."""
        done = self.run(*argv)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def link(self, name: str) -> None:
        """Take over an installed distribution."""
        ours = Path(sysconfig.get_path("purelib"))
        for top in {file.parts[0] for file in distribution(name).files or ()} - {".."}:
            target = self.packages / top
            if not target.exists():
                target.symlink_to(ours / top)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def place(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = Place(tmp_path_factory.mktemp("wheel"))
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(made.home / "bin" / "python")]
    install = [*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    alone = {**os.environ, "PIP_CONFIG_FILE": os.devnull}
    subprocess.run(install, check=True, timeout=90, env=alone)
    (own,) = made.packages.glob("tailhound-*.dist-info")
    for name in needed(Distribution.at(own)):
        made.link(name)
    subprocess.run([*pip, "check"], check=True, timeout=90)
    return made


def test_the_sdist_holds_every_file_of_the_checkout(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        inside = {name.partition("/")[2] for name in files.getnames()}
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    missing = {name for name in listed if name and (ROOT / name).exists()} - inside
    assert missing == set()


def test_the_wheel_prints_its_version(place: Place) -> None:
    assert place.said("tailhound", "version") == f"tailhound {__version__}\n"
    assert place.said("python", "-m", "tailhound", "version") == f"tailhound {__version__}\n"


def test_every_module_of_the_wheel_can_be_imported(place: Place) -> None:
    code = """
import importlib, pkgutil, tailhound, tailhound_collectors
for package in (tailhound, tailhound_collectors):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith(("__main__", ".migrations.env")):
            importlib.import_module(found.name)
            print(found.name)
"""
    names = place.said("python", "-c", code).split()
    assert {"tailhound.cli.serve", "tailhound.transports.ssh", "tailhound_collectors.cpu"} <= set(
        names
    )


def test_nothing_of_the_development_tools_is_in_its_environment(place: Place) -> None:
    assert place.run("python", "-c", "import pytest").returncode == 1
    assert place.run("python", "-c", "import hypothesis").returncode == 1


@pytest.mark.parametrize("kind", ["runbooks", "templates", "demo"])
def test_the_wheel_carries_its_own_files(place: Place, kind: str) -> None:
    code = f"from tailhound.shipped import shipped; print(shipped({kind!r}))"
    folder = Path(place.said("python", "-c", code).strip())
    assert folder.is_relative_to(place.packages)
    ours = {path.relative_to(ROOT / kind) for path in (ROOT / kind).rglob("*") if path.is_file()}
    theirs = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert theirs == ours


def test_the_shipped_runbooks_pass_their_tests_in_the_wheel(place: Place) -> None:
    shipped = str(place.packages / "tailhound" / "runbooks")
    assert "no findings" in place.said("tailhound", "check", shipped)


def test_the_wheel_makes_a_database_by_its_migrations(place: Place) -> None:
    code = (
        "from tailhound.store.database import open_database; "
        "open_database('sqlite:///tailhound.db').close()"
    )
    place.said("python", "-c", code)
    listed = place.said("tailhound", "incidents")
    assert listed.startswith("No incidents yet.")


def test_the_demo_of_the_wheel_diagnoses_its_recording(place: Place) -> None:
    said = place.said("tailhound", "demo", "--once")
    assert "Diagnosed: cpu-throttling" in said
