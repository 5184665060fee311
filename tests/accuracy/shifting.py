"""The same incident with another onset: what led to the alert happened earlier, or later.

What happened after the alert began, such as replicas that came into service, keeps its time: an
incident that is over since longer is another incident. So is a start that takes five minutes more,
because its length is the evidence: while a new pod is not Ready, the onset can't be moved.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from tests.accuracy.naming import everywhere
from tests.lab import times
from tests.lab.scenario import Answer, HostSpec, Scenario
from tests.lab.series import Phase, Series, parsed

EARLIER, LATER_AT_MOST = -300.0, 180.0
_OLDEST = -2 * 3600.0
_KEPT_KEYS = ("lastHeartbeatTime", "renewTime", "lastProbeTime")
_IN_TEXT = re.compile(r"@(uptime|iso|epoch)\((-[^)]+)\)@")

Move = Callable[[float], float]


def earlier(given: Scenario) -> Scenario | None:
    """Five minutes earlier."""
    return shifted(given, EARLIER)


def later(given: Scenario) -> Scenario | None:
    """Later by half of the time since the alert, at most three minutes."""
    by = min(-given.alert.since / 2, LATER_AT_MOST)
    return shifted(given, by) if by >= given.step else None


def shifted(given: Scenario, by: float) -> Scenario | None:
    """The onset moved by so many seconds; None when that is another incident."""
    since = given.alert.since
    if any(map(_still_starts, given.series)):
        return None

    def move(moment: float) -> float:
        return moment + by if _OLDEST < moment <= since and moment < 0 else moment

    series = tuple(_moved(one, move) for one in given.series)
    if series == given.series or not all(map(_in_order, series)):
        return None
    kubernetes = given.kubernetes
    if kubernetes:
        objects = tuple(_object(item, move) for item in kubernetes.objects)
        kubernetes = kubernetes.model_copy(update={"objects": objects})
    return dataclasses.replace(
        given,
        alert=given.alert.model_copy(update={"since": since + by}),
        series=series,
        kubernetes=kubernetes,
        hosts={name: _host(spec, move) for name, spec in given.hosts.items()},
    )


def _still_starts(series: Series) -> bool:
    """Whether it tells of a pod that is new and not Ready at the end."""
    name, labels = parsed(series.text)
    told = name == "kube_pod_status_ready" and labels.get("condition") == "true"
    return told and series.phases[0].absent and series.phases[-1].value == 0


def _moved(series: Series, move: Move) -> Series:
    return series.model_copy(
        update={
            "phases": tuple(_phase(phase, move) for phase in series.phases),
            "resets": tuple(map(move, series.resets)),
        }
    )


def _phase(phase: Phase, move: Move) -> Phase:
    moment = None if phase.moment is None else move(phase.moment)
    return phase.model_copy(update={"until": move(phase.until), "moment": moment})


def _in_order(series: Series) -> bool:
    return all(one.until < after.until for one, after in pairwise(series.phases))


def _object(value: Any, move: Move) -> Any:
    """A manifest with its times moved; heartbeats go on to the end."""
    if isinstance(value, Mapping):
        return {
            key: inner if key in _KEPT_KEYS else _object(inner, move)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_object(inner, move) for inner in value]
    if times.is_relative(value):
        return f"{move(times.seconds(value)):.0f}s"
    return value


def _host(spec: HostSpec, move: Move) -> HostSpec:
    def text(given: str) -> str:
        return _IN_TEXT.sub(
            lambda found: f"@{found[1]}({move(times.seconds(found[2])):.0f}s)@", given
        )

    tools = {
        name: tuple(_answer(answer, text) for answer in answers)
        for name, answers in spec.tools.items()
    }
    return spec.model_copy(update={"tools": tools})


def _answer(answer: Answer, text: Callable[[str], str]) -> Answer:
    return answer.model_copy(
        update={
            "stdout": everywhere(answer.stdout, text),
            "then": _answer(answer.then, text) if answer.then else None,
        }
    )
