"""What the parsers have in common: a tool, its command, its facts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from tailhound.model import Missing, Reason
from tailhound.requests import Output

Parsed: TypeAlias = Any
"""A frozen dataclass of facts (`Tool.facts`), or a Missing."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One kind of output that can be read.

    `command` is how the output is made; `package` holds the command; `needs` is what must exist for
    there to be anything to read ("an NVMe drive"). `also` are other names for it.
    """

    name: str
    command: str
    facts: type[Any]
    read: Callable[[Output], Parsed]
    package: str = ""
    needs: str = "this device or feature"
    also: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The program that is run."""
        return self.command.split()[0]


def nothing(output: Output, why: str) -> Missing:
    """No fact was found: EMPTY when the command printed nothing, else UNPARSABLE."""
    return unparsable(why) if output.stdout.strip() else silent()


def silent() -> Missing:
    """The command printed nothing."""
    return Missing(Reason.EMPTY, "no_output: the command printed nothing")


def absent(what: str) -> Missing:
    """There is no such device or feature on this host."""
    return Missing(Reason.NOT_APPLICABLE, f"no_device: {what}")


def cut(what: str) -> Missing:
    """The output ends too early, and nothing in it can be used."""
    return Missing(Reason.TRUNCATED, f"output_cut: {what}")


def unparsable(why: str) -> Missing:
    """The output is not what this tool prints."""
    return Missing(Reason.UNPARSABLE, f"unreadable: {why}; see the raw output")
