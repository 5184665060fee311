"""A file system as a cpio archive ("newc"), which is what the kernel unpacks as its first root."""

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_END = "TRAILER!!!"


@dataclass(frozen=True, slots=True)
class Node:
    """A file, folder or link; `path` has no leading slash. All belong to root."""

    path: str
    mode: int
    data: bytes = b""


def folder(path: str, permissions: int = 0o755) -> Node:
    """A folder."""
    return Node(path, stat.S_IFDIR | permissions)


def file(path: str, data: bytes, permissions: int = 0o644) -> Node:
    """A file with its contents."""
    return Node(path, stat.S_IFREG | permissions, data)


def link(path: str, target: str) -> Node:
    """A symbolic link."""
    return Node(path, stat.S_IFLNK | 0o777, target.encode())


def archived(nodes: Iterable[Node]) -> Iterator[bytes]:
    """The archive, in pieces: each node after the folders that hold it, each path once."""
    known = {""}
    number = 0
    for node in nodes:
        for one in (*(folder(path) for path in _above(node.path)), node):
            if one.path not in known:
                known.add(one.path)
                number += 1
                yield _entry(number, one)
    yield _entry(0, Node(_END, 0))


def _above(path: str) -> Iterator[str]:
    parts = path.split("/")
    for depth in range(1, len(parts)):
        yield "/".join(parts[:depth])


def _entry(number: int, node: Node) -> bytes:
    name = node.path.encode() + b"\0"
    fields = (number, node.mode, 0, 0, 1, 0, len(node.data), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
    return _padded(head) + _padded(node.data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
