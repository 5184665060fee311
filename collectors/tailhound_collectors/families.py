"""Which latency histograms a server has: found by asking for series, never by a version."""

from dataclasses import dataclass, replace

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.requests import Query


@dataclass(frozen=True, slots=True)
class Family:
    """The histograms of one kind of server. Names of one kind are spellings, newest first."""

    engine: str
    ttft: tuple[str, ...] = ()
    itl: tuple[str, ...] = ()
    e2e: tuple[str, ...] = ()
    queue: tuple[str, ...] = ()
    prefill: tuple[str, ...] = ()
    decode: tuple[str, ...] = ()
    handling: tuple[str, ...] = ()


VLLM = Family(
    engine="vllm",
    ttft=("time_to_first_token_seconds",),
    itl=("inter_token_latency_seconds", "time_per_output_token_seconds"),
    e2e=("e2e_request_latency_seconds",),
    queue=("request_queue_time_seconds",),
    prefill=("request_prefill_time_seconds",),
    decode=("request_decode_time_seconds",),
)
HTTP = Family(
    engine="http",
    handling=("http_request_duration_seconds", "http_server_request_duration_seconds"),
)


def family_of(here: str, prefix: str) -> Reading[Family | None]:
    """The first family of which a series exists for these pods."""
    families = (_prefixed(VLLM, prefix), HTTP)
    probes = [
        Query(promql=" or ".join(f"count({name}_count{here})" for name in _first_names(family)))
        for family in families
    ]
    replies = yield from together(probes)
    for family, reply in zip(families, replies, strict=True):
        if not isinstance(reply, Missing):
            return family
    return None


def _first_names(family: Family) -> tuple[str, ...]:
    return family.ttft + family.itl + family.handling


def _prefixed(family: Family, prefix: str) -> Family:
    """The family under the site's prefix."""

    def spelled(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(prefix + name for name in names)

    return replace(
        family,
        ttft=spelled(family.ttft),
        itl=spelled(family.itl),
        e2e=spelled(family.e2e),
        queue=spelled(family.queue),
        prefill=spelled(family.prefill),
        decode=spelled(family.decode),
    )
