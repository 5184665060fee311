"""What is asked of every incident, whatever its runbooks want."""

from tailhound import app
from tailhound.diagnosis.before import CHANGES
from tailhound.diagnosis.plan import plan
from tailhound.diagnosis.resolved import Resolved
from tailhound.model.symptomless import LATENCY

ALWAYS = tuple(app.collectors()[name] for name in (LATENCY, CHANGES))


def planned(resolved: Resolved) -> dict[str, str]:
    """The names of the planned evidence, each with why it can't be asked."""
    return {item.name: item.why_not for item in plan((), resolved, ALWAYS).evidence}


def test_every_workload_is_asked_for_its_latency_and_for_what_changed() -> None:
    known = Resolved(namespace="prod", workload="chat", pods=("a",), nodes=("n",))
    assert planned(known) == {"request_latency": "", "recent_changes": ""}


def test_a_node_is_asked_for_what_changed_there() -> None:
    found = planned(Resolved(nodes=("n",)))
    assert found["recent_changes"] == ""
    assert "namespace" in found["request_latency"]


def test_what_would_ask_nothing_is_not_planned() -> None:
    assert list(planned(Resolved())) == ["request_latency"]
    assert list(planned(Resolved(namespace="prod"))) == ["request_latency"]
