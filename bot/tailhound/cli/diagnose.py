"""`tailhound diagnose`: alerts in, diagnoses out, no database."""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.text import Text

from tailhound import app
from tailhound.cli import alerts
from tailhound.cli.by_hand import by_hand
from tailhound.cli.text import markdown, terminal
from tailhound.diagnosis.report import as_json
from tailhound.durable.investigating import OnProgress, Sketch
from tailhound.durable.offline import Terms, investigate
from tailhound.errors import SettingsError
from tailhound.model import ANSWERED, Incident, Progress
from tailhound.settings import Settings, load

DONE, USAGE, NO_BACKEND = 0, 2, 3
_COLOURS = {
    "CONFIRMED": "bold red",
    "TWO CAUSES FIT": "bold red",
    "NO CAUSE CONFIRMED": "bold yellow",
    "CANNOT SEE": "bold magenta",
    "RULED OUT": "green",
    "UNKNOWN": "yellow",
    "COULD NOT CHECK": "magenta",
}


def run(args: argparse.Namespace) -> int:
    """Diagnose what was given and print it."""
    settings = load(args.config)
    replay = app.recorded(args.replay) if args.replay else None
    now = replay.as_of if replay else datetime.now(UTC)
    if args.input and not args.runbook:
        raise SettingsError("--input goes with --runbook; the labels of an alert say what it is of")
    rules = app.only(app.compiled(settings), args.runbook)
    runbook = rules.by_id[args.runbook] if args.runbook else None
    told = by_hand(runbook, args.input, settings.incidents) if runbook else None
    body = b"" if told else alerts.read_body(args.alert)
    group = alerts.with_labels(told.labels, now) if told else alerts.group_of(body, args.alert)
    found = alerts.to_diagnose(group, settings, now)
    body_sent = json.loads(body or "null")
    office = app.Office(settings, rules, replay=replay, body=body_sent, now=now)
    diagnosed = asyncio.run(all_of(found, settings, office, now, told.given if told else {}))
    if args.record:
        office.keep(args.record, diagnosed)
    _print(diagnosed, args, now)
    return NO_BACKEND if nobody_answered(diagnosed) else DONE


async def all_of(
    found: Sequence[Incident],
    settings: Settings,
    office: app.Office,
    now: datetime,
    given: Mapping[str, Any] | None = None,
) -> list[Incident]:
    """Each incident in turn, with the same connections. `given` is known of the subject already."""
    on_terminal = sys.stderr.isatty()
    terms = Terms(
        as_of=now,
        seconds=settings.deadlines.verdict,
        on_progress=_progress(on_terminal),
        record=office.record,
        given=given or {},
    )
    try:
        return [await investigate(office.investigator, incident, terms) for incident in found]
    finally:
        office.close()
        if on_terminal:
            sys.stderr.write("\r\x1b[K")


def _progress(on_terminal: bool) -> OnProgress:
    """One line that is redrawn on a terminal; elsewhere a line every five seconds."""
    told = time.monotonic()

    def tell(progress: Progress, _sketch: Sketch) -> None:
        nonlocal told
        total = progress.answered + progress.waiting + progress.failed
        line = f"{progress.answered} of {total} questions answered, {progress.failed} failed"
        now = time.monotonic()
        if on_terminal:
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
        elif now - told >= 5:
            told = now
            sys.stderr.write(f"{line}\n")

    return tell


def _print(diagnosed: Sequence[Incident], args: argparse.Namespace, now: datetime) -> None:
    if args.format == "json":
        said = [as_json(incident) for incident in diagnosed]
        text = json.dumps(said[0] if len(said) == 1 else said, indent=2, ensure_ascii=False)
        sys.stdout.write(f"{text}\n")
    elif args.format == "md":
        sys.stdout.write("\n".join(markdown(incident, now) for incident in diagnosed))
    else:
        console = _console(args.color)
        for incident in diagnosed:
            for line in terminal(incident, now, verbose=args.verbose):
                console.print(_coloured(line), soft_wrap=True)


def _console(color: str) -> Console:
    forced = {"always": True, "never": False}.get(color)
    plain = forced is False or bool(os.environ.get("NO_COLOR"))
    return Console(
        file=sys.stdout,
        force_terminal=forced,
        no_color=plain,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _coloured(line: str) -> Text:
    """The line; a colour only repeats its first word."""
    text = Text(line)
    for word, style in _COLOURS.items():
        if line.startswith(word):
            text.stylize(style, 0, len(word))
            break
    return text


def nobody_answered(diagnosed: Sequence[Incident]) -> bool:
    """Whether something was asked, and no backend at all answered."""
    asked = [
        one.status in ANSWERED
        for incident in diagnosed
        if incident.diagnosis is not None
        for item in incident.diagnosis.evidence
        for one in item.asked
    ]
    return bool(asked) and not any(asked)
