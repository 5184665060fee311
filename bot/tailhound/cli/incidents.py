"""`tailhound incidents`: read the database beside a running serve; nothing is changed."""

import argparse
import json
import sys
from datetime import UTC, datetime

from tailhound.cli.text import markdown, safe, terminal
from tailhound.cli.width import fitted
from tailhound.diagnosis.report import as_json
from tailhound.model import Incident
from tailhound.model.wording import day_clock
from tailhound.settings import load
from tailhound.store.incidents import IncidentReader

DONE, FINDINGS = 0, 1


def run(args: argparse.Namespace) -> int:
    """List incidents, newest first, or show one; exit code 1 when there is none of that id."""
    settings = load(args.config)
    store = settings.store
    reader = IncidentReader.open(store.url, store.secret())
    try:
        if args.id is None:
            return _list(reader.list(limit=max(1, args.limit)), args.format)
        incident = reader.get(args.id.upper())
    finally:
        reader.close()
    if incident is None:
        sys.stderr.write(f"no incident {args.id}; `tailhound incidents` lists them\n")
        return FINDINGS
    _show(incident, args, settings.listen.page_of(incident.id))
    return DONE


def _list(incidents: tuple[Incident, ...], form: str) -> int:
    if form == "json":
        said = [as_json(incident) for incident in incidents]
        sys.stdout.write(json.dumps(said, indent=2, ensure_ascii=False) + "\n")
        return DONE
    now = datetime.now(UTC)
    for line in fitted(_line(incident, now) for incident in incidents):
        sys.stdout.write(line + "\n")
    if not incidents:
        sys.stdout.write("No incidents yet. Point Alertmanager at /webhook/alertmanager.\n")
    return DONE


def _line(incident: Incident, now: datetime) -> str:
    cause = incident.diagnosis.primary if incident.diagnosis else None
    since = day_clock(incident.since, now)
    state = "unreadable" if incident.unreadable else incident.state.value
    where = safe("-" if incident.unreadable else incident.subject.where, 40)
    return f"{incident.id:<6} {state:<13} {since:<16} {cause or '-':<22} {where}"


def _show(incident: Incident, args: argparse.Namespace, page: str) -> None:
    now, form = datetime.now(UTC), args.format
    if form == "json":
        sys.stdout.write(json.dumps(as_json(incident), indent=2, ensure_ascii=False) + "\n")
    elif form == "md":
        sys.stdout.write(markdown(incident, now))
    else:
        sys.stdout.write("\n".join(terminal(incident, now, verbose=args.verbose, page=page)) + "\n")
