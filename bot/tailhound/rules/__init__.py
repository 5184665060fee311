"""Runbooks: read, checked, compiled, judged. Pure: no clock, no network, no files."""

from tailhound.rules.loading import Compiled, Site, compile_files, load_runbooks
from tailhound.rules.runbook import Claim, EvidencePlan, Mitigation, Runbook, Threshold
from tailhound.rules.yaml_evidence import schema_for

__all__ = [
    "Claim",
    "Compiled",
    "EvidencePlan",
    "Mitigation",
    "Runbook",
    "Site",
    "Threshold",
    "compile_files",
    "load_runbooks",
    "schema_for",
]
