"""The ids of what people press, and the value that a button carries.

A value names an incident and its revision, and where somebody agrees with a diagnosis, the one that
was shown. It comes back from outside, so it is read as an id and nothing else: what a click may do
is asked of the store.
"""

import re
from typing import Final

from tailhound.model import Incident

RECHECK: Final = "recheck"
"""*Re-check*: ask everything again."""

ON_IT: Final = "on_it"
"""*I'm on it*; *Take over* while somebody is."""

OFF_IT: Final = "off_it"
"""*Not any more*, in the answer to that."""

SILENCE: Final = "silence"
"""*Silence…*: opens the preview of what would be muted."""

WRONG: Final = "wrong"
"""*Wrong? Tell us the cause*, *Tell us the cause* where none was confirmed, *Add or change an
answer* once somebody has told it: opens a form."""

RIGHT: Final = "right"
"""*Yes, that was it*."""

CHECK_NOW: Final = "check_now"
"""*Check this one now*, of an incident that waits its turn."""

OPEN_HELD: Final = "open_held"
"""*Open 7F3K* in a storm's message: the incident gets a message of its own."""

STOP: Final = "stop_changes"
"""*Stop all changes*, in the home tab."""

PAGE: Final = "page"
"""*Full evidence* and *All of them*, links: Slack reports the click all the same."""

POSTMORTEM: Final = "postmortem"
"""*Postmortem draft*, a link."""

SCOPE: Final = "silence_scope"
HOURS: Final = "silence_hours"
WHY: Final = "silence_why"
TICK: Final = "silence_pages"
"""*I know this mutes pages*."""

RATING: Final = "rating"
CAUSE: Final = "cause"
NOTE: Final = "note"
END_SILENCE: Final = "end_silence"
TRY_AGAIN: Final = "try_again"
SILENCE_FORM: Final = "silence_form"
FEEDBACK_FORM: Final = "feedback_form"
"""What people choose in forms, and the forms themselves (callback ids)."""

_VALUE: Final = re.compile(
    r"(?P<incident>[A-Za-z0-9_-]{1,40}):\d{1,19}(?::(?P<shown>[0-9a-f]{8}))?"
)


def value_of(incident: Incident) -> str:
    """What the buttons of an incident's message carry: `8R5W:3`."""
    return f"{incident.id}:{incident.revision}"


def agreeing(incident: Incident) -> str:
    """What a button carries that agrees with the diagnosis: `8R5W:3:1f0c9a2b`, with its mark."""
    diagnosis = incident.diagnosis
    return f"{value_of(incident)}:{diagnosis.mark}" if diagnosis else value_of(incident)


def shown_in(value: str) -> str:
    """The mark of the diagnosis in a button's value; "" without one."""
    found = _VALUE.fullmatch(value)
    return (found["shown"] or "") if found else ""


def incident_in(value: str) -> str:
    """The id of the incident in a button's value; "" when the value is none of ours."""
    found = _VALUE.fullmatch(value)
    return found["incident"] if found else ""
