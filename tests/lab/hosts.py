"""The hosts of a scenario: real sshd, each in a mount namespace where only its own tools exist.

Over /usr/bin and /usr/sbin lies a folder with a dozen plain programs and the scenario's stand-ins;
over /sys lies what the scenario says of it; files of /proc and /etc are bound one by one, and what
can't be bound is answered by stand-ins of cat and sysctl.
"""

import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.lab import times, tool_script
from tests.lab.cluster import uid
from tests.lab.process import BlackHole
from tests.lab.scenario import Answer, FileText, HostSpec, Scenario
from tests.lab.second_reading import SecondReadings
from tests.lab.sshd import SSHD, SshHost, SshHosts

_PLAIN = ("sh", "env", "timeout", "cat", "grep", "find", "ls", "uname", "true")
_HIDDEN = ("cat", "sleep", "date")
_UPTIME = 40 * 86400.0
_MARK = re.compile(r"@(uptime|iso|epoch|uid)\(([^()]*)\)@")


@dataclass(frozen=True, slots=True)
class Reachable:
    """Where a host of the inventory is reached."""

    address: str
    port: int


class Hosts:
    """All hosts of a scenario, started. `gap_seconds` is the site's gap between two readings."""

    def __init__(self, scenario: Scenario, now: float, gap_seconds: float) -> None:
        self._scenario, self._now = scenario, now
        self._gap = gap_seconds * 0.8  # counted here from the first byte, by the bot from the last
        self._ssh = SshHosts()
        self._second = SecondReadings(self._gap)
        self._holes: list[BlackHole] = []
        self._programs = tool_script.Programs(_copied(self._ssh.folder / "programs", _HIDDEN))
        self.inventory: dict[str, Reachable] = {}
        for name, spec in scenario.hosts.items():
            self.inventory[name] = self._started(name, spec)

    @property
    def user(self) -> str:
        """Who logs in."""
        return self._ssh.user

    @property
    def key(self) -> Path:
        """The private key."""
        return self._ssh.key

    @property
    def known_hosts(self) -> Path:
        """The host keys."""
        return self._ssh.known_hosts

    def host(self, name: str) -> SshHost:
        """A running host."""
        return self._ssh.hosts[name]

    def stop(self) -> None:
        """End all of them."""
        self._ssh.stop()
        self._second.stop()
        for hole in self._holes:
            hole.stop()

    def _started(self, name: str, spec: HostSpec) -> Reachable:
        if name in self._scenario.unreachable:
            hole = BlackHole()
            self._holes.append(hole)
            return Reachable(hole.host, hole.port)
        folder = self._ssh.folder / f"{name}.root"
        folder.mkdir()
        root = _Root(folder, spec, self._filled, self._second)
        place = tool_script.Place(self._programs, folder / "outputs", folder / "visits", self._gap)
        root.put_tools(place, self._stdout)
        wrap = ("unshare", "-m", "--propagation", "private", "/bin/sh", str(root.mounts()))
        running = self._ssh.start(name, wrap=wrap)
        return Reachable(running.address, running.port)

    def _stdout(self, answer: Answer) -> str:
        if answer.stdout_file:
            path = self._scenario.folder / answer.stdout_file
            return self._filled(path.read_text(encoding="utf-8", errors="surrogateescape"))
        return self._filled(answer.stdout or "")

    def _filled(self, text: str) -> str:
        """`@uptime(-12m)@`, `@iso(-12m)@`, `@epoch(-12m)@` and `@uid(prod/llm-0)@` replaced."""

        def value(found: re.Match[str]) -> str:
            what, argument = found.groups()
            if what == "uid":
                namespace, _, pod = argument.partition("/")
                return uid("Pod", namespace, pod)
            moment = times.past(argument)
            if what == "uptime":
                return f"{_UPTIME + moment:12.6f}"
            unix = self._now + moment
            if what == "epoch":
                return f"{unix:.0f}"
            return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%dT%H:%M:%S,%f+00:00")

        return _MARK.sub(value, text)


class _Root:
    """What one host's file system says where the scenario has a word in it."""

    def __init__(
        self,
        folder: Path,
        spec: HostSpec,
        filled: Callable[[str], str],
        second: SecondReadings,
    ) -> None:
        self._folder, self._spec = folder, spec
        for name in ("outputs", "visits", "files", "sys", "pressure", "empty"):
            (folder / name).mkdir()
        (folder / "visits").chmod(0o777)
        self._cover = _copied(folder / "cover", _PLAIN)
        shutil.copy2(SSHD, self._cover / "sshd")
        self._bound: dict[str, Path] = {}
        self._told: dict[str, Path | None] = {}
        self._put("/proc/uptime", FileText(text=f"{_UPTIME:.2f} {_UPTIME:.2f}\n"), filled, second)
        for path, content in spec.files.items():
            if content == "absent":
                self._told[filled(path)] = None
            else:
                self._put(filled(path), content, filled, second)

    def _put(
        self, path: str, content: FileText, filled: Callable[[str], str], second: SecondReadings
    ) -> None:
        backing = self._backing(path)
        backing.parent.mkdir(parents=True, exist_ok=True)
        backing.write_text(filled(content.text), encoding="utf-8")
        if content.then is not None:
            second.watch(backing, filled(content.then))

    def _backing(self, path: str) -> Path:
        """Where the content lies, and how it gets to be seen under `path`."""
        if path.startswith("/sys/"):
            return self._folder / path.removeprefix("/")
        if path.startswith("/proc/pressure/"):
            backing = self._folder / "pressure" / path.removeprefix("/proc/pressure/")
        else:
            backing = self._folder / "files" / path.strip("/").replace("/", "%")
            if Path(path).is_file() and not path.startswith(("/proc/net/", "/proc/self/")):
                self._bound[path] = backing
        self._told[path] = backing
        return backing

    def put_tools(self, place: tool_script.Place, stdout: tool_script.Text) -> None:
        """The stand-ins: the scenario's tools win over those that every host has."""
        scripts = {
            "sudo": tool_script.SUDO,
            "cat": tool_script.cat_script(self._told, place.programs),
        }
        values = {
            path.removeprefix("/proc/sys/").replace("/", "."): file
            for path, file in self._told.items()
            if path.startswith("/proc/sys/") and file
        }
        if values:
            scripts["sysctl"] = tool_script.sysctl_script(values, place.programs)
        for name, answers in self._spec.tools.items():
            scripts[name] = tool_script.script(name, answers, stdout, place)
        for name, text in scripts.items():
            path = self._cover / name
            path.unlink(missing_ok=True)
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
            path.chmod(0o755)

    def mounts(self) -> Path:
        """The script that makes the namespace look so, and then runs its arguments."""
        binds = [
            (self._folder / "sys", "/sys"),
            (self._folder / "pressure", "/proc/pressure"),
            *((backing, path) for path, backing in self._bound.items()),
            (self._folder / "empty", "/usr/local/bin"),
            (self._folder / "empty", "/usr/local/sbin"),
            (self._cover, "/usr/sbin"),
            (self._cover, "/usr/bin"),  # last: mount itself lies there
        ]
        lines = [
            f"mount --bind {shlex.quote(str(source))} {shlex.quote(target)} || exit 1"
            for source, target in binds
        ]
        path = self._folder / "mounts.sh"
        path.write_text("\n".join([*lines, 'exec "$@"', ""]), encoding="utf-8")
        return path


def _copied(folder: Path, programs: tuple[str, ...]) -> Path:
    folder.mkdir()
    for name in programs:
        found = shutil.which(name, path="/usr/bin:/bin")
        if found is None:
            raise FileNotFoundError(f"{name} is not on this machine")
        shutil.copy2(Path(found).resolve(), folder / name)
    return folder
