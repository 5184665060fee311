"""Build the guest's kernel and file system: `python -m tests.lab.devices.build`.

Prints the folder. The kernel is Debian's newest, downloaded by apt and unpacked, never installed.
What was built is kept outside of the checkout, and built anew when the kernel, this recipe or a
tool has changed.
"""

import fcntl
import hashlib
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.lab.devices import archive, image, requirements
from tests.lab.sshd import make_key

KERNEL = "linux-image-amd64"
_XZ = b"\xfd7zXZ\x00"
_RECIPE = ("archive.py", "build.py", "image.py", "init.sh")


class BuildError(Exception):
    """It can't be built here; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Image:
    """What a guest is started from. `key` logs in as root; all guests have one host key."""

    folder: Path

    @property
    def kernel(self) -> Path:
        """The kernel as an ELF file: it starts without a BIOS, in half the time."""
        return self.folder / "vmlinux"

    @property
    def root(self) -> Path:
        """The file system, as an uncompressed cpio archive."""
        return self.folder / "initramfs.cpio"

    @property
    def key(self) -> Path:
        """The client's private key."""
        return self.folder / "client"

    @property
    def host_key(self) -> str:
        """The guests' host key as in known_hosts: type and base64."""
        return " ".join((self.folder / "hostkey.pub").read_text().split()[:2])


def cache_folder() -> Path:
    """Where images are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "tailhound" / "guest"


def main() -> int:
    """The command."""
    try:
        sys.stdout.write(f"{built().folder}\n")
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def built() -> Image:
    """The image, built when there is none that is as it would be built now. One build at a time."""
    if advice := requirements.advice():
        raise BuildError(advice)
    package = _kernel_package()
    folder = cache_folder() / package.removeprefix("linux-image-")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    made_from = folder / "made-from"
    with (cache_folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = _fingerprint(package)
        if not made_from.exists() or made_from.read_text() != wanted:
            made_from.unlink(missing_ok=True)
            _build(package, folder)
            made_from.write_text(wanted)
    return Image(folder)


def _kernel_package() -> str:
    """The package that linux-image-amd64 stands for today."""
    said = _run(["apt-cache", "depends", KERNEL])
    if found := re.search(r"Depends: (linux-image-\d\S*)", said):
        return found[1]
    raise BuildError(f"apt knows no {KERNEL}: run apt-get update")


def _fingerprint(package: str) -> str:
    """Changes when the kernel, the recipe or one of the tools in the guest does."""
    policy = _run(["apt-cache", "policy", package])
    found = hashlib.sha256(policy.partition("Version table")[0].encode())
    for name in _RECIPE:
        found.update(Path(__file__).with_name(name).read_bytes())
    for path in image.PROGRAMS:
        known = Path(path).stat()
        found.update(f"{path} {known.st_size} {known.st_mtime_ns}".encode())
    return found.hexdigest()


def _build(package: str, folder: Path) -> None:
    """Unfinished files have other names, and guests that run keep the ones that they opened."""
    for name in ("client", "hostkey"):
        if not (folder / name).exists():
            make_key(folder / name)
    with tempfile.TemporaryDirectory(prefix="th-guest-build-") as made:
        unpacked = _unpacked(package, Path(made))
        _replace(folder / "vmlinux", _vmlinux(next((unpacked / "boot").glob("vmlinuz-*"))))
        modules = _modules(unpacked)
    nodes = image.nodes(
        modules, (folder / "hostkey").read_bytes(), (folder / "client.pub").read_bytes()
    )
    _replace(folder / "initramfs.cpio", b"".join(archive.archived(nodes)))


def _replace(path: Path, data: bytes) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(data)
    unfinished.chmod(0o600)
    unfinished.replace(path)


def _unpacked(package: str, folder: Path) -> Path:
    sandbox = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
    _run(["apt-get", *sandbox, "download", "-qq", package], cwd=folder)
    root = folder / "root"
    _run(["dpkg-deb", "-x", str(next(folder.glob("*.deb"))), str(root)])
    return root


def _vmlinux(boot_image: Path) -> bytes:
    data = boot_image.read_bytes()
    kernel = lzma.LZMADecompressor().decompress(data[data.index(_XZ) :])
    if not kernel.startswith(b"\x7fELF"):
        raise BuildError(f"{boot_image.name} holds no ELF kernel: Debian packs it in another way")
    return kernel


def _modules(root: Path) -> dict[str, bytes]:
    """The modules with what they need, in the order in which they can be loaded."""
    version = next((root / "lib/modules").iterdir()).name
    _run(["/usr/sbin/depmod", "-b", str(root), version])
    found: dict[str, bytes] = {}
    for name in image.MODULES:
        argv = ["/usr/sbin/modprobe", "-d", str(root), "-S", version, "--show-depends", name]
        for path in re.findall(r"^insmod (\S+)", _run(argv), re.MULTILINE):
            found.setdefault(Path(path).name, Path(path).read_bytes())
    return found


def _run(argv: list[str], cwd: Path | None = None) -> str:
    program = shutil.which(argv[0]) or argv[0]
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        [program, *argv[1:]],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildError(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr[-600:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
