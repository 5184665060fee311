"""Host keys, strictly: a host that known_hosts does not name with this very key gets no log-in.

Read are plain and hashed names, `[host]:port`, wildcards, negations and `@revoked`. Certificates
(`@cert-authority`) are not used.
"""

import base64
import binascii
import fnmatch
import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

DEFAULT_FILES = ("~/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts")


@dataclass(frozen=True, slots=True)
class KnownKey:
    """One line: who it is about, and the key. `names` are patterns as in the file."""

    names: tuple[str, ...]
    kind: str
    blob: bytes
    revoked: bool

    @property
    def has_pattern(self) -> bool:
        """Whether a name can only be compared, not looked up: hashed, wildcard, negation."""
        return any(mark in name for name in self.names for mark in "|*?!")

    def names_host(self, host: str) -> bool:
        """Whether the line is about this host (`name`, or `[name]:port`)."""
        if any(pattern.startswith("!") and _fits(pattern[1:], host) for pattern in self.names):
            return False
        return any(_fits(pattern, host) for pattern in self.names)


def host_names(names: Sequence[str], port: int) -> tuple[str, ...]:
    """What known_hosts calls a host that is reached on this port."""
    if port == 22:
        return tuple(dict.fromkeys(names))
    return tuple(dict.fromkeys(f"[{name}]:{port}" for name in names))


@dataclass(frozen=True, slots=False)
class KnownHosts:
    """All lines of the files. `files` are named in messages."""

    keys: tuple[KnownKey, ...]
    files: str

    @staticmethod
    def read(setting: str) -> "KnownHosts":
        """The file of the setting, or OpenSSH's own files; a missing file knows no host.

        A file that is what it was at the last reading is not parsed again.
        """
        paths = tuple(
            Path(name).expanduser() for name in ((setting,) if setting else DEFAULT_FILES)
        )
        return _parsed(paths, tuple(_stamp(path) for path in paths))

    def kinds(self, names: Sequence[str]) -> tuple[str, ...]:
        """The types of the keys that are known for a host, to ask for these first."""
        known = self._of(names)
        return tuple(dict.fromkeys(key.kind for key in known if not key.revoked))

    def why_not(self, names: Sequence[str], kind: str, blob: bytes) -> str | None:
        """Why the host with these names is not trusted with this key; None = it is."""
        known = self._of(names)
        shown = names[0] if names else "the host"
        if any(key.revoked and key.blob == blob for key in known):
            return f"the host key of {shown} is marked @revoked in {self.files}"
        trusted = [key for key in known if not key.revoked]
        if any(key.blob == blob for key in trusted):
            return None
        if not trusted:
            return (
                f"the host key of {shown} is unknown: compare its fingerprint {_fingerprint(blob)} "
                f"({kind}) with the host's own and add it to {self.files}"
            )
        return (
            f"the host key of {shown} has CHANGED: it shows {_fingerprint(blob)} ({kind}), "
            f"{self.files} holds {', '.join(_fingerprint(key.blob) for key in trusted)}. Either "
            "the host was installed anew (replace the line), or somebody else answers"
        )

    def _of(self, names: Sequence[str]) -> list[KnownKey]:
        """The lines about a host, in the order of the file."""
        at = {position for name in names for position in self._plain.get(name, ())}
        at.update(
            position
            for position in self._patterned
            if any(self.keys[position].names_host(name) for name in names)
        )
        return [self.keys[position] for position in sorted(at)]

    @cached_property
    def _plain(self) -> Mapping[str, Sequence[int]]:
        """Where the names stand that are no patterns: most files have only such."""
        found: dict[str, list[int]] = {}
        for position, key in enumerate(self.keys):
            if not key.has_pattern:
                for name in key.names:
                    found.setdefault(name, []).append(position)
        return found

    @cached_property
    def _patterned(self) -> Sequence[int]:
        return [position for position, key in enumerate(self.keys) if key.has_pattern]


Stamp = tuple[int, int, int]


def _stamp(path: Path) -> Stamp | None:
    """What changes when the file does; None when it can't be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@lru_cache(maxsize=4)
def _parsed(paths: tuple[Path, ...], stamps: tuple[Stamp | None, ...]) -> KnownHosts:
    """The files as they are while they have these stamps."""
    return KnownHosts(
        tuple(key for path in paths for key in _keys(path)),
        " or ".join(str(path) for path in paths),
    )


def _keys(path: Path) -> Iterator[KnownKey]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        if (key := known_key(line)) is not None:
            yield key


def known_key(line: str) -> KnownKey | None:
    """One line of a known_hosts file; None for what is no key, or a certificate's."""
    words = line.split()
    marker = words.pop(0) if words and words[0].startswith("@") else ""
    if len(words) < 3 or words[0].startswith("#") or marker not in ("", "@revoked"):
        return None
    try:
        blob = base64.b64decode(words[2], validate=True)
    except (binascii.Error, ValueError):
        return None
    return KnownKey(tuple(words[0].split(",")), words[1], blob, marker == "@revoked")


def _fits(pattern: str, host: str) -> bool:
    if pattern.startswith("|1|"):
        return _hashed(pattern, host)
    if any(mark in pattern for mark in "*?"):
        return fnmatch.fnmatchcase(host, pattern.replace("[", "[[]"))
    return pattern == host


def _hashed(pattern: str, host: str) -> bool:
    try:
        salt, wanted = (base64.b64decode(part, validate=True) for part in pattern[3:].split("|"))
    except (binascii.Error, ValueError):
        return False
    found = hmac.new(salt, host.encode(), hashlib.sha1).digest()
    return hmac.compare_digest(found, wanted)


def _fingerprint(blob: bytes) -> str:
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"
