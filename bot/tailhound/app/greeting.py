"""What a server says when it begins: what it runs with, and who of the backends answers.

It serves meanwhile: nobody waits for a backend.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tailhound import __version__
from tailhound.app.composition import counted
from tailhound.app.lines import Say
from tailhound.app.site import Site
from tailhound.model import Missing
from tailhound.model.names import plural
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings
from tailhound.slack.checkup import Point, checkup
from tailhound.slack.seconds import CHECKUP_SECONDS
from tailhound.transports.pool import Pool
from tailhound.web.parts import HealthLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """Where lines go: what is so, and what somebody should look at."""

    say: Say
    warn: Say

    def tell(self, text: str, *, works: bool | None) -> None:
        """A line about something; it is a warning where that does not work."""
        (self.warn if works is False else self.say)(text)


def begun(settings: Settings, found: Compiled, database: str) -> Iterator[str]:
    """What this process runs with: configuration, runbooks, database."""
    overrides = plural(settings.overrides, "override")
    yield f"tailhound {__version__}, {settings.name}, {overrides} from TAILHOUND_*"
    yield f"{counted(found)}, from {', '.join(settings.runbooks)}"
    yield f"Database: {database}"


async def greet(settings: Settings, site: Site, voice: Voice) -> None:
    """Look once at every backend that is configured, and tell what came of it."""
    aside = Pool("Slack", 1)
    asked = aside.run(
        lambda: checkup(settings.slack, brief=True), time.monotonic() + CHECKUP_SECONDS, _let_go
    )
    slack = asyncio.create_task(asked)
    try:
        await site.board.look()
        for line in site.backends():
            voice.tell(_told(line), works=line.works)
        points = await slack
    finally:
        slack.cancel()
        aside.close()
    if isinstance(points, Missing):
        points = (Point(False, f"no answer within {CHECKUP_SECONDS:g} s"),)
    for point in points:
        voice.tell(_sentence(f"Slack: {point.told}", [point.breaks], point.fix), works=point.works)


def _let_go() -> None:
    """Each question to Slack ends by itself."""


def _told(line: HealthLine) -> str:
    """`Prometheus: can't be reached; connection refused; 7 of 7 causes can't be checked. ...`."""
    return _sentence(f"{line.name}: {line.state}", [line.detail, line.effect], line.fix)


def _sentence(what: str, more: Sequence[str], fix: str) -> str:
    text = "; ".join((what, *(part for part in more if part)))
    return f"{text}. Fix: {fix}" if fix else text
