"""Results of `fio --output-format=json`. The bot never runs fio; it reads what was kept."""

import re
from dataclasses import dataclass
from typing import Any

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import complete, word
from tailhound_collectors.parse.numbers import json_decimal, json_integer, scaled
from tailhound_collectors.parse.tool import Parsed, nothing

# fio: io_u error on file /dev/sdb: Input/output error: read offset=184912257024, buflen=4096
#   fio: io_u.c, __io_u_log_error()
_IO_ERROR = re.compile(
    r"^fio: io_u error on file ([^:]{1,200}): ([^:]{1,100}): (\w{1,20}) offset=(\d{1,20}),"
    r" buflen=(\d{1,12})$"
)
_VERSION = re.compile(r'^\s{0,8}"fio version" : "([^"]{1,60})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class FioError:
    """One I/O that failed, with the kernel's word for it."""

    file: str | None
    operation: str
    offset_bytes: int
    length_bytes: int
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FioSide:
    """The reads or the writes of one job. Latencies are completion latencies."""

    job: str | None
    operation: str
    per_second: float | None
    bytes_per_second: float | None
    mean_seconds: float | None
    p50_seconds: float | None
    p99_seconds: float | None
    p999_seconds: float | None
    max_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fio:
    """What a run of fio measured. `noise_line_count` is the lines before the JSON document."""

    version: str | None
    results: tuple[FioSide, ...]
    errors: tuple[FioError, ...]
    io_error: bool
    noise_line_count: int
    truncated: bool = False


def fio(output: Output) -> Parsed:
    """Fio. Of a document without its end, the version and the errors printed before are kept."""
    found = document(output.stdout)
    lines, _ = complete(output.stdout)
    start, version = _beginning(lines)
    before = [*lines[:start], *complete(output.stderr)[0]]
    errors = tuple(_error(row) for line in before if (row := _IO_ERROR.match(line)))
    noise = sum(1 for line in lines[:start] if line.strip())
    if isinstance(found, Missing):
        if version is None and not errors:
            return found
        return Fio(
            version=word(version),
            results=(),
            errors=errors,
            io_error=bool(errors),
            noise_line_count=noise,
            truncated=True,
        )
    top = Keys(found.value)
    if "jobs" not in top:
        return nothing(output, "it has no jobs")
    jobs = top.each("jobs")
    failed = any(json_integer(job.get("error")) not in (0, None) for job in jobs)
    return Fio(
        version=word(top.text("fio version")),
        results=tuple(side for job in jobs for side in _sides(job)),
        errors=errors,
        io_error=failed or bool(errors),
        noise_line_count=noise,
    )


def _beginning(lines: list[str]) -> tuple[int, str | None]:
    """The line with which the document begins, and its version: the brace above the version."""
    brace = None
    for at, line in enumerate(lines):
        if line.startswith("{"):
            brace = at
        elif brace is not None and (row := _VERSION.match(line)):
            return brace, row[1]
    return len(lines) if brace is None else brace, None


def _error(row: re.Match[str]) -> FioError:
    return FioError(
        file=word(row[1]),
        error=word(row[2]),
        operation=row[3],
        offset_bytes=int(row[4]),
        length_bytes=int(row[5]),
    )


def _sides(job: Keys) -> list[FioSide]:
    """Reads and writes; a side that did no I/O is left out."""
    listed = []
    for operation in ("read", "write"):
        side = job.within(operation)
        if json_integer(side.get("total_ios")) or json_integer(side.get("io_bytes")):
            listed.append(_side(word(job.text("jobname")), operation, side))
    return listed


def _side(job: str | None, operation: str, side: Keys) -> FioSide:
    latency = side.within("clat_ns")
    percentiles = latency.within("percentile")

    def seconds(value: Any) -> float | None:
        return scaled(json_decimal(value), "0.000000001")

    return FioSide(
        job=job,
        operation=operation,
        per_second=json_decimal(side.get("iops")),
        bytes_per_second=json_decimal(side.get("bw_bytes")),
        mean_seconds=seconds(latency.get("mean")),
        p50_seconds=seconds(percentiles.get("50.000000")),
        p99_seconds=seconds(percentiles.get("99.000000")),
        p999_seconds=seconds(percentiles.get("99.900000")),
        max_seconds=seconds(latency.get("max")),
    )
