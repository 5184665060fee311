"""What people did and said, in words: who is on it, what is silenced, what the cause really was."""

from datetime import datetime

from tailhound.model import Feedback, Incident, Rating
from tailhound.model.names import plural
from tailhound.model.sayings import named_none, what
from tailhound.model.wording import day_clock
from tailhound.store.accuracy import Record
from tailhound.web.headline import name, seen

ENOUGH = 10
"""With fewer incidents than this a share says nothing."""


def sayings(incident: Incident) -> tuple[Feedback, ...]:
    """What people said about the diagnosis, newest first."""
    return tuple(sorted(incident.feedback, key=lambda said: said.at, reverse=True))


def verdict_on(said: Feedback) -> str:
    """`right`, `wrong: it was KV preemption`, `wrong: its cause is not in the list`; where no cause
    had been named `it was KV preemption`, `none of the known causes`.
    """
    if named_none(said):
        return what(said, name(seen(said.cause, 80)) if said.cause else "")
    word: str = said.rating.value
    if said.rating in (Rating.RIGHT, Rating.UNSURE):
        return word
    if said.cause and said.cause != said.said_primary:
        return f"{word}: it was {name(seen(said.cause, 80))}"
    return f"{word}: its cause is not in the list" if said.rating is Rating.WRONG else word


def what_it_was(incident: Incident) -> str:
    """The newest word on an incident for a list: `right`, `wrong: ...`; "" without one."""
    known = [said for said in sayings(incident) if said.rating is not Rating.UNSURE]
    return verdict_on(known[0]) if known else ""


def silenced(incident: Incident, now: datetime) -> tuple[str, ...]:
    """`Silenced by ana until 05:10 UTC (3 alerts)`, for each silence that holds; and what went
    wrong with those that people asked for.
    """
    held = tuple(
        f"silenced by {seen(one.by, 60)} until {day_clock(one.until, now)} "
        f"({plural(one.alerts, 'alert')})"
        + (f", could not be ended: {seen(one.trouble, 240)}" if one.trouble else "")
        for one in incident.silences
        if one.holds(now)
    )
    failed = tuple(
        f"the silence of {seen(one.by, 60)} {seen(one.trouble, 240)}"
        for one in incident.silences
        if one.failed(now)
    )
    return (*held, *failed)


def of_all(some: int, every: int) -> str:
    """`24 of 26`; with too few to say anything, that is said: `too few to say (3 of 3)`."""
    if every == 0:
        return "too few to say"
    return f"{some} of {every}" if every >= ENOUGH else f"too few to say ({some} of {every})"


def rate(record: Record) -> tuple[str, str]:
    """Precision and recall of one cause, as `of_all` tells them."""
    return (
        of_all(record.right, record.rated),
        of_all(record.right, record.right + record.missed),
    )
