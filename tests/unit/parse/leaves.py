"""The numbers in facts, by where they stand, to compare two readings of one output."""

from collections.abc import Iterator, Mapping
from typing import Any

from tailhound.model import Missing
from tailhound.model.facts import values_of

Path = tuple[str | int, ...]

FROM_THE_WHOLE = frozenset(
    {
        # about the output as a whole: fewer lines, another answer
        *("truncated", "line_count", "record_count", "row_count", "slot_count", "valid_count"),
        *("sample_count", "used_sample", "since_boot", "averaged", "complete", "as_text"),
        *("noise_line_count", "io_error", "conditions_truncated", "hop_count", "row"),
        # sums and extremes over what was there
        *("total_count", "p50_at_most_seconds", "p50_above_seconds", "p99_at_most_seconds"),
        *("max_at_most_seconds", "max_above_seconds", "max_temperature_celsius", "up_count"),
        *("down_count", "live_path_count", "degraded", "multiple", "gpu_count", "all_ports"),
        *("column_count", "extended", "rounded", "silent"),
        # the end of a path: of the hops that were there
        *("end_loss_ratio", "end_avg_seconds", "on_path_loss_ratio"),
    }
)
"""Facts that are true of what was read, and change when a part of it is missing."""


def numbers(facts: Any) -> dict[Path, int | float | bool]:
    """Every number and yes/no of the facts; none of a Missing."""
    if isinstance(facts, Missing):
        return {}
    return dict(_leaves(values_of(facts), ()))


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, int | float | bool]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in FROM_THE_WHOLE:
                yield from _leaves(item, (*path, key))
    elif isinstance(value, tuple):
        for at, item in enumerate(value):
            yield from _leaves(item, (*path, at))
    elif isinstance(value, int | float):
        yield path, value


def named(facts: Any) -> set[tuple[str | int, int | float | bool]]:
    """Every number with its fact's name, wherever it stands. A counter's name is its fact's."""
    if isinstance(facts, Missing):
        return set()
    return set(_named(values_of(facts)))


def _named(value: Any) -> Iterator[tuple[str | int, int | float | bool]]:
    if isinstance(value, Mapping):
        own = value.get("name") if "value" in value else None
        for key, item in value.items():
            if isinstance(item, int | float) and key not in FROM_THE_WHOLE:
                yield own if own is not None and key == "value" else key, item
            else:
                yield from _named(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _named(item)
