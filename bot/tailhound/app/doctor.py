"""`tailhound doctor`: each thing that tailhound depends on, looked at once."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from tailhound.app.backends import Needs
from tailhound.app.composition import compiled, counted, transports
from tailhound.app.own_serve import own_lines
from tailhound.app.probes import (
    NOBODY,
    SECONDS,
    Asker,
    Line,
    Mood,
    failed,
    kubernetes,
    prometheus,
    ssh,
)
from tailhound.durable import switch
from tailhound.errors import SettingsError, StoreUnavailable
from tailhound.flow import Transport
from tailhound.model import Missing, may_change
from tailhound.model.names import plural
from tailhound.model.wording import duration
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings
from tailhound.slack.checkup import checkup
from tailhound.store.beside import reading_beside
from tailhound.store.incidents import IncidentReader
from tailhound.transports.alertmanager import AlertmanagerClient
from tailhound.transports.webhook import WebhookClient

ALL = ("prometheus", "kubernetes", "ssh", "slack")
NO_START = "serve does not start"
_GIB = 1024**3
LITTLE_ROOM = 0.5 * _GIB
"""Bytes free beside an SQLite file below which it is said: our own default."""


async def doctor(
    settings: Settings, clock: Callable[[], datetime], only: str = "", host: str = ""
) -> list[Line]:
    """The lines about everything, or about one backend; `host` is asked in place of all hosts."""
    lines = [] if only else [*_configuration(settings), *_store(settings)]
    found, wrong = _runbooks(settings)
    lines += [] if only and found else [wrong]
    needs = Needs.of(found.runbooks if found else ())
    if only != "slack":
        lines += await _backends(settings, clock, needs, (only, host))
    if only in ("", "slack"):
        lines += _slack(settings)
    return lines if only else [*lines, _changes(settings, clock()), *own_lines(settings, clock())]


async def _backends(
    settings: Settings, clock: Callable[[], datetime], needs: Needs, which: tuple[str, str]
) -> list[Line]:
    only, host = which
    made: Sequence[Transport] = transports(settings)
    asker = Asker(made, clock())
    lines: list[Line] = []
    try:
        if only in ("", "prometheus"):
            lines += await prometheus(asker, settings, needs)
        if only in ("", "kubernetes"):
            lines += await kubernetes(asker, settings, needs)
        if only in ("", "ssh"):
            lines += await ssh(asker, settings, needs, host)
        if not only and settings.alertmanager.url:
            lines += [await _alertmanager(settings)]
        if not only and settings.fallback.webhook.configured:
            lines += [await _second_way(settings)]
    finally:
        for one in made:
            one.close()
    return lines


async def _alertmanager(settings: Settings) -> Line:
    """Whether it answers: it is asked for a silence that it can't know."""
    client = AlertmanagerClient(settings.alertmanager)
    started = time.monotonic()
    try:
        deadline = asyncio.get_running_loop().time() + SECONDS
        found = await client.is_active(NOBODY, deadline)
    finally:
        client.close()
    if isinstance(found, Missing):
        return failed("alertmanager", found, "no silence can be set", gone=False)
    told = duration(time.monotonic() - started)
    return Line(mood=Mood.OK, name="alertmanager", told=told)


async def _second_way(settings: Settings) -> Line:
    """Whether somebody listens there; nothing is posted."""
    client = WebhookClient(settings.fallback.webhook)
    try:
        found = await client.reach()
    finally:
        client.close()
    if found is not None:
        return failed("fallback.webhook", found,
                      "what Slack can't show is told nowhere else", gone=False)  # fmt: skip
    return Line(mood=Mood.OK, name="fallback.webhook", told="can be reached; nothing was posted")


def _configuration(settings: Settings) -> list[Line]:
    """The file, and the secrets that it refers to."""
    missing = []
    for secret in settings.secrets():
        try:
            secret.read()
        except SettingsError as error:
            missing.append(Line(mood=Mood.FAIL, name="config", told=str(error),
                                breaks="what needs this secret gets no answer",
                                fix="set it where tailhound runs"))  # fmt: skip
    if missing:
        return missing
    told = f"{settings.name}, {plural(settings.overrides, 'override')} from TAILHOUND_*"
    return [Line(mood=Mood.OK, name="config", told=told)]


def _runbooks(settings: Settings) -> tuple[Compiled | None, Line]:
    try:
        found = compiled(settings)
    except SettingsError as error:
        first, _, more = str(error).partition("\n")
        rest = f" (and {len(more.splitlines())} more)" if more else ""
        return None, Line(
            mood=Mood.FAIL,
            name="runbooks",
            told=f"{first}{rest}",
            breaks=NO_START,
            fix="tailhound check --config FILE tells all of it",
        )
    return found, Line(mood=Mood.OK, name="runbooks", told=counted(found))


def _store(settings: Settings) -> list[Line]:
    url = settings.store.url
    path = Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else None
    if path is not None and not path.exists():
        return [_new_file(path)]
    try:
        reader = IncidentReader.open(url, settings.store.secret())
        try:
            reader.revision()
        finally:
            reader.close()
    except (SettingsError, StoreUnavailable) as error:
        return [Line(mood=Mood.FAIL, name="store", told=str(error), breaks=NO_START)]
    if path is None:
        where = urlsplit(url)
        told = f"PostgreSQL, {where.hostname or 'local'}{where.path}"
        return [Line(mood=Mood.OK, name="store", told=told)]
    return [_room(path, "SQLite")]


def _new_file(path: Path) -> Line:
    folder = path.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        told = f"{folder}: can't be written"
        fix = "make the folder, or set store.url"
        return Line(mood=Mood.FAIL, name="store", told=told, breaks=NO_START, fix=fix)
    return _room(path, "SQLite, made at the first start")


def _room(path: Path, what: str) -> Line:
    free = shutil.disk_usage(path.absolute().parent).free
    told = f"{what}, {free / _GIB:.1f} GiB free"
    if free > LITTLE_ROOM:
        return Line(mood=Mood.OK, name="store", told=told)
    return Line(mood=Mood.WARN, name="store", told=told,
                breaks="alerts can't be stored when the disk is full", fix="make room")  # fmt: skip


def _slack(settings: Settings) -> list[Line]:
    moods = {True: Mood.OK, None: Mood.WARN, False: Mood.FAIL}
    return [
        Line(mood=moods[point.works], name="slack", told=point.told, breaks=point.breaks,
             fix=point.fix)
        for point in checkup(settings.slack, settings.approvals)
    ]  # fmt: skip


def _changes(settings: Settings, now: datetime) -> Line:
    """What the mode allows, whether they are stopped, and who could end that from Slack."""
    try:
        with reading_beside(settings.store.url, settings.store.secret()) as connection:
            stands = switch.stopped(connection, settings.stops)
    except SettingsError:  # there is no database yet, or none that serve would start with
        stands = switch.stopped_by(settings.stops)
    except StoreUnavailable as error:
        told = f"{may_change.allowed(settings.mode)}; whether they are stopped is not known"
        return Line(mood=Mood.WARN, name="changes", told=told, breaks=str(error))
    told = may_change.changes_stand(settings.mode, stands, now)
    named = any(role.groups or role.users for role in settings.approvals.values())
    nobody = "" if named else "; nobody ends a stop from Slack: approvals is empty"
    return Line(mood=Mood.OK, name="changes", told=f"{told}{nobody}")
