"""`nvidia-smi -q -x`. The clock reasons and the power readings changed their names with DTD v12."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from tailhound.requests import Output
from tailhound_collectors.parse import gpu as known
from tailhound_collectors.parse.gpu import Gpu
from tailhound_collectors.parse.tool import Parsed, cut, nothing, unparsable

_DEEPEST = 32
_LONGEST = 4096
_NAMES = {
    "idle": "gpu_idle",
    "applications_clocks": "applications_clocks_setting",
    "sw_power_cap": "sw_power_cap",
    "hw_slowdown": "hw_slowdown",
    "hw_thermal": "hw_thermal_slowdown",
    "hw_power_brake": "hw_power_brake_slowdown",
    "sync_boost": "sync_boost",
    "sw_thermal": "sw_thermal_slowdown",
}
Leaves = dict[str, str]


class _Walk:
    """What the XML parser calls: keeps the text of each leaf under its path."""

    def __init__(self) -> None:
        self.top: Leaves = {}
        self.gpus: list[Leaves] = []
        self.finished = False
        self._path: list[str] = []
        self._text: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if len(self._path) >= _DEEPEST:
            raise ParseError("nested too deeply")
        self._path.append(tag)
        self._text = []
        if self._path[1:] == ["gpu"]:
            self.gpus.append({"id": attributes.get("id", "")[:_LONGEST]})

    def data(self, text: str) -> None:
        """A piece of text."""
        self._text.append(text)

    def end(self, _: str) -> None:
        """An element ends; its text is whole only now."""
        path = "/".join(self._path[1:])
        said = "".join(self._text).strip()[:_LONGEST]
        self._text = []
        if said:
            inside = self._path[1:2] == ["gpu"] and self.gpus
            leaves = self.gpus[-1] if inside else self.top
            leaves.setdefault(path.removeprefix("gpu/"), said)
        self._path.pop()
        self.finished = not self._path

    def close(self) -> None:
        """The document ends."""


def query_xml(output: Output) -> Parsed:
    """Gpus. Of a document without its end, the elements that were whole are kept."""
    if gone := known.lost(f"{output.stdout[:8192]}\n{output.stderr[:8192]}"):
        return gone
    start = output.stdout.find("<?xml")
    if start < 0:
        return nothing(output, "it has no XML document")
    walk = _Walk()
    try:
        _feed(walk, output.stdout[start:])
    except DefusedXmlException as error:
        return unparsable(f"it declares entities, which nvidia-smi never does ({error})"[:200])
    except ParseError as error:
        if not walk.gpus and not walk.top:
            return unparsable(f"its XML is broken: {error}")
    if not walk.gpus:
        attached = known.whole(walk.top.get("attached_gpus"))
        return cut("no GPU is in it yet") if attached else nothing(output, "it has no GPU")
    return known.listed(
        tuple(_gpu(leaves) for leaves in walk.gpus),
        attached=known.whole(walk.top.get("attached_gpus")),
        driver=known.available(walk.top.get("driver_version")),
        rest=not walk.finished,
    )


def _feed(walk: _Walk, text: str) -> None:
    """Up to the end of the document; what comes after it is not looked at."""
    parser = DefusedXMLParser(target=walk, forbid_dtd=False, forbid_entities=True)
    whole, end, _ = text.partition("</nvidia_smi_log>")
    parser.feed(_drop_encoding(whole + end))
    parser.close()


def _drop_encoding(text: str) -> str:
    """Without the XML declaration: the text is decoded already."""
    return text.partition("?>")[2].lstrip() if text.startswith("<?xml") else text


def _gpu(leaves: Leaves) -> Gpu:
    return Gpu(
        bus_id=known.available(leaves.get("id") or leaves.get("pci/pci_bus_id")),
        uuid=known.available(leaves.get("uuid")),
        name=known.available(leaves.get("product_name")),
        mig=known.switched(leaves.get("mig_mode/current_mig")),
        performance_state=known.available(leaves.get("performance_state")),
        reset_required=known.affirmed(leaves.get("gpu_reset_status/reset_required")),
        remapped_rows=known.whole(leaves.get("remapped_rows/remapped_row_unc")),
        uncorrected_errors=known.whole(leaves.get("ecc_errors/volatile/dram_uncorrectable")),
        **_link(leaves),
        **_measured(leaves),
        **_reasons(leaves),
    )


def _link(leaves: Leaves) -> dict[str, Any]:
    link = "pci/pci_gpu_link_info"
    return {
        "pcie_generation": known.whole(leaves.get(f"{link}/pcie_gen/current_link_gen")),
        "pcie_generation_max": known.whole(leaves.get(f"{link}/pcie_gen/max_link_gen")),
        "pcie_width": known.whole(leaves.get(f"{link}/link_widths/current_link_width")),
        "pcie_width_max": known.whole(leaves.get(f"{link}/link_widths/max_link_width")),
        "replay_count": known.whole(leaves.get("pci/replay_counter")),
    }


def _measured(leaves: Leaves) -> dict[str, Any]:
    power = ("gpu_power_readings", "power_readings")
    limits = ("current_power_limit", "enforced_power_limit", "power_limit")
    heat = "temperature"
    return {
        "busy_ratio": known.share(leaves.get("utilization/gpu_util")),
        "memory_used_bytes": known.mebibytes(leaves.get("fb_memory_usage/used")),
        "memory_total_bytes": known.mebibytes(leaves.get("fb_memory_usage/total")),
        "temperature_celsius": known.amount(leaves.get(f"{heat}/gpu_temp"), "C"),
        "memory_temperature_celsius": known.amount(leaves.get(f"{heat}/memory_temp"), "C"),
        "slowdown_celsius": known.amount(leaves.get(f"{heat}/gpu_temp_slow_threshold"), "C"),
        "margin_celsius": known.amount(leaves.get(f"{heat}/gpu_temp_tlimit"), "C"),
        "power_watts": _either(leaves, [f"{part}/power_draw" for part in power]),
        "power_limit_watts": _either(leaves, [f"{p}/{limit}" for p in power for limit in limits]),
        "sm_mhz": known.amount(leaves.get("clocks/sm_clock"), "MHz"),
        "sm_max_mhz": known.amount(leaves.get("max_clocks/sm_clock"), "MHz"),
    }


def _either(leaves: Leaves, paths: Sequence[str]) -> float | None:
    values = (known.amount(leaves.get(path), "W") for path in paths)
    return next((value for value in values if value is not None), None)


def _reasons(leaves: Leaves) -> dict[str, bool | None]:
    """clocks_event_reason_* since DTD v12, clocks_throttle_reason_* before."""
    return {
        fact: known.active(
            leaves.get(f"clocks_event_reasons/clocks_event_reason_{name}")
            or leaves.get(f"clocks_throttle_reasons/clocks_throttle_reason_{name}")
        )
        for fact, name in _NAMES.items()
    }
