"""Lines of a terminal: 80 columns, and nothing that is pasted is broken."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.cli.text import terminal
from tailhound.cli.width import WIDTH, Whole, fitted
from tailhound.model import Incident
from tests.samples.hostile import HOSTILE, hostile
from tests.samples.incidents import CONFIRMED, LISTED
from tests.samples.recorded import NAMES, recorded
from tests.samples.story import NOW

_PASTED = re.compile(r"\s+(?:kubectl|helm|curl|ssh|nvme|fstrim|tailhound) ")


def too_wide(incident: Incident) -> list[str]:
    """Lines over 80 columns that nobody pastes anywhere: words that could have been wrapped."""
    lines = [
        line
        for verbose in (False, True)
        for line in terminal(incident, NOW, verbose=verbose, page="https://bot.example/incidents/A")
    ]
    return [
        line
        for line in lines
        if len(line) > WIDTH
        and not isinstance(line, Whole)
        and not _PASTED.match(line)
        and " " in line.strip()
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_incident_fits_into_80_columns(name: str) -> None:
    assert too_wide(recorded(name)) == []


@pytest.mark.parametrize("incident", [*LISTED, hostile()], ids=lambda incident: incident.id)
def test_an_incident_of_any_state_fits_into_80_columns(incident: Incident) -> None:
    assert too_wide(incident) == []


def test_a_page_is_told_where_there_is_one() -> None:
    assert terminal(CONFIRMED, NOW, page="/incidents/8R5W")[-1] == "page: /incidents/8R5W"
    assert not [line for line in terminal(CONFIRMED, NOW) if line.startswith("page:")]
    bare = replace(CONFIRMED, diagnosis=None, failed_because=f"the disk\x1b[31m {HOSTILE}")
    lines = terminal(bare, NOW, page="/incidents/8R5W")
    assert lines[-1] == "page: /incidents/8R5W"
    assert "\x1b" not in "".join(lines)


AB, ABCD = "ab ", "abcd "


@pytest.mark.parametrize(
    ("line", "wrapped"),
    [
        ("short", ["short"]),
        ("  symptom   " + AB * 30,
         ["  symptom   " + AB * 22 + "ab", "            " + AB * 6 + "ab"]),
        ("    yes  " + ABCD * 16, ["    yes  " + ABCD * 13 + "abcd", "         abcd abcd"]),
        ("    a-cause: " + ABCD * 16,
         ["    a-cause: " + ABCD * 12 + "abcd", "      abcd abcd abcd"]),
        ("   a. Look: kubectl get pod " + "x" * 80,
         ["   a. Look:", "      kubectl get pod " + "x" * 80]),
        (Whole("    sum by (pod) (" + "x " * 80 + ")"), ["    sum by (pod) (" + "x " * 80 + ")"]),
        ("  " + "x" * 100, ["  " + "x" * 100]),
        ("  a " + "x" * 100, ["  a", "    " + "x" * 100]),
    ],
)  # fmt: skip
def test_a_line_is_wrapped_under_its_text(line: str, wrapped: list[str]) -> None:
    assert [one.rstrip() for one in fitted([line])] == wrapped


@given(st.text("ab \u00a0:.(“", max_size=300))
def test_no_word_is_lost_and_only_single_words_are_wide(text: str) -> None:
    lines = fitted([text])
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert not [line for line in lines if len(line) > WIDTH and " " in line.strip(" ")]
