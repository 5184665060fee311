"""The file of the configuration and the variables that override it, as plain values."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tailhound.errors import SettingsError
from tailhound.settings_places import Origin, duplicates


def read(path: Path | None, environ: Mapping[str, str]) -> tuple[dict[str, Any], Origin]:
    """The values of a file (None = none), overridden by TAILHOUND_* variables; and their places.

    SettingsError says where the file is no YAML.
    """
    values, root = _read(path) if path else ({}, None)
    variables: dict[tuple[str, ...], str] = {}
    for name, text in sorted(environ.items()):
        if name.startswith("TAILHOUND_") and "__" in name:
            keys = tuple(name.removeprefix("TAILHOUND_").lower().split("__"))
            variables[keys] = name
            _put(values, keys, text)
    return values, Origin(name=str(path or "configuration"), root=root, variables=variables)


def _read(path: Path) -> tuple[dict[str, Any], yaml.Node | None]:
    """The values of a file, and its parsed text for the places of mistakes."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: is not UTF-8 text: {error.reason}") from error
    try:
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
        for name, mark in duplicates(root):
            place = f"{path}:{mark.line + 1}:{mark.column + 1}"
            raise SettingsError(f"{place}: {name!r} is given twice")
        values = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark
        place = f"{path}:{at.line + 1}:{at.column + 1}" if at else str(path)
        raise SettingsError(f"{place}: not YAML: {_explained(error.problem)}") from error
    except (yaml.YAMLError, ValueError) as error:  # control characters, a date that is none
        raise SettingsError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if values is None:
        return {}, root
    if not isinstance(values, dict):
        raise SettingsError(
            f"{path}:1:1: must hold `key: value` lines, but is {type(values).__name__}"
        )
    return values, root


def _explained(problem: str | None) -> str:
    if "mapping values are not allowed" in str(problem):
        return f"{problem}; a text with a second `: ` in it must stand in quotes"
    return str(problem)


def _put(values: dict[str, Any], keys: Sequence[str], text: str) -> None:
    for key in keys[:-1]:
        inner = values.get(key)
        values[key] = inner = dict(inner) if isinstance(inner, dict) else {}
        values = inner
    values[keys[-1]] = text
