"""How long Slack may take, by what is asked of it and who waits for the answer."""

from typing import Final

CALL_SECONDS: Final = 10.0
"""One call that nobody waits for: a post, an edit, a form that is drawn."""

CHECKUP_SECONDS: Final = 30.0
"""All questions of a start together; each ends by itself long before."""

HOME_SECONDS: Final = 2.0
"""The address of the workspace, for the links of pages; no page waits for it."""

PEOPLE_SECONDS: Final = 1.0
"""One question who somebody is: three seconds are all there is for a click."""

WHO_SECONDS: Final = 1.9
"""All questions who acts, before anything but a stop, beside each other: with the store's time
behind it, Slack has its answer within 2.8 s.
"""

STOPPER_SECONDS: Final = 0.8
"""All questions who stops changes: no more than the store has."""

FORM_SECONDS: Final = 1.2
"""All questions who sends a form: the store is asked twice beside it."""
