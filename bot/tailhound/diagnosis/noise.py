"""Which changes of an incident people must notice, beside the silent edit of its message. Pure.

Silence is the default: an edit notifies nobody. The few events that get a post in the thread are
named here; whether such a post is also shown in the channel is `is_loud`.
"""

from tailhound.model import CLOSED_STATES, Diagnosis, Incident, Outlook, badness

SLOW_VERDICT_SECONDS = 60.0
"""A verdict this long after the first post is told in the channel, if the alert is a page: people
have looked away by then."""

VERDICT, REVISED, OVERTURNED = "verdict", "revised", "overturned"
REOPENED, PAGED, CALLED = "reopened", "paged", "called"
LOUD = frozenset({VERDICT, OVERTURNED, REOPENED, PAGED})
_UNTOLD = {
    VERDICT: "The verdict",
    OVERTURNED: "The other verdict",
    REOPENED: "That it is back",
    PAGED: "That it pages",
    CALLED: "Its owner's group",
}
_FOUND = frozenset({Outlook.CAUSE_FOUND, Outlook.TWO_FIT})


def events_of(before: Incident, after: Incident) -> tuple[str, ...]:
    """The names of the events between two states of an incident, such as `reopened:2`.

    A name is the same for the same event however often it is asked for: it is posted once.
    """
    found = (
        _late_verdict(before, after),
        _other_cause(before, after),
        f"{REOPENED}:{after.episode}" if after.episode > before.episode else "",
        f"{PAGED}:{after.episode}" if _became_a_page(before, after) else "",
    )
    return tuple(event for event in found if event)


def says_otherwise(old: Diagnosis, new: Diagnosis) -> bool:
    """Whether a verdict names another cause than the one before it."""
    return (old.primary, old.outlook) != (new.primary, new.outlook)


def is_loud(event: str) -> bool:
    """Whether the post of an event is shown in the channel too, and notifies."""
    return event.partition(":")[0] in LOUD


def untold(event: str) -> str:
    """What the timeline says of an event that notifies nobody, for people were notified often
    enough.
    """
    what = _UNTOLD.get(event.partition(":")[0], "This change")
    verb = "is not mentioned" if what == _UNTOLD[CALLED] else "is not told in the channel"
    return f"{what} {verb}: nobody has acted on the notifications before"


def may_route_anew(before: Incident, after: Incident) -> bool:
    """Whether routes may match that did not before: it got worse, or has an owner more."""
    if after.state in CLOSED_STATES:
        return False
    worse = badness(after.severity) < badness(before.severity)
    return worse or not set(after.owners) <= set(before.owners)


def _late_verdict(before: Incident, after: Incident) -> str:
    """The first verdict of an episode, when it came late and the alert is a page."""
    if before.diagnosis is not None or after.diagnosis is None or not after.is_page:
        return ""
    at = after.diagnosis.decided_at
    waited = (at - after.received_at).total_seconds() if at else 0.0
    return f"{VERDICT}:{after.n}" if waited > SLOW_VERDICT_SECONDS else ""


def _other_cause(before: Incident, after: Incident) -> str:
    """A cause that replaces what was told, within one episode; loud where people may have acted."""
    old, new = before.diagnosis, after.diagnosis
    if old is None or new is None or before.episode != after.episode:
        return ""
    if not says_otherwise(old, new) or not _FOUND & {old.outlook, new.outlook}:
        return ""
    kind = OVERTURNED if old.outlook in _FOUND else REVISED
    return f"{kind}:{after.n}.{after.revision}"


def _became_a_page(before: Incident, after: Incident) -> bool:
    return before.episode == after.episode and after.is_page and not before.is_page
