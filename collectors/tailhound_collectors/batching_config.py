"""How long a server may hold requests back: its batching settings, where the API shows them.

Settings often live in a model repository that nobody can read from here; then they are unknown.
Only ConfigMaps that the serving container mounts are read, each by its name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from tailhound.errors import Refused
from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.requests import GetObject, KubeObject, Query
from tailhound_collectors import batch_settings
from tailhound_collectors.batch_settings import MountedFile, Settings
from tailhound_collectors.discovery import Found, find
from tailhound_collectors.engine_args import flags, words_of
from tailhound_collectors.families import TF_SERVING
from tailhound_collectors.pods import PodParams, pods_of
from tailhound_collectors.reading import WINDOW, by, side_by_side

CONFIG_MAPS_AT_MOST = 8
"""More ConfigMaps than a serving container mounts: our own bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchingConfigParams:
    """Which pods and container; `metric_prefix` as for latency."""

    namespace: str
    pods: tuple[str, ...]
    container: str = ""
    selector: str = ""
    metric_prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchingConfig:
    """The settings of the model that is looked at. None = they stand where nobody can read them.

    `read`: whether they could be read. `window_seconds` is the longest time that a request is held
    back, 0 = it never is. `preferred_batch_count` is the smallest preferred size.
    `window_batch_count` is how many requests a window brings together on average at the present
    rate. `fill_seconds` is how long it takes at this rate until the smallest preferred size, or the
    largest batch where none is preferred, is together.
    """

    read: bool | None = None
    source: str | None = None
    window_seconds: float | None = None
    max_batch_count: float | None = None
    preferred_batch_count: float | None = None
    instances_count: float | None = None
    window_batch_count: float | None = None
    fill_seconds: float | None = None


class BatchingConfigCollector:
    """`kubernetes.batching_config`: the batching window and the largest batch."""

    name = "kubernetes.batching_config"
    params = BatchingConfigParams
    facts = BatchingConfig

    def collect(self, params: BatchingConfigParams) -> Reading[BatchingConfig]:
        """Which model it is about, and the pods; then their ConfigMaps and the model's load."""
        of = PodParams(
            namespace=params.namespace,
            pods=params.pods,
            container=params.container,
            selector=params.selector,
        )
        first: list[Reading[Any]] = [
            find(params.namespace, params.pods, params.metric_prefix),
            pods_of(of),
        ]
        found, pods = yield from side_by_side(first)
        if not pods:
            return BatchingConfig()
        serving = [container for pod in pods for container in _containers(pod, params.container)]
        second: list[Reading[Any]] = [_files(pods, params), _rate(found)]
        files, rate = yield from side_by_side(second)
        settings = _chosen(_settings(found, files, serving), found.model if found else "")
        if settings is None:
            return BatchingConfig(read=False)
        return _facts(settings, rate)


def _facts(settings: Settings, rate: float | None) -> BatchingConfig:
    window, wanted = settings.window_seconds, settings.preferred_count or settings.max_batch_count
    return BatchingConfig(
        read=True,
        source=settings.source,
        window_seconds=window,
        max_batch_count=settings.max_batch_count,
        preferred_batch_count=settings.preferred_count,
        instances_count=settings.instances_count,
        window_batch_count=None if rate is None or window is None else 1 + rate * window,
        fill_seconds=None if not rate or wanted is None else max(wanted - 1, 0.0) / rate,
    )


def _containers(pod: KubeObject, name: str) -> list[Mapping[str, Any]]:
    all_of_it = pod.get("spec", {}).get("containers") or ()
    return [one for one in all_of_it if one.get("name") == name or not name]


def _rate(found: Found | None) -> Reading[float | None]:
    """Requests per second of the pod that gets most; unknown where nobody counts."""
    if found is None or "e2e" not in found.family.timings:
        return None
    each = " or ".join(
        f"sum by (pod) (rate({timing.count}{found.here}[{WINDOW}]))"
        for timing in found.family.timings["e2e"]
    )
    reply = (yield from together([Query(promql=each)]))[0]
    return max(by(reply, "pod").values(), default=None)


def _files(
    pods: Sequence[KubeObject], params: BatchingConfigParams
) -> Reading[tuple[MountedFile, ...]]:
    """What the ConfigMaps hold, each key where the container sees it."""
    mounts = list(dict.fromkeys(mount for pod in pods for mount in _mounts(pod, params.container)))
    names = list(dict.fromkeys(mount.config_map for mount in mounts))[:CONFIG_MAPS_AT_MOST]
    asked = [one for name in names if (one := _asked(params.namespace, name))]
    replies = yield from together(asked)
    data = {
        one.name: reply.get("data") or {}
        for one, reply in zip(asked, replies, strict=True)
        if not isinstance(reply, Missing)
    }
    return tuple(file for mount in mounts for file in mount.files(data.get(mount.config_map) or {}))


def _asked(namespace: str, name: str) -> GetObject | None:
    try:
        return GetObject(api="v1", resource="configmaps", namespace=namespace, name=name)
    except Refused:
        return None


@dataclass(frozen=True, slots=True)
class _Mount:
    """A ConfigMap in a container: `keys` are (key, path below the mount), () = each as itself."""

    config_map: str
    keys: tuple[tuple[str, str], ...]
    at: str
    sub_path: str

    def files(self, data: Mapping[str, Any]) -> Iterator[MountedFile]:
        """The files that the container sees."""
        for key, below in self.keys or tuple((str(key), str(key)) for key in data):
            if not isinstance(data.get(key), str) or (self.sub_path and self.sub_path != below):
                continue
            path = self.at if self.sub_path else str(PurePosixPath(self.at) / below)
            yield MountedFile(config_map=self.config_map, key=key, path=path, text=data[key])


def _mounts(pod: KubeObject, container: str) -> Iterator[_Mount]:
    volumes = {
        volume.get("name"): tuple(_sources(volume))
        for volume in pod.get("spec", {}).get("volumes") or ()
    }
    for one in _containers(pod, container):
        for mount in one.get("volumeMounts") or ():
            for source in volumes.get(mount.get("name"), ()):
                yield _Mount(
                    config_map=str(source.get("name") or ""),
                    keys=tuple(
                        (str(item.get("key")), str(item.get("path")))
                        for item in source.get("items") or ()
                    ),
                    at=str(mount.get("mountPath") or ""),
                    sub_path=str(mount.get("subPath") or ""),
                )


def _sources(volume: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if volume.get("configMap"):
        yield volume["configMap"]
    for source in (volume.get("projected") or {}).get("sources") or ():
        if source.get("configMap"):
            yield source["configMap"]


def _settings(
    found: Found | None, files: Sequence[MountedFile], serving: Sequence[Mapping[str, Any]]
) -> Iterator[Settings]:
    """By the engine that was found; where nobody could tell, by what the files are."""
    engine = found.family.engine if found else ""
    if engine in ("", "triton"):
        yield from batch_settings.triton(files)
    if engine in ("", "torchserve"):
        yield from batch_settings.torchserve(files)
    if engine == TF_SERVING.engine and found is not None:
        batches = TF_SERVING.timings["queue"][0].count in found.exist
        for container in serving:
            given = flags(words_of(container))
            yield from batch_settings.tf_serving(files, given, batches=batches)


def _chosen(settings: Iterable[Settings], model: str) -> Settings | None:
    """Those of the model, where all pods agree; without a known model those of the only one."""
    distinct = {replace(one, source=""): one for one in settings}
    fitting = [one for one in distinct.values() if not model or one.model in ("", model)]
    return fitting[0] if len(fitting) == 1 else None
