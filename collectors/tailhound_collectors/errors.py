"""Error and rejection share: read beside latency, for shedding load makes latency look better."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tailhound.flow import Reading
from tailhound.model.facts import Series
from tailhound_collectors.discovery import Found
from tailhound_collectors.edges import edges_of
from tailhound_collectors.families import FRONTEND
from tailhound_collectors.reading import (
    ONSET_WINDOW,
    WINDOW,
    history,
    now_of,
    side_by_side,
    usual_of,
    usually,
)

NOISE_RATIO = 0.01
"""A share that grew by less than one request in a hundred is no symptom: our own default."""

FAILED = "5.*|429"
"""Server errors and rejections; "5xx" is how a frontend that groups statuses writes them."""

PROBES = "/health.*|/metrics.*|/live.*|/ready.*|/ping|/version"
"""Paths that no user asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """The share of requests that failed, as one place counts it. `source` says who counted."""

    source: str
    ratio: float | None = None
    usual_ratio: float | None = None
    series: Series | None = None
    usual_series: Series | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A share of failed requests: `bad` and `whole` are selectors that are added up."""

    source: str
    bad: tuple[str, ...]
    whole: tuple[str, ...]

    def promql(self, window: str) -> str:
        """The share. No failed request yet is a share of 0; no request at all is no answer."""
        bad = " + ".join(f"(sum (rate({one}[{window}])) or vector(0))" for one in self.bad)
        first, *rest = self.whole
        whole = " + ".join(
            [
                f"sum (rate({first}[{window}]))",
                *(f"(sum (rate({one}[{window}])) or vector(0))" for one in rest),
            ]
        )
        return f"({bad}) / ({whole})"


def error_rows(
    found: Found | None, namespace: str, workload: str, usual: Sequence[float]
) -> Reading[tuple[ErrorRow, ...]]:
    """The share of each place that counts failures, worst first."""
    own = [*_engine(found), *_frontend(found)] if found else []
    shares = [*own, *_edges(namespace, workload)]
    rows = yield from side_by_side(_row(share, usual) for share in shares)
    known = [row for row in rows if row.ratio is not None]
    return tuple(sorted(known, key=lambda row: -(row.ratio or 0.0)))


def aborted(
    found: Found | None, usual: Sequence[float]
) -> Reading[tuple[float | None, float | None]]:
    """The share of requests that clients gave up, now and usually: no failure by itself."""
    share = _aborted(found) if found else None
    if share is None:
        return None, None
    return (yield from usually(share.promql(WINDOW), usual))


def _row(share: Share, usual: Sequence[float]) -> Reading[ErrorRow]:
    """Now and usually, where it is counted at all; the history only where the share grew."""
    now = yield from now_of(share.promql(WINDOW))
    if now is None:
        return ErrorRow(source=share.source)
    before = yield from usual_of(share.promql(WINDOW), usual)
    row = ErrorRow(source=share.source, ratio=now, usual_ratio=before)
    if now - (before or 0.0) < NOISE_RATIO:
        return row
    series, usual_series = yield from history(share.promql(ONSET_WINDOW), usual)
    return replace(row, series=series, usual_series=usual_series)


def _with(selector: str, more: str) -> str:
    """A `name{...}` selector with one more matcher."""
    return f"{selector[:-1]},{more}}}"


def _engine(found: Found) -> Iterable[Share]:
    family, here = found.family, found.here
    finished = [name + here for name in family.of("finished")[:1]]
    if family.engine == "vllm":
        rejected = [name + here for name in family.of("rejected")]
        failed = [_with(one, 'finished_reason="error"') for one in finished]
        yield Share("the engine", (*failed, *rejected), (*finished, *rejected))
    elif family.of("failed"):
        failed = [name + here for name in family.of("failed")]
        bad = [_with(one, 'reason!="CANCELED"') for one in failed]
        yield Share("the engine", tuple(bad), (*finished, *failed))


def _aborted(found: Found) -> Share | None:
    family, here = found.family, found.here
    finished = [name + here for name in family.of("finished")[:1]]
    if family.engine == "vllm":
        bad = [_with(one, 'finished_reason="abort"') for one in finished]
        return Share("clients", tuple(bad), tuple(finished))
    if family.engine == "sglang":
        return Share("clients", (f"sglang:num_aborted_requests_total{here}",), tuple(finished))
    return None


def _frontend(found: Found) -> Iterable[Share]:
    """The server's own HTTP frontend; the label that holds the status differs."""
    for name in FRONTEND:
        if name not in found.exist:
            continue
        for label in ("status", "code", "status_code"):
            asked = _with(f"{name}{found.here}", f'{label}!="",handler!~"{PROBES}"')
            yield Share("its HTTP frontend", (_with(asked, f'{label}=~"{FAILED}"'),), (asked,))


def _edges(namespace: str, workload: str) -> Iterable[Share]:
    """The ingress and the mesh in front."""
    for edge in edges_of(namespace, workload):
        asked = edge.requests + edge.here
        yield Share(edge.source, (_with(asked, f'{edge.status}=~"{FAILED}"'),), (asked,))
