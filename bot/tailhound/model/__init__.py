"""The nouns: alert, evidence, verdict, incident. Frozen values; nothing here does anything."""

from tailhound.model.alert import Alert, AlertGroup, AlertStatus, Subject, SubjectKind
from tailhound.model.evidence import (
    ANSWERED,
    Asked,
    Evidence,
    EvidenceStatus,
    FactValue,
    Missing,
    Reason,
)
from tailhound.model.incident import Happened, Incident, Progress, Revised, State
from tailhound.model.verdict import (
    Bound,
    Cause,
    Check,
    Confidence,
    Diagnosis,
    Offer,
    Outlook,
    Part,
    Seen,
    Stage,
    Symptom,
    Verdict,
)

__all__ = [
    "ANSWERED",
    "Alert",
    "AlertGroup",
    "AlertStatus",
    "Asked",
    "Bound",
    "Cause",
    "Check",
    "Confidence",
    "Diagnosis",
    "Evidence",
    "EvidenceStatus",
    "FactValue",
    "Happened",
    "Incident",
    "Missing",
    "Offer",
    "Outlook",
    "Part",
    "Progress",
    "Reason",
    "Revised",
    "Seen",
    "Stage",
    "State",
    "Subject",
    "SubjectKind",
    "Symptom",
    "Verdict",
]
