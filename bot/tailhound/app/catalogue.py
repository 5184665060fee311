"""The runbooks that are active, their tests, and how their files stand against them."""

import threading
from datetime import datetime
from pathlib import Path

from tailhound.app.composition import allow_list, runbook_files
from tailhound.app.plugins import collectors
from tailhound.errors import Finding, SettingsError
from tailhound.model.wording import clock
from tailhound.rules.loading import Compiled, compile_files
from tailhound.rules.runbook import Runbook
from tailhound.rules.selftest import Result, run_tests
from tailhound.settings import Settings


class Catalogue:
    """What the pages about runbooks show. Each call blocks; safe to use from several threads.

    Files are compiled again only when their bytes have changed since the last look.
    """

    def __init__(self, settings: Settings, active: Compiled, since: datetime) -> None:
        self._settings = settings
        self._active = active
        self._since = since
        self._lock = threading.Lock()
        self._tests: dict[str, tuple[Result, ...]] = {}
        self._looked: dict[str, str | bytes] | None = None
        self._told: tuple[str, ...] = ()

    @property
    def runbooks(self) -> tuple[Runbook, ...]:
        """Those that are active, by id."""
        return self._active.runbooks

    def tests(self, runbook: str) -> tuple[Result, ...]:
        """What came of the tests that an active runbook carries; KeyError without it."""
        found = self._tests.get(runbook)
        if found is None:
            found = self._tests[runbook] = run_tests(self._active.by_id[runbook])
        return found

    def troubles(self) -> tuple[str, ...]:
        """Files that are wrong now, and files that differ from what is active."""
        try:
            files = runbook_files(self._settings)
        except (SettingsError, OSError) as error:
            return (f"The files can't be read: {error}. {self._runs()}",)
        with self._lock:
            if files != self._looked:
                self._looked, self._told = files, self._compared(files)
            return self._told

    def _runs(self) -> str:
        return f"What was active {_moment(self._since)} runs"

    def _compared(self, files: dict[str, str | bytes]) -> tuple[str, ...]:
        active = {runbook.path: runbook.source for runbook in self._active.runbooks}
        changed = {
            path: source for path, source in files.items() if active.get(path) != _text(source)
        }
        gone = [path for path in active if path not in files]
        if not changed and not gone:
            return ()
        _, findings = compile_files(files, collectors(), allow_list(self._settings))
        wrong = {finding.path for finding in findings}
        return (
            *(f"Not active: {finding}; {self._older(finding, active)}" for finding in findings),
            *(f"Changed on disk: {_name(path)}; restart tailhound to use it"
              for path in changed if path not in wrong),
            *(f"Gone from disk: {_name(path)}; it runs until tailhound restarts" for path in gone),
        )  # fmt: skip

    def _older(self, finding: Finding, active: dict[str, str]) -> str:
        if finding.path not in active:
            return "nothing stands in for it"
        return f"the version of {_moment(self._since)} runs"


def _moment(at: datetime) -> str:
    """`12 Nov 09:30 UTC`."""
    return f"{at.day} {at:%b} {clock(at)}"


def _text(source: str | bytes) -> str:
    return source if isinstance(source, str) else source.decode("utf-8", "replace")


def _name(path: str) -> str:
    return Path(path).name
