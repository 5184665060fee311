"""The stable JSON of `diagnose --format json` and `/api/incidents/{id}`."""

from datetime import UTC, datetime
from typing import Any

from tailhound.model import Alert, Cause, Check, Evidence, Incident, Offer
from tailhound.model.redaction import redacted, scrubbed


def as_json(incident: Incident) -> dict[str, Any]:
    """One incident as plain JSON values. No key is ever left out; unknown is null or "unknown"."""
    diagnosis = incident.diagnosis
    return {
        "incident": incident.id,
        "alerts": [_alert(alert) for alert in incident.alerts],
        "state": incident.state.value,
        "primary": diagnosis.primary if diagnosis else None,
        "chain": list(diagnosis.chain) if diagnosis else [],
        "confidence": diagnosis.confidence.value if diagnosis and diagnosis.confidence else None,
        "causes": [_cause(cause) for cause in diagnosis.causes] if diagnosis else [],
        "stages": [
            {"stage": s.stage, "seconds": s.seconds, "usual_seconds": s.usual_seconds}
            for s in (diagnosis.stages if diagnosis else ())
        ],
        "evidence": [_evidence(item) for item in diagnosis.evidence] if diagnosis else [],
    }


def _alert(alert: Alert) -> dict[str, Any]:
    return {
        "name": redacted(alert.name),
        "labels": scrubbed(dict(alert.labels)),
        "starts_at": _time(alert.starts_at),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "runbook": cause.runbook,
        "verdict": cause.verdict.value,
        "because": cause.because,
        "onset": _time(cause.onset),
        "checks": [_check(check) for check in cause.checks],
        "mitigations": [_offer(offer) for offer in cause.mitigations],
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "claim": check.claim,
        "condition": check.condition,
        "truth": check.truth.value,
        "seen": {seen.name: seen.value for seen in check.seen},
        "missing": list(check.missing),
    }


def _offer(offer: Offer) -> dict[str, Any]:
    return {
        "id": offer.id,
        "mode": offer.mode,
        "offered": offer.offered,
        "why_not": offer.why_not,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "name": evidence.name,
        "status": evidence.status.value,
        "reason": evidence.reason,
        "questions": [asked.question for asked in evidence.asked],
        "took_seconds": round(evidence.took_seconds, 3),
    }


def _time(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
