"""The investigator of each compiled set that a run names; sets are compiled once."""

import threading
from collections.abc import Callable
from typing import TypeAlias

from tailhound.app.composition import allow_list
from tailhound.app.plugins import collectors
from tailhound.durable.investigating import Investigating
from tailhound.errors import RunbookErrors
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings
from tailhound.store.database import Database
from tailhound.store.outputs import read_compiled

Make: TypeAlias = Callable[[Compiled], Investigating]
"""Makes the investigator of a compiled set."""


KNOWN_AT_MOST = 4
"""Sets that are held at once: what is configured, and those of runs that began before it was."""


class Investigators:
    """Runs in flight finish by the set that they began with, whatever is configured by now."""

    def __init__(
        self, current: Compiled, database: Database, settings: Settings, make: Make
    ) -> None:
        self._database = database
        self._settings = settings
        self._make = make
        self._current = current.sha
        self._lock = threading.Lock()
        self._known: dict[str, Investigating] = {current.sha: make(current)}

    def __call__(self, sha: str) -> Investigating:
        """Blocks while a set is read and compiled, and may be called on any thread.

        KeyError when that set was never kept, or can't be compiled by this version.
        """
        with self._lock:
            if sha not in self._known:
                kept = self._compiled(sha)
                while len(self._known) >= KNOWN_AT_MOST:
                    del self._known[next(sha for sha in self._known if sha != self._current)]
                self._known[sha] = self._make(kept)
            return self._known[sha]

    def _compiled(self, sha: str) -> Compiled:
        with self._database.reading() as connection:
            content = read_compiled(connection, sha)
        if content is None:
            raise KeyError(sha)
        try:
            return Compiled.from_json(content.decode(), collectors(), allow_list(self._settings))
        except RunbookErrors as error:
            raise KeyError(f"{sha}: {error}") from error
