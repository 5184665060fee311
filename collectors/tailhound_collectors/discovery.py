"""Which series a server has: found by asking for them, never by a version."""

from dataclasses import dataclass, replace

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.requests import Query
from tailhound.requests.prometheus import matchers, quoted
from tailhound_collectors.families import (
    FRONTEND,
    HTTP,
    RAY_PREFIX,
    SGLANG,
    TF_SERVING,
    TGI,
    TORCHSERVE,
    TRITON,
    TRITON_KV,
    Family,
    vllm,
)
from tailhound_collectors.reading import WINDOW, by


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The family of a workload, its matchers, and the series that exist. `model` is the one that
    is looked at where one process serves several.
    """

    family: Family
    here: str
    model: str = ""
    exist: frozenset[str] = frozenset()

    @property
    def paged_kv(self) -> bool:
        """Whether the server holds a paged KV cache."""
        own = self.family.paged_kv
        return TRITON_KV in self.exist if own is None else own


def find(namespace: str, pods: tuple[str, ...], prefix: str = "") -> Reading[Found | None]:
    """The first family of which a series exists for these pods; None when none does."""
    engines = (vllm(prefix or "vllm:"), vllm(RAY_PREFIX), SGLANG, TGI)
    families = (*engines, TRITON, TORCHSERVE, TF_SERVING, HTTP)
    wanted = sorted({name for family in families for name in _telling(family)})
    wanted += [TRITON_KV, *FRONTEND]
    labels = matchers(f"__name__=~{quoted('|'.join(wanted))}", namespace=namespace, pod=pods)
    reply = (yield from together([Query(promql=f"count by (__name__) ({labels})")]))[0]
    exist = frozenset(name for (name,) in by(reply, "__name__"))
    family = next((one for one in families if exist & _telling(one)), None)
    if family is None:
        return None
    found = Found(family=family, here=matchers(namespace=namespace, pod=pods), exist=exist)
    if not family.by_model:
        return found
    model = yield from _slowest_model(found)
    if not model:
        return found
    here = matchers(**{"namespace": namespace, "pod": pods, family.model_label: model})
    return replace(found, here=here, model=model)


def _telling(family: Family) -> frozenset[str]:
    """The series that tell a family from others."""
    counts = {timing.count for timings in family.timings.values() for timing in timings}
    return frozenset(counts | set(family.of("running")) | set(family.of("kv_usage")))


USUAL_DAY = 86400.0


def _slowest_model(found: Found) -> Reading[str]:
    """The model that takes most more time than a day ago, else most time.

    An ensemble has no execution of its own: its time is that of its steps, so it is left out.
    """
    label, timings = found.family.model_label, found.family.timings

    def added(name: str) -> str:
        return f"sum by ({label}) (rate({name}{found.here}[{WINDOW}]))"

    total, count = added(timings["e2e"][0].total), added(timings["e2e"][0].count)
    own = f" and ({added(timings['inference'][0].total)} > 0)" if "inference" in timings else ""
    asked = [
        Query(promql=f"({total}){own}"),
        Query(promql=count),
        Query(promql=f"({total}) / ({count})", ago=USUAL_DAY),
    ]
    replies = yield from together(asked)
    if isinstance(replies[0], Missing):
        return ""
    now, counts, before = (by(reply, label) for reply in replies)

    def lost(model: tuple[str, ...]) -> tuple[float, float]:
        usual = before[model] * counts.get(model, 0.0) if model in before else now[model]
        return now[model] - usual, now[model]

    return max(now, key=lost)[0]
