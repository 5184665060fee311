"""How long requests are: prompts, outputs, and the tokens that were really computed."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailhound.flow import Reading
from tailhound.model.facts import Series, fact
from tailhound_collectors.discovery import find
from tailhound_collectors.engine import EngineParams
from tailhound_collectors.families import Family
from tailhound_collectors.reading import (
    ONSET_WINDOW,
    WINDOW,
    history,
    ratio,
    side_by_side,
    summed,
    usually,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Lengths in tokens, of requests that finished in the last minutes.

    `computed_mean_tokens` are the prompt tokens of a request that no cache held.
    `prefill_seconds_per_token` is the prefill time of a computed token: flat while longer prompts
    alone make prefill longer, and meaningless while requests are preempted in the middle of it.
    """

    requests_count: float | None = None
    prompt_p50_tokens: float | None = None
    prompt_p50_tokens_usual: float | None = None
    prompt_p50_ratio: float | None = fact("times")
    prompt_p95_tokens: float | None = None
    prompt_p95_tokens_usual: float | None = None
    prompt_p95_ratio: float | None = fact("times")
    output_p95_tokens: float | None = None
    output_p95_tokens_usual: float | None = None
    output_p95_ratio: float | None = fact("times")
    computed_mean_tokens: float | None = None
    computed_mean_tokens_usual: float | None = None
    computed_ratio: float | None = fact("times")
    prefill_seconds_per_token: float | None = fact("seconds")
    prefill_seconds_per_token_usual: float | None = fact("seconds")
    prefill_pace_ratio: float | None = fact("times")
    prompt_tokens_per_second: float | None = None
    prompt_tokens_per_second_usual: float | None = None
    prompt_rate_ratio: float | None = fact("times")
    prompt_p95_tokens_series: Series | None = None
    prompt_p95_tokens_usual_series: Series | None = None


class LengthsCollector:
    """`prometheus.lengths`: how long prompts and outputs are, against their usual lengths."""

    name = "prometheus.lengths"
    params = EngineParams
    facts = Lengths

    def collect(self, params: EngineParams) -> Reading[Lengths]:
        """Find the family, then ask for everything at once."""
        found = yield from find(params.namespace, params.pods, params.metric_prefix)
        if found is None:
            return Lengths()
        family, here = found.family, found.here
        values = yield from side_by_side(
            usually(promql, params.usual) for promql in _questions(family, here)
        )
        series, usual_series = yield from history(
            _quantile(0.95, family.of("prompt_length"), here, ONSET_WINDOW), params.usual
        )
        p50, p95, output, computed, pace, rate, count = values
        return Lengths(
            requests_count=count[0],
            prompt_p50_tokens=p50[0],
            prompt_p50_tokens_usual=p50[1],
            prompt_p50_ratio=ratio(*p50),
            prompt_p95_tokens=p95[0],
            prompt_p95_tokens_usual=p95[1],
            prompt_p95_ratio=ratio(*p95),
            output_p95_tokens=output[0],
            output_p95_tokens_usual=output[1],
            output_p95_ratio=ratio(*output),
            computed_mean_tokens=computed[0],
            computed_mean_tokens_usual=computed[1],
            computed_ratio=ratio(*computed),
            prefill_seconds_per_token=pace[0],
            prefill_seconds_per_token_usual=pace[1],
            prefill_pace_ratio=ratio(*pace),
            prompt_tokens_per_second=rate[0],
            prompt_tokens_per_second_usual=rate[1],
            prompt_rate_ratio=ratio(*rate),
            prompt_p95_tokens_series=series,
            prompt_p95_tokens_usual_series=usual_series,
        )


def _questions(family: Family, here: str) -> tuple[str, ...]:
    """Lengths of prompts and outputs, what of the prompts is computed and how fast, how many."""
    return (
        _quantile(0.5, family.of("prompt_length"), here, WINDOW),
        _quantile(0.95, family.of("prompt_length"), here, WINDOW),
        _quantile(0.95, family.of("output_length"), here, WINDOW),
        mean_of(family.of("computed_length"), here),
        _pace(family, here),
        summed(family.of("prompt"), here, window=WINDOW),
        " or ".join(
            f"sum (increase({name}_count{here}[{WINDOW}]))" for name in family.of("prompt_length")
        ),
    )


def _quantile(q: float, names: Sequence[str], here: str, window: str) -> str:
    return " or ".join(
        f"histogram_quantile({q:g}, sum by (le) (rate({name}_bucket{here}[{window}])))"
        for name in names
    )


def mean_of(names: Sequence[str], here: str) -> str:
    """The mean length of the requests that finished in the window; "" without such a series."""
    return " or ".join(
        f"(sum (rate({name}_sum{here}[{WINDOW}])) / sum (rate({name}_count{here}[{WINDOW}])))"
        for name in names
    )


def _pace(family: Family, here: str) -> str:
    """Prefill seconds of a computed token: both are recorded when the request ends."""
    timings, names = family.timings.get("prefill", ()), family.of("computed_length")
    return " or ".join(
        f"(sum (rate({timing.total}{here}[{WINDOW}])) / sum (rate({name}_sum{here}[{WINDOW}])))"
        for timing in timings
        for name in names
    )
