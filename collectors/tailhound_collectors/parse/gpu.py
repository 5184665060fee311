"""What is known of a GPU, whichever form of nvidia-smi printed it."""

import re
from dataclasses import dataclass

from tailhound_collectors.parse.lines import word
from tailhound_collectors.parse.numbers import decimal, integer, multiplied, scaled

_MIB = 1024 * 1024
_UNAVAILABLE = re.compile(
    r"\[?(?:N/A|Not Supported|Unknown Error|GPU requires reset|Insufficient Permissions|Requested "
    r"functionality has been deprecated|None|Not Found)\]?",
    re.IGNORECASE,
)
_LOST = re.compile(
    r"Unable to determine the device handle for GPU\s{0,4}([0-9a-fA-F:.]{7,16}): (.{1,80})$"
    r"|^(?:GPU is lost|Unable to determine .{0,80}: GPU is lost)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU now. None = nvidia-smi does not say (N/A, MIG, vGPU): neither 0 nor "off".

    The yes/no facts from `idle` to `sw_thermal` are why the clocks are not higher. Idle, power cap
    and application clocks are no faults. `hw_power_brake`: an outside signal (chassis, power
    supply). `replay_count` is PCIe replays since the last reset.
    """

    index: int | None = None
    uuid: str | None = None
    name: str | None = None
    bus_id: str | None = None
    mig: bool | None = None
    performance_state: str | None = None
    busy_ratio: float | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    temperature_celsius: float | None = None
    memory_temperature_celsius: float | None = None
    slowdown_celsius: float | None = None
    margin_celsius: float | None = None
    power_watts: float | None = None
    power_limit_watts: float | None = None
    sm_mhz: float | None = None
    sm_max_mhz: float | None = None
    pcie_generation: int | None = None
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    replay_count: int | None = None
    idle: bool | None = None
    applications_clocks: bool | None = None
    sw_power_cap: bool | None = None
    hw_slowdown: bool | None = None
    hw_thermal: bool | None = None
    hw_power_brake: bool | None = None
    sync_boost: bool | None = None
    sw_thermal: bool | None = None
    uncorrected_errors: int | None = None
    remapped_rows: int | None = None
    reset_required: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """The GPUs of a host.

    `error` "gpu_lost": nvidia-smi has lost the GPU at `error_bus_id`, and tells of no other.
    `truncated`: fewer GPUs are in the output than are attached.
    """

    gpus: tuple[Gpu, ...]
    attached_count: int | None = None
    driver: str | None = None
    max_temperature_celsius: float | None = None
    error: str | None = None
    error_bus_id: str | None = None
    truncated: bool = False


def listed(
    gpus: tuple[Gpu, ...],
    *,
    attached: int | None = None,
    driver: str | None = None,
    rest: bool = False,
) -> Gpus:
    """Gpus, with what follows from all of them."""
    known = [gpu.temperature_celsius for gpu in gpus if gpu.temperature_celsius is not None]
    return Gpus(
        gpus=gpus,
        attached_count=attached,
        driver=driver,
        max_temperature_celsius=max(known) if known and len(known) == len(gpus) else None,
        truncated=rest or (attached is not None and len(gpus) < attached),
    )


def lost(said: str) -> Gpus | None:
    """The answer of an nvidia-smi that has lost a GPU; None when it says nothing of that."""
    found = _LOST.search(said[:16384])
    if found is None:
        return None
    return Gpus(gpus=(), error="gpu_lost", error_bus_id=word(found[1]))


def available(text: str | None) -> str | None:
    """The value, or None for the many spellings of "not available"."""
    if text is None or not text.strip():
        return None
    shown = text.strip()
    return None if _UNAVAILABLE.fullmatch(shown) else word(shown)


def amount(text: str | None, unit: str = "") -> float | None:
    """The number of `67.03 W` or `27 C`; None with another unit. Only watts have a fraction."""
    shown = available(text)
    if shown is None:
        return None
    value, _, printed = shown.partition(" ")
    if printed not in ("", unit):
        return None
    if unit == "W":
        return decimal(value, places=2)
    count = integer(value)
    return None if count is None else float(count)


def whole(text: str | None) -> int | None:
    """A whole number; `16x` is 16."""
    shown = available(text)
    return None if shown is None else integer(shown.removesuffix("x"))


def mebibytes(text: str | None) -> int | None:
    """Bytes of `802 MiB`, or of 802."""
    shown = available(text)
    return None if shown is None else multiplied(integer(shown.removesuffix("MiB")), _MIB)


def share(text: str | None) -> float | None:
    """A ratio of `86 %`, or of 86."""
    return scaled(amount(text, "%"), "0.01")


def active(text: str | None) -> bool | None:
    """True, False for exactly `Active`, `Not Active`; anything else is unknown."""
    return {"Active": True, "Not Active": False}.get((text or "").strip())


def switched(text: str | None) -> bool | None:
    """True, False for `Enabled`, `Disabled`."""
    return {"Enabled": True, "Disabled": False}.get((text or "").strip())


def affirmed(text: str | None) -> bool | None:
    """True, False for `Yes`, `No`."""
    return {"Yes": True, "No": False}.get((text or "").strip())
