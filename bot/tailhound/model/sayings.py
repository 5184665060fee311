"""What a person says it was, where no cause had been named: then nothing was right or wrong."""

from tailhound.model.names import cause_name
from tailhound.model.people import Feedback, Rating


def named_none(said: Feedback) -> bool:
    """Whether no cause was named when somebody said what it was, or that it was none of these."""
    return not said.said_primary and said.rating is Rating.WRONG


def what(said: Feedback, name: str = "") -> str:
    """`it was node drain`, `none of the known causes`; `name` is how a surface writes the cause."""
    return f"it was {name or cause_name(said.cause)}" if said.cause else "none of the known causes"
