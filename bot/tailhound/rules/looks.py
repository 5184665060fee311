"""What a runbook says of its evidence while its cause is not confirmed: what stands out, and what
to look at. Templates like its paragraph, of the same facts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tailhound.model import Check, Look, Part, Verdict, wording
from tailhound.model.names import PLAIN_NAME
from tailhound.rules.condition.terms import Facts
from tailhound.rules.says import Says
from tailhound.truth import Truth

_OPEN: Final = (Verdict.UNKNOWN, Verdict.REFUTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """Three checked templates; `command` is None where there is none to paste."""

    stands_out: Says
    at: Says
    command: Says | None = None

    @property
    def names(self) -> frozenset[str]:
        """What any of them is filled with."""
        told = (self.stands_out, self.at, self.command)
        return frozenset[str]().union(*(one.names for one in told if one))

    def render(
        self, inputs: Mapping[str, Any], facts: Facts, thresholds: Mapping[str, float]
    ) -> Look | None:
        """What stands out here; None where a value of it is not known. A command goes where a name
        in it is not known, or is more than a name.
        """
        measured, at = (
            told.render(inputs, facts, thresholds).rstrip(".")
            for told in (self.stands_out, self.at)
        )
        if not measured or wording.NOT_MEASURED in measured:
            return None
        command = ""
        if self.command:
            named = {name: _names(found) for name, found in facts.items()}
            command = self.command.render(_names(inputs), named, thresholds)
        known = command if wording.NOT_MEASURED not in command else ""
        return Look.beside(known, measured, at)


def _names(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is a number or no more than a name."""
    return {
        key: value
        for key, value in found.items()
        if isinstance(value, int | float)
        or (isinstance(value, str) and PLAIN_NAME.fullmatch(value))
    }


def stands_out(verdict: Verdict, checks: tuple[Check, ...]) -> bool:
    """Whether there is something to look at: the cause is not confirmed, and the first claim for it
    holds by what was measured. That claim says what is out of the ordinary.
    """
    first = next((check for check in checks if check.part is Part.CONFIRM), None)
    return verdict in _OPEN and first is not None and first.truth is Truth.TRUE
