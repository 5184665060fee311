"""Editing incidents: an edit, its revision, and what follows from it, in one transaction."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import sqlalchemy as sa

from tailhound.durable.asking import Enqueue, Terms, asked, put, show
from tailhound.durable.boot import Boot
from tailhound.durable.notices import follow
from tailhound.model import Incident
from tailhound.store import records
from tailhound.store.database import Database
from tailhound.store.records import Record

Edit = Callable[[Record], Record | None]
"""A record before -> after; None = it stays as it is."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What one needs to edit incidents, and the edit itself."""

    database: Database
    terms: Callable[[], Terms]
    enqueue: Enqueue
    boot: Boot

    def change(
        self, connection: sa.Connection, id: str, edit: Edit, *, urgent: bool
    ) -> Record | None:
        """Edit an incident, begin the investigation that waited, and let its places know.

        What people must notice is posted in its threads.

        None when there is nothing to change. A diagnosis on the edited incident replaces the one
        that stands.
        """
        now, terms = self.boot.clock(), self.terms()
        began = ""
        before: Incident | None = None

        def edited(record: Record) -> Record | None:
            nonlocal began, before
            after = edit(record)
            before = _before(connection, record, after)
            if after is None or after.is_active or not after.waiting:
                return after
            began = after.waiting
            return asked(replace(after, waiting=""), began, now, terms)

        after = records.change(connection, id, edited, now)
        if after is not None:
            show(connection, [(after, urgent)])
            if before is not None:
                follow(connection, before, after.incident, terms, now)
            if began:
                put(connection, [(after, began)], now, terms, self.enqueue)
        return after


def _before(connection: sa.Connection, record: Record, after: Record | None) -> Incident | None:
    """The incident as it stood; with its diagnosis only where another one replaces it."""
    if after is not None and after.incident.diagnosis is not None:
        return records.read_whole(connection, record.incident.id)
    return record.incident
