"""`tailhound replay INCIDENT|FILE`: the same evidence through today's rules, and what changed."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tailhound import app
from tailhound.cli import alerts
from tailhound.cli.changes_text import Replayed, as_json, lines
from tailhound.diagnosis.changes import changes
from tailhound.durable.casefile import incidents_in, stored
from tailhound.durable.offline import Terms, investigate
from tailhound.errors import RecordingUnreadable, SettingsError
from tailhound.model import Diagnosis, Incident
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings, load
from tailhound.store.incidents import IncidentReader
from tailhound.transports.recording import Recording

SAME, CHANGED = 0, 1


@dataclass(frozen=True, slots=True)
class CaseFile:
    """What is replayed: the answers, and the incidents with the verdicts of then, if any."""

    recording: Recording
    incidents: tuple[Incident, ...]


def run(args: argparse.Namespace) -> int:
    """Replay, and print what changed; exit code 1 when something did."""
    settings = load(args.config)
    case = case_of(args.what, settings)
    rules = app.compiled(settings, args.runbooks)
    replayed = [
        _replayed(case, incident, settings, (rules, args.runbooks)) for incident in case.incidents
    ]
    _print(replayed, args.format)
    return SAME if all(one.changes is None or one.changes.is_same for one in replayed) else CHANGED


def case_of(what: str, settings: Settings) -> CaseFile:
    """The case file, or the stored incident of this id; SettingsError says why there is none."""
    path = Path(what)
    if path.is_file() or len(path.parts) > 1 or path.suffix:
        return _from_file(path, settings)
    try:
        return from_store(what, settings)
    except RecordingUnreadable as error:
        raise SettingsError(str(error)) from error


def from_store(id: str, settings: Settings) -> CaseFile:
    """A stored incident, read beside a running serve; RecordingUnreadable when nothing is kept."""
    reader = IncidentReader.open(settings.store.url, settings.store.secret())
    try:
        incident, parts = reader.get(id), reader.recorded(id)
    finally:
        reader.close()
    if incident is None:
        raise SettingsError(f"no incident {id}, and no file of that name: `tailhound incidents`")
    if incident.diagnosis is None:
        raise SettingsError(f"{incident.id} has no verdict (yet): there is nothing to compare with")
    return CaseFile(stored(incident, parts), (incident,))


def _from_file(path: Path, settings: Settings) -> CaseFile:
    recording = app.recorded(path)
    try:
        incidents = incidents_in(recording)
    except RecordingUnreadable as error:
        raise SettingsError(f"{path}: {error}") from error
    if not incidents:
        body = json.dumps(recording.alert).encode()
        group = alerts.group_of(body, f"{path}: alert")
        incidents, _ = alerts.incidents_of(group, settings, recording.as_of)
    if not incidents:
        raise SettingsError(f"{path}: no alert of it is to be diagnosed")
    return CaseFile(recording, incidents)


def _replayed(
    case: CaseFile, incident: Incident, settings: Settings, rules: tuple[Compiled, Path | None]
) -> Replayed:
    """One incident, judged again. A file without verdicts is judged by the configured rules first,
    so that there is something to compare edited ones with.
    """
    new, edited = rules
    old = incident.diagnosis
    was = "then"
    if old is None and edited is not None:
        old, _ = _judged(case, incident, settings, app.compiled(settings))
        was = "by the configured runbooks"
    judged, office = _judged(case, incident, settings, new)
    replay = office.replay
    return Replayed(
        incident=incident,
        was=was if old else "",
        now=judged,
        changes=changes(old, judged) if old else None,
        reused=len(replay.reused) if replay else 0,
        not_asked=tuple(sorted(q.shown for q in replay.not_held)) if replay else (),
    )


def _judged(
    case: CaseFile, incident: Incident, settings: Settings, rules: Compiled
) -> tuple[Diagnosis, app.Office]:
    as_of = case.recording.as_of
    office = app.Office(settings, rules, replay=case.recording, now=as_of)
    terms = Terms(as_of=as_of, seconds=settings.deadlines.verdict)
    blank = replace(incident, diagnosis=None)
    found = asyncio.run(investigate(office.investigator, blank, terms)).diagnosis
    assert found is not None  # noqa: S101 - `investigate` ends in a diagnosis; for mypy
    return found, office


def _print(replayed: Sequence[Replayed], form: str) -> None:
    if form == "json":
        told = [as_json(one) for one in replayed]
        text = json.dumps(told[0] if len(told) == 1 else told, indent=2, ensure_ascii=False)
        sys.stdout.write(f"{text}\n")
        return
    sys.stdout.write("\n".join("\n".join(lines(one)) + "\n" for one in replayed))
