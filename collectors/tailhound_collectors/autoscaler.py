"""What the autoscaler of a workload asked for: as far as a cold start needs to know."""

from dataclasses import dataclass
from itertools import pairwise

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.requests import Query, RangeQuery, Ranges, Vector
from tailhound.requests.prometheus import matchers, quoted
from tailhound_collectors.reading import HISTORY_SECONDS, STEP_SECONDS, counted, number
from tailhound_collectors.workload_names import WorkloadParams, workload_regex


@dataclass(frozen=True, slots=True, kw_only=True)
class Autoscaler:
    """The HorizontalPodAutoscaler of the workload (KEDA makes one, too).

    `asked_count` is by how many replicas it raised its wish within the incident, all rises
    together. `at_maximum` = it wants as many as it may ask for.
    """

    exists: bool | None = None
    desired_count: int | None = None
    maximum_count: int | None = None
    at_maximum: bool | None = None
    asked_count: int | None = None


class AutoscalerCollector:
    """`prometheus.autoscaler`: what the HPA of a workload wants."""

    name = "prometheus.autoscaler"
    params = WorkloadParams
    facts = Autoscaler

    def collect(self, params: WorkloadParams) -> Reading[Autoscaler]:
        """Its wish over the incident and its maximum, found by its target, else by its name."""
        desired, maximum = (
            _of("kube_horizontalpodautoscaler_status_desired_replicas", params),
            _of("kube_horizontalpodautoscaler_spec_max_replicas", params),
        )
        wishes: tuple[Ranges | Missing, ...] = yield from together(
            [RangeQuery(promql=desired, start_ago=HISTORY_SECONDS, step=STEP_SECONDS)]
        )
        now: tuple[Vector | Missing, ...] = yield from together(
            [Query(promql=desired), Query(promql=maximum)]
        )
        wanted, most = number(now[0]), number(now[1])
        return Autoscaler(
            exists=counted(now[0]),
            desired_count=None if wanted is None else round(wanted),
            maximum_count=None if most is None else round(most),
            at_maximum=None if wanted is None or most is None else wanted >= most,
            asked_count=_asked(wishes[0]),
        )


def _of(name: str, params: WorkloadParams) -> str:
    """A series of the workload's autoscaler; the target is an info label where it is exported."""
    names = workload_regex(params) or "^$none"
    here = matchers(namespace=params.namespace)
    target = matchers(f"scaletargetref_name=~{quoted(names)}", namespace=params.namespace)
    named = matchers(
        f"horizontalpodautoscaler=~{quoted(f'(keda-hpa-)?({names})')}", namespace=params.namespace
    )
    by_target = (
        f"max ({name}{here} and on (namespace, horizontalpodautoscaler)"
        f" kube_horizontalpodautoscaler_info{target})"
    )
    return f"{by_target} or max ({name}{named})"


def _asked(reply: Ranges | Missing) -> int | None:
    if isinstance(reply, Missing) or len(reply) != 1:
        return None
    values = [sample.value for sample in reply[0].samples]
    return round(sum(max(now - before, 0.0) for before, now in pairwise(values)))
