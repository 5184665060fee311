"""A runbook of YAML alone can reach what a shipped one can: its onset is seen, and counts."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tailhound.diagnosis.diagnose import Case, Circumstances, diagnose
from tailhound.diagnosis.plan import plan
from tailhound.diagnosis.resolve import Resolved
from tailhound.durable.gather import Ask, gather
from tailhound.flow import Request, Turn
from tailhound.model import Confidence, Diagnosis, Evidence, Verdict
from tailhound.model.facts import Sample
from tailhound.requests import Labelled, Query, Ranged, RangeQuery
from tailhound.requests.argv import SHIPPED
from tailhound.rules import load_runbooks
from tailhound.rules.loading import Site
from tests.driving import EMPTY
from tests.unit.diagnosis.test_symptom import evidence, latency

PAGE = Path(__file__).parents[3] / "docs" / "authors" / "index.md"
(TEXT,) = re.findall(r"^```yaml\n(runbook:.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
NOW = datetime.fromtimestamp(1_000_000, UTC)
ROSE = NOW - timedelta(minutes=9)
QUIET, BUSY = 0.02, 3.0


class Waiting:
    """Prometheus, where requests have waited since `ROSE`, and whose history may be too young."""

    handles: tuple[type[Request[Any]], ...] = (Query, RangeQuery)

    def __init__(self, *, history: bool) -> None:
        self._history = history

    async def ask(self, request: Any, turn: Turn) -> Any:
        assert turn.as_of == NOW
        past = request.ago if isinstance(request, Query) else request.end_ago
        if past and not self._history:
            return EMPTY
        if isinstance(request, Query):
            waiting = "num_requests_waiting" in request.promql
            now, usual = (41.0, 0.0) if waiting else (BUSY, QUIET)
            return (Labelled((), usual if past else now),)
        start, end = NOW.timestamp() - request.start_ago, NOW.timestamp() - request.end_ago
        times = [start + 15 * at for at in range(int((end - start) / 15) + 1)]
        return (
            Ranged((), tuple(Sample(t, BUSY if t >= ROSE.timestamp() else QUIET) for t in times)),
        )

    def close(self) -> None:
        """Nothing is open."""


async def _diagnosed(*, history: bool) -> Diagnosis:
    (runbook,) = load_runbooks({"queue-wait.yaml": TEXT}, {}, SHIPPED)
    resolved = Resolved(namespace="prod", pods=("llm-0",), pods_count=1)
    made = plan([runbook], resolved, [])
    turn = Turn(asyncio.get_running_loop().time() + 10, NOW)
    asks = [Ask(item.name, item.collector, item.params) for item in made.first]
    found: tuple[Evidence, ...] = await gather(asks, (Waiting(history=history),), turn)
    return diagnose(
        Case(runbooks=(runbook,), plan=made, resolved=resolved, site=Site()),
        (*found, *evidence([latency("ttft", "first token", 1, 1, 1, 9, 9, 9, 9)])),
        Circumstances(decided_at=NOW, at_deadline=False, took_seconds=1.0, mode="observe"),
    )


def test_the_documented_runbook_is_confirmed_with_high_confidence_and_its_onset() -> None:
    cause = asyncio.run(_diagnosed(history=True)).cause("queue-wait")
    assert cause.verdict is Verdict.CONFIRMED
    assert cause.onset == ROSE
    assert (cause.confidence, cause.confidence_because) == (Confidence.HIGH, "")


def test_a_history_that_is_too_young_gives_no_onset_and_no_verdict() -> None:
    cause = asyncio.run(_diagnosed(history=False)).cause("queue-wait")
    assert cause.onset is None
    assert cause.verdict is Verdict.UNKNOWN


def test_when_every_usual_moment_lies_in_an_earlier_incident_none_is_asked_about() -> None:
    (runbook,) = load_runbooks({"queue-wait.yaml": TEXT}, {}, SHIPPED)
    resolved = Resolved(namespace="prod", pods=("llm-0",), usual=())
    (planned,) = plan([runbook], resolved, []).first
    assert planned.params.usual == ()
