"""Rows A and L: which buttons an incident gets, and that none is drawn that can't work."""

from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from tailhound.model import Incident
from tailhound.slack import actions
from tailhound.slack.blocks import message
from tailhound.slack.buttons import Offers
from tests.samples.incidents import CONFIRMED, RESOLVED, STATES, STORM, WITH_PEOPLE
from tests.samples.story import NOW

PAGE = "https://tailhound.example/incidents/8R5W"
EVERYTHING = Offers(can_silence=True)
ALL = {**STATES, **WITH_PEOPLE}


def row(
    slot: str, incident: Incident, *, page: str = PAGE, offers: Offers = EVERYTHING
) -> list[dict[str, Any]]:
    """The buttons of a row; none where there is no such row."""
    made = message(incident, page_url=page, now=NOW, offers=offers)
    return [
        dict(element)
        for block in made.blocks
        if block["block_id"].startswith(slot)
        for element in block["elements"]
    ]


def ids(slot: str, incident: Incident, offers: Offers = EVERYTHING) -> list[str]:
    """What the buttons of a row do."""
    return [element["action_id"] for element in row(slot, incident, offers=offers)]


@pytest.mark.parametrize("state", ALL)
def test_each_button_carries_the_incident_and_the_revision_or_is_a_link(state: str) -> None:
    incident = ALL[state]
    for element in row("A", incident) + row("L", incident):
        if "url" in element:
            assert element["url"].startswith("https://tailhound.example/incidents/")
            assert "value" not in element
        else:
            shown = incident.diagnosis.mark if incident.diagnosis else ""
            agrees = f":{shown}" if element["action_id"] == actions.RIGHT else ""
            assert element["value"] == f"{incident.id}:{incident.revision}{agrees}"
            assert actions.shown_in(element["value"]) == agrees[1:]
            assert actions.incident_in(element["value"]) == incident.id


@pytest.mark.parametrize("state", ALL)
def test_where_no_click_arrives_only_links_are_drawn(state: str) -> None:
    offers = Offers(interactive=False, can_silence=True)
    made = message(ALL[state], page_url=PAGE, now=NOW, offers=offers)
    for slot in "AL":
        assert all("url" in element for element in row(slot, ALL[state], offers=offers))
    told = str(made.blocks)
    assert "Re-check" not in told
    assert "One tap" not in told
    assert "Telling it" not in told


def test_nothing_offers_a_silence_where_none_can_be_set() -> None:
    for incident in ALL.values():
        assert actions.SILENCE not in ids("L", incident, Offers())
    assert actions.SILENCE in ids("L", CONFIRMED)


def test_alerts_that_have_ended_need_no_silence() -> None:
    ended = replace(CONFIRMED, alerts=RESOLVED.alerts)
    assert actions.SILENCE not in ids("L", ended)


def test_a_joined_incident_has_one_button_which_leads_to_the_other_one() -> None:
    assert row("A", STATES["joined"]) == []
    (button,) = row("L", STATES["joined"])
    assert button["text"]["text"] == "Incident 7F3K ↗"
    assert button["url"] == "https://tailhound.example/incidents/7F3K"
    assert "value" not in button


@pytest.mark.parametrize("name", ["../x?y", "a b", "<!here>", "//evil.example", "\ud800"])
def test_the_way_to_the_other_incident_leads_nowhere_else(name: str) -> None:
    (button,) = row("L", replace(STATES["joined"], joined_into=name))
    known = quote(name.replace("\ud800", "\ufffd"), safe="")
    assert button["url"] == f"https://tailhound.example/incidents/{known}"
    assert len(button["text"]["text"]) <= 30


def test_only_a_cause_that_was_named_can_be_called_right() -> None:
    assert ids("A", RESOLVED) == [actions.RIGHT, actions.WRONG, actions.POSTMORTEM]
    assert ids("A", WITH_PEOPLE["resolved-unknown"]) == [actions.WRONG, actions.POSTMORTEM]
    labels = [element["text"]["text"] for element in row("A", STATES["resolved-early"])]
    assert labels == ["Tell us the cause", "Postmortem draft ↗"]


def test_a_second_word_can_follow_the_first() -> None:
    assert ids("A", WITH_PEOPLE["resolved-right"]) == ids("A", RESOLVED)


def test_once_somebody_has_answered_the_buttons_say_that_a_word_is_added_or_changed() -> None:
    def labels(slot: str, incident: Incident) -> list[str]:
        return [element["text"]["text"] for element in row(slot, incident)]

    assert labels("A", RESOLVED)[:2] == ["Yes, that was it", "Wrong? Tell us the cause"]
    right, wrong = WITH_PEOPLE["resolved-right"], WITH_PEOPLE["resolved-wrong"]
    assert labels("A", right)[:2] == ["Yes, for me too", "Add or change an answer"]
    assert labels("A", wrong)[:2] == ["Yes, that was it", "Add or change an answer"]
    assert "Add or change an answer" in labels("L", WITH_PEOPLE["doubted"])
    unknown = replace(WITH_PEOPLE["resolved-unknown"], feedback=wrong.feedback)
    assert labels("A", unknown)[0] == "Add or change an answer"


def test_the_draft_of_a_postmortem_is_a_page_of_its_own() -> None:
    (draft,) = [one for one in row("A", RESOLVED) if one["action_id"] == actions.POSTMORTEM]
    assert draft["url"] == f"{PAGE}/postmortem"


def test_without_an_address_of_the_page_there_are_no_links() -> None:
    for incident in ALL.values():
        for slot in "AL":
            assert all("url" not in one for one in row(slot, incident, page=""))


def test_an_address_that_slack_would_refuse_is_left_out() -> None:
    long = f"https://x.example/{'y' * 2_980}"
    assert all("url" not in one for one in row("A", RESOLVED, page=long))


def test_what_acts_and_what_looks_stand_in_rows_of_their_own() -> None:
    looking = {actions.RECHECK, actions.SILENCE, actions.PAGE}
    for incident in ALL.values():
        assert not looking & set(ids("A", incident))


@pytest.mark.parametrize("value", ["", "8R5W", "8R5W:", ":3", "8R5W:3:4", "8R5W:x", "a b:1", "é:1"])
def test_a_value_that_is_none_of_ours_names_no_incident(value: str) -> None:
    assert actions.incident_in(value) == ""
    assert actions.shown_in(value) == ""


def test_the_ids_of_actions_differ() -> None:
    named = [getattr(actions, name) for name in dir(actions) if name.isupper() and name[0] != "_"]
    assert len(set(named)) == len(named) >= 9


def test_a_storms_buttons_carry_the_same_kind_of_value() -> None:
    for incident in STORM.worst:
        assert actions.incident_in(actions.value_of(incident)) == incident.id
