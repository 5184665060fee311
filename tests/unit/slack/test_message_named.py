"""A cause and its suggestions, called by what they are about: whole, in their room, harmless."""

from dataclasses import replace

import pytest

from tailhound.cli.text import rows
from tailhound.model import Incident
from tailhound.rules.runbook import HEADLINE_AT_MOST, OF_AT_MOST, WAS_AT_MOST
from tests.samples.incidents import CONFIRMED, RESOLVED
from tests.samples.story import NOW
from tests.unit.slack.test_message_people import slots

HOSTILE = "*x* _y_ ~z~ :fire: <!channel> @here <https://evil.example|go>"


def called(incident: Incident, title: str, was: str = "", of: str = "") -> Incident:
    """The incident with its cause and all suggestions called so."""
    diagnosis = incident.diagnosis
    assert diagnosis is not None
    causes = tuple(
        replace(
            cause,
            title=title,
            was=was,
            mitigations=tuple(replace(offer, of=of) for offer in cause.mitigations),
        )
        if cause.runbook == diagnosis.primary
        else cause
        for cause in diagnosis.causes
    )
    return replace(incident, diagnosis=replace(diagnosis, causes=causes))


def test_a_headline_of_full_length_stands_whole_in_the_header() -> None:
    title = "The CPU limit stops " + "x" * (HEADLINE_AT_MOST - 20)
    head = slots(called(CONFIRMED, title))["H"]
    assert head == f"🎯 Cause found: {title[0].lower()}{title[1:]}"
    assert len(head) <= 90
    was = "The CPU limit stopped " + "x" * (WAS_AT_MOST - 22)
    assert was[1:] in slots(called(RESOLVED, title, was))["H"]


def test_a_suggestion_names_what_it_is_done_to_within_the_slot_s_room() -> None:
    of = ("security/" + "agent-" * 20)[:OF_AT_MOST]
    told = slots(called(CONFIRMED, "The CPU limit stops the engine", of=of))["D"]
    assert f"({of})" in told or "…" in told
    assert len(told) <= 700
    short = slots(called(CONFIRMED, "It is so", of="security/agent-x7k2p"))["D"]
    assert "(security/agent-x7k2p). " in short


@pytest.mark.parametrize("incident", [CONFIRMED, RESOLVED])
def test_a_hostile_name_in_a_headline_or_a_suggestion_is_shown_as_text(incident: Incident) -> None:
    told = slots(called(incident, f"The limit stops {HOSTILE}", f"It stopped {HOSTILE}", HOSTILE))
    for slot, words in told.items():
        assert not any(bad in words for bad in ("<!channel>", "<https://evil", ":fire:")), slot
        if slot not in "HT":
            assert not any(bad in words for bad in ("*x*", "~z~", "_y_")), slot


def test_a_terminal_names_it_too_and_takes_no_control_characters() -> None:
    it = called(CONFIRMED, "The limit stops \x1b[31mx", of="prod/\x1b[2Jx")
    shown = "\n".join(rows(it, NOW))
    assert "\x1b" not in shown
    assert "The limit stops" in shown
    assert "(prod/" in shown
