"""The runbook grammar: reading, conditions, evidence, verdicts, tests of runbooks."""
