"""`tailhound check` and `tailhound test`: runbook files in, findings or results out.

With `--config`, `check` looks at the configuration too, and without a path at the runbooks that it
names.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tailhound import app
from tailhound.errors import RunbookErrors, SettingsError
from tailhound.rules import checking
from tailhound.rules.schema import json_schema
from tailhound.settings import load

DONE, FINDINGS = 0, 1


def run(args: argparse.Namespace) -> int:
    """Check or test the files; exit code 1 when a file should be changed, or a test fails."""
    started = time.perf_counter()
    if getattr(args, "schema", False):
        sys.stdout.write(json.dumps(json_schema(), indent=2) + "\n")
        return DONE
    settings = load(args.config)
    if not args.paths and args.config is None:
        raise SettingsError("check: name a PATH, or --config FILE, or both")
    files = _files(args.paths) if args.paths else app.runbook_files(settings)
    known, allow = app.collectors(), app.allow_list(settings)
    if args.command == "test":
        try:
            tested = checking.test_files(files, known, allow)
        except RunbookErrors as error:
            sys.stdout.write(checking.findings_text(error.findings, files) + "\n")
            return FINDINGS
        sys.stdout.write(checking.results_text(tested) + "\n")
        sys.stdout.write(checking.results_summary(tested, time.perf_counter() - started) + "\n")
        return DONE if all(r.passed for one in tested for r in one.results) else FINDINGS
    checked = checking.check_files(files, known, allow, mutate=args.mutate)
    if args.config is not None:
        checked = checked.with_file(app.findings_of_profiles(files, settings))
        files = {**files, str(args.config): args.config.read_bytes()}
    sys.stdout.write(_said(checked, files, args.format, time.perf_counter() - started))
    return FINDINGS if checked.unsettled else DONE


def _said(
    checked: checking.Checked, files: dict[str, str | bytes], form: str, seconds: float
) -> str:
    if form == "json":
        return checking.findings_json(checked) + "\n"
    if form == "github":
        text = checking.findings_github(checked.findings)
        return f"{text}\n" if text else ""
    text = checking.findings_text(checked.findings, files)
    return f"{text}\n" * bool(text) + checking.summary(checked, seconds) + "\n"


def _files(paths: Sequence[Path]) -> dict[str, str | bytes]:
    """The files, and the *.yaml of folders; SettingsError for what can't be read."""
    found: dict[str, str | bytes] = {}
    for path in paths:
        inside = sorted((*path.glob("*.yaml"), *path.glob("*.yml"))) if path.is_dir() else [path]
        if not inside:
            raise SettingsError(f"{path}: no *.yaml file in it")
        for file in inside:
            try:
                found[str(file)] = file.read_bytes()
            except OSError as error:
                raise SettingsError(f"{file}: can't be read: {error.strerror}") from error
    return found
