"""The lines of the health page about messages."""

from tailhound.app.health import message_lines
from tailhound.durable.asking import Place
from tailhound.durable.standings import Standing

SLACK = Place("slack", "C1")


def test_each_place_has_a_line_that_says_what_is_wrong_and_what_to_do() -> None:
    console, fine, late, refused = message_lines(
        (
            Standing(Place("console", "-"), 0, 0, 0, ""),
            Standing(SLACK, 3, 0, 0, ""),
            Standing(SLACK, 3, 1, 0, "no answer from Slack"),
            Standing(SLACK, 0, 0, 1, "the channel is archived: unarchive it"),
        )
    )
    assert (console.name, console.works, console.detail) == ("Console", True, "")
    assert (fine.name, fine.works, fine.detail) == ("Slack C1", True, "3 waiting")
    assert (late.works, late.detail) == (False, "3 waiting: no answer from Slack")
    assert (refused.works, refused.state, refused.fix) == (
        False,
        "refuses",
        "the channel is archived: unarchive it",
    )
    assert refused.effect.startswith("1 message can't be shown there")
