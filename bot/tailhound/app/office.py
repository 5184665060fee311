"""What `diagnose` works with: runbooks, transports or a recording, and an investigator."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tailhound.app.composition import transports
from tailhound.app.plugins import collectors
from tailhound.durable.casefile import with_incidents
from tailhound.durable.investigation import Investigator
from tailhound.errors import RecordingUnreadable, SettingsError
from tailhound.flow import Transport
from tailhound.model import Incident
from tailhound.rules.loading import Compiled
from tailhound.settings import Profile, Settings
from tailhound.transports import recording
from tailhound.transports.recording import Recorder, Recording
from tailhound.transports.replay import ReplayTransport


def recorded(path: Path) -> Recording:
    """A recording; SettingsError says what is wrong with it."""
    try:
        return recording.load(path)
    except RecordingUnreadable as error:
        raise SettingsError(str(error)) from error


def save(made: Recording, path: Path) -> None:
    """Write a recording; SettingsError when it can't be written."""
    try:
        recording.save(made, path)
    except OSError as error:
        raise SettingsError(f"{path}: can't be written: {error.strerror}") from error


class Office:
    """One investigator with its connections; `close` drops them.

    `replay` answers from a recording instead of the configured backends. `body` is the alert body
    as it came: `keep` writes it into the file together with what was asked.
    """

    def __init__(
        self,
        settings: Settings,
        whole: Compiled,
        *,
        replay: Recording | None = None,
        body: Any = None,
        now: datetime,
    ) -> None:
        self.replay = ReplayTransport(replay) if replay else None
        self._transports: tuple[Transport, ...] = (
            (self.replay,) if self.replay else transports(settings)
        )
        self._recorder = Recorder(now, body)
        self.record = self._recorder.record
        self.investigator = Investigator(whole, collectors(), self._transports, settings)

    def keep(self, path: Path, diagnosed: Sequence[Incident]) -> Recording:
        """Write what was asked, answered and made of it, redacted; what was written."""
        made = with_incidents(self._recorder.recording(), diagnosed)
        save(made, path)
        return made

    def close(self) -> None:
        """Drop all connections."""
        for transport in self._transports:
            transport.close()


def only(whole: Compiled, runbook: str | None) -> Compiled:
    """The whole set, or one runbook of it; SettingsError names what there is."""
    if runbook is None:
        return whole
    if runbook not in whole.by_id:
        known = ", ".join(sorted(whole.by_id))
        raise SettingsError(f"--runbook {runbook}: no such runbook; there are: {known}")
    return Compiled(
        runbooks=(whole.by_id[runbook],),
        profiles=tuple(_about(profile, runbook) for profile in whole.profiles),
        slo=whole.slo,
        templates=whole.templates,
    )


def _about(profile: Profile, runbook: str) -> Profile:
    """The profile with the thresholds of one runbook only."""
    kept = {id: values for id, values in profile.thresholds.items() if id == runbook}
    return profile.model_copy(update={"thresholds": kept})
