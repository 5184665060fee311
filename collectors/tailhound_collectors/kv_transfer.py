"""KV transfer evidence: what a disaggregated engine says about moving KV cache between its pods.

The wire is judged by the time per byte. A larger payload takes longer and proves nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailhound.flow import Reading, together
from tailhound.model import Missing, Reason
from tailhound.model.facts import fact
from tailhound.requests import Query
from tailhound.requests.prometheus import matchers, quoted
from tailhound_collectors.families import RAY_PREFIX
from tailhound_collectors.now_and_usual import Asked, now_and_usual
from tailhound_collectors.reading import WINDOW, by, ratio

ENOUGH_COUNT = 100.0
"""Transfers in five minutes from which on a p99 is more than one of them (signals)."""

WINDOW_SECONDS = 300.0
_MILLI, _MEGA, _GIGA = "1000", "1000000", "1000000000"
_SGLANG = "sglang:kv_transfer_"
_SGLANG_FAILED = "sglang:num_transfer_failed_reqs_total"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferParams:
    """Whose transfers: those of these pods. Without pods only whether anybody counts transfers."""

    namespace: str = ""
    pods: tuple[str, ...] = ()
    metric_prefix: str = ""
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class KvTransfers:
    """The KV transfers of the pod whose time per byte grew most.

    `counted`: whether these pods count transfers at all; where no pod is known, no when nobody
    does, else unknown. `throughput_bytes_per_second` are bytes
    per second of transfer, not of wall clock; `per_byte_times` is how much longer a byte takes
    than usual. `slower_times` compares the p99 where 100 transfers or more fell into five minutes,
    else the mean. `post_times` is about handing the transfer to the card, before the wire.
    `failed_per_second` adds up all pods; None where failures are not counted. SGLang's counter
    is not there before the first failure: then it is 0.
    """

    counted: bool | None = None
    engine: str | None = None
    pod: str | None = None
    p99_seconds: float | None = None
    p99_seconds_usual: float | None = None
    mean_seconds: float | None = None
    mean_seconds_usual: float | None = None
    slower_times: float | None = fact("times")
    payload_bytes: float | None = None
    payload_bytes_usual: float | None = None
    payload_times: float | None = fact("times")
    throughput_bytes_per_second: float | None = None
    throughput_bytes_per_second_usual: float | None = None
    per_byte_times: float | None = fact("times")
    post_times: float | None = fact("times")
    transfers_per_second: float | None = None
    failed_per_second: float | None = None
    failed_per_second_usual: float | None = None
    expired_per_second: float | None = None


class KvTransferCollector:
    """`prometheus.kv_transfer`: NIXL's histograms of vLLM, the transfer series of SGLang."""

    name = "prometheus.kv_transfer"
    params = TransferParams
    facts = KvTransfers

    def collect(self, params: TransferParams) -> Reading[KvTransfers]:
        """Which series exist; then all about them at once."""
        vllm = [f"{prefix}nixl_" for prefix in (params.metric_prefix or "vllm:", RAY_PREFIX)]
        names = [f"{prefix}xfer_time_seconds_sum" for prefix in vllm]
        names += [f"{_SGLANG}latency_ms{suffix}" for suffix in ("_sum", "")]
        here: dict[str, str | tuple[str, ...]] = (
            {"namespace": params.namespace, "pod": params.pods} if params.pods else {}
        )
        telling = matchers(f"__name__=~{quoted('|'.join(names))}", **here)
        reply = (yield from together([Query(promql=f"count by (__name__) ({telling})")]))[0]
        if isinstance(reply, Missing):
            return KvTransfers(counted=False if reply.reason is Reason.EMPTY else None)
        exist = {name for (name,) in by(reply, "__name__")}
        found = next((name for name in names if name in exist), None)
        if found is None or not params.pods:
            return KvTransfers()
        questions = _questions(found, matchers(**here))
        answers = yield from now_and_usual(questions, {}, params.usual)
        return _facts("sglang" if found.startswith(_SGLANG) else "vllm", answers)


def _questions(found: str, here: str) -> dict[str, str]:
    """By what they tell. A histogram gives rates of sums, a gauge its mean over five minutes."""
    if found == f"{_SGLANG}latency_ms":
        return _gauges(here)
    if found.startswith(_SGLANG):
        latency, size = f"{_SGLANG}latency_ms", f"{_SGLANG}total_mb"
        return {
            "time": f"{_rate(f'{latency}_sum', here)} / {_MILLI}",
            "count": _rate(f"{latency}_count", here),
            "bytes": f"{_rate(f'{size}_sum', here)} * {_MEGA}",
            "p99": f"{_p99(latency, here)} / {_MILLI}",
            "failed": f"sum (rate({_SGLANG_FAILED}{here}[{WINDOW}]))",
        }
    prefix = found.removesuffix("xfer_time_seconds_sum")
    return {
        "time": _rate(found, here),
        "count": _rate(f"{prefix}xfer_time_seconds_count", here),
        "bytes": _rate(f"{prefix}bytes_transferred_sum", here),
        "post": _rate(f"{prefix}post_time_seconds_sum", here),
        "p99": _p99(f"{prefix}xfer_time_seconds", here),
        "failed": f"sum (rate({prefix}num_failed_transfers_total{here}[{WINDOW}]))",
        "expired": f"sum (rate({prefix}num_kv_expired_reqs_total{here}[{WINDOW}]))",
    }


def _gauges(here: str) -> dict[str, str]:
    def mean(name: str) -> str:
        return f"avg by (pod) (avg_over_time({_SGLANG}{name}{here}[{WINDOW}]))"

    return {
        "mean": f"{mean('latency_ms')} / {_MILLI}",
        "payload": f"{mean('total_mb')} * {_MEGA}",
        "throughput": f"{mean('speed_gb_s')} * {_GIGA}",
        "failed": f"sum (rate({_SGLANG_FAILED}{here}[{WINDOW}]))",
    }


def _rate(name: str, here: str) -> str:
    return f"sum by (pod) (rate({name}{here}[{WINDOW}]))"


def _p99(name: str, here: str) -> str:
    return f"histogram_quantile(0.99, sum by (pod, le) (rate({name}_bucket{here}[{WINDOW}])))"


@dataclass(frozen=True, slots=True)
class _Both:
    """One number per pod, now and usually."""

    now: Mapping[tuple[str, ...], float]
    usual: Mapping[tuple[str, ...], float]

    def times(self, pod: tuple[str, ...]) -> float | None:
        return ratio(self.now.get(pod), self.usual.get(pod))


def _per(above: _Both | None, below: _Both | None) -> _Both:
    """One number per another; nothing where nothing was moved."""

    def divided(
        a: Mapping[tuple[str, ...], float], b: Mapping[tuple[str, ...], float]
    ) -> dict[tuple[str, ...], float]:
        shares = {pod: ratio(value, b.get(pod)) for pod, value in a.items()}
        return {pod: share for pod, share in shares.items() if share is not None}

    if above is None or below is None:
        return _Both({}, {})
    return _Both(divided(above.now, below.now), divided(above.usual, below.usual))


def _facts(engine: str, answers: Mapping[str, Asked]) -> KvTransfers:
    both = {
        name: _Both(asked.by("pod"), asked.usually_by("pod")) for name, asked in answers.items()
    }
    nothing = _Both({}, {})
    mean = both.get("mean") or _per(both.get("time"), both.get("count"))
    payload = both.get("payload") or _per(both.get("bytes"), both.get("count"))
    speed = both.get("throughput") or _per(both.get("bytes"), both.get("time"))
    post = _per(both.get("post"), both.get("count"))
    slow, count = both.get("p99", nothing), both.get("count", nothing)
    pod = _worst(speed, mean)
    failed, failing = answers["failed"], answers["failed"].value
    if engine == "sglang":
        failing = answers["failed"].value_or_zero
    expired = answers.get("expired")
    if pod is None:
        return KvTransfers(counted=True, engine=engine, failed_per_second=failing)
    enough = count.now.get(pod, 0.0) * WINDOW_SECONDS >= ENOUGH_COUNT
    compared = slow if enough and slow.times(pod) is not None else mean
    return KvTransfers(
        counted=True,
        engine=engine,
        pod=pod[0],
        p99_seconds=slow.now.get(pod),
        p99_seconds_usual=slow.usual.get(pod),
        mean_seconds=mean.now.get(pod),
        mean_seconds_usual=mean.usual.get(pod),
        slower_times=compared.times(pod),
        payload_bytes=payload.now.get(pod),
        payload_bytes_usual=payload.usual.get(pod),
        payload_times=payload.times(pod),
        throughput_bytes_per_second=speed.now.get(pod),
        throughput_bytes_per_second_usual=speed.usual.get(pod),
        per_byte_times=ratio(speed.usual.get(pod), speed.now.get(pod)),
        post_times=post.times(pod),
        transfers_per_second=count.now.get(pod),
        failed_per_second=failing,
        failed_per_second_usual=failed.usual,
        expired_per_second=expired.value if expired else None,
    )


def _worst(speed: _Both, mean: _Both) -> tuple[str, ...] | None:
    """The pod whose bytes take longest compared with usual, else whose transfers take longest."""
    slower = {pod: ratio(speed.usual.get(pod), now) or 0.0 for pod, now in speed.now.items()}
    pods: Sequence[tuple[str, ...]] = sorted({*slower, *mean.now})
    return max(pods, key=lambda pod: (slower.get(pod, 0.0), mean.now.get(pod, 0.0)), default=None)
