"""Typed holes: the only parts of an allowed command that vary, and what may fill them.

A hole is written `<kind>`, alone or inside an argument (`--since=-<int>min`). No kind matches an
empty text, a leading dash, a newline or any character that a shell would read.
"""

import re
from dataclasses import dataclass

from tailhound.errors import SettingsError

_HOLE = re.compile(r"<([^<>]*)>")
_NUMBER = "[0-9]"
_WORD = "[A-Za-z0-9_.-]"


@dataclass(frozen=True, slots=True)
class Hole:
    """One kind of hole: its regular expression, an example, and its sudoers globs."""

    regex: str
    example: str
    globs: tuple[str, ...]


def _repeated(first: str, then: str, longest: int) -> tuple[str, ...]:
    return tuple(first + then * count for count in range(longest))


_NVME = ("/dev/nvme[0-9]", "/dev/nvme[0-9][0-9]")
_HEX = "[0-9a-f]"
HOLES = {
    "device": Hole(
        r"/dev/(?:nvme[0-9]{1,3}n[0-9]{1,3}|sd[a-z]{1,3}|vd[a-z]{1,2}|xvd[a-z]{1,2}|dm-[0-9]{1,3}"
        r"|md[0-9]{1,3})",
        "/dev/nvme0n1",
        (*(f"{name}n[0-9]" for name in _NVME), "/dev/sd[a-z]", "/dev/sd[a-z][a-z]", "/dev/vd[a-z]"),
    ),
    "nvme": Hole(
        r"/dev/nvme[0-9]{1,3}(?:n[0-9]{1,3})?",
        "/dev/nvme0",
        (*_NVME, *(f"{name}n[0-9]" for name in _NVME)),
    ),
    "netdev": Hole(
        r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}", "eth0", _repeated("[A-Za-z0-9_]", _WORD, 15)
    ),
    "rdma-device": Hole(
        r"[a-z][A-Za-z0-9_]{0,31}", "mlx5_0", _repeated("[a-z]", "[A-Za-z0-9_]", 32)
    ),
    "pci": Hole(
        r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]",
        "0000:01:00.0",
        (f"{_HEX * 4}:{_HEX * 2}:{_HEX * 2}.[0-7]",),
    ),
    "int": Hole(r"[0-9]{1,9}", "1", _repeated(_NUMBER, _NUMBER, 9)),
    "ints": Hole(r"[0-9]{1,5}(?:,[0-9]{1,5}){0,63}", "203,252", ()),
    "fields": Hole(
        r"[a-z][a-z0-9_.]{0,63}(?:,[a-z][a-z0-9_.]{0,63}){0,63}", "index,uuid,clocks.sm", ()
    ),
    "address": Hole(
        r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})", "10.0.0.1", ()
    ),
    "name": Hole(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}", "kubelet", _repeated(_NUMBER, _WORD, 0)),
}
"""Every kind but `path:/prefix/`, which is built from its prefix."""

_COMPONENT = r"(?!\.{1,2}(?:/|\Z))[A-Za-z0-9_.:@+-]{1,128}"


def _path_hole(prefix: str) -> Hole:
    if not re.fullmatch(r"/(?:[A-Za-z0-9_.:@+-]+/)+", prefix) or "/." in prefix:
        raise SettingsError(
            f"the hole <path:{prefix}> needs a folder of plain names that begins and ends with /, "
            "for example <path:/sys/class/net/>"
        )
    regex = re.escape(prefix) + rf"{_COMPONENT}(?:/{_COMPONENT}){{0,15}}"
    return Hole(regex, f"{prefix}x", ())


def hole(kind: str) -> Hole:
    """The hole of a kind; SettingsError when there is none."""
    if kind.startswith("path:"):
        return _path_hole(kind.removeprefix("path:"))
    if kind not in HOLES:
        known = ", ".join(f"<{name}>" for name in (*HOLES, "path:/sys/.../"))
        raise SettingsError(f"there is no hole <{kind}>; the kinds are {known}")
    return HOLES[kind]


@dataclass(frozen=True, slots=True)
class Word:
    """One argument of an allowed command: literal text with holes in it.

    `pieces` alternate: literal, hole, literal, hole, ..., literal.
    """

    text: str
    pieces: tuple[str | Hole, ...]
    pattern: re.Pattern[str]

    @staticmethod
    def of(text: str) -> "Word":
        """Read one argument of an entry; SettingsError names the hole that does not exist."""
        parts = _HOLE.split(text)
        pieces = tuple(hole(part) if place % 2 else part for place, part in enumerate(parts))
        regex = "".join(
            f"(?:{piece.regex})" if isinstance(piece, Hole) else re.escape(piece)
            for piece in pieces
        )
        return Word(text, pieces, re.compile(regex, re.ASCII))

    @property
    def varies(self) -> bool:
        """Whether there is a hole in it."""
        return len(self.pieces) > 1

    @property
    def example(self) -> str:
        """The argument with every hole filled by an example."""
        return "".join(piece if isinstance(piece, str) else piece.example for piece in self.pieces)

    def fits(self, argument: str) -> bool:
        """Whether the argument is this one, with holes filled by values of their kinds."""
        return self.pattern.fullmatch(argument) is not None
