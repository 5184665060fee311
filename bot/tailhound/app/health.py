"""The lines of the health page about tailhound itself: messages, queues, replicas, changes."""

from collections.abc import Sequence
from datetime import datetime

from tailhound import __version__
from tailhound.durable.replicas import Peer
from tailhound.durable.standings import Standing
from tailhound.model import State, may_change
from tailhound.model.names import plural
from tailhound.model.wording import duration
from tailhound.web.parts import Counts, HealthLine, Stop

LATE_SECONDS = 60.0
"""A message that waits longer is late."""
MESSAGES, WORK, REPLICAS = "Messages", "Work", "Replicas"
_NAMES = {"slack": "Slack", "console": "Console", "webhook": "Webhook"}


def message_lines(standings: Sequence[Standing]) -> tuple[HealthLine, ...]:
    """One line for each place that messages go to."""
    return tuple(_line(standing) for standing in standings)


def _line(at: Standing) -> HealthLine:
    name = f"{_NAMES.get(at.place.notifier, at.place.notifier)} {at.place.place}".removesuffix(" -")
    waiting = f"{at.waiting} waiting" if at.waiting else ""
    if at.refused:
        return HealthLine(
            section=MESSAGES,
            name=name,
            state="refuses",
            works=False,
            detail=waiting,
            effect=f"{_messages(at.refused)} can't be shown there; the pages here are complete",
            fix=at.why,
        )
    if at.late:
        return HealthLine(
            section=MESSAGES,
            name=name,
            state="does not take messages now",
            works=False,
            detail=f"{waiting}: {at.why}",
            effect="they come late there; the pages here are complete",
        )
    return HealthLine(
        section=MESSAGES, name=name, state="takes messages", works=True, detail=waiting
    )


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"


def own_lines(
    counts: Counts, mode: str, stop: Stop | None, now: datetime
) -> tuple[HealthLine, ...]:
    """What waits in this tailhound, and whether it may change anything."""
    raw = (_unreadable(counts.unreadable),) if counts.unreadable else ()
    return _incidents(counts), *raw, _outbox(counts), _changes(mode, stop, now)


def _incidents(counts: Counts) -> HealthLine:
    checked = counts.incidents.get(State.INVESTIGATING, 0)
    waiting = counts.incidents.get(State.DEFERRED, 0)
    failed = counts.failed
    return HealthLine(
        section=WORK,
        name="Incidents",
        state=f"{checked} being checked, {waiting} waiting their turn",
        works=not failed,
        effect=f"{plural(failed, 'incident')} failed; their alerts stand" if failed else "",
        fix="open them: each says why" if failed else "",
    )


def _unreadable(amount: int) -> HealthLine:
    """Of the past too, so nobody can mend it by now: `works` stays unknown."""
    return HealthLine(
        section=WORK,
        name="Unreadable notifications",
        state=f"{amount} kept as they came",
        works=None,
        effect="what they would have told is not known",
        fix="open them: each says what is wrong with it; only Alertmanager should post here",
    )


def _outbox(counts: Counts) -> HealthLine:
    waiting, oldest = counts.outbox_waiting, counts.outbox_oldest_seconds
    return HealthLine(
        section=WORK,
        name="Messages to send",
        state=plural(waiting, "waiting message") if waiting else "none wait",
        works=oldest < LATE_SECONDS,
        detail=f"the oldest for {duration(float(round(oldest)))}" if waiting else "",
        effect="people see things late" if oldest >= LATE_SECONDS else "",
    )


def _changes(mode: str, stop: Stop | None, now: datetime) -> HealthLine:
    state = may_change.changes_stand(mode, stop, now)
    if stop is None:
        return HealthLine(section=WORK, name="Changes", state=state, works=True)
    return HealthLine(
        section=WORK,
        name="Changes",
        state=state,
        works=None,
        detail=stop.why,
        effect="nothing is changed, whoever approves",
        fix=f"remove {stop.file}"
        if stop.file
        else "/tailhound resume in Slack, by an approver; or tailhound resume",
    )


def replica_lines(database: str, peers: Sequence[Peer]) -> tuple[HealthLine, ...]:
    """The processes that share the database; on SQLite there is this one."""
    if not peers:
        return (
            HealthLine(
                section=REPLICAS,
                name="This process",
                state="the only one",
                works=True,
                detail=f"tailhound {__version__}, database {database}",
            ),
        )
    this = HealthLine(
        section=REPLICAS,
        name="Who tells this",
        state=f"tailhound {__version__}",
        works=True,
        detail=f"database {database}",
    )
    return (this, *(_peer(peer) for peer in peers))


def _peer(peer: Peer) -> HealthLine:
    alive = peer.left_seconds >= 0
    gone = duration(float(round(abs(peer.left_seconds))))
    return HealthLine(
        section=REPLICAS,
        name=peer.host or "a replica",
        state="runs" if alive else f"gone for {gone}",
        works=alive,
        effect="" if alive else "the others have taken over what it was doing",
    )
