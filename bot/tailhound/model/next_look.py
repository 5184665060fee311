"""Where to look next while no cause is confirmed: one line, made of what was measured. Pure.

It names no suspect. Each rule speaks only where the evidence says so, and stays silent where
something that it rests on was not measured. Texts and commands are not escaped.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tailhound.model import candidates
from tailhound.model.by_hand import by_hand, is_asked
from tailhound.model.evidence import FactValue, facts_of
from tailhound.model.facts import number_of
from tailhound.model.gaps import next_gap
from tailhound.model.incident import Incident
from tailhound.model.names import KUBERNETES_NAME, plural
from tailhound.model.neighbours import capacity
from tailhound.model.stages import as_fast_as_usual, slow_stages, unexplained, what
from tailhound.model.symptomless import LATENCY, symptomless
from tailhound.model.unanswered import hosts_down
from tailhound.model.unusual import unusual
from tailhound.model.verdict import Cause, Diagnosis, Look, Outlook, Verdict

_REPLICAS, _ROLLOUT = "prometheus.replicas", "kubernetes.rollout"
_SCALER, _SUBJECT = "prometheus.autoscaler", "tailhound.subject"
_AGENTS = "prometheus.node_agents"

_EDGES: Final = ("the ingress", "the mesh")
"""Who counts failed requests in front of the pods."""


def next_look(incident: Incident) -> Look | None:
    """The first thing to look at; None where nothing that was measured says one."""
    diagnosis = incident.diagnosis
    if diagnosis is None or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return None
    seen = _Seen(diagnosis, incident.subject.namespace, incident.subject.node)
    found = next((look for rule in _RULES if (look := rule(seen)) is not None), None)
    return _up_first(found, diagnosis) if found else None


def _up_first(look: Look, diagnosis: Diagnosis) -> Look:
    """The host first, where what is to be looked at is on one that does not answer."""
    words = set(re.findall(r"[\w.-]+", f"{look.measured} {look.at} {look.then}"))
    silent = (name for name in hosts_down(diagnosis.evidence) if name in words)
    host = next(silent, "")
    if not host:
        return look
    command = _describe_node(host)
    then = f"whether {host} is up, for it does not answer SSH; then {look.command or look.at}"
    return Look.beside(command, look.measured, then)


def _describe_node(node: str) -> str:
    """The command; "" for what is no plain name."""
    known = KUBERNETES_NAME.fullmatch(node) is not None
    return shlex.join(("kubectl", "describe", "node", node)) if known else ""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the rules look at."""

    diagnosis: Diagnosis
    namespace: str
    node: str = ""

    def facts(self, collector: str) -> Mapping[str, FactValue]:
        """The facts of a collector that answered; none where it did not."""
        return facts_of(collector, self.diagnosis.evidence)

    def amount(self, collector: str, fact: str) -> float | None:
        """One fact as a number; None where it is not known."""
        return number_of(self.facts(collector).get(fact))

    def kubectl(self, *words: str) -> str:
        """A command in the namespace; "" where a name in it is no plain name."""
        named = all(KUBERNETES_NAME.fullmatch(word) for word in (self.namespace, words[-1]))
        return shlex.join(("kubectl", "-n", self.namespace, *words)) if named else ""

    @property
    def unready(self) -> Iterator[str]:
        """The pods that run and are not ready: what starts, fails or is taken away tells itself."""
        pods = self.facts(_ROLLOUT).get("pods")
        for pod in pods if isinstance(pods, tuple | list) else ():
            if not isinstance(pod, Mapping) or pod.get("ready") is not False:
                continue
            if not any(pod.get(why) for why in ("starting", "disrupted")):
                yield str(pod.get("pod", ""))


def _not_ready(seen: _Seen) -> Look | None:
    """Pods that are not ready: by name where Kubernetes told, else as replicas that are missing."""
    unready = list(seen.unready)
    total = seen.amount(_ROLLOUT, "pods_count")
    if unready and total:
        are = "are" if len(unready) > 1 else "is"
        text = f"{len(unready)} of {plural(round(total), 'pod')} {are} not ready{_unasked(seen)}"
        return Look(text, "why they are not", seen.kubectl("describe", "pod", unready[0]))
    short, wanted = (
        seen.amount(_REPLICAS, "missing_count"),
        seen.amount(_REPLICAS, "desired_count"),
    )
    if seen.facts(_ROLLOUT) or not short or not wanted:
        return None
    are = "are" if short > 1 else "is"
    text = f"{round(short)} of {plural(round(wanted), 'replica')} {are} not in service"
    return Look(f"{text}{_unasked(seen)}", "why they are not", seen.kubectl("get", "pods"))


def _stuck(seen: _Seen) -> Look | None:
    """Containers that the alert's node can't create."""
    count = seen.amount(_AGENTS, "stuck_pods_count")
    if not count or not seen.node:
        return None
    which = f"spec.nodeName={seen.node}"
    words = ("kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector", which)
    command = shlex.join(words) if KUBERNETES_NAME.fullmatch(seen.node) else ""
    told = f"{plural(round(count), 'pod')} of {seen.node} can't create containers"
    then = "the events of one that waits, and there: journalctl -u containerd"
    return Look.beside(command, told, then)


def _unasked(seen: _Seen) -> str:
    """That the autoscaler asks for no more, where one owns the workload."""
    owns = seen.facts(_SCALER).get("exists") is True
    none = owns and seen.amount(_SCALER, "asked_count") == 0
    return ", and the autoscaler asked for no more" if none else ""


def _in_front(seen: _Seen) -> Look | None:
    """Requests fail in front of pods that are ready and as fast as usual."""
    symptom = seen.diagnosis.symptom
    source = seen.facts(LATENCY).get("error_source")
    if symptom is None or symptom.unit != "ratio" or source not in _EDGES:
        return None
    if _pods_fail(seen) or not _all_ready(seen) or not as_fast_as_usual(seen.diagnosis):
        return None
    told = f"requests fail at {source} while all pods are ready and no stage is slower"
    return Look(told, "which status it answers, and its limits")


def _pods_fail(seen: _Seen) -> bool:
    """Whether the pods themselves count failed requests, or nobody can tell that of those that are
    counted.
    """
    rows = seen.facts(LATENCY).get("errors")
    own = [
        row
        for row in (rows if isinstance(rows, tuple | list) else ())
        if isinstance(row, Mapping) and row.get("source") not in _EDGES
    ]
    return any(row.get("ratio") is not None and row.get("ratio") != 0 for row in own)


def _all_ready(seen: _Seen) -> bool:
    """Whether every pod is known to be ready."""
    total, ready = seen.amount(_ROLLOUT, "pods_count"), seen.amount(_ROLLOUT, "ready_count")
    if total and ready is not None:
        return ready >= total
    serving = seen.amount(_REPLICAS, "in_service_count")
    return bool(serving) and seen.amount(_REPLICAS, "missing_count") == 0


def _looks(seen: _Seen) -> Look | None:
    """What stands out of the evidence of a cause that is open, the nearest first, else of one that
    is ruled out; the runbook says what to look at.
    """
    ruled_out = (one.cause for one in unusual(seen.diagnosis))
    found = (*candidates.with_sign(seen.diagnosis), *ruled_out)
    return next((cause.look for cause in found if cause.look is not None), None)


def _unseen(seen: _Seen) -> Look | None:
    """What nobody measured of a cause of which there is a sign."""
    return _first_unseen(seen, candidates.nearest(seen.diagnosis))


def _unseen_but_fitting(seen: _Seen) -> Look | None:
    """What nobody measured of a cause that could explain what is slow."""
    return _first_unseen(seen, candidates.explaining(seen.diagnosis))


def _unseen_anywhere(seen: _Seen) -> Look | None:
    """What nobody measured where nobody knows what is slow: of a cause that the alert is about,
    else of one of which nothing was measured that would decide.
    """
    if not _is_slow_somewhere(seen.diagnosis):
        return None
    open_ = [one for one in seen.diagnosis.causes if one.verdict is Verdict.UNKNOWN]
    named = (one for one in open_ if one.triggered)
    dark = (one for one in open_ if not candidates.is_measured(one, seen.diagnosis))
    return _first_unseen(seen, (*named, *dark))


def _is_slow_somewhere(diagnosis: Diagnosis) -> bool:
    """Whether something is slow, or nobody knows that nothing is, and no stage that got slower
    explains it.
    """
    if diagnosis.symptom is None:
        known = symptomless(diagnosis.evidence)
        return not known.nothing_grew and not known.as_fast
    located = bool(slow_stages(diagnosis)) and unexplained(diagnosis) is None
    return diagnosis.symptom.unit == "seconds" and not located


_ASKS: Final = {
    "queue": "what holds the slots: long requests, or few replicas",
    "preprocessing": "what a request waits for there: its router, its KV cache on the way, tokens",
    "prefill": "how long the prompts are, and what shares the GPU",
    "preprocessing and prefill": "how long the prompts are, and what a request waits for",
    "decode": "how many requests run at once, how long the answers are, and the GPU's clock",
    "inference": "the GPU's clock, and what shares it",
}
"""What to ask where a stage is slow and no cause that is known explains it."""


def _slow_stage(seen: _Seen) -> Look | None:
    """The log of a pod, where it is known which stage is slow, and no more than that: no cause that
    is open could explain it, and nothing can be asked again.
    """
    of, stage = seen.diagnosis, next(iter(slow_stages(seen.diagnosis)), None)
    if of.symptom is None or stage is None or stage.stage not in _ASKS:
        return None
    if candidates.explaining(of) or by_hand(of) or next_gap(of):
        return None
    command = seen.kubectl("logs", "--since=10m", of.slow_pods[0]) if of.slow_pods else ""
    return Look.beside(command, f"no known cause explains the {what(stage)}", _ASKS[stage.stage])


def _as_usual(seen: _Seen) -> Look | None:
    """Where nothing takes longer than usual, the alert itself is to be looked at."""
    if seen.diagnosis.symptom is not None or not symptomless(seen.diagnosis.evidence).as_fast:
        return None
    return Look("nothing takes longer than usual", "see the alert's own query and threshold")


def _first_unseen(seen: _Seen, causes: Iterable[Cause]) -> Look | None:
    """Nothing of what can't exist is there to be seen. What had no answer is asked again, and not
    seen in another way.
    """
    if seen.diagnosis.impossible is not None:
        return None
    dark = (cause for cause in causes if cause.unseen and not is_asked(cause, seen.diagnosis))
    return next((cause.unseen for cause in dark), None)


def _one_of_several(seen: _Seen) -> Look | None:
    """One pod that is slow while others are not, or several on one node while others are not."""
    slow, nodes = seen.diagnosis.slow_pods, seen.diagnosis.slow_nodes
    total = seen.amount(_SUBJECT, "pods_count")
    if total is None or not 0 < len(slow) < total:
        return None
    of_all = f"of {plural(round(total), 'pod')}"
    if len(slow) == 1:
        return Look(f"one {of_all} is slow, {slow[0]}", "its logs", seen.kubectl("logs", slow[0]))
    if len(nodes) == 1 and f"all on {nodes[0]}" in seen.diagnosis.scope:
        command = _describe_node(nodes[0])
        return Look(f"{len(slow)} {of_all} are slow, all on {nodes[0]}", "that node", command)
    return None


def _load(seen: _Seen) -> Look | None:
    """Load that is up while requests wait."""
    found = capacity(seen.diagnosis)
    return Look("compare load with capacity", found) if found else None


_RULES: Final[tuple[Callable[[_Seen], Look | None], ...]] = (
    _stuck,
    _not_ready,
    _in_front,
    _looks,
    _unseen,
    _one_of_several,
    _load,
    _unseen_but_fitting,
    _unseen_anywhere,
    _slow_stage,
    _as_usual,
)
