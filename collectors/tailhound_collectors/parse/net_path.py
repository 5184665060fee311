"""The way to another host: `ping` and `mtr --json`."""

import re
from dataclasses import dataclass

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import complete, word
from tailhound_collectors.parse.numbers import decimal, json_decimal, json_integer, percent, scaled
from tailhound_collectors.parse.tool import Parsed, cut, nothing, unparsable

_SENT = re.compile(r"^(\d{1,12}) packets transmitted, (\d{1,12}) (?:packets )?received")
_MORE = re.compile(r"\+(\d{1,12}) (errors|duplicates|corrupted)")
_LOSS = re.compile(r"([\d.,]{1,12})% packet loss")
_RTT = re.compile(
    r"^(?:rtt|round-trip) min/avg/max(?:/(?:mdev|stddev))? = ([\d.,]{1,16})/([\d.,]{1,16})/"
    r"([\d.,]{1,16})(?:/([\d.,]{1,16}))? ms"
)
_STATISTICS = re.compile(r"^--- (\S{1,200}) ping statistics ---$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """What came back. Without a reply there is no round-trip time: None, not 0."""

    destination: str | None
    sent: int
    received: int
    errors: int
    duplicates: int
    loss_ratio: float | None
    rtt_min_seconds: float | None = None
    rtt_avg_seconds: float | None = None
    rtt_max_seconds: float | None = None
    rtt_deviation_seconds: float | None = None
    truncated: bool = False


def ping(output: Output) -> Parsed:
    """Ping, from its summary. Exit code 1 = no reply, which is an answer."""
    lines, rest = complete(output.stdout)
    summary = next((line for line in lines if _SENT.match(line)), None)
    if summary is None:
        begun = output.stdout.startswith("PING ")
        return (
            cut("ping was stopped before its summary")
            if begun
            else nothing(output, "it has no line `packets transmitted`")
        )
    sent = _SENT.match(summary)
    loss = _LOSS.search(summary)
    more = {kind: int(count) for count, kind in _MORE.findall(summary)}
    rtt = next((found.groups() for line in lines if (found := _RTT.match(line))), (None,) * 4)
    low, mean, high, spread = (
        scaled(decimal(item, places=3), "0.001") if item else None for item in rtt
    )
    return Ping(
        destination=next((word(f[1]) for line in lines if (f := _STATISTICS.match(line))), None),
        sent=int(sent[1]) if sent else 0,
        received=int(sent[2]) if sent else 0,
        errors=more.get("errors", 0),
        duplicates=more.get("duplicates", 0),
        loss_ratio=percent(loss[1]) if loss else None,
        rtt_min_seconds=low,
        rtt_avg_seconds=mean,
        rtt_max_seconds=high,
        rtt_deviation_seconds=spread,
        truncated=rest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One router on the way. `silent`: it never answered, so it has no times.

    Loss of a hop that does not go on to the last hop is no loss: routers answer probes as they
    like.
    """

    number: int | None
    host: str | None
    silent: bool
    loss_ratio: float | None
    on_path_loss_ratio: float | None
    sent: int | None
    last_seconds: float | None
    avg_seconds: float | None
    best_seconds: float | None
    worst_seconds: float | None
    deviation_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The hops to a destination. `end_loss_ratio` is the last hop's: the only loss that counts."""

    destination: str | None
    hops: tuple[Hop, ...]
    hop_count: int
    end_loss_ratio: float | None
    end_avg_seconds: float | None
    truncated: bool = False


def mtr(output: Output) -> Parsed:
    """Route."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        return found
    report = Keys(found.value).within("report")
    listed = report.each("hubs")
    if not listed:
        return unparsable("it has no hops")
    losses = [scaled(json_decimal(hub.get("Loss%")), "0.01") for hub in listed]
    hops = tuple(_hop(hub, _persisting(losses, at)) for at, hub in enumerate(listed))
    return Route(
        destination=word(report.within("mtr").text("dst")),
        hops=hops,
        hop_count=len(hops),
        end_loss_ratio=hops[-1].loss_ratio,
        end_avg_seconds=hops[-1].avg_seconds,
    )


def _persisting(losses: list[float | None], at: int) -> float | None:
    """The loss that every hop from here on has at least; None when one is unknown.

    Only the tail of 64 hops is looked at: mtr prints no more.
    """
    tail = losses[at : at + 64]
    known = [loss for loss in tail if loss is not None]
    return min(known) if len(known) == len(tail) else None


def _hop(hub: Keys, persisting: float | None) -> Hop:
    host = word(hub.text("host"))
    silent = host in (None, "???") or json_decimal(hub.get("Loss%")) == 100

    def seconds(name: str) -> float | None:
        return None if silent else scaled(json_decimal(hub.get(name)), "0.001")

    return Hop(
        number=json_integer(hub.get("count")),
        host=None if silent else host,
        silent=silent,
        loss_ratio=scaled(json_decimal(hub.get("Loss%")), "0.01"),
        on_path_loss_ratio=persisting,
        sent=json_integer(hub.get("Snt")),
        last_seconds=seconds("Last"),
        avg_seconds=seconds("Avg"),
        best_seconds=seconds("Best"),
        worst_seconds=seconds("Wrst"),
        deviation_seconds=seconds("StDev"),
    )
