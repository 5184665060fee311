"""What differs between two pod templates: images, arguments, limits, and which variables. Pure.

Values of environment variables are never told: they may be secrets.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tailhound_collectors.object_times import items, mapping

PARTS_AT_MOST = 6
"""Differences that one sentence tells; the others are counted."""

TEXT_AT_MOST = 80


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """`image of vllm: v1 -> v2; args of vllm: now --max-num-seqs=256 (was ...)`; "" for none."""
    before, after = _containers(old), _containers(new)
    parts = [f"container {name} added" for name in after if name not in before]
    parts += [f"container {name} removed" for name in before if name not in after]
    for name in after:
        if name in before:
            parts += _container(name, before[name], after[name])
    more = len(parts) - PARTS_AT_MOST
    return "; ".join(parts[:PARTS_AT_MOST]) + (f"; {more} more" if more > 0 else "")


def _containers(spec: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    every = [*items(spec.get("initContainers")), *items(spec.get("containers"))]
    return {str(one.get("name") or "")[:TEXT_AT_MOST]: one for one in every}


def _container(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    told = []
    images = str(old.get("image") or ""), str(new.get("image") or "")
    if images[0] != images[1]:
        told.append(f"image of {name}: {_changed(*images)}")
    for key in ("command", "args"):
        changed = _words(_texts(old.get(key)), _texts(new.get(key)))
        if changed:
            told.append(f"{key} of {name}: {changed}")
    told += _resources(name, mapping(old.get("resources")), mapping(new.get("resources")))
    variables = _variables(old, new)
    if variables:
        told.append(f"env of {name}: {variables}")
    return told


def _changed(old: str, new: str) -> str:
    """Two images, without what both begin with: the repository is as before as a rule."""
    base, _, tag = old.rpartition(":")
    other, _, newer = new.rpartition(":")
    short = bool(base) and base == other
    return f"{tag if short else _cut(old)} -> {newer if short else _cut(new)}"


def _texts(value: Any) -> list[str]:
    """The arguments, a flag together with its value, so that a secret is known by its flag."""
    told: list[str] = []
    for one in map(str, value if isinstance(value, list | tuple) else ()):
        if told and not one.startswith("-") and _waits_for_value(told[-1]):
            told[-1] = f"{told[-1]} {one}"
        else:
            told.append(one)
    return told


def _waits_for_value(text: str) -> bool:
    return text.startswith("-") and "=" not in text and " " not in text


def _words(old: Sequence[str], new: Sequence[str]) -> str:
    """Arguments that came, went, or have another value; each with its flag, old ones too, so that
    a secret is known by it.
    """
    came, went = list(Counter(new) - Counter(old)), list(Counter(old) - Counter(new))
    if not came and not went:
        return "" if list(old) == list(new) else "another order"
    told = []
    for one in came:
        before = next((other for other in went if _flag(other) == _flag(one)), None)
        if before is not None:
            went.remove(before)
        told.append(f"now {_cut(one)}{f' (was {_cut(before)})' if before is not None else ''}")
    return _first(told + [f"without {_cut(one)}" for one in went])


def _flag(text: str) -> str:
    return re.split("[= ]", text, maxsplit=1)[0]


def _first(told: Sequence[str]) -> str:
    more = len(told) - PARTS_AT_MOST
    return ", ".join(told[:PARTS_AT_MOST]) + (f" and {more} more" if more > 0 else "")


def _resources(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    told = []
    for kind in ("limits", "requests"):
        before, after = mapping(old.get(kind)), mapping(new.get(kind))
        for what in sorted({*before, *after}):
            if before.get(what) != after.get(what):
                values = (str(side.get(what, "none"))[:TEXT_AT_MOST] for side in (before, after))
                told.append(f"{kind}.{what} of {name}: {' -> '.join(values)}")
    return told


def _variables(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """The names of the variables that came, went, or have another value."""
    before = {str(one.get("name")): one for one in items(old.get("env"))}
    after = {str(one.get("name")): one for one in items(new.get("env"))}
    told = [f"+{_cut(one)}" for one in after if one not in before]
    told += [f"-{_cut(one)}" for one in before if one not in after]
    told += [_cut(one) for one in after if one in before and after[one] != before[one]]
    return _first(told)


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_AT_MOST else f"{text[: TEXT_AT_MOST - 1]}…"
