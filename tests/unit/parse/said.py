"""What the index says of each of the 66 outputs, said again from the facts that were parsed.

Each function turns facts into one item of the index's column `must_extract`, word for word, so that
the expected values come from the index alone.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.unit.parse.cases import Case

Say = Callable[[Any], str]


def one(records: Iterable[Any], **fields: Any) -> Any:
    """The only record with these fields."""
    found = [
        record
        for record in records
        if all(getattr(record, name) == value for name, value in fields.items())
    ]
    assert len(found) == 1, (fields, found)
    return found[0]


def yes(value: bool | None) -> str:
    """true, false, unknown."""
    return {True: "true", False: "false", None: "unknown"}[value]


def act(value: bool | None) -> str:
    """active, not_active, unknown."""
    return {True: "active", False: "not_active", None: "unknown"}[value]


def unknown(value: Any) -> str:
    """The value, or "unknown"."""
    return "unknown" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def mega(value: float | None, factor: float) -> float:
    """A value in other units, rounded as far as tools print."""
    assert value is not None
    return round(value * factor, 6)


def kinds(facts: Any) -> str:
    """The kinds of event, each once."""
    return ",".join(dict.fromkeys(event.kind for event in facts.events))


def buses(facts: Any) -> str:
    """The PCI addresses, each once."""
    return ",".join(dict.fromkeys(event.bus_id for event in facts.events))


def ibstat_port(device: str, *, link: bool = True) -> Say:
    def said(facts: Any) -> str:
        port = one(facts.ports, device=device)
        shown = f"{device}.state={port.state} phys={port.physical_state}"
        shown += f" rate={port.shown_rate_gbps:g}"
        return f"{shown} link={port.link_layer}" if link else shown

    return said


def bucket(low: int, high: int) -> Say:
    def said(facts: Any) -> str:
        found = one(facts.histograms[0].buckets, low_seconds=low / 1e6, high_seconds=high / 1e6)
        return f"bucket[{low}-{high}us]={found.count}"

    return said


def span(name: str, low: str, high: str) -> Say:
    def said(facts: Any) -> str:
        histogram = facts.histograms[0]
        ends = (getattr(histogram, low), getattr(histogram, high))
        return f"{name}={mega(ends[0], 1e6):g}-{mega(ends[1], 1e6):g}us"

    return said


def counter(name: str, shown: str = "", *, saturated: bool = False, note: str = "") -> Say:
    def said(facts: Any) -> str:
        found = one(facts.ports[0].counters, name=name)
        assert found.saturated is saturated
        return f"{shown or name}={found.value}{note}"

    return said


def lifespan(facts: Any) -> str:
    return f"lifespan_ms={mega(facts.ports[0].sampling_seconds, 1000):g}"


def nic(name: str) -> Say:
    return lambda f: f"{name}={f.value(name)}"


def disk(device: str, fact: str, shown: str, factor: float, form: str) -> Say:
    def said(facts: Any) -> str:
        value = getattr(one(facts.disks, device=device), fact)
        return f"{device}.{shown}={mega(value, factor):{form}}"

    return said


def link(facts: Any, index: int, *, notes: bool) -> str:
    """cap=32GT/s x4 sta=16GT/s(downgraded) x4"""
    at = facts.links[index]
    words = [f"({note})" if note else "" for note in (at.speed_note, at.width_note)]
    if not notes:
        words[1] = words[1] if words[1] != "(ok)" else ""
    return (
        f"cap={at.max_gigatransfers:g}GT/s x{at.max_width} "
        f"sta={at.gigatransfers:g}GT/s{words[0]} x{at.width}{words[1]}"
    )


def nvmf_events(facts: Any) -> str:
    said: list[str] = []
    for event in facts.events:
        name = event.kind.removeprefix("nvmf_")
        match event.kind:
            case "nvmf_timeout":
                said.append(f"nvmf_timeout({event.device},queue {event.queue})")
            case "nvmf_no_path":
                said.append(f"no_path({event.device})")
            case "nvmf_reconnecting":
                said.append(f"reconnecting({event.seconds:g}s)")
            case "nvmf_keepalive_failed" | "nvmf_connect_failed":
                said.append(f"{name}({event.error})")
            case _:
                said.append(name)
    counted = [f"{item}x{said.count(item)}" if said.count(item) > 1 else item for item in said]
    return "events=" + ",".join(dict.fromkeys(counted))


def limited_by(facts: Any) -> str:
    event = facts.events[0]
    return f"limited_by={event.gigatransfers:.1f} GT/s x{event.width} at {event.source_bus_id}"


def capable(facts: Any) -> str:
    event = facts.events[0]
    speed = f"{event.capable_gigatransfers:.1f} GT/s x{event.capable_width}"
    return f"capable_gbps={event.capable_gbps:.3f} ({speed})"


def path(facts: Any) -> Any:
    return facts.subsystems[0].paths[0]


def text_as_json(facts: Any) -> str:
    return "format=text although json asked" if facts.as_text else "format=json"


def format_in_use(facts: Any, *, used: bool) -> int:
    size: int = one(facts.formats, in_use=used).data_bytes
    return size


def wear_avg(facts: Any) -> str:
    raw = one(facts.attributes, name="wear_leveling_count").raw
    return f"wear_avg={facts.wear_avg_count} (raw {raw} packs three 16-bit words)"


def media_wear(facts: Any) -> str:
    raw = one(facts.attributes, name="media_wear_percentage").raw
    return f"media_wear={'not-ready' if facts.media_wear_ratio is None else 'ready'} ({raw})"


def tests_passed(facts: Any) -> str:
    test = one(facts.tests, name="software")
    passed = [gpu.gpu for gpu in test.gpus if gpu.result == "Pass"]
    return f"software={test.result} (GPU{passed[0]}-{passed[-1]} Pass)"


def use_sample(facts: Any) -> str:
    first = "" if facts.since_boot else " (first is since boot)"
    return f"use_sample={facts.used_sample}{first}"


def silent_hop(facts: Any) -> str:
    hop = one(facts.hops, number=2)
    persists = hop.on_path_loss_ratio == hop.loss_ratio
    return f"hop[2].loss={hop.loss_ratio * 100:g} ({'' if persists else 'not '}loss on path)"


def count_spellings(facts: Any) -> str:
    """1 and 2 are numbers in the file, "3" is a string."""
    numbers = [hop.number for hop in facts.hops]
    return "hop.count can be int or string" if numbers == [1, 2, 3] else str(numbers)


def xids(facts: Any) -> str:
    return "xids=" + ",".join(dict.fromkeys(str(event.xid) for event in facts.events))


def unrecognised(facts: Any) -> str:
    why = " (unrecognised label must not map to not_active)"
    return f"hw_slowdown={act(facts.gpus[0].hw_slowdown)}{why}"


def comma_time(facts: Any) -> str:
    """The comma before the microseconds became the point of ISO 8601."""
    assert facts.events[0].time == "2025-01-21T02:21:33.498559+00:00"
    return "time uses comma before microseconds"


def whole_drive(facts: Any) -> str:
    return f"nsid={'-1 means all (0xffffffff)' if facts.all_namespaces else '?'}"


def celsius_here(facts: Any) -> str:
    return f"temp_c={facts.temperature_celsius:g} (Celsius here, unlike nvme-cli)"


def smart(name: str, fact: str, *, percent: bool = False) -> Say:
    def said(facts: Any) -> str:
        value = getattr(facts, fact)
        return f"{name}={mega(value, 100 if percent else 1):g}" if percent else f"{name}={value}"

    return said


def temperature(facts: Any) -> str:
    return f"temp_c={facts.temperature_celsius:g}"


def truncated(facts: Any) -> str:
    return f"truncated={yes(facts.truncated)}"


SPARE = smart("spare", "available_spare_ratio", percent=True)
THRESHOLD = smart("spare_thresh", "spare_threshold_ratio", percent=True)
USED = smart("used_pct", "used_ratio", percent=True)
WARNING = smart("critical_warning", "critical_warning")
KELVIN = smart("temp_k", "temperature_kelvin")


def smarts(*names: str) -> list[Say]:
    """Facts that have the index's own names."""
    return [smart(name, name) for name in names]


@dataclass(frozen=True, slots=True)
class OfCase:
    """An item that is about the output itself, said from the case."""

    say: Callable[[Case], str]

    def __call__(self, case: Case) -> str:
        """The item."""
        return self.say(case)


Says = Sequence[Say | OfCase]
