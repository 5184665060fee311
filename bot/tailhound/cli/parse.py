"""`tailhound parse TOOL [FILE]`: a tool's saved output in, its facts as JSON out."""

import argparse
import dataclasses
import difflib
import json
import sys
from pathlib import Path
from typing import Any

from tailhound.errors import SettingsError
from tailhound.model import Missing
from tailhound.model.facts import values_of
from tailhound.requests import Output
from tailhound_collectors.parse import ALL, Tool, parse, tool_named

DONE, NO_FACTS, USAGE = 0, 1, 2
_LARGEST = 64 * 1024 * 1024


def run(args: argparse.Namespace) -> int:
    """Print the facts as JSON; exit code 1 when there are none, 2 for a mistake in the call."""
    if args.list:
        sys.stdout.write(_listed())
        return DONE
    if not args.tool:
        raise SettingsError("parse: name a tool, or --list for all of them")
    tool = _tool(args.tool)
    output = Output(
        stdout=_text(args.file),
        stderr=_text(args.stderr) if args.stderr else "",
        exit_code=args.exit_code,
    )
    found = parse(tool, output)
    json.dump(_said(tool, found), sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
    return NO_FACTS if isinstance(found, Missing) else DONE


def _tool(name: str) -> Tool:
    tool = tool_named(name)
    if tool is None:
        near = difflib.get_close_matches(name, [tool.name for tool in ALL], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise SettingsError(f"parse: no tool named {name!r}{hint} (--list names all of them)")
    return tool


def _said(tool: Tool, found: Any) -> dict[str, Any]:
    """The answer: `status` is collected, truncated (what was read is there), or the reason."""
    if isinstance(found, Missing):
        status, reason, facts = found.reason.value, found.detail, None
    elif getattr(found, "truncated", False):
        status, reason, facts = (
            "truncated",
            "not the whole output is there: the facts are what could be read",
            values_of(found),
        )
    else:
        status, reason, facts = "collected", "", values_of(found)
    return {"tool": tool.name, "status": status, "reason": reason, "facts": facts}


def _listed() -> str:
    """One line a tool: its name, the command whose output it reads, the facts in it."""
    lines = []
    for tool in ALL:
        facts = ", ".join(item.name for item in dataclasses.fields(tool.facts))
        names = " | ".join((tool.name, *tool.also))
        lines += [f"{names}", f"    reads  {tool.command}", f"    facts  {facts or 'none'}"]
    return "\n".join(lines) + "\n"


def _text(path: Path | None) -> str:
    """The file, or standard input; bytes that are no UTF-8 are replaced, as over SSH."""
    if path is None or str(path) == "-":
        data = sys.stdin.buffer.read(_LARGEST)
    else:
        try:
            with path.open("rb") as file:
                data = file.read(_LARGEST)
        except OSError as error:
            raise SettingsError(f"{path}: can't be read: {error.strerror}") from error
    return data.decode("utf-8", errors="replace")
