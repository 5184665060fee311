"""What people say it was where no cause was named: neither right nor wrong."""

from dataclasses import replace

from tailhound.model import Feedback, Incident, Rating
from tailhound.slack.blocks import message
from tests.samples.incidents import CONFIRMED, SAID_WRONG, UNKNOWN
from tests.samples.story import NOW
from tests.unit.web.test_incident_page import text_of

NONE = replace(SAID_WRONG, said_primary="", cause="", note="a bad proxy")
DRAIN = replace(NONE, cause="node-drain")


def slack(incident: Incident) -> str:
    return str(message(incident, page_url="", now=NOW).blocks).replace("\\xa0", " ")


def saying(incident: Incident, *said: Feedback) -> Incident:
    return replace(incident, feedback=said)


def test_that_it_was_none_of_the_known_causes_is_told_with_what_it_was() -> None:
    it = saying(UNKNOWN, NONE)
    assert "*ana:* none of the known causes: “a bad proxy”" in slack(it)
    assert "says:* wrong" not in slack(it)
    page = text_of(it)
    assert "What was it?" in page
    assert "Was this the cause?" not in page
    assert "none of the known causes “a bad proxy”" in " ".join(page.split())


def test_a_known_cause_is_told_by_its_name() -> None:
    it = saying(UNKNOWN, DRAIN)
    assert "*ana:* it was node drain. “a bad proxy”" in slack(it)
    assert "it was Node drain" in text_of(it)


def test_of_a_cause_that_was_named_people_say_whether_it_is_right() -> None:
    it = saying(CONFIRMED, SAID_WRONG)
    assert "*ana says:* wrong, it was node drain" in slack(it)
    assert "Was this the cause?" in text_of(it)
    unsure = saying(UNKNOWN, replace(NONE, rating=Rating.UNSURE))
    assert "*ana says:* can't tell" in slack(unsure)
