"""What sudo said instead of running a command."""

from dataclasses import dataclass

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.tool import nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFacts:
    """An answer of sudo holds no facts; it is always the reason why there are none."""


def sudo(output: Output) -> Missing:
    """Always a Missing."""
    return nothing(output, "sudo says nothing known in it")
