"""`tailhound runbooks [WORD | show ID]`: the causes that are known, or one of them."""

import argparse
import difflib
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tailhound import app
from tailhound.cli.runbook_text import DAYS, Shown, shown, table
from tailhound.errors import SettingsError
from tailhound.model.names import plural
from tailhound.rules.runbook import Runbook
from tailhound.rules.selftest import run_tests
from tailhound.settings import Settings, load
from tailhound.store.accuracy import Accuracy
from tailhound.store.incidents import IncidentReader
from tailhound.web.runbook import page_of

DONE, FINDINGS = 0, 1
SHOW = "show"


def run(args: argparse.Namespace) -> int:
    """List all, those with a word in them, or show one; exit code 1 when there is none."""
    settings, words = load(args.config), [word.lower() for word in args.words]
    is_shown = words[:1] == [SHOW]
    wanted = words[1:] if is_shown else words
    if len(wanted) > 1 or (is_shown and not wanted):
        raise SettingsError("runbooks: write `runbooks`, `runbooks WORD` or `runbooks show ID`")
    known = app.compiled(settings).runbooks
    found = _found(known, wanted[0] if wanted else "", exact=is_shown)
    if not found:
        sys.stderr.write(_none(wanted[0], known) + "\n")
        return FINDINGS
    if wanted and len(found) == 1:
        sys.stdout.write("\n".join(_one(found[0], known, settings)) + "\n")
        return DONE
    lines = [
        *table(found),
        f"{plural(len(found), 'runbook')}. Show one: tailhound runbooks show ID",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return DONE


def _found(known: Sequence[Runbook], wanted: str, *, exact: bool) -> list[Runbook]:
    same = [one for one in known if one.id == wanted]
    if exact or same:
        return same
    return [one for one in known if wanted in one.id or wanted in one.cause.lower()]


def _none(wanted: str, known: Sequence[Runbook]) -> str:
    near = difflib.get_close_matches(wanted, [one.id for one in known], n=1, cutoff=0.6)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"no runbook {wanted!r}.{hint} `tailhound runbooks` lists all"


def _one(runbook: Runbook, known: Sequence[Runbook], settings: Settings) -> list[str]:
    record, why_not = _record(settings)
    page = page_of(runbook, known, run_tests(runbook), None)
    lately = None if record is None else record.of(runbook.id)
    return shown(Shown(page=page, record=lately, why_not=why_not))


def _record(settings: Settings) -> tuple[Accuracy | None, str]:
    """What came of the last 30 days; None, and why, where there is no database to tell."""
    try:
        reader = IncidentReader.open(settings.store.url, settings.store.secret())
    except SettingsError as error:
        return None, str(error)
    try:
        return reader.accuracy(datetime.now(UTC) - timedelta(days=DAYS)), ""
    finally:
        reader.close()
