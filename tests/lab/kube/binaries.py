"""Where a kube-apiserver and an etcd are on this machine, and whether they are new enough.

Order: KUBEBUILDER_ASSETS, PATH, and what `python -m tests.lab.kube.build` left in the cache.
"""

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

OLDEST = (1, 34)
"""In-place resize, policy/v1 eviction and flowcontrol/v1 are all there from this version on."""

BUILT = "v1.34.4"
"""What `build` builds; tests/lab/kube/module/go.mod says the same."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """The two programs of a real API server."""

    apiserver: Path
    etcd: Path


def cache_folder() -> Path:
    """Where the built program is kept, outside of the checkout."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "tailhound" / "kube" / BUILT


def at_hand() -> Binaries | None:
    """Both programs, or None when one is missing or too old."""
    apiserver, etcd = kube_apiserver(), program("etcd")
    return Binaries(apiserver, etcd) if apiserver and etcd else None


def kube_apiserver() -> Path | None:
    """The first kube-apiserver that is new enough."""
    for path in _candidates("kube-apiserver"):
        if version(path) >= OLDEST:
            return path
    return None


def program(name: str) -> Path | None:
    """The first program of this name."""
    return next(iter(_candidates(name)), None)


def explained() -> str:
    """Why no kube-apiserver can be used, for the advice."""
    old = [f"{path} is {_said(version(path))}" for path in _candidates("kube-apiserver")]
    return f" ({'; '.join(old)}, {_said(OLDEST)} is needed)" if old else ""


def _said(found: tuple[int, int]) -> str:
    return ".".join(map(str, found)) if found != (0, 0) else "not to be started"


def _candidates(name: str) -> list[Path]:
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    found = [shutil.which(name, path=assets)] if assets else []
    found += [shutil.which(name), shutil.which(name, path=str(cache_folder()))]
    return list(dict.fromkeys(Path(path) for path in found if path))


@functools.cache
def version(path: Path) -> tuple[int, int]:
    """Major and minor; (0, 0) when the program can't say."""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0, 0
    match = re.search(r"Kubernetes v(\d+)\.(\d+)\.", done.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)
