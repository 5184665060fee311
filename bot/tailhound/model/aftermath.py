"""What is known of an incident that is over and had no cause confirmed. Nothing here is escaped."""

from tailhound.model.evidence import facts_of
from tailhound.model.facts import number_of
from tailhound.model.incident import Incident
from tailhound.model.names import plural
from tailhound.model.stages import as_fast_as_usual
from tailhound.model.verdict import Diagnosis, Outlook
from tailhound.model.wording import day_clock


def aftermath(incident: Incident) -> tuple[str, ...]:
    """`no stage of a request was slower than usual`, ..: sentences without their full stop, each
    only where it was measured; empty while it lasts, and beside a cause.
    """
    diagnosis = incident.diagnosis
    over = incident.resolved_at is not None
    if not over or diagnosis is None or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return ()
    stages = "no stage of a request was slower than usual" if as_fast_as_usual(diagnosis) else ""
    found = (
        _last_measured(incident, diagnosis),
        _stuck(incident, diagnosis),
        stages,
        _of_slowness(diagnosis),
    )
    return tuple(one for one in found if one)


def _last_measured(incident: Incident, diagnosis: Diagnosis) -> str:
    """That nobody has looked since the verdict: the alert alone says that it is over."""
    end = incident.resolved_at
    if diagnosis.symptom is None or diagnosis.decided_at is None or end is None:
        return ""
    return f"last measured {day_clock(diagnosis.decided_at, end)}, and not since"


def _stuck(incident: Incident, diagnosis: Diagnosis) -> str:
    """What next time would be looked at first: the containers that the node could not create."""
    facts = facts_of("prometheus.node_agents", diagnosis.evidence)
    count, node = number_of(facts.get("stuck_pods_count")), incident.subject.node
    if not count or not node:
        return ""
    return f"{plural(round(count), 'pod')} of {node} could not create containers then"


def _of_slowness(diagnosis: Diagnosis) -> str:
    """How many of the causes that were checked are about slow requests, where requests failed."""
    symptom, every = diagnosis.symptom, diagnosis.causes
    slow = sum(bool(cause.slows) for cause in every)
    if symptom is None or symptom.unit != "ratio" or not slow:
        return ""
    are = "is" if slow == 1 else "are"
    return (
        f"{slow} of {plural(len(every), 'known cause')} {are} about slow requests, not failing ones"
    )
