"""What people read keeps to the words that were agreed on: in runbooks and in templates."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tailhound import app
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings

TEMPLATES = sorted((Path(__file__).parents[2] / "templates").rglob("*.j2"))
NEVER = re.compile(
    r"\b(?:likely|unlikely|probabl[ey]|perhaps|maybe|healthy|unhealthy|ok|okay|green|culprit|"
    r"root causes?|playbooks?|tickets?|telemetry|data points?|n/a|auto-heal\w*|remediat\w*|"
    r"baselines?|normal|normally|abnormal|expected|approx\w*|roughly|oops|sorry|simply|obviously)\b",
    re.IGNORECASE,
)
"""Words that guess, judge, or have another word of ours."""

MEASURED = re.compile(
    r"{{\s*\(?([\w.]+)[^|}]*\|\s*(?:percent|seconds|duration|ms|hours|per_second|celsius)\s*}}"
)
"""A share, time or rate in a paragraph, by the name of its fact."""

CONFIGURED = frozenset({"config.window_seconds", "config.fill_seconds", "part"})
"""What a person has set, or follows from that: it has no usual value."""

RUNBOOKS = app.compiled(Settings()).runbooks


def texts(runbook: Runbook) -> Iterator[str]:
    """Every text of a runbook that people see."""
    yield from (runbook.cause, runbook.summary)
    yield re.sub(r"{[{%].*?[%}]}", " ", runbook.says.text, flags=re.DOTALL) if runbook.says else ""
    yield from (claim.sentence for _, claim in runbook.claims)
    yield from (threshold.source for threshold in runbook.thresholds.values())
    for offer in runbook.mitigations:
        yield from (offer.title, offer.helps, offer.ttft, offer.cost, offer.when, *offer.steps)


@pytest.mark.parametrize("runbook", RUNBOOKS, ids=lambda one: one.id)
def test_a_runbook_says_nothing_that_must_never_be_said(runbook: Runbook) -> None:
    for text in texts(runbook):
        assert NEVER.search(text) is None, text
        assert "!" not in text.replace("!=", ""), text


@pytest.mark.parametrize("runbook", RUNBOOKS, ids=lambda one: one.id)
def test_a_paragraph_has_no_share_time_or_rate_without_its_usual_value_or_its_bound(
    runbook: Runbook,
) -> None:
    text = runbook.says.text if runbook.says else ""
    bare = [
        found[1]
        for found in MEASURED.finditer(text)
        if found[1] not in CONFIGURED
        and not found[1].endswith("_usual")
        and not _is_told_with_something(found, text)
    ]
    assert bare == []


def _is_told_with_something(found: re.Match[str], text: str) -> bool:
    beside = text[found.end() : found.end() + 80]
    if beside.startswith(" of the usual "):
        return True
    return f"{found[1]} | usual" in beside or "usually" in beside or "(needs {{" in beside


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_says_nothing_that_must_never_be_said(path: Path) -> None:
    text = re.sub(r"{[{%#].*?[#%}]}|<[^>]*>", " ", path.read_text("utf-8"), flags=re.DOTALL)
    assert NEVER.search(text) is None, NEVER.search(text)
    assert "!" not in text


def test_the_words_that_were_shipped_before_would_be_found() -> None:
    assert NEVER.search("the drive most likely moves data")
    assert NEVER.search("against those of a healthy node")
    assert not NEVER.search("looked at, tokens, okra")
