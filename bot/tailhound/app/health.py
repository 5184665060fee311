"""The lines of the health page that tell whether people see what tailhound finds."""

from collections.abc import Sequence

from tailhound.durable.letters import Standing
from tailhound.web.parts import HealthLine

_NAMES = {"slack": "Slack", "console": "Console"}


def message_lines(standings: Sequence[Standing]) -> tuple[HealthLine, ...]:
    """One line for each place that messages go to."""
    return tuple(_line(standing) for standing in standings)


def _line(at: Standing) -> HealthLine:
    name = f"{_NAMES.get(at.place.notifier, at.place.notifier)} {at.place.place}".removesuffix(" -")
    waiting = f"{at.waiting} waiting" if at.waiting else ""
    if at.refused:
        return HealthLine(
            name=name,
            state="refuses",
            works=False,
            detail=waiting,
            effect=f"{_messages(at.refused)} can't be shown there; the pages here are complete",
            fix=at.why,
        )
    if at.late:
        return HealthLine(
            name=name,
            state="does not take messages now",
            works=False,
            detail=f"{waiting}: {at.why}",
            effect="they come late there; the pages here are complete",
        )
    return HealthLine(name=name, state="takes messages", works=True, detail=waiting)


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"
