"""The composition root: the only place that names concrete classes."""

from tailhound.app.composition import (
    allow_list,
    compiled,
    findings_of_profiles,
    runbook_files,
    templates,
    transports,
)
from tailhound.app.office import Office, only, recorded, save
from tailhound.app.plugins import collectors

__all__ = [
    "Office",
    "allow_list",
    "collectors",
    "compiled",
    "findings_of_profiles",
    "only",
    "recorded",
    "runbook_files",
    "save",
    "templates",
    "transports",
]
