"""What `doctor` asks the backends: one small question about each thing that causes need.

A line says what was found, what breaks without it, and what to do. Nothing is changed.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

from tailhound.app import board
from tailhound.app.backends import SETTINGS, Needs, fix_of
from tailhound.app.board import MOODS
from tailhound.flow import Read, Transport, Turn
from tailhound.model import Missing, Reason
from tailhound.model.wording import duration
from tailhound.requests import GetObject, ListObjects, Query, RunOnHost
from tailhound.settings import Settings

T = TypeVar("T")
SECONDS = 8.0
"""For all questions to one backend: our own default; a backend that needs longer has a trouble."""


class Mood(Enum):
    """How a line stands; the values are what people read."""

    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One finding of `doctor`. `gone` = no answer at all came from a backend."""

    mood: Mood
    name: str
    told: str
    breaks: str = ""
    fix: str = ""
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """A series that causes need: what stays unknown without it, and where it comes from."""

    name: str
    breaks: str
    fix: str


SERIES = (
    Series(
        "container_cpu_cfs_periods_total",
        "cpu-throttling stays unknown",
        "scrape the kubelets at /metrics/cadvisor",
    ),
    Series(
        "kube_pod_info",
        "pods and nodes are found through the Kubernetes API alone",
        "install kube-state-metrics, and scrape it",
    ),
    Series(
        "node_cpu_seconds_total",
        "whether a node has idle CPU stays unknown",
        "install node_exporter, and scrape it",
    ),
    Series(
        "node_disk_reads_completed_total",
        "ssd-garbage-collection stays unknown",
        "let node_exporter run its diskstats collector (it does by default)",
    ),
    Series(
        "apiserver_current_inflight_requests",
        "apiserver-saturation stays unknown",
        "scrape the API servers",
    ),
)
ENGINES = (
    "vllm:num_requests_running|ray_vllm_num_requests_running|sglang:num_running_reqs|"
    "tgi_request_duration_count|nv_inference_request_success|ts_inference_requests_total|"
    ":tensorflow:serving:request_latency_count"
)
"""A series of each family of model servers that the collectors know."""
HISTORY = ((3600.0, "1 h"), (86400.0, "1 d"), (604800.0, "7 d"))

NOBODY = "tailhound-doctor"
"""An object of this name exists nowhere: its absence is an answer, and a refusal is one too."""


def _get(api: str, resource: str, namespace: str = "default") -> GetObject:
    return GetObject(api=api, resource=resource, namespace=namespace, name=NOBODY)


def _list(api: str, resource: str) -> ListObjects:
    selector = f"metadata.name={NOBODY}"
    return ListObjects(api=api, resource=resource, namespace="default", field_selector=selector)


READS: tuple[GetObject | ListObjects, ...] = (
    _list("v1", "pods"),
    _get("v1", "pods"),
    _get("v1", "services"),
    _get("v1", "nodes", ""),
    _get("v1", "configmaps"),
    _list("v1", "events"),
    _get("apps/v1", "deployments"),
    _get("apps/v1", "statefulsets"),
    _get("apps/v1", "daemonsets"),
    _get("apps/v1", "replicasets"),
    _list("apps/v1", "replicasets"),
    _get("autoscaling/v2", "horizontalpodautoscalers"),
    _get("inference.networking.k8s.io/v1", "inferencepools"),
    _get("coordination.k8s.io/v1", "leases", "kube-node-lease"),
)
"""One read for each right in deploy/rbac/read.yaml."""


class Asker:
    """Asks the configured backends, each question once, all of a backend's at the same time."""

    def __init__(self, transports: Sequence[Transport], as_of: datetime) -> None:
        self._transports = tuple(transports)
        self._as_of = as_of

    async def all(self, requests: Sequence[Read[T]]) -> tuple[tuple[T | Missing, float], ...]:
        """Each reply with its seconds, in the order of the questions."""
        turn = Turn(asyncio.get_running_loop().time() + SECONDS, self._as_of)
        return tuple(await asyncio.gather(*(self._one(request, turn) for request in requests)))

    async def _one(self, request: Read[T], turn: Turn) -> tuple[T | Missing, float]:
        started = time.monotonic()
        transport = next(one for one in self._transports if isinstance(request, one.handles))
        try:
            async with asyncio.timeout_at(turn.deadline):
                reply: Any = await transport.ask(request, turn)
        except TimeoutError:
            reply = Missing(Reason.TIMEOUT, f"no answer within {SECONDS:g} s")
        return reply, time.monotonic() - started


async def prometheus(asker: Asker, settings: Settings, needs: Needs) -> list[Line]:
    """Whether it answers, how far its history goes, and which series are not there."""
    if not settings.prometheus.url:
        return [
            Line(
                mood=Mood.FAIL,
                name="prometheus",
                told="not configured",
                breaks=needs.lost("prometheus"),
                fix=f"set {SETTINGS['prometheus']}",
            )
        ]
    ((reply, seconds),) = await asker.all([Query(promql="vector(1)")])
    if isinstance(reply, Missing):
        return [failed("prometheus", reply, needs.lost("prometheus"))]
    engines = Query(promql=f'group({{__name__=~"{ENGINES}"}})')
    wanted = [Query(promql=f"group({one.name})") for one in SERIES]
    ages = [Query(promql="group(up)", ago=ago) for ago, _ in HISTORY]
    replies = [reply for reply, _ in await asker.all([*ages, engines, *wanted])]
    past, engine, found = replies[:3], replies[3], replies[4:]
    kept = [word for (_, word), reply in zip(HISTORY, past, strict=True) if _there(reply)]
    told = f"{duration(seconds)}; history: {', '.join(kept) or 'less than 1 h'}"
    lines = [Line(mood=Mood.OK, name="prometheus", told=told)]
    if not kept:
        lines.append(_warn("prometheus", "no sample is an hour old", "nothing has a usual value "
                           "yet: causes that compare with it stay unknown", "wait"))  # fmt: skip
    lines += [
        _lacks(f"no series {one.name}", one.breaks, one.fix, reply)
        for one, reply in zip(SERIES, found, strict=True)
        if isinstance(reply, Missing)
    ]
    if isinstance(engine, Missing):
        what = "no series of a model server (vLLM, SGLang, TGI, Triton, TorchServe, TF Serving)"
        breaks = "latency, kv-preemption and batching-delay stay unknown"
        fix = "scrape the model servers' /metrics; with another prefix: profiles, metric_prefix"
        lines.append(_lacks(what, breaks, fix, engine))
    return lines


def _there(reply: Any) -> bool:
    return not isinstance(reply, Missing)


def _lacks(what: str, breaks: str, fix: str, reply: Missing) -> Line:
    """A series that is not there; or nobody knows, because the question failed."""
    if reply.reason is Reason.EMPTY:
        return _warn("prometheus", what, breaks, fix)
    return failed("prometheus", reply, breaks, gone=False)


async def kubernetes(asker: Asker, settings: Settings, needs: Needs) -> list[Line]:
    """Whether it answers, and which of the reads that collectors make it refuses."""
    lost = needs.lost("kubernetes")
    if not settings.kubernetes.configured:
        return [_warn("kubernetes", "not configured", lost, f"set {SETTINGS['kubernetes']}")]
    asked = await asker.all(READS)
    silent = [r for r, _ in asked if isinstance(r, Missing) and r.reason not in _ANSWERS]
    if silent:
        return [failed("kubernetes", silent[0], lost)]
    refused = [
        f"{'list' if isinstance(request, ListObjects) else 'get'} {request.resource}"
        for request, (reply, _) in zip(READS, asked, strict=True)
        if isinstance(reply, Missing) and reply.reason is Reason.FORBIDDEN
    ]
    if not refused:
        seconds = sorted(seconds for _, seconds in asked)[len(asked) // 2]
        return [Line(mood=Mood.OK, name="kubernetes", told=f"{duration(seconds)}; may read all")]
    every = len(refused) == len(READS)
    return [
        Line(
            mood=Mood.FAIL,
            name="kubernetes",
            told=f"forbidden: {'everything' if every else ', '.join(refused)}",
            breaks=lost if every else "what needs these stays unknown",
            fix="kubectl apply -f deploy/rbac/read.yaml",
        )
    ]


_ANSWERS = (Reason.EMPTY, Reason.FORBIDDEN, Reason.NOT_APPLICABLE)


async def ssh(asker: Asker, settings: Settings, needs: Needs, host: str = "") -> list[Line]:
    """Whether each host of the inventory, or the one that is named, runs an allowed command."""
    lost = needs.lost("ssh")
    if settings.ssh.key is None:
        return [_warn("ssh", "not configured", lost, f"set {SETTINGS['ssh']}")]
    hosts = [host] if host else list(settings.ssh.hosts)
    if not hosts:
        what = "no host in ssh.hosts"
        return [_warn("ssh", what, "", "`tailhound doctor ssh HOST` asks one that is not listed")]
    argv = _harmless(settings)
    if not argv:
        what = "every command of ssh.allow has a hole, so none can be tried"
        return [_warn("ssh", what, "", "add [uname, -r] to ssh.allow")]
    asked = await asker.all([RunOnHost(host=one, argv=argv) for one in hosts])
    lost_ones = [
        (name, reply)
        for name, (reply, _) in zip(hosts, asked, strict=True)
        if isinstance(reply, Missing)
    ]
    well = f"{len(hosts) - len(lost_ones)} of {len(hosts)} hosts ok"
    if not lost_ones:
        return [Line(mood=Mood.OK, name="ssh", told=well)]
    return [
        failed("ssh", Missing(reply.reason, f"{name}: {reply.detail}"), f"on {name}: {lost}"
                if lost else "", gone=False, beside=f" ({well})" if at == 0 else "")
        for at, (name, reply) in enumerate(lost_ones)
    ]  # fmt: skip


def _harmless(settings: Settings) -> tuple[str, ...]:
    """An allowed command without holes; () when there is none."""
    listed = settings.ssh.allow
    if listed is None:
        return ("uname", "-r")
    whole = [argv for argv in listed if not any("<" in word for word in argv)]
    return min(whole, key=len, default=())


def _warn(name: str, told: str, breaks: str, fix: str) -> Line:
    return Line(mood=Mood.WARN, name=name, told=told, breaks=breaks, fix=fix)


def failed(
    name: str, missing: Missing, breaks: str, *, gone: bool = True, beside: str = ""
) -> Line:
    """A question without an answer: its reason, and the fix that it names."""
    reason, _, fix = missing.detail.partition("Fix:")
    return Line(
        mood=Mood.FAIL,
        name=name,
        told=f"{reason.strip().rstrip('.')}{beside}",
        breaks=breaks,
        fix=fix.strip() or fix_of(MOODS.get(missing.reason, board.Mood.ANSWERS)),
        gone=gone and missing.reason is not Reason.FORBIDDEN,
    )
