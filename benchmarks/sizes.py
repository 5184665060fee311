"""How much is measured."""

from dataclasses import dataclass

from tailhound.settings import Ssh


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """`seconds` of each intake load; `backlog` incidents drain meanwhile. Times are in seconds.

    A slow backend takes `slow` more for an answer; hosts are read twice with `gap` between.
    """

    seconds: float = 5.0
    backlog: int = 300
    drained: int = 400
    posts: int = 20
    clicks: int = 200
    judged: int = 200
    hosts: int = 100
    fleet_rounds: int = 5
    overloaded: int = 5
    slow: float = 5.0
    gap: float = Ssh().gap_seconds
    starts: int = 5
    storm_alerts: int = 10_000
    storm_seconds: float = 60.0


FULL = Sizes()
QUICK = Sizes(
    seconds=1.5,
    backlog=100,
    drained=100,
    posts=5,
    clicks=40,
    judged=50,
    starts=2,
    hosts=20,
    overloaded=2,
    storm_alerts=0,
)
"""For a look within a minute or two; `storm_alerts` 0 = no storm."""
