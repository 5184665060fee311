"""How an engine was started: its limits, from the arguments in the pod specs."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from tailhound.flow import Reading
from tailhound_collectors.pods import PodParams, pods_of

NAMES: Mapping[str, tuple[str, ...]] = {
    "max_sequences_count": ("max-num-seqs", "max-running-requests", "max-concurrent-requests"),
    "max_batched_tokens": ("max-num-batched-tokens", "chunked-prefill-size"),
    "max_model_tokens": ("max-model-len", "context-length", "max-total-tokens"),
    "memory_ratio": ("gpu-memory-utilization", "mem-fraction-static", "cuda-memory-fraction"),
    "tensor_parallel_count": ("tensor-parallel-size", "tp-size", "tp", "num-shard"),
    "kv_dtype": ("kv-cache-dtype",),
}
"""What a limit is called by vLLM, SGLang and TGI."""

SHELL_CHARACTERS_AT_MOST = 20_000
"""A longer shell line is not taken apart."""

_SCALES = {"k": 1e3, "K": 1024.0, "m": 1e6, "M": 1024.0**2}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineArgs:
    """The limits that an engine was started with; None = not given (its default holds) or unread.

    Where pods differ, the lowest. `read` tells whether the arguments could be read at all.
    """

    read: bool | None = None
    max_sequences_count: float | None = None
    max_batched_tokens: float | None = None
    max_model_tokens: float | None = None
    memory_ratio: float | None = None
    tensor_parallel_count: float | None = None
    kv_dtype: str | None = None
    prefix_caching_off: bool | None = None


class EngineArgsCollector:
    """`kubernetes.engine_args`: the limits in the serving container's arguments."""

    name = "kubernetes.engine_args"
    params = PodParams
    facts = EngineArgs

    def collect(self, params: PodParams) -> Reading[EngineArgs]:
        """The pods' specs, asked once for all collectors that want them."""
        pods = yield from pods_of(params)
        given = [
            flags(words_of(container))
            for pod in pods
            for container in pod.get("spec", {}).get("containers") or ()
            if container.get("name") == params.container or not params.container
        ]
        if not given:
            return EngineArgs()
        numbers = {name: _lowest(given, names) for name, names in NAMES.items()}
        dtypes = sorted({value for one in given for value in (one.get("kv-cache-dtype"),) if value})
        return EngineArgs(
            read=True,
            max_sequences_count=numbers["max_sequences_count"],
            max_batched_tokens=numbers["max_batched_tokens"],
            max_model_tokens=numbers["max_model_tokens"],
            memory_ratio=numbers["memory_ratio"],
            tensor_parallel_count=numbers["tensor_parallel_count"],
            kv_dtype=dtypes[0] if dtypes else None,
            prefix_caching_off=any(
                "no-enable-prefix-caching" in one or "disable-radix-cache" in one for one in given
            ),
        )


def words_of(container: Mapping[str, Any]) -> list[str]:
    """Command and arguments; a shell line among them is taken apart."""
    words: list[str] = []
    for part in (*(container.get("command") or ()), *(container.get("args") or ())):
        text = str(part)
        words += _split(text) if any(space in text for space in " \n\t") else [text]
    return words


def _split(line: str) -> list[str]:
    if len(line) > SHELL_CHARACTERS_AT_MOST:
        return []
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def flags(words: Iterable[str]) -> dict[str, str]:
    """`--name value` and `--name=value` as name -> value ("" without one); the last one counts."""
    found: dict[str, str] = {}
    open_name = ""
    for word in words:
        if word.startswith("-") and not _is_number(word):
            name, _, value = word.lstrip("-").partition("=")
            open_name = name.replace("_", "-")
            found[open_name] = value
        elif open_name and not found[open_name]:
            found[open_name] = word
    return found


def _lowest(given: Sequence[Mapping[str, str]], names: Sequence[str]) -> float | None:
    values = [_number(one[name]) for one in given for name in names if name in one]
    known = [value for value in values if value is not None]
    return min(known, default=None)


def _number(text: str) -> float | None:
    """A number, also "32k" (thousands) and "32K" (1024s); None for anything else."""
    scale = _SCALES.get(text[-1:], 1.0)
    digits = text[:-1] if text[-1:] in _SCALES else text
    try:
        value = float(digits) * scale
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None


def _is_number(word: str) -> bool:
    return _number(word.lstrip("-")) is not None and word[1:2].isdigit()
