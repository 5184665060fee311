"""PFC and link pause frames, from node_exporter's ethtool collector (off unless switched on).

Drivers name them differently, so the names are discovered. On a lossless network a pause is normal;
what says something is the share of time paused, or the frames, against the usual, and the side:
frames received mean that the other end can't take more from this node; frames sent mean that this
node can't take more, that is, the slow receiver is here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tailhound.flow import Reading, together
from tailhound.model.facts import Series, fact
from tailhound.requests import Query
from tailhound.requests.prometheus import matchers, quoted
from tailhound_collectors.now_and_usual import Asked, now_and_usual
from tailhound_collectors.reading import ONSET_WINDOW, WINDOW, by, history, ratio

NAMES = "node_ethtool_.*(pause|pfc|xoff).*"
NAMES_AT_MOST = 16
QUIET_SHARE = 0.005
"""A port that is stopped for less of the time is compared with this: our own default."""

QUIET_FRAMES_PER_SECOND = 100.0
"""The same in frames, where nobody counts the time: our own default."""

MICROSECOND = 1e-6
_RECEIVED = re.compile(r"(^|_)(rx|received)(_|$)")
_SENT = re.compile(r"(^|_)(tx|transmitted)(_|$)")
_UNRELATED = re.compile(r"storm|discard|transition|global|cfg|watchdog")
STOPPED, STOPPING = "received", "sent"
_DIRECTIONS = {
    STOPPED: "the other end is the slow receiver, and stops this node",
    STOPPING: "this node is the slow receiver, and stops the other end",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseParams:
    """Which nodes, by their Kubernetes names."""

    nodes: tuple[str, ...]
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """Pauses of the network port that is held up most, compared with its usual.

    `counted`: whether any pause frame was ever counted there. `held_ratio` is the share of time
    (None where the driver counts frames only); `held_times` compares it, or the frames, with the
    usual, or with a quiet port (0.005, 100/s: our own defaults) where that is less.
    `receives_slowly`: whether this node is the slow receiver, and not the other end; `direction`
    says so.
    """

    counted: bool | None = None
    port: str | None = None
    receives_slowly: bool | None = None
    direction: str | None = None
    held_ratio: float | None = None
    held_ratio_usual: float | None = None
    frames_per_second: float | None = None
    frames_per_second_usual: float | None = None
    held_times: float | None = fact("times")
    held_times_series: Series | None = None
    held_times_usual_series: Series | None = None


class PauseCollector:
    """`prometheus.pause_frames`: pause counters of the nodes' network ports."""

    name = "prometheus.pause_frames"
    params = PauseParams
    facts = Pauses

    def collect(self, params: PauseParams) -> Reading[Pauses]:
        """Who exports for these nodes; which counters ever moved; how fast they move."""
        names = f"node_uname_info{matchers(nodename=params.nodes)}"
        reply = (yield from together([Query(promql=f"max by (instance, nodename) ({names})")]))[0]
        nodes = {instance: node for instance, node in by(reply, "instance", "nodename")}
        if not nodes:
            return Pauses()
        instances = tuple(sorted(nodes))
        wanted = matchers(f"__name__=~{quoted(NAMES)}", instance=instances)
        listed = (yield from together([Query(promql=f"count by (__name__) ({wanted} > 0)")]))[0]
        found = [name for (name,) in by(listed, "__name__") if _side(name)]
        found.sort(key=lambda name: ("duration" not in name, name))
        if not found:
            return Pauses()
        here = matchers(instance=instances)
        questions = {
            name: f"sum by (instance, device) (rate({name}{here}[{WINDOW}]))"
            for name in found[:NAMES_AT_MOST]
        }
        answers = yield from now_and_usual(questions, {}, params.usual)
        worst = _worst(answers)
        if worst is None:
            return Pauses(counted=True)
        course = yield from history(worst.course(answers), params.usual)
        facts = worst.facts(nodes)
        return replace(facts, held_times_series=course[0], held_times_usual_series=course[1])


def _side(name: str) -> str:
    """Whether frames of this counter are received or sent; "" for other counters."""
    plain = name.removeprefix("node_ethtool_")
    if _UNRELATED.search(plain):
        return ""
    if _RECEIVED.search(plain):
        return STOPPED
    return STOPPING if _SENT.search(plain) else ""


Row = tuple[str, str, str, bool]
"""(instance, device, side, whether it is time)."""


def _summed(answers: Mapping[str, Asked], *, usually: bool) -> dict[Row, float]:
    """By port and side: time as a share, frames as a rate."""
    found: dict[Row, float] = {}
    for name, asked in answers.items():
        timed = "duration" in name
        labels = ("instance", "device")
        rows = asked.usually_by(*labels) if usually else asked.by(*labels)
        for (instance, device), value in rows.items():
            row = (instance, device, _side(name), timed)
            found[row] = found.get(row, 0.0) + (value * MICROSECOND if timed else value)
    return found


@dataclass(frozen=True, slots=True)
class _Worst:
    """The port and side that is held up most; `times` compares it with `base`, its usual."""

    row: Row
    now: Mapping[Row, float]
    usual: Mapping[Row, float]
    times: float | None

    def facts(self, nodes: Mapping[str, str]) -> Pauses:
        """What is told of it, without its course."""
        instance, device, side, _ = self.row
        share, frames = (instance, device, side, True), (instance, device, side, False)
        return Pauses(
            counted=True,
            port=f"{nodes.get(instance, instance)} {device}",
            receives_slowly=side == STOPPING,
            direction=_DIRECTIONS[side],
            held_ratio=self.now.get(share),
            held_ratio_usual=self.usual.get(share),
            frames_per_second=self.now.get(frames),
            frames_per_second_usual=self.usual.get(frames),
            held_times=self.times,
        )

    def course(self, answers: Mapping[str, Asked]) -> str:
        """The query of `times` over time; "" where it can't be compared."""
        instance, device, side, timed = self.row
        if not self.times:
            return ""
        here = matchers(instance=(instance,), device=device)
        base = self.now[self.row] / self.times / (MICROSECOND if timed else 1)
        rates = (
            f"sum (rate({name}{here}[{ONSET_WINDOW}]))"
            for name, asked in answers.items()
            if (_side(name), "duration" in name) == (side, timed)
            and (instance, device) in asked.by("instance", "device")
        )
        return f"({' + '.join(rates)}) / {base:.10g}"


def _worst(answers: Mapping[str, Asked]) -> _Worst | None:
    now, usual = _summed(answers, usually=False), _summed(answers, usually=True)
    times = {row: _times(row, value, usual.get(row)) for row, value in now.items()}
    timed = {row[:3] for row in now if row[3]}
    told = [row for row in now if row[3] or row[:3] not in timed]
    if not told:
        return None
    worst = max(told, key=lambda row: times[row] or 0.0)
    return _Worst(worst, now, usual, times[worst])


def _times(row: Row, now: float, usual: float | None) -> float | None:
    if now == 0:
        return 0.0
    quiet = QUIET_SHARE if row[3] else QUIET_FRAMES_PER_SECOND
    return ratio(now, None if usual is None else max(usual, quiet))
