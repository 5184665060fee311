"""`tailhound record INCIDENT|--alert FILE --out FILE`: a redacted case file, for `replay`."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from tailhound import app
from tailhound.cli import alerts, diagnose
from tailhound.cli.replay import from_store
from tailhound.durable.casefile import with_incidents
from tailhound.errors import RecordingUnreadable, SettingsError
from tailhound.model import Incident
from tailhound.settings import Settings, load
from tailhound.transports.recording import Recording

DONE, FINDINGS, NO_BACKEND = 0, 1, 3


def run(args: argparse.Namespace) -> int:
    """Write the case file; exit code 1 when the incident has none, 3 when no backend answered."""
    if (args.incident is None) == (args.alert is None):
        raise SettingsError("record: name a stored incident, or --alert FILE: one of the two")
    settings = load(args.config)
    if args.alert is not None:
        return _live(args, settings)
    try:
        case = from_store(args.incident, settings)
    except RecordingUnreadable as error:
        sys.stderr.write(f"{error}\n")
        return FINDINGS
    made = with_incidents(case.recording, case.incidents)
    app.save(made, args.out)
    _tell(args, made, case.incidents)
    return DONE


def _live(args: argparse.Namespace, settings: Settings) -> int:
    """Diagnose what fires now, and keep it."""
    now = datetime.now(UTC)
    body = alerts.read_body(args.alert)
    found = alerts.to_diagnose(alerts.group_of(body, args.alert), settings, now)
    rules = app.compiled(settings)
    office = app.Office(settings, rules, body=json.loads(body), now=now)
    diagnosed = asyncio.run(diagnose.all_of(found, settings, office, now))
    _tell(args, office.keep(args.out, diagnosed), diagnosed)
    return NO_BACKEND if diagnose.nobody_answered(diagnosed) else DONE


def _tell(args: argparse.Namespace, made: Recording, incidents: Sequence[Incident]) -> None:
    size = args.out.stat().st_size / 1024
    verdicts = ", ".join(
        f"{it.id} {(it.diagnosis.primary if it.diagnosis else None) or 'no cause confirmed'}"
        for it in incidents
    )
    sys.stdout.write(f"{args.out}: {len(made.answers)} answers, {size:.0f} KiB; {verdicts}\n")
    sys.stdout.write("Secrets were taken out as far as they are known: read it before you share.\n")
