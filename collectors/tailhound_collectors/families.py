"""What each kind of server measures, by meaning.

A family is one kind of server and the names of what it measures, by meaning. Several names of one
meaning are spellings, newest first: a query asks for all of them and takes the first that exists.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

MICROSECOND = 1e-6
MILLISECOND = 1e-3


@dataclass(frozen=True, slots=True)
class Timing:
    """A duration as two counters: the rate of `total` by that of `count`, times `unit`, is the mean
    in seconds. `bucket` are a histogram's buckets, "" where only means exist.
    """

    total: str
    count: str
    bucket: str = ""
    unit: float = 1.0


@dataclass(frozen=True, slots=True)
class Part:
    """One stage of a request: the mean of kind `of`, less the means of `less`.

    `noise_seconds` is the growth below which nobody can tell it from noise. `otherwise` is what the
    stage is taken from where its own kind is not measured.
    """

    stage: str
    of: str
    less: tuple[str, ...] = ()
    noise_seconds: float = 0.0
    otherwise: "Part | None" = None


REMAINDER_NOISE_SECONDS = 0.05
"""A remainder of histograms is a difference of means recorded at different moments: growth below
50 ms is noise. Our own default."""

COPY_NOISE_SECONDS = 0.001
"""Triton's copies take tenths of a millisecond: growth below 1 ms delays nobody. Our default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One kind of server. `stages` add up; `on_cpu` are the stages and kinds that the CPU does.

    `names` are further series by meaning. `paged_kv` says whether it holds a paged KV cache; None
    where the series tell. `by_model` = one process serves several models, told apart by
    `model_label`. `continuous` = requests join a running batch at any step, so that none waits for
    a batch to fill; None where the series tell, or nobody. `executing` add up to the time in which
    a batch occupies an instance.
    """

    engine: str
    timings: Mapping[str, tuple[Timing, ...]]
    stages: tuple[Part, ...]
    on_cpu: tuple[Part, ...]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paged_kv: bool | None = False
    by_model: bool = False
    model_label: str = "model"
    continuous: bool | None = None
    executing: tuple[Part, ...] = ()

    def of(self, meaning: str) -> tuple[str, ...]:
        """The spellings of a series, none when this kind of server has no such thing."""
        return self.names.get(meaning, ())


def histogram(name: str, unit: float = 1.0) -> Timing:
    """The timing of a Prometheus histogram."""
    return Timing(f"{name}_sum", f"{name}_count", f"{name}_bucket", unit)


def _histograms(prefix: str, **kinds: str) -> dict[str, tuple[Timing, ...]]:
    """Timings by kind out of histogram names, spellings separated by a space."""
    return {
        kind: tuple(histogram(prefix + name) for name in names.split())
        for kind, names in kinds.items()
    }


def _named(prefix: str, **meanings: str) -> dict[str, tuple[str, ...]]:
    return {
        meaning: tuple(prefix + name for name in names.split())
        for meaning, names in meanings.items()
    }


_VLLM_NAMES = {
    "running": "num_requests_running",
    "waiting": "num_requests_waiting",
    "waiting_by_reason": "num_requests_waiting_by_reason",
    "swapped": "num_requests_swapped",
    "finished": "request_success_total request_success",
    "rejected": "admission_rejections_total",
    "steps": "iteration_tokens_total_count",
    "prompt": "prompt_tokens_total",
    "generated": "generation_tokens_total",
    "prompt_length": "request_prompt_tokens",
    "computed_length": "request_prefill_kv_computed_tokens",
    "output_length": "request_generation_tokens",
    "kv_usage": "kv_cache_usage_perc gpu_cache_usage_perc",
    "preempted": "num_preemptions_total num_preemptions",
    "pool": "cache_config_info",
}


_AFTER_FIRST_TOKEN = Part("decode", "e2e", ("ttft",), REMAINDER_NOISE_SECONDS)


def vllm(prefix: str) -> Family:
    """vLLM from V0 on, under its own prefix, Ray's, or the site's."""
    return Family(
        engine="vllm",
        paged_kv=True,
        continuous=True,
        timings=_histograms(
            prefix,
            ttft="time_to_first_token_seconds",
            itl="inter_token_latency_seconds time_per_output_token_seconds",
            e2e="e2e_request_latency_seconds",
            queue="request_queue_time_seconds",
            prefill="request_prefill_time_seconds",
            decode="request_decode_time_seconds",
        ),
        stages=(
            Part("preprocessing", "ttft", ("queue", "prefill"), REMAINDER_NOISE_SECONDS),
            Part("queue", "queue"),
            Part("prefill", "prefill"),
            Part("decode", "decode", otherwise=_AFTER_FIRST_TOKEN),
        ),
        on_cpu=(
            Part("inter-token", "itl"),
            Part("preprocessing", "ttft", ("queue", "prefill"), REMAINDER_NOISE_SECONDS),
        ),
        names=_named(prefix, **_VLLM_NAMES),
    )


SGLANG = Family(
    engine="sglang",
    paged_kv=True,
    continuous=True,
    timings=_histograms(
        "sglang:",
        ttft="time_to_first_token_seconds",
        itl="inter_token_latency_seconds time_per_output_token_seconds",
        e2e="e2e_request_latency_seconds",
        queue="queue_time_seconds",
    ),
    stages=(
        Part("queue", "queue"),
        Part("preprocessing and prefill", "ttft", ("queue",), REMAINDER_NOISE_SECONDS),
        _AFTER_FIRST_TOKEN,
    ),
    on_cpu=(Part("inter-token", "itl"),),
    names=_named(
        "sglang:",
        running="num_running_reqs",
        waiting="num_queue_reqs",
        finished="num_requests_total e2e_request_latency_seconds_count",
        prompt="prompt_tokens_total",
        generated="generation_tokens_total",
        prompt_length="prompt_tokens_histogram",
        computed_length="uncached_prompt_tokens_histogram",
        output_length="generation_tokens_histogram",
        kv_usage="token_usage",
        preempted="num_retracted_requests_total",
        preempting="num_retracted_reqs",
        pool="max_total_num_tokens",
    ),
)
"""TTFT and end to end are those of streamed and other requests together."""

TGI = Family(
    engine="tgi",
    paged_kv=True,
    continuous=True,
    timings=_histograms(
        "tgi_",
        pace="request_mean_time_per_token_duration",
        e2e="request_duration",
        queue="request_queue_duration",
        validation="request_validation_duration",
        inference="request_inference_duration",
    ),
    stages=(
        Part("preprocessing", "validation"),
        Part("queue", "queue"),
        Part("inference", "inference"),
    ),
    on_cpu=(Part("per token", "pace"), Part("preprocessing", "validation")),
    names=_named(
        "tgi_",
        running="batch_current_size",
        waiting="queue_size",
        finished="request_success",
        arrived="request_count",
        failed="request_failure",
        prompt_length="request_input_length",
        output_length="request_generated_tokens",
    ),
)
"""It has no TTFT, no KV occupancy and no preemption series; its time per token includes prefill."""


def _microseconds(name: str) -> tuple[Timing, ...]:
    return (Timing(f"nv_inference_{name}_us", "nv_inference_request_success", unit=MICROSECOND),)


_COMPUTE = ("queue", "input", "inference", "output")
TRITON = Family(
    engine="triton",
    paged_kv=None,
    by_model=True,
    timings={
        "ttft": (histogram("nv_inference_first_response_histogram_ms", MILLISECOND),),
        "e2e": _microseconds("request_duration"),
        "queue": _microseconds("queue_duration"),
        "input": _microseconds("compute_input_duration"),
        "inference": _microseconds("compute_infer_duration"),
        "output": _microseconds("compute_output_duration"),
    },
    stages=(*(Part(kind, kind) for kind in _COMPUTE), Part("server", "e2e", _COMPUTE)),
    on_cpu=(
        Part("input", "input", noise_seconds=COPY_NOISE_SECONDS),
        Part("output", "output", noise_seconds=COPY_NOISE_SECONDS),
        Part("server", "e2e", _COMPUTE, COPY_NOISE_SECONDS),
    ),
    names={
        "waiting": ("nv_inference_pending_request_count",),
        "finished": ("nv_inference_request_success",),
        "failed": ("nv_inference_request_failure",),
        "inferences": ("nv_inference_count",),
        "executions": ("nv_inference_exec_count",),
    },
    executing=tuple(Part(kind, kind) for kind in _COMPUTE[1:]),
)
"""Counters in microseconds per model: means only, unless histograms were switched on."""


def _torchserve(name: str) -> tuple[Timing, ...]:
    return (Timing(f"ts_{name}_microseconds", "ts_inference_requests_total", unit=MICROSECOND),)


_HANDLER = Part("handler", "e2e", ("queue",))
TORCHSERVE = Family(
    engine="torchserve",
    by_model=True,
    model_label="model_name",
    continuous=False,
    timings={"e2e": _torchserve("inference_latency"), "queue": _torchserve("queue_latency")},
    stages=(Part("queue", "queue"), _HANDLER),
    on_cpu=(_HANDLER,),
    names={"finished": ("ts_inference_requests_total",)},
    executing=(_HANDLER,),
)
"""Cumulative microseconds of whole requests and of their waits; it counts no batches."""


def _tensorflow(name: str) -> tuple[Timing, ...]:
    return (histogram(f":tensorflow:serving:{name}", MICROSECOND),)


_RUN = Part("inference", "runtime", ("queue",))
_HTTP_SERVER = Part("server", "e2e", ("runtime",), COPY_NOISE_SECONDS)
TF_SERVING = Family(
    engine="tf-serving",
    continuous=False,
    timings={
        "e2e": _tensorflow("request_latency"),
        "runtime": _tensorflow("runtime_latency"),
        "queue": _tensorflow("batching_session:queuing_latency"),
    },
    stages=(Part("queue", "queue"), _RUN, _HTTP_SERVER),
    on_cpu=(_HTTP_SERVER,),
    names={
        "inferences": (":tensorflow:serving:batching_session:queuing_latency_count",),
        "executions": (":tensorflow:serving:batching_session:wrapped_run_count",),
    },
    executing=(_RUN,),
)
"""Its waits carry no model: all models of a process together. It batches only when told to."""

HTTP = Family(
    engine="http",
    timings=_histograms(
        "", handling="http_request_duration_seconds http_server_request_duration_seconds"
    ),
    stages=(Part("handling", "handling"),),
    on_cpu=(Part("handling", "handling"),),
)

RAY_PREFIX = "ray_vllm_"
TRITON_KV = "nv_trt_llm_kv_cache_block_metrics"
"""What Triton counts where its backend holds a paged KV cache (TensorRT-LLM)."""

FRONTEND = ("http_requests_total",)
"""What a server's HTTP frontend counts, whatever engine stands behind it."""
