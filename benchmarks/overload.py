"""What the bot asks of a real API server that is saturated, beside what it asks of a quiet one.

Priority and fairness rejects nearly every read of the bot with 429 and asks it to wait, as a server
in trouble does. The first incident finds that out; what the later ones ask is about the server
itself, and now and then one question whether it answers again. The requests are those that the bot
itself counts in /metrics.
"""

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.load import PATH
from benchmarks.processes import BenchmarkFailed
from benchmarks.rows import Row
from benchmarks.site import Site, fetched, site
from benchmarks.sizes import Sizes
from tests.lab import scenario
from tests.lab.kube import binaries
from tests.lab.kube.overload import overloaded
from tests.lab.kube.real import RealApiServer
from tests.lab.lab import Lab

SCENARIO = Path(__file__).parents[1] / "tests" / "scenarios" / "cold-start-rollout-slow"
_METRIC = "tailhound_backend_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was sent to the API server for some incidents, in all and a second at most; how often
    the slots were halved meanwhile, and how many questions were kept back.
    """

    requests: float
    per_second: float
    slowed: float
    spared: float


def run(sizes: Sizes) -> Iterator[Row]:
    """Requests an incident and a second; needs a kube-apiserver at hand."""
    calm, busy = _measured(sizes.overloaded)
    how = (
        f"{sizes.overloaded} incidents ({SCENARIO.name}) one after the other, a real API server "
        "that answers 429 to nearly every read; counted by the bot's own /metrics; probe: the same "
        "incidents while it is quiet"
    )
    for name, value, probe in (
        ("requests an incident", busy.requests, calm.requests),
        ("requests a second", busy.per_second, calm.per_second),
    ):
        yield Row(
            benchmark="overload",
            name=name,
            value=value,
            unit="requests",
            probe=probe,
            better="less",
            how=how,
            details={
                "slowed": busy.slowed,
                "slowed_while_quiet": calm.slowed,
                "spared": busy.spared,
                "spared_while_quiet": calm.spared,
            },
        )


def _measured(incidents: int) -> tuple[Asked, Asked]:
    found = binaries.at_hand()
    if found is None:
        raise BenchmarkFailed("there is no kube-apiserver at hand (docs/developers/lab.md)")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="tailhound-benchmark-")))
        api = RealApiServer(found, folder / "api")
        stack.callback(api.stop)
        lab = stack.enter_context(Lab(scenario.load(SCENARIO), apiserver=api))
        made = stack.enter_context(site())
        made.configure(**lab.settings)
        address = stack.enter_context(made.tailhound()).address()
        told = json.loads(lab.body)
        calm = _asked(made, address, told, range(incidents))
        with overloaded(api.plane):
            busy = _asked(made, address, told, range(incidents, 2 * incidents))
    return calm, busy


def _asked(made: Site, address: str, told: dict[str, object], numbers: range) -> Asked:
    """Each incident is of another cluster, so that none joins another."""
    before, begun = _counted(address), time.monotonic()
    for number in numbers:
        body = json.dumps(told).replace('"namespace":', f'"cluster": "c{number}", "namespace":')
        fetched(f"{address}{PATH}", body.encode())
        made.wait_for_verdicts(number + 1, 60)
    seconds, after = time.monotonic() - begun, _counted(address)
    requests = after["requests_total"] - before["requests_total"]
    return Asked(
        requests=requests / len(numbers),
        per_second=requests / seconds,
        slowed=after["slowed_total"] - before["slowed_total"],
        spared=after["spared_total"] - before["spared_total"],
    )


def _counted(address: str) -> dict[str, float]:
    """The bot's own counters about the API server."""
    with urllib.request.urlopen(f"{address}/metrics", timeout=10) as answer:  # noqa: S310 - ours
        text = answer.read().decode()
    return {
        sample.name.removeprefix(_METRIC): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith(_METRIC) and sample.labels["backend"] == "kubernetes"
    }
