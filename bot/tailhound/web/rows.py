"""Incidents as rows of a list: plain tuples, because a list may have hundreds of them."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from tailhound.model import Incident, telling
from tailhound.model.names import grave
from tailhound.model.wording import day_clock
from tailhound.web.headline import cause_of, headline, seen, where
from tailhound.web.people import what_it_was
from tailhound.web.words import ago, iso

SURE_TONES = ("found", "done")
"""An incident of another tone has no verdict that one could be sure of."""


class Row(NamedTuple):
    """One row, every text fit to be seen. `asides` are what else there is to know: who is on
    it, how long it is silenced, what people said, that it is checked again."""

    id: str
    tone: str
    word: str
    where: str
    severity: str
    cause: str
    asides: tuple[str, ...]
    sure: str
    iso: str
    since: str
    ago: str


def rows(incidents: Iterable[Incident], now: datetime) -> Iterator[Row]:
    """The rows in the order of the incidents."""
    return (_row(incident, now) for incident in incidents)


def _row(incident: Incident, now: datetime) -> Row:
    head = headline(incident)
    diagnosis = incident.diagnosis
    sure = diagnosis.confidence if diagnosis and head.tone in SURE_TONES else None
    since = incident.since
    return Row(
        id=incident.id,
        tone=head.tone,
        word=head.word,
        where=where(incident),
        severity=grave(seen(incident.severity, 20)),
        cause=cause_of(incident),
        asides=tuple(_asides(incident, now)),
        sure=sure.value if sure else "",
        iso=iso(since),
        since=day_clock(since, now),
        ago=ago(since, now),
    )


def _asides(incident: Incident, now: datetime) -> Iterator[str]:
    if incident.is_rechecked:
        yield "checking again"
    if incident.on_it is not None:
        yield f"{seen(incident.on_it.by, 40)} is on it"
    if silenced := telling.silenced(incident, now):
        yield silenced
    if said := what_it_was(incident):
        yield f"people say: {said}"
