"""One life of the process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4


def _now() -> datetime:
    return datetime.now(UTC)


def _nothing(_name: str) -> None:
    """What happens at a named instant of a process that nobody tests."""


def _alone() -> bool:
    """Whether a process that shares its database with nobody may go on."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """The id of this life, its clock, and what is called at named instants (tests kill there).

    `holds` tells whether it may begin what others can see: a replica whose lease ran out may not.
    """

    id: str = field(default_factory=lambda: uuid4().hex)
    clock: Callable[[], datetime] = _now
    hook: Callable[[str], None] = _nothing
    holds: Callable[[], bool] = _alone
