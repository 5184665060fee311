"""The way to one backend, to be looked at: its slots, its breakers, and how it is slowed down."""

from dataclasses import dataclass

from tailhound.transports.breaker import Breaker
from tailhound.transports.gate import Gate
from tailhound.transports.pool import Pool


@dataclass(frozen=True, slots=True)
class Way:
    """What /metrics tells of a transport. `gate` None = its calls are not counted."""

    backend: str
    pool: Pool
    breaker: Breaker
    gate: Gate | None = None

    @property
    def resting(self) -> int:
        """How many addresses are left alone now: no answer came, or mostly refusals."""
        is_sparing = self.gate is not None and self.gate.refusal is not None
        return max(len(self.breaker.open_targets()), int(is_sparing))
