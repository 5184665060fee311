"""What `diagnose` works with: runbooks, transports or a recording, and an investigator."""

from datetime import datetime
from pathlib import Path

from tailhound.app.composition import collectors, compiled, transports
from tailhound.durable.investigation import Investigator
from tailhound.errors import SettingsError
from tailhound.flow import Transport
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings


def recorded_at(path: Path) -> datetime:
    raise SettingsError(str(path))


class Office:
    """One investigator with its connections; `close` drops them."""

    def __init__(self, settings: Settings, runbook: str | None = None) -> None:
        whole = compiled(settings)
        self._transports: tuple[Transport, ...] = transports(settings)
        self.investigator = Investigator(
            _only(whole, runbook), collectors(), self._transports, settings
        )

    def close(self) -> None:
        """Drop all connections."""
        for transport in self._transports:
            transport.close()


def _only(whole: Compiled, runbook: str | None) -> Compiled:
    """The whole set, or one runbook of it; SettingsError names what there is."""
    if runbook is None:
        return whole
    if runbook not in whole.by_id:
        known = ", ".join(sorted(whole.by_id))
        raise SettingsError(f"--runbook {runbook}: no such runbook; there are: {known}")
    return Compiled(
        runbooks=(whole.by_id[runbook],),
        profiles=(),
        slo=whole.slo,
        templates=whole.templates,
    )
