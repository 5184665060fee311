"""tailhound: a rule-based runbook automation bot for AI-inference serving."""

__version__ = "0.1.0"
