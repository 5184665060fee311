"""What is known of an incident that is over and had no cause."""

from dataclasses import replace
from typing import Any

from tailhound.model import (
    Evidence,
    EvidenceStatus,
    FactValue,
    Incident,
    Outlook,
    Stage,
    State,
    Subject,
    SubjectKind,
    Symptom,
)
from tailhound.model.aftermath import aftermath
from tailhound.slack.blocks import message
from tests.samples.incidents import RESOLVED, UNKNOWN
from tests.samples.story import NOW, at
from tests.unit.web.test_incident_page import text_of

QUIET = Stage(stage="decode", seconds=3.0, usual_seconds=3.0)
SHARE = Symptom(name="error share at the ingress", value=0.32, unit="ratio", usual=0.0)
MEASURED = "last measured 03:02 UTC, and not since"
NOT_SLOWER = "no stage of a request was slower than usual"


def over(slows: int = 1, **more: Any) -> Incident:
    asked = UNKNOWN.diagnosis
    assert asked is not None
    causes = tuple(
        replace(one, slows=("queue",) if n < slows else ()) for n, one in enumerate(asked.causes)
    )
    found: dict[str, Any] = {"causes": causes, "symptom": SHARE, "stages": (QUIET,)}
    diagnosis = replace(asked, **(found | more))
    return replace(UNKNOWN, state=State.RESOLVED, resolved_at=at(38), diagnosis=diagnosis)


def test_it_tells_which_containers_could_not_be_created_on_the_node_it_was_about() -> None:
    facts: dict[str, FactValue] = {"stuck_pods_count": 2}
    found = Evidence(
        name="a", collector="prometheus.node_agents", status=EvidenceStatus.COLLECTED, facts=facts
    )
    it = replace(over(evidence=(found,)), subject=Subject(kind=SubjectKind.NODE, node="ci-3"))
    assert "2 pods of ci-3 could not create containers then" in aftermath(it)
    nothing = replace(found, facts={"stuck_pods_count": 0})
    assert it.diagnosis is not None
    quiet = replace(it, diagnosis=replace(it.diagnosis, evidence=(nothing,)))
    assert not any("containers" in one for one in aftermath(quiet))


def test_it_tells_when_it_was_measured_last_that_no_stage_grew_and_what_the_causes_are_about() -> (
    None
):
    it = over(slows=3)
    assert it.diagnosis is not None
    every = len(it.diagnosis.causes)
    slowness = f"3 of {every} known causes are about slow requests, not failing ones"
    assert aftermath(it) == (MEASURED, NOT_SLOWER, slowness)
    for text in (str(message(it, page_url="", now=NOW).blocks), text_of(it)):
        assert "No stage of a request was slower than usual." in text.replace("\\xa0", " ")


def test_each_sentence_stands_only_where_it_was_measured() -> None:
    slow = Stage(stage="queue", seconds=3.0, usual_seconds=0.1)
    young = Stage(stage="queue", seconds=3.0, usual_seconds=None)
    for stages in ((slow,), (QUIET, young), ()):
        assert NOT_SLOWER not in aftermath(over(stages=stages))
    assert aftermath(over(symptom=None)) == (NOT_SLOWER,)
    assert aftermath(over(decided_at=None, slows=0)) == (NOT_SLOWER,)
    assert len(aftermath(over(symptom=replace(SHARE, unit="seconds")))) == 2


def test_while_it_lasts_or_beside_a_cause_nothing_of_it_is_told() -> None:
    assert aftermath(replace(over(), resolved_at=None)) == ()
    assert aftermath(over(outlook=Outlook.BLIND)) == ()
    assert aftermath(RESOLVED) == ()
