"""What the posts in a thread say: the mock-ups' words, within Slack's limits whatever they hold."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings

from tailhound.charts.plan import charts_of
from tailhound.model import Bound, Check, Happened, Incident, Part, Seen, Verdict
from tailhound.slack import thread, validate
from tailhound.slack.blocks import SlackMessage
from tailhound.slack.limits import OUR_BYTES, UPDATED_TEXT
from tailhound.truth import Truth
from tests.samples.anything import incidents
from tests.samples.hostile import hostile
from tests.samples.incidents import BACK, CONFIRMED, REVISED, STATES, UNKNOWN, WITH_PEOPLE
from tests.samples.story import NOW
from tests.unit.charts.samples import DIAGNOSIS

EVENTS = ("verdict:1", "revised:1.2", "overturned:1.2", "reopened:2", "paged:1", "called:1.2")
DIAGNOSED = [one for one in {**STATES, **WITH_PEOPLE}.values() if one.diagnosis is not None]


def wordings(incident: Incident) -> Iterator[SlackMessage]:
    """All that any post in its thread may say."""
    yield from thread.timeline(incident, NOW)
    yield from thread.evidence(incident, NOW)
    drawn = charts_of(incident, NOW)
    yield from thread.charts(incident, NOW, drawn, [f"F{n}" for n in range(len(drawn))])
    yield from thread.charts(incident, NOW, drawn, ())
    for event in EVENTS:
        yield from thread.event(incident, event, NOW, "S0ONCALL")


def check(message: SlackMessage) -> None:
    """It keeps every limit of Slack, and our own."""
    assert validate.faults(list(message.blocks)) == []
    assert not validate.too_long(list(message.blocks))
    assert message.bytes <= OUR_BYTES
    assert 0 < len(message.text) <= (thread.TEXT + 60 if message.blocks else UPDATED_TEXT)


FLAG = Seen(name="spec.has_cpu_limit", value=False)


def of(*checks: Check) -> Incident:
    """An incident with these claims of one cause that is not confirmed."""
    assert CONFIRMED.diagnosis is not None
    cause = replace(CONFIRMED.diagnosis.causes[0], verdict=Verdict.UNKNOWN, checks=checks)
    return replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, causes=(cause,)))


def told(message: SlackMessage) -> str:
    """The text of its first block."""
    return str(message.blocks[0]["text"]["text"])


@pytest.mark.parametrize("incident", DIAGNOSED)
def test_every_post_keeps_slacks_limits(incident: Incident) -> None:
    for message in wordings(incident):
        check(message)


@settings(max_examples=25)
@given(incident=incidents)
def test_whatever_an_incident_holds_every_post_keeps_slacks_limits(incident: Incident) -> None:
    if incident.diagnosis is not None:
        for message in wordings(incident):
            check(message)


@pytest.mark.parametrize(
    "text", ["<!channel> <@U0ANA> <https://evil|x> *b* `c` :boom:", "𝔘" * 9_000]
)
def test_nothing_from_outside_becomes_markup(text: str) -> None:
    incident = replace(hostile(text), timeline=(Happened(at=NOW, what=text),) * 30)
    for message in wordings(incident):
        check(message)
        parsed = [message.text, *(told(message) for _ in message.blocks[:1])]
        for shown in parsed:
            harmless = shown.replace("<!subteam^S0ONCALL>", "")
            assert "<" not in harmless
            assert ":boom:" not in harmless


def test_the_timeline_is_headed_by_the_verdict_and_ends_with_the_newest_line() -> None:
    shown = thread.timeline(CONFIRMED, NOW)[0]
    head, *lines = told(shown).splitlines()
    assert head == (
        "*The CPU limit stops the engine*, high confidence, 03:04:11 UTC. "
        "What happened (edited as it goes on, UTC):"
    )
    assert lines[0] == "02:58 CPU oversubscription begins"
    assert lines[-1].startswith("03:04:11 verdict: ")
    assert shown.text == (
        "Verdict: the CPU limit stops the engine (high confidence). llm/chat-json, incident 8R5W"
    )


def test_a_long_timeline_shows_twenty_lines_and_counts_the_rest() -> None:
    many = tuple(
        Happened(at=NOW + timedelta(seconds=n), what=f"event {n} " + "x" * 500) for n in range(30)
    )
    incident = replace(UNKNOWN, timeline=many)
    _, earlier, *lines = told(thread.timeline(incident, NOW)[0]).splitlines()
    assert len(lines) == 20
    assert earlier == "+ 12 earlier on the page"
    assert "event 29" in lines[-1]


def test_an_incident_that_is_back_says_that_the_verdict_is_being_checked_again() -> None:
    assert "Being checked again." in told(thread.timeline(BACK, NOW)[0])


def table(incident: Incident) -> list[tuple[str, str]]:
    """The rows of the post of evidence, its head first."""
    rows = thread.evidence(incident, NOW)[0].blocks[1]["rows"]
    return [(row[0]["text"], row[1]["text"].replace("\u00a0", " ")) for row in rows]


def test_the_evidence_is_a_table_of_two_columns_by_cause_confirmed_ones_first() -> None:
    head, *rows = table(CONFIRMED)
    assert head == ("Claim", "Seen (needs)")
    assert rows[:2] == [
        ("CPU throttling", "confirmed"),
        ("✓ Stopped in more than a tenth of its periods", "100 % (needs over 10 %)"),
    ]
    assert ("✗ Hardly ever stopped", "100 % (refuted under 5 %)") in rows
    named = [row for row in rows if row[0][:2] not in ("✓ ", "✗ ", "? ")]
    assert len(named) == len(set(named))
    order = [verdict != "confirmed" for _, verdict in named]
    assert order == sorted(order)
    assert thread.evidence(CONFIRMED, NOW)[0].text == (
        "Evidence of incident 8R5W: 11 claims of 5 causes"
    )


def test_what_was_seen_answers_its_claim_where_no_number_does() -> None:
    assert ("✓ More threads than cores", "yes: 86") in table(CONFIRMED)
    held_up = Bound(
        fact="agent.held_up_count", comparison=">", value=0, unit="count", alternative=2
    )
    claim = Check(
        claim="A CPU limit is set",
        condition="x",
        part=Part.APPLIES,
        truth=Truth.TRUE,
        seen=(Seen(name=held_up.fact, value=2, unit="count"),),
        needs=(held_up,),
    )
    no = replace(claim, truth=Truth.FALSE, seen=(replace(claim.seen[0], value=0),))
    against = replace(claim, part=Part.REFUTE, truth=Truth.FALSE, needs=(), seen=(FLAG,))
    told = [second for _, second in table(of(claim, no, against))][2:]
    assert told[0].startswith("yes: ")
    assert told[1].startswith("no: ")
    assert told[2] == "no (a yes would refute it)"


def test_what_nobody_measured_is_one_line_that_says_how_much_and_where_it_is() -> None:
    assert CONFIRMED.diagnosis is not None
    check = CONFIRMED.diagnosis.causes[0].checks[0]
    blank = replace(check, truth=Truth.UNKNOWN, seen=())
    shown = thread.evidence(of(check, blank, blank), NOW)[0]
    assert told(shown) == (
        "*Evidence*: 3 claims of 1 cause; 2 of them were not measured. All claims, queries and raw "
        "values are in the file."
    )
    assert len(shown.blocks[1]["rows"]) == 3
    for nothing in thread.evidence(of(blank, blank), NOW):
        assert "2 claims of 1 cause" in nothing.text
        assert len(nothing.blocks) < 2


def test_what_holds_stands_above_what_does_not() -> None:
    marks = [first[:1] for first, _ in table(UNKNOWN)[2:4]]
    assert marks == ["✓", "✗"]


def test_a_table_without_room_for_all_claims_says_how_many_it_shows() -> None:
    assert CONFIRMED.diagnosis is not None
    cause = CONFIRMED.diagnosis.causes[0]
    wide = replace(cause.checks[0], claim="𝔘" * 400)
    causes = (replace(cause, checks=(wide,) * 90),)
    incident = replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, causes=causes))
    shown = thread.evidence(incident, NOW)[0]
    rows = len(shown.blocks[1]["rows"]) - 2
    assert 10 < rows <= thread.ROWS
    assert f"Rows 1-{rows} of 90 shown here" in told(shown)


def test_an_incident_without_claims_has_no_post_of_evidence() -> None:
    assert CONFIRMED.diagnosis is not None
    bare = replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, causes=()))
    assert thread.evidence(bare, NOW) == ()


def test_images_have_a_title_and_say_in_words_what_they_show() -> None:
    incident = replace(CONFIRMED, diagnosis=DIAGNOSIS)
    drawn = charts_of(incident, NOW)
    shown = thread.charts(incident, NOW, drawn, ["F1"])[0]
    image = shown.blocks[1]
    assert image["slack_file"] == {"id": "F1"}
    assert image["alt_text"] == drawn[0].alt
    assert image["title"]["text"] == drawn[0].title


@pytest.mark.parametrize(
    ("event", "incident", "begins"),
    [
        ("verdict:1", CONFIRMED, "Cause found: the CPU limit stops the engine (high confidence): "),
        ("revised:1.2", REVISED, "Another verdict: cause found: the CPU limit"),
        ("called:1.2", CONFIRMED, "This is for you now: llm/chat-json, Inference"),
        ("reopened:2", BACK, "Back again (2nd time): llm/chat-json, Inference"),
        (
            "paged:1",
            CONFIRMED,
            "It pages now: llm/chat-json, InferenceInterTokenLatencyHigh, severity page",
        ),
    ],
)
def test_an_event_begins_with_what_has_happened(
    event: str, incident: Incident, begins: str
) -> None:
    assert thread.event(incident, event, NOW)[0].text.startswith(begins)


def test_another_verdict_names_the_one_before_it() -> None:
    assert "Before: no cause confirmed." in thread.event(REVISED, "revised:1.2", NOW)[0].text
    checked = replace(
        CONFIRMED,
        timeline=(
            Happened(at=NOW, what="Verdict: cause found: node drain"),
            Happened(at=NOW, what="Verdict: cause found: the CPU limit stops the engine"),
        ),
    )
    text = thread.event(checked, "overturned:2.9", NOW)[0].text
    assert "Before: cause found: node drain." in text


def test_only_what_the_channel_sees_ends_with_where_to_act() -> None:
    ends = {
        event: thread.event(CONFIRMED, event, NOW)[0].text.endswith("Act in the message above.")
        for event in EVENTS
    }
    assert [event for event, there in ends.items() if not there] == ["revised:1.2", "called:1.2"]


def test_plain_lines_hold_no_block() -> None:
    assert json.dumps(thread.evidence(CONFIRMED, NOW)[2].blocks) == "[]"
