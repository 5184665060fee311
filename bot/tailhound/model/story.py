"""An incident told from end to end: what happened, in the order of time. Nothing is escaped."""

from tailhound.model import telling
from tailhound.model.incident import Happened, Incident
from tailhound.model.names import capital, cause_name


def story(incident: Incident) -> tuple[Happened, ...]:
    """The timeline with what began, oldest first."""
    diagnosis = incident.diagnosis
    told = list(incident.timeline)
    if incident.alerts:
        told.append(Happened(at=incident.since, what=f"Alert {incident.name} begins"))
    elif not told:
        told.append(Happened(at=incident.received_at, what="received"))
    if diagnosis is not None:
        for cause in telling.chain(diagnosis):
            if cause.onset is not None:
                what = f"{capital(cause_name(cause.runbook))} begins"
                told.append(Happened(at=cause.onset, what=what))
        if diagnosis.symptom is not None and diagnosis.symptom.onset is not None:
            what = f"{capital(diagnosis.symptom.name)}: unusual from here on"
            told.append(Happened(at=diagnosis.symptom.onset, what=what))
    return tuple(sorted(told, key=lambda happened: happened.at))
