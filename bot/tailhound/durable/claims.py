"""An outbox row that one life has claimed to send."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A row that is ours to send. `lost` counts first posts whose answer nobody saw."""

    id: int
    incident_id: str
    place: str
    message: str
    attempt: int
    unsure: bool
    lost: int
    part: str = ""
    thread: str = ""
    mention: str = ""
    seen: str = ""
    posted_at: float = 0.0
    delayed_by: str = ""
    wanted: int = 0
    urgent: bool = False
