"""What a runbook's evidence asks, word for word, of a workload with stand-in names.

Each collector is driven with "there is no such thing" as the answer to everything, so only the
questions that do not depend on an earlier answer are told; what follows from answers stands on the
page of an incident.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailhound.diagnosis.plan import Planned, plan
from tailhound.diagnosis.resolved import Resolved
from tailhound.errors import Refused
from tailhound.flow import Reading, Request, Together
from tailhound.model import Asked, Missing, Reason
from tailhound.rules.runbook import Runbook

AT_MOST = 40
"""Questions of one evidence that are looked for."""
_EARLIER = re.compile(r"  # \d+(\.\d+)?(e\+\d+)? s ago$")
NOBODY = Missing(Reason.EMPTY, "nobody was asked")
SAMPLE = Resolved(
    namespace="my-namespace",
    workload="my-workload",
    workload_kind="Deployment",
    model_name="my-model",
    pod="my-pod",
    pods=("my-pod",),
    pods_count=1,
    container="my-container",
    node="my-node",
    nodes=("my-node",),
    nodes_count=1,
    pod_nodes=(("my-pod", "my-node"),),
    selector="app=my-workload",
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question as people would repeat it, and who is asked."""

    backend: str
    text: str


def questions(runbook: Runbook) -> Mapping[str, tuple[Question, ...]]:
    """The first questions of each evidence, by the runbook's name for it."""
    labels = {
        item.from_label: f"my-{item.from_label.replace('_', '-')}"
        for item in runbook.inputs.values()
        if item.from_label and item.default is None
    }
    found = plan((runbook,), replace(SAMPLE, labels=labels), ())
    told = {item.name: distinct(_asked(item)) for item in found.evidence}
    return {alias: told[name] for (_, alias), name in found.names.items()}


def asked_of(found: Iterable[Asked]) -> tuple[Question, ...]:
    """Questions that were really asked, each once."""
    return distinct(Question(one.backend, one.question) for one in found if one.question)


def distinct(found: Iterable[Question]) -> tuple[Question, ...]:
    """Each question once: what is asked again about an earlier time is the same question."""
    plain = (Question(one.backend, _EARLIER.sub("", one.text)) for one in found)
    return tuple(dict.fromkeys(plain))


def _asked(item: Planned) -> Sequence[Question]:
    if item.params is None:
        return ()
    found: dict[Question, None] = {}
    flow: Reading[Any] = item.collector.collect(item.params)
    try:
        request = next(flow)
        while len(found) < AT_MOST:
            for one in _each(request):
                found[Question(one.backend.partition(" ")[0], one.shown)] = None
            request = flow.send(_answer(request))
    except (StopIteration, Refused):
        pass  # the flow has ended, or asks about a name that nothing is called
    finally:
        flow.close()
    return tuple(found)


def _each(request: Request[Any]) -> Sequence[Request[Any]]:
    return request.requests if isinstance(request, Together) else (request,)


def _answer(request: Request[Any]) -> Any:
    return (NOBODY,) * len(request.requests) if isinstance(request, Together) else NOBODY
