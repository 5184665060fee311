"""TCP connections (`ss -tin`) and packets between driver and kernel (`/proc/net/softnet_stat`)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.requests import Output
from tailhound_collectors.parse.lines import columns, complete, word
from tailhound_collectors.parse.numbers import decimal, integer, scaled
from tailhound_collectors.parse.tool import Parsed, nothing

_STATES = frozenset(
    {
        "ESTAB",
        "SYN-SENT",
        "SYN-RECV",
        "FIN-WAIT-1",
        "FIN-WAIT-2",
        "TIME-WAIT",
        "CLOSE-WAIT",
        "LAST-ACK",
        "LISTEN",
        "CLOSING",
        "UNCONN",
        "CLOSED",
    }
)
_FLAGS = frozenset({"ts", "sack", "ecn", "ecnseen", "fastopen", "app_limited", "busy"})
_RATE_NAMES = frozenset({"send", "pacing_rate", "delivery_rate", "max_pacing_rate"})
_RATE = re.compile(r"([\d.]{1,24})([KMGT]?)bps")
_POWERS = {"": "1", "K": "1000", "M": "1000000", "G": "1000000000", "T": "1000000000000"}
_HEX = re.compile(r"[0-9a-fA-F]{8,16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Socket:
    """One connection. Counters are since it was opened; what `ss` did not print is None.

    `retransmit_ratio` is retransmitted to sent bytes. `path_mtu_bytes` below the interface's MTU
    means that something on the way takes smaller packets.
    """

    state: str
    local: str | None
    peer: str | None
    receive_queue_bytes: int | None = None
    send_queue_bytes: int | None = None
    congestion_control: str | None = None
    rto_seconds: float | None = None
    rtt_seconds: float | None = None
    rtt_deviation_seconds: float | None = None
    min_rtt_seconds: float | None = None
    mss_bytes: int | None = None
    advertised_mss_bytes: int | None = None
    path_mtu_bytes: int | None = None
    congestion_window: int | None = None
    slow_start_threshold: int | None = None
    sent_bytes: int | None = None
    acked_bytes: int | None = None
    received_bytes: int | None = None
    retransmitted_bytes: int | None = None
    retransmit_ratio: float | None = None
    retransmits_in_flight: int | None = None
    retransmits: int | None = None
    lost_packets: int | None = None
    send_bits_per_second: float | None = None
    pacing_bits_per_second: float | None = None
    delivery_bits_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sockets:
    """The connections that were asked for."""

    sockets: tuple[Socket, ...]
    truncated: bool = False


def sockets(output: Output) -> Parsed:
    """Sockets. No output with exit code 0: there is no such connection."""
    lines, rest = complete(output.stdout)
    found: list[tuple[Sequence[str], list[str]]] = []
    for line in lines:
        words = columns(line)
        if line[:1].isspace():
            if found:
                found[-1][1].extend(words)
        elif start := _start(words):
            found.append((start, []))
    if not found and (output.stdout.strip() or output.exit_code != 0):
        headed = lines[:1] and lines[0].startswith(("State", "Netid")) and not lines[1:]
        return Sockets(sockets=()) if headed else nothing(output, "it has no connection")
    return Sockets(sockets=tuple(_socket(head, info) for head, info in found), truncated=rest)


def _start(words: Sequence[str]) -> Sequence[str] | None:
    """State, the two queues, the two addresses; a protocol may stand before them."""
    for at in (0, 1):
        if len(words) >= at + 5 and words[at] in _STATES:
            return words[at : at + 5]
    return None


def _socket(head: Sequence[str], info: Sequence[str]) -> Socket:
    values, rates = _info(info)
    rtt, _, spread = values.get("rtt", "").partition("/")
    now, _, ever = values.get("retrans", "").partition("/")
    sent, again = (integer(values.get(key, "")) for key in ("bytes_sent", "bytes_retrans"))
    return Socket(
        state=head[0],
        receive_queue_bytes=integer(head[1]),
        send_queue_bytes=integer(head[2]),
        local=word(head[3]),
        peer=word(head[4]),
        congestion_control=_congestion(info),
        rto_seconds=_milliseconds(values.get("rto")),
        rtt_seconds=_milliseconds(rtt),
        rtt_deviation_seconds=_milliseconds(spread),
        min_rtt_seconds=_milliseconds(values.get("minrtt")),
        retransmits_in_flight=integer(now),
        retransmits=integer(ever),
        sent_bytes=sent,
        retransmitted_bytes=again,
        retransmit_ratio=again / sent if again is not None and sent else None,
        send_bits_per_second=rates.get("send"),
        pacing_bits_per_second=rates.get("pacing_rate"),
        delivery_bits_per_second=rates.get("delivery_rate"),
        **_counts(values),
    )


def _counts(values: dict[str, str]) -> dict[str, Any]:
    named = {
        "mss_bytes": "mss",
        "advertised_mss_bytes": "advmss",
        "path_mtu_bytes": "pmtu",
        "congestion_window": "cwnd",
        "slow_start_threshold": "ssthresh",
        "acked_bytes": "bytes_acked",
        "received_bytes": "bytes_received",
        "lost_packets": "lost",
    }
    return {fact: integer(values.get(key, "")) for fact, key in named.items()}


def _info(words: Sequence[str]) -> tuple[dict[str, str], dict[str, float | None]]:
    """`key:value` words, and the rates, whose value stands behind a space."""
    values: dict[str, str] = {}
    rates: dict[str, float | None] = {}
    for at, item in enumerate(words):
        key, colon, value = item.partition(":")
        if colon:
            values.setdefault(key, value)
        elif item in _RATE_NAMES and at + 1 < len(words):
            rates.setdefault(item, _bits_per_second(words[at + 1]))
    return values, rates


def _bits_per_second(text: str) -> float | None:
    found = _RATE.fullmatch(text)
    return scaled(decimal(found[1]), _POWERS[found[2]]) if found else None


def _milliseconds(text: str | None) -> float | None:
    return scaled(decimal(text), "0.001") if text else None


def _congestion(words: Iterable[str]) -> str | None:
    """The word before the first `key:value` that is no flag."""
    name = None
    for item in words:
        if ":" in item:
            break
        if item not in _FLAGS:
            name = item
    return word(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftnetCpu:
    """One CPU's receive path since boot.

    `dropped`: the backlog was full. `time_squeeze`: its budget ran out with packets left. `cpu` is
    the number that new kernels print; the row's place is not the CPU when some are offline.
    """

    row: int
    column_count: int
    processed: int
    dropped: int
    time_squeeze: int
    cpu: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Softnet:
    """The receive path of every CPU that is online."""

    rows: tuple[SoftnetCpu, ...]
    truncated: bool = False


def softnet(output: Output) -> Parsed:
    """Softnet. All columns are hexadecimal without 0x; kernels print 9 to 15 of them."""
    lines, rest = complete(output.stdout)
    rows: list[SoftnetCpu] = []
    for line in lines:
        words = columns(line)
        if len(words) >= 9 and all(_HEX.fullmatch(item) for item in words):
            values = [int(item, 16) for item in words]
            rows.append(
                SoftnetCpu(
                    row=len(rows),
                    column_count=len(values),
                    processed=values[0],
                    dropped=values[1],
                    time_squeeze=values[2],
                    cpu=values[12] if len(values) >= 13 else None,
                )
            )
    if not rows:
        return nothing(output, "it has no row of hexadecimal columns")
    return Softnet(rows=tuple(rows), truncated=rest)
