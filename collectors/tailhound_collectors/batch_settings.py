"""How servers that batch requests are told to: their files and arguments, read by meaning."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import PurePosixPath
from typing import Any

from tailhound_collectors.pbtxt import Fields, parsed

MICROSECOND = 1e-6
MILLISECOND = 1e-3

TORCHSERVE_DELAY_SECONDS = 0.1
"""TorchServe's `maxBatchDelay` where a model does not set it; its `batchSize` is then 1."""

TF_BATCH_AT_MOST = 1000
"""TensorFlow Serving's `max_batch_size` where batching is on and nothing is set."""

PROPERTIES_AT_MOST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The batching of one model ("" = of the process). `source` says where it stands.

    `window_seconds` is the longest time that a request is held back to let others join it; 0 =
    it never is. `preferred_count` is the smallest preferred size.
    """

    source: str
    model: str = ""
    window_seconds: float | None = None
    max_batch_count: float | None = None
    preferred_count: float | None = None
    instances_count: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedFile:
    """One key of a ConfigMap, at the path where the container sees it."""

    config_map: str
    key: str
    path: str
    text: str

    @property
    def source(self) -> str:
        """The place in words."""
        return f"ConfigMap {self.config_map}, {self.key}"


def triton(files: Iterable[MountedFile]) -> Iterator[Settings]:
    """Each `config.pbtxt`. Its model is the one that it names, else its folder."""
    for one in files:
        if not one.path.endswith(".pbtxt"):
            continue
        fields = parsed(one.text)
        if fields is not None:
            folder = PurePosixPath(one.path).parent.name
            yield _triton(fields, fields.text("name") or folder, one.source)


def _triton(fields: Fields, model: str, source: str) -> Settings:
    """Without `max_batch_size` Triton makes one up; instances count for each GPU that is named."""
    batcher = fields.inside("dynamic_batching") or fields.inside("sequence_batching", "oldest")
    batcher = batcher or fields.inside("sequence_batching", "direct") or Fields()
    most = fields.number("max_batch_size")
    alone = most is not None and most <= 1
    preferred = batcher.numbers("preferred_batch_size")
    delay = max(batcher.number("max_queue_delay_microseconds") or 0.0, 0.0)
    groups = [one for one in fields.values.get("instance_group", ()) if isinstance(one, Fields)]
    counts = [(one.number("count") or 1.0) * max(len(one.numbers("gpus")), 1) for one in groups]
    return Settings(
        source=source,
        model=model,
        window_seconds=0.0 if alone else delay * MICROSECOND,
        max_batch_count=1.0 if alone else most,
        preferred_count=min(preferred, default=None),
        instances_count=sum(counts) if counts else None,
    )


def torchserve(files: Iterable[MountedFile]) -> Iterator[Settings]:
    """The models of each `config.properties`: of `models`, else of the snapshot."""
    for one in files:
        if not one.path.endswith(".properties"):
            continue
        values = _properties(one.text)
        models = _json(values.get("models", "")) or _json(values.get("model_snapshot", "")).get(
            "models"
        )
        for model, versions in (models if isinstance(models, Mapping) else {}).items():
            yield from _versions(str(model), versions, one.source)


def _versions(model: str, versions: object, source: str) -> Iterator[Settings]:
    """What each version sets; a version without settings has the defaults."""
    for version in (versions if isinstance(versions, Mapping) else {}).values():
        if not isinstance(version, Mapping):
            continue
        size = _plain(version.get("batchSize"), 1.0)
        delay = _plain(version.get("maxBatchDelay"), TORCHSERVE_DELAY_SECONDS / MILLISECOND)
        yield Settings(
            source=source,
            model=model,
            window_seconds=delay * MILLISECOND if size > 1 else 0.0,
            max_batch_count=max(size, 1.0),
            instances_count=_plain(version.get("minWorkers"), 0.0) or None,
        )


def tf_serving(
    files: Iterable[MountedFile], given: Mapping[str, str], *, batches: bool
) -> Iterator[Settings]:
    """The file that `--batching_parameters_file` names, or what the arguments say without one.

    `batches`: it is seen to batch, so what the arguments don't say stands somewhere else.
    """
    on = given.get("enable-batching")
    if on is None or on.lower() in ("false", "0"):
        if given and not batches:
            yield Settings(source="its arguments", window_seconds=0.0, max_batch_count=1.0)
        return
    wanted = given.get("batching-parameters-file", "")
    if not wanted:
        most = float(TF_BATCH_AT_MOST)
        yield Settings(source="its arguments", window_seconds=0.0, max_batch_count=most)
        return
    for one in files:
        fields = parsed(one.text) if one.path == wanted else None
        if fields is not None:
            yield _tf(fields, one.source)


def _tf(fields: Fields, source: str) -> Settings:
    def wrapped(name: str) -> float | None:
        message = fields.inside(name)
        return message.number("value") if message else None

    most = wrapped("max_batch_size")
    return Settings(
        source=source,
        window_seconds=(wrapped("batch_timeout_micros") or 0.0) * MICROSECOND,
        max_batch_count=float(TF_BATCH_AT_MOST) if most is None else most,
        instances_count=wrapped("num_batch_threads"),
    )


def _properties(text: str) -> dict[str, str]:
    """A Java properties file: `key=value`, continued behind a backslash; comments left out."""
    found: dict[str, str] = {}
    if len(text) > PROPERTIES_AT_MOST:
        return found
    pending = ""
    for line in text.splitlines():
        stripped = line.strip()
        if not pending and stripped[:1] in ("#", "!"):
            continue
        if stripped.endswith("\\"):
            pending += stripped[:-1]
            continue
        name, separator, value = (pending + stripped).partition("=")
        pending = ""
        if separator:
            found[name.strip()] = value.strip()
    return found


def _json(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _plain(value: object, default: float) -> float:
    """A number that is not negative, else the default."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    try:
        number = float(value)
    except OverflowError:
        return default
    return number if isfinite(number) and number >= 0 else default
