"""Collectors out of installed distributions: found by their entry points, looked at when loaded.

What a third party registers is checked before anything asks it, and every complaint names the
distribution, so that nobody has to read a traceback to know whose plugin is wrong.
"""

import dataclasses
import importlib.metadata
import inspect
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import Any, get_type_hints

from tailhound.errors import SettingsError
from tailhound.flow import Collector
from tailhound.model.facts import schema_of

GROUP = "tailhound.collectors"
"""The entry-point group in which a distribution registers collectors."""
OWN = "tailhound"
_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


def collectors() -> Mapping[str, Collector[Any, Any]]:
    """All registered collectors by name; SettingsError says which distribution is wrong, and how.

    Those that come with tailhound are not looked at: their tests do that.
    """
    found: dict[str, Collector[Any, Any]] = {}
    owners: dict[str, str] = {}
    entries = [(_owner(entry), entry) for entry in importlib.metadata.entry_points(group=GROUP)]
    for owner, entry in sorted(entries, key=lambda found: found[0] != OWN):
        for collector in _loaded(entry, owner):
            if owner != OWN and (wrong := why_not(collector)):
                raise SettingsError(f"{_of(entry, owner)}: {wrong}")
            if collector.name in found:
                raise SettingsError(
                    f"{_of(entry, owner)}: {collector.name!r} is already the name of a collector "
                    f"of {owners[collector.name]}: give it another one"
                )
            found[collector.name], owners[collector.name] = collector, owner
    return found


def _owner(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "an unnamed distribution"


def _of(entry: EntryPoint, owner: str) -> str:
    return f"the collectors of {owner} ({entry.name} = {entry.value})"


def _loaded(entry: EntryPoint, owner: str) -> Iterator[Any]:
    """What the entry point names; it must be a tuple of collectors."""
    try:
        named = entry.load()
    except Exception as error:  # a plugin's module can raise anything while it is imported
        raise SettingsError(
            f"{_of(entry, owner)}: can't be imported: {type(error).__name__}: {error}; "
            f"mend it or uninstall {owner}"
        ) from error
    if not isinstance(named, tuple | list):
        what = type(named).__name__
        raise SettingsError(
            f"{_of(entry, owner)}: must be a tuple of collectors, but is {what}: write (NAME(),)"
        )
    yield from named


def why_not(collector: Any) -> str:
    """What is wrong with an object that is registered as a collector; "" when nothing is."""
    if isinstance(collector, type):
        return f"{collector.__name__} is a class: register an instance, {collector.__name__}()"
    name = getattr(collector, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        what = f"{type(collector).__name__}.name is {name!r}"
        return f"{what}: write a text such as 'prometheus.router_cache'"
    wrong = (
        _why_no_dataclass(collector, "params")
        or _why_no_dataclass(collector, "facts")
        or _why_no_facts(collector)
        or _why_no_flow(collector)
    )
    return f"{name}: {wrong}" if wrong else ""


def _why_no_dataclass(collector: Any, attribute: str) -> str:
    """Parameters are a key of what is asked once, so they must be frozen; facts are values."""
    found = getattr(collector, attribute, None)
    if not isinstance(found, type) or not dataclasses.is_dataclass(found):
        what = f"`{attribute}` must be a dataclass, the class itself"
        return f"{what}, but is {found!r:.80}" if found is not None else f"{what}; it has none"
    if not found.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return f"`{attribute}`: write @dataclass(frozen=True) on {found.__name__}"
    try:
        get_type_hints(found)
    except (NameError, TypeError) as error:
        return f"`{attribute}`: a type of {found.__name__} can't be read: {error}"
    return ""


def _why_no_facts(collector: Any) -> str:
    try:
        schema = schema_of(collector.facts)
    except TypeError as error:
        return f"`facts`: {error}; write float, int, str, bool, a tuple of dataclasses or Series"
    return "" if schema else "`facts` holds no fact"


def _why_no_flow(collector: Any) -> str:
    collect = getattr(collector, "collect", None)
    if not callable(collect):
        return "it has no method `collect(self, params)`"
    try:
        inspect.signature(collect).bind(None)
    except (TypeError, ValueError):
        return "`collect` must be a method that takes the parameters: `def collect(self, params)`"
    if inspect.iscoroutinefunction(collect) or inspect.isasyncgenfunction(collect):
        return "`collect` must be a plain generator (`yield from`), not async"
    return ""
