"""Pure parsers: what a host's tool printed -> facts, or the typed reason why there are none.

    facts = parse(TOOLS["nvme-smart-log"], Output(stdout, stderr, exit_code))

Read by the shape that is present, never by a version number. An unavailable value is None, never 0,
never "not active".
"""

from dataclasses import replace

from tailhound.model import Missing, Reason
from tailhound.requests import Output
from tailhound_collectors.parse.refusals import TIMED_OUT, refusal
from tailhound_collectors.parse.tool import Parsed, Tool
from tailhound_collectors.parse.tools import ALL, TOOLS

__all__ = ["ALL", "TOOLS", "Parsed", "Tool", "parse", "tool_named"]

_NO_FACTS = (Reason.EMPTY, Reason.UNPARSABLE)


def parse(tool: Tool, output: Output) -> Parsed:
    """The tool's facts (`tool.facts`), or a Missing with its reason and what would help.

    Facts with `truncated` set are what could be read of an output whose end is missing.
    """
    found = tool.read(output)
    if isinstance(found, Missing):
        refused = refusal(output, tool) if found.reason in _NO_FACTS else None
        return refused or found
    if output.exit_code in TIMED_OUT and hasattr(found, "truncated"):
        return replace(found, truncated=True)
    return found


def tool_named(name: str) -> Tool | None:
    """The tool of this name, also written as its command: "nvme smart-log", "ethtool -S"."""
    words = name.strip().lower().replace("_", "-").split()
    plain = "-".join(word.strip("-") for word in words)
    return TOOLS.get(name) or TOOLS.get(plain)
