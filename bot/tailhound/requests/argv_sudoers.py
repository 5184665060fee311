"""What a host needs for an allow-list: sudoers rules, and the list of the wrapper.

Rules have exact arguments, holes become character classes. No rule holds `*`: in sudoers it also
matches spaces and further options.
"""

import itertools
import json
import re
from collections.abc import Iterator, Sequence

from tailhound.errors import SettingsError
from tailhound.requests.argv import AllowList, needs_root
from tailhound.requests.argv_holes import Word

_SPECIAL = re.compile(r"([\\,:=*?\[\]!#\"()])")

_HEAD = """\
# What tailhound may run as root: read-only, each with exactly these arguments.
# Check with `visudo -cf`, install as /etc/sudoers.d/tailhound, mode 0440 (deploy/host/README.md).
# The session settings keep sudo from asking PAM and from needing a terminal; a command that hangs
# is ended from root's side after 30 s.
Defaults:{user} !requiretty, !pam_session, command_timeout=30
"""


def sudoers_line(argv: Sequence[str], user: str) -> str:
    """The rule that lets `user` run exactly this argv as root."""
    return f"{user} ALL=(root) NOPASSWD: {_command(argv)}"


def sudoers(allow: AllowList, user: str = "tailhound") -> str:
    """The whole file for all commands of a list that run as root.

    SettingsError when such a command has a hole that sudoers can't bound.
    """
    rules = [
        f"{user} ALL=(root) NOPASSWD: {command}"
        for entry in allow.entries
        if needs_root(entry.texts)
        for command in _variants(entry.words)
    ]
    return _HEAD.format(user=user) + "\n".join(rules) + "\n"


def wrapper_list(allow: AllowList) -> str:
    """The file /etc/tailhound/allowed.json of the forced command: one command a line."""
    lines = [json.dumps(entry.texts) for entry in allow.entries]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _variants(words: Sequence[Word]) -> Iterator[str]:
    for chosen in itertools.product(*(tuple(_globs(word)) for word in words)):
        yield " ".join(chosen)


def _globs(word: Word) -> Iterator[str]:
    """The texts of one argument as sudoers patterns, one for each length of each hole."""
    pieces: list[tuple[str, ...]] = []
    for piece in word.pieces:
        if isinstance(piece, str):
            pieces.append((_escaped(piece),))
        elif piece.globs:
            pieces.append(tuple(glob.replace(":", "\\:") for glob in piece.globs))
        else:
            raise SettingsError(
                f"ssh.allow: {word.text} can't be bounded in sudoers; write the argument out, "
                "or install the wrapper tailhound-host"
            )
    return ("".join(parts) for parts in itertools.product(*pieces))


def _command(argv: Sequence[str]) -> str:
    return " ".join(_escaped(argument) for argument in argv) + ("" if argv[1:] else ' ""')


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
