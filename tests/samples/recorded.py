"""The incidents of the bundled recordings, diagnosed by the rules of today; each once a process."""

import asyncio
import json
from functools import cache

from tailhound import app
from tailhound.cli import alerts
from tailhound.durable.offline import Terms, investigate
from tailhound.model import Incident
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings
from tailhound.shipped import shipped

NAMES = tuple(sorted(path.name for path in shipped("demo").glob("*.json*")))


@cache
def recorded(name: str) -> Incident:
    """One of NAMES, with every question that was asked for it."""
    recording = app.recorded(shipped("demo") / name)
    group = alerts.group_of(json.dumps(recording.alert).encode(), name)
    settings, now = Settings(), recording.as_of
    (incident,), _ = alerts.incidents_of(group, settings, now)
    office = app.Office(settings, _compiled(), replay=recording, body=recording.alert, now=now)
    try:
        terms = Terms(as_of=now, seconds=30)
        return asyncio.run(investigate(office.investigator, incident, terms))
    finally:
        office.close()


@cache
def _compiled() -> Compiled:
    return app.compiled(Settings())
