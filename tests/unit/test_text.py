"""The words of the terminal."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tailhound.cli.text import markdown, terminal
from tailhound.model.verdict import Changed
from tests.samples.causes import DIAGNOSIS
from tests.samples.incidents import CONFIRMED
from tests.samples.story import NOW


@pytest.mark.parametrize("length", [10, 40, 46, 47, 60, 120])
def test_a_title_of_any_length_stays_apart_from_the_confidence(length: int) -> None:
    found = DIAGNOSIS
    title = "x" * length
    causes = tuple(
        replace(one, title=title) if one.runbook == found.primary else one for one in found.causes
    )
    told = terminal(replace(CONFIRMED, diagnosis=replace(found, causes=causes)), NOW)
    assert f"{title}  " in told[1]
    assert told[1].endswith(("  high confidence", "  medium confidence", "  low confidence"))


def test_what_changed_before_the_symptom_is_told_with_who_did_it_and_nothing_gets_out() -> None:
    changed = (
        Changed(at=NOW - timedelta(minutes=20), kind="rollout", what="rollout of chat", by="argo"),
        Changed(at=NOW - timedelta(minutes=9), kind="node", what="node a\x1b[31m --token=hunter2x"),
    )
    incident = replace(CONFIRMED, diagnosis=replace(DIAGNOSIS, changed=changed))
    lines = terminal(incident, NOW)
    at = next(number for number, line in enumerate(lines) if line.startswith("  changed"))
    assert lines[at].endswith(" rollout of chat (by argo)")
    assert lines[at + 1].startswith("            ")
    assert "\x1b" not in lines[at + 1]
    assert "hunter2x" not in lines[at + 1]
    assert "rollout of chat (by argo)" in markdown(incident, NOW)
    assert not [line for line in terminal(CONFIRMED, NOW) if line.startswith("  changed")]
