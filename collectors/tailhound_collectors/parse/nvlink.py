"""`nvidia-smi nvlink -s` (speed of each link) and `nvlink -e` (its errors)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tailhound.requests import Output
from tailhound_collectors.parse.gpu import lost
from tailhound_collectors.parse.lines import complete, word
from tailhound_collectors.parse.numbers import decimal, integer, scaled
from tailhound_collectors.parse.tool import Parsed, nothing

_GPU = re.compile(r"^GPU (\d{1,4}): (.{1,100}?) \(UUID: ([\w-]{1,60})\)$")
_SPEED = re.compile(r"^Link (\d{1,3}): (?:([\d.,]{1,12}) GB/s|(<inactive>))$")
_ERROR = re.compile(r"^Link (\d{1,3}): (Replay|Recovery|CRC) Errors?: (\d{1,20})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class NvLink:
    """One link. Error counters are since the driver was loaded."""

    number: int
    up: bool | None = None
    speed_bytes_per_second: float | None = None
    replay_errors: int | None = None
    recovery_errors: int | None = None
    crc_errors: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NvLinkGpu:
    """The links of one GPU. The counts are None when the output tells of errors only."""

    index: int
    name: str | None
    uuid: str | None
    links: tuple[NvLink, ...]
    up_count: int | None
    down_count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NvLinks:
    """The NVLinks of every GPU. `error` "gpu_lost": nvidia-smi has lost the GPU there."""

    gpus: tuple[NvLinkGpu, ...]
    error: str | None = None
    error_bus_id: str | None = None
    truncated: bool = False


def nvlink(output: Output) -> Parsed:
    """NvLinks."""
    if gone := lost(f"{output.stdout[:8192]}\n{output.stderr[:8192]}"):
        return NvLinks(gpus=(), error=gone.error, error_bus_id=gone.error_bus_id)
    lines, rest = complete(output.stdout)
    found: list[tuple[re.Match[str], dict[int, dict[str, str]]]] = []
    for line in lines:
        shown = line.strip()
        if head := _GPU.match(shown):
            found.append((head, {}))
        elif found:
            _keep(shown, found[-1][1])
    if not found:
        return nothing(output, "it names no GPU")
    return NvLinks(gpus=tuple(_gpu(head, links) for head, links in found), truncated=rest)


def _keep(line: str, links: dict[int, dict[str, str]]) -> None:
    if speed := _SPEED.match(line):
        links.setdefault(int(speed[1]), {})["speed"] = speed[2] or ""
    elif error := _ERROR.match(line):
        links.setdefault(int(error[1]), {})[error[2]] = error[3]


def _gpu(head: re.Match[str], links: Mapping[int, Mapping[str, str]]) -> NvLinkGpu:
    read = tuple(_link(number, values) for number, values in links.items())
    known = any(link.up is not None for link in read)
    return NvLinkGpu(
        index=int(head[1]),
        name=word(head[2]),
        uuid=head[3],
        links=read,
        up_count=sum(link.up is True for link in read) if known else None,
        down_count=sum(link.up is False for link in read) if known else None,
    )


def _link(number: int, values: Mapping[str, str]) -> NvLink:
    speed = values.get("speed")
    return NvLink(
        number=number,
        up=None if speed is None else speed != "",
        speed_bytes_per_second=scaled(decimal(speed), "1000000000") if speed else None,
        replay_errors=integer(values.get("Replay", "")),
        recovery_errors=integer(values.get("Recovery", "")),
        crc_errors=integer(values.get("CRC", "")),
    )
