"""What people did, what changed before, earlier incidents and charts, on an incident's page."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from tailhound.model import Feedback, Incident, OnIt, Queued, Rating, Silenced, State
from tailhound.model.gaps import next_gap
from tailhound.model.verdict import Changed
from tailhound.web.headline import headline
from tests.samples.hostile import HOSTILE
from tests.samples.incidents import (
    BACK,
    BLIND,
    COLLECTING,
    CONFIRMED,
    DEFERRED,
    FAILED,
    RESOLVED,
    STATES,
    TWO_FIT,
    UNKNOWN,
)
from tests.samples.story import NOW
from tests.unit.charts.samples import incident as charted
from tests.unit.web.shelf import Shelf, parts
from tests.unit.web.test_pages import Page, get

NBSP = "\u00a0"


def html_of(incident: Incident, *others: Incident) -> str:
    answer = get(f"/incidents/{incident.id}", parts(Shelf((incident, *others))))
    assert answer.status == 200
    return answer.text


def text_of(incident: Incident, *others: Incident) -> str:
    return Page(html_of(incident, *others)).text.replace(NBSP, " ")


def said(rating: Rating, cause: str = "", note: str = "", **changes: object) -> Feedback:
    values = {"by": "ana", "at": NOW, "said_primary": "cpu-throttling"} | changes
    return Feedback(rating=rating, cause=cause, note=note, **values)  # type: ignore[arg-type]


def test_who_is_on_it_and_what_is_silenced_stand_at_the_top() -> None:
    it = replace(
        CONFIRMED,
        on_it=OnIt(by="ana", since=NOW),
        silences=(
            Silenced(id="1", by="ben", until=NOW + timedelta(hours=2), alerts=3),
            Silenced(id="2", by="zoe", until=NOW - timedelta(hours=1), alerts=1),
            Silenced(id="3", by="moe", until=NOW + timedelta(hours=2), alerts=1, ended_at=NOW),
        ),
    )
    text = text_of(it)
    head = text[: text.index("What led to what")]
    assert "ana is on it" in head
    assert "silenced by ben until 05:04 UTC (3 alerts)" in head
    assert "zoe" not in text
    assert "moe" not in text


def test_what_went_wrong_with_a_silence_stands_at_the_top() -> None:
    until = NOW + timedelta(hours=2)
    stays = Silenced(id="1", by="ben", until=until, alerts=3, trouble="HTTP 403: no writing")
    failed = Silenced(id="", by="zoe", until=until, alerts=1, trouble="was not set: HTTP 400")
    text = text_of(replace(CONFIRMED, silences=(stays, failed)))
    head = text[: text.index("What led to what")]
    assert "by ben until 05:04 UTC (3 alerts), could not be ended: HTTP 403: no writing" in head
    assert "the silence of zoe was not set: HTTP 400" in head


@pytest.mark.parametrize(
    ("feedback", "told"),
    [
        (said(Rating.RIGHT), "ana : right"),
        (said(Rating.UNSURE, "node-drain"), "ana : can't tell"),
        (said(Rating.WRONG, "node-drain"), "ana : wrong: it was Node drain"),
        (said(Rating.WRONG), "ana : wrong: its cause is not in the list"),
        (said(Rating.PARTLY, "dns-resolution"), "not the whole story: it was DNS resolution"),
        (said(Rating.PARTLY), "ana : right, but not the whole story 03:04 UTC"),
        (said(Rating.WRONG, "gc-pause", "seen in the profile"), "“seen in the profile”"),
    ],
)
def test_what_people_say_is_told_in_words(feedback: Feedback, told: str) -> None:
    assert told in text_of(replace(RESOLVED, feedback=(feedback,)))


def test_nobody_has_said_yet_leads_to_slack() -> None:
    assert "Nobody has said yet. The question stands under the message" in text_of(CONFIRMED)
    link = "https://example.slack.com/archives/C1/p2"
    given = parts(Shelf((CONFIRMED,)), slack_link=lambda _incident: link)
    assert (
        f'<a href="{link}" rel="noopener noreferrer">Answer in Slack'
        in get("/incidents/8R5W", given).text
    )


def test_earlier_incidents_come_with_what_people_said_of_them() -> None:
    earlier = replace(
        RESOLVED,
        id="5B2M",
        received_at=CONFIRMED.received_at - timedelta(days=1),
        feedback=(said(Rating.WRONG, "node-drain"),),
    )
    text = text_of(CONFIRMED, earlier)
    place = text.index("Earlier ones like it (1)")
    assert "people say: wrong: it was Node drain" in text[place:]
    assert "None of the same workload or the same cause." in text_of(CONFIRMED)


def test_a_storm_tells_the_place_in_the_queue() -> None:
    queued = Queued(
        place=27, incidents=37, alerts=412, seconds=60, starts_by=NOW + timedelta(seconds=70)
    )
    text = text_of(replace(DEFERRED, queued=queued))
    assert "412 alerts in 60 s became 37 incidents." in text
    assert "number 27 in the queue and starts by about 03:05:40 UTC" in text


def test_what_changed_before_is_told_as_context_the_last_of_it() -> None:
    assert CONFIRMED.diagnosis is not None
    changed = tuple(
        Changed(
            at=NOW - timedelta(minutes=30 - n), kind="rollout", what=f"{HOSTILE} {n}", by="helm"
        )
        for n in range(5)
    )
    html = html_of(replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, changed=changed)))
    text = Page(html).text
    assert "Changed shortly before (context, no verdict):" in text
    place = text.index("Changed shortly before")
    assert "02:36 UTC" in text[place:]
    assert "02:34 UTC" not in text[place : text.index("You can")]
    assert "by helm" in text
    assert "+ 2 earlier in the" in text
    assert "<img" not in html


def test_a_diagnosis_of_before_is_told_to_be_that_while_it_is_checked_again() -> None:
    text = text_of(BACK)
    assert "Being checked again , verdict by" in text
    assert "not assumed to be the same now" in text
    assert "What could be done last time" in text
    assert "Measured the last time, not now" in text
    assert "Being checked again" not in text_of(CONFIRMED)


def test_a_name_that_is_no_text_is_shown_as_one() -> None:
    assert "incident" in text_of(replace(BACK, diagnosis=None, joined_into="\ud800"))


def test_a_diagnosis_of_before_is_told_to_be_that_when_it_is_over_without_another() -> None:
    over = replace(BACK, state=State.RESOLVED, resolved_at=NOW)
    text = text_of(over)
    assert "Over before there was a verdict of this time. What follows is from the last" in text
    assert "What could be done last time" in text
    assert "Measured the last time, not now" in text
    assert headline(over).text == "InferenceInterTokenLatencyHigh on llm / chat-json"
    assert "verdict of this time" not in text_of(replace(over, diagnosed_in=2))


def test_who_is_asked_again_is_told_with_its_end_and_no_longer() -> None:
    told = "Who did not answer is asked again until 03:17:00 UTC"
    assert told in text_of(BLIND)
    assert told not in text_of(replace(BLIND, asked_until=None))
    assert told not in text_of(replace(BLIND, asked_until=BLIND.received_at))
    assert told in text_of(replace(UNKNOWN, asked_until=BLIND.asked_until))


def test_the_symptom_stands_on_the_page_before_the_verdict() -> None:
    assert f"Inter-token p50 80{NBSP}ms, usually 8{NBSP}ms (x10)." in html_of(COLLECTING)


def test_two_that_fit_are_no_chain() -> None:
    html = html_of(TWO_FIT)
    assert "Both are confirmed, and neither leads to the other." in html
    assert 'class="chain both"' in html
    assert "What led to what" not in html
    assert 'class="effect"' not in html
    assert 'class="effect"' in html_of(CONFIRMED)


def test_a_failed_one_has_nothing_to_offer_and_says_so_once() -> None:
    text = text_of(FAILED)
    assert "You can" not in text
    assert ".." not in text


def test_charts_stand_on_the_page_as_drawing_and_as_table() -> None:
    it = charted()
    html = html_of(it)
    assert 'role="img"' in html
    figure = html[html.index("<figure") : html.index("</figure>")]
    assert "<figcaption>" in figure
    assert '<table class="figures">' in figure
    assert 'scope="row"' in figure
    assert "style=" not in html
    ids = Page(html).all_of("id")
    assert len(ids) == len(set(ids))


def test_a_page_without_charts_and_stages_keeps_what_could_not_be_checked_beside_the_verdict() -> (
    None
):
    assert CONFIRMED.diagnosis is not None
    bare = replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, stages=()))
    html = html_of(bare)
    assert html.index("Could not check") < html.index('id="causes"')
    assert html.index('id="causes"') < html_of(CONFIRMED).index("Could not check")


def test_what_can_be_done_tells_risk_and_cost_first_and_the_rest_when_opened() -> None:
    html = html_of(CONFIRMED)
    offer = html[html.index('class="offers"') :]
    assert (
        offer.index("Medium risk: its neighbours get less CPU. Cost none")
        < offer.index("<details")
        < offer.index("Helps:")
    )


def test_without_a_cause_the_gap_to_close_first_is_told_with_its_reason() -> None:
    assert UNKNOWN.diagnosis is not None
    found = next_gap(UNKNOWN.diagnosis)
    assert found is not None
    text = html_of(UNKNOWN)
    assert "<strong>Next:</strong> CPU throttling could not be checked" in text
    assert "so no change is offered" not in text, "there is something to do"


def test_what_must_not_be_done_stands_above_what_can_while_it_lasts() -> None:
    assert CONFIRMED.diagnosis is not None
    first, *others = CONFIRMED.diagnosis.causes
    causes = (replace(first, beware="do not drain <b>nodes</b>"), *others)
    warned = replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, causes=causes))
    html = html_of(warned)
    told = "<strong>Beware:</strong> do not drain &lt;b&gt;nodes&lt;/b&gt;."
    assert html.index(told) < html.index('class="offers"')
    assert "Beware" not in html_of(replace(warned, state=State.RESOLVED, resolved_at=NOW))


def test_each_confirmed_cause_leads_to_its_runbook_when_there_is_one() -> None:
    html = html_of(CONFIRMED)
    assert 'href="/runbooks/cpu-throttling"' in html
    assert 'href="/runbooks/cpu-oversubscription"' not in html


@pytest.mark.parametrize("where", ["by", "note", "cause"])
def test_what_people_typed_never_becomes_markup(where: str) -> None:
    given = {"by": HOSTILE} if where == "by" else {}
    text = {where: HOSTILE} if where != "by" else {}
    it = replace(
        RESOLVED,
        feedback=(said(Rating.WRONG, **text, **given),),
        on_it=OnIt(by=HOSTILE, since=NOW),
        silences=(Silenced(id="1", by=HOSTILE, until=NOW + timedelta(hours=1), alerts=1),),
    )
    for html in (html_of(it), get("/incidents?state=all", parts(Shelf((it,)))).text):
        assert "<img" not in html
        assert "onerror=" not in re.sub(r"&lt;[^<]*", "", html)
        assert "\u202e" not in html


def test_the_list_tells_who_is_on_it_and_what_people_said() -> None:
    held = Silenced(id="1", by="ana", until=NOW + timedelta(hours=1), alerts=1)
    mine = replace(CONFIRMED, on_it=OnIt(by="ana", since=NOW), silences=(held,))
    done = replace(RESOLVED, id="5B2M", feedback=(said(Rating.RIGHT),))
    text = Page(get("/incidents?state=all", parts(Shelf((mine, done)))).text).text
    assert f"CPU throttling ana is on it silenced until {held.until:%H:%M} UTC" in text
    assert "CPU throttling people say: right" in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("cause=cpu-throttling", ["8R5W"]),
        ("cause=gc-pause", []),
        ("workload=chat", ["8R5W"]),
        ("workload=db-1", []),
        ("span=1h", ["8R5W"]),
        ("state=resolved&cause=cpu-throttling", ["5B2M"]),
        ("state=resolved&span=24h&workload=llm", ["5B2M"]),
        ("state=resolved&span=1h", []),
    ],
)
def test_the_list_filters_by_workload_cause_and_time(query: str, expected: list[str]) -> None:
    old = replace(RESOLVED, id="5B2M", received_at=NOW - timedelta(hours=5))
    html = get(f"/incidents?{query}", parts(Shelf((CONFIRMED, old)))).text
    assert re.findall(r'id="i-(\w+)"', html) == expected
    assert ("Nothing matches. " in html) == (not expected)


def test_filters_stay_when_the_state_or_the_page_changes() -> None:
    many = tuple(
        replace(CONFIRMED, id=f"N{n}", received_at=NOW - timedelta(seconds=n)) for n in range(3)
    )
    html = get(
        "/incidents?workload=chat&cause=cpu-throttling&span=24h&text=llm&limit=2",
        parts(Shelf(many)),
    ).text
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="/incidents\?([^"]+)"', html)]
    assert len(links) == 7
    for link in links:
        for part in ("workload=chat", "cause=cpu-throttling", "span=24h", "text=llm", "limit=2"):
            assert part in link
    assert '<option value="cpu-throttling" selected>' in html
    assert '<option value="24h" selected>' in html


@pytest.mark.parametrize("query", ["cause=%22%3E%3Cb%3E", "span=1y", "cause=" + "a" * 99])
def test_a_filter_that_is_no_such_value_is_400_in_words(query: str) -> None:
    answer = get(f"/incidents?{query}")
    assert answer.status == 400
    assert "must be" in answer.text


def test_state_is_no_part_of_what_is_sure() -> None:
    """A list says how sure a diagnosis is only where there is a verdict of this episode."""
    again = replace(CONFIRMED, state=State.INVESTIGATING, n=2, episode=2)
    (row,) = re.findall(r"<tr class.*?</tr>", get("/incidents", parts(Shelf((again,)))).text, re.S)
    assert "high" not in row.replace("LatencyHigh", "")
    assert "CPU throttling" not in row


def test_a_verdict_stays_on_its_page_and_in_the_list_while_it_is_checked_again() -> None:
    again = STATES["again"]
    page = html_of(again)
    assert "Checking again since 03:05 UTC (asked by ana)…" in page
    assert "<h1>The CPU limit stops the engine</h1>" in page
    assert "not assumed to be the same" not in page
    assert "What could be done last time" not in page
    (row,) = re.findall(r"<tr class.*?</tr>", get("/incidents", parts(Shelf((again,)))).text, re.S)
    assert "Cause found" in row
    assert "checking again" in row


def test_a_page_says_how_the_check_of_its_verdict_ended() -> None:
    for state, told in (
        ("same-again", "Checked again 03:05 UTC: same answer."),
        ("failed-again", "this is still the verdict from before: the database was full"),
    ):
        it = STATES[state]
        page = html_of(it)
        assert told in text_of(it)
        assert "<h1>The CPU limit stops the engine</h1>" in page
        assert "No verdict:" not in page


def test_the_alert_and_both_beginnings_stand_on_the_page_and_in_its_timeline() -> None:
    diagnosis = CONFIRMED.diagnosis
    assert diagnosis is not None
    assert diagnosis.symptom is not None
    early = replace(diagnosis.symptom, onset=CONFIRMED.since - timedelta(minutes=8))
    text = text_of(replace(CONFIRMED, diagnosis=replace(diagnosis, symptom=early)))
    head, timeline = text.split("Timeline", 1)
    assert "Alert: InferenceInterTokenLatencyHigh" in head
    assert "Alert: InferenceInterTokenLatencyHigh · slow since 02:52 UTC" in head
    assert "alerting since 03:00 UTC" in head
    assert "02:52:00 UTC Inter-token p50: unusual from here on" in timeline
    assert "03:00:00 UTC Alert InferenceInterTokenLatencyHigh begins" in timeline
