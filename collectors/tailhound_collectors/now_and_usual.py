"""Many questions about now, and about the usual moments, in one round trip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailhound.flow import Reading, together
from tailhound.model import Missing, Reason
from tailhound.requests import Query, Vector
from tailhound_collectors.reading import by, middle, number

Row = tuple[str, ...]
"""The values of the labels that an answer was taken apart by."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer about now, and those about the usual moments."""

    now: Vector | Missing
    past: tuple[Vector | Missing, ...] = ()

    @property
    def value(self) -> float | None:
        """The one number of now; None when there is none."""
        return number(self.now)

    @property
    def usual(self) -> float | None:
        """The median of the usual moments' one number; None when no moment has one."""
        return middle(number(reply) for reply in self.past)

    @property
    def value_or_zero(self) -> float | None:
        """The one number; 0 when Prometheus answered that nothing is there to be counted.

        Only for what is known to be measured: the caller says so by asking for this.
        """
        if isinstance(self.now, Missing) and self.now.reason is Reason.EMPTY:
            return 0.0
        return self.value

    def by(self, *labels: str) -> dict[Row, float]:
        """The numbers of now by these labels; empty when there are none."""
        return by(self.now, *labels)

    def usually_by(self, *labels: str) -> dict[Row, float]:
        """The medians of the usual moments by these labels."""
        moments = [by(reply, *labels) for reply in self.past]
        rows = {row for moment in moments for row in moment}
        found = {row: middle(moment.get(row) for moment in moments) for row in rows}
        return {row: value for row, value in found.items() if value is not None}


def now_and_usual(
    compared: Mapping[str, str], plain: Mapping[str, str], usual: Sequence[float]
) -> Reading[dict[str, Asked]]:
    """The answers by the questions' names: `compared` at the usual moments too, `plain` not."""
    asked = [Query(promql=text, ago=ago) for text in compared.values() for ago in (0.0, *usual)]
    asked += [Query(promql=text) for text in plain.values()]
    replies = yield from together(asked)
    wide = 1 + len(usual)
    found = {
        name: Asked(replies[at * wide], tuple(replies[at * wide + 1 : (at + 1) * wide]))
        for at, name in enumerate(compared)
    }
    rest = replies[len(compared) * wide :]
    return found | {name: Asked(reply) for name, reply in zip(plain, rest, strict=True)}


def in_cluster(cluster: str) -> dict[str, tuple[str, ...]]:
    """Labels for `matchers`: series of this cluster, and those that name no cluster at all.

    A Prometheus of one cluster leaves the label to its external labels, so its series have none.
    """
    return {"cluster": ("", cluster)} if cluster else {}
