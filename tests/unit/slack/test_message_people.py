"""What a message tells of people, of what changed, and of its own lateness."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tailhound.model import Incident, Rating, Shared, Silenced
from tailhound.model.incident import CLOSED_STATES
from tailhound.slack.blocks import lines, message
from tailhound.slack.pace import RATE_LIMIT
from tests.samples.incidents import (
    BACK,
    BLIND,
    CHANGED,
    CHANGES,
    CONFIRMED,
    DEFERRED,
    FIRST,
    QUEUED,
    RESOLVED,
    SAID_RIGHT,
    SAID_WRONG,
    STATES,
    TAKEN,
    TWO_FIT,
    UNKNOWN,
)
from tests.samples.story import NOW, at

PAGE = "https://tailhound.example/incidents/8R5W"


def slots(incident: Incident, **more: Any) -> dict[str, str]:
    """The texts of a message by slot, T among them."""
    made = message(incident, page_url=PAGE, now=more.pop("now", NOW), **more)
    told = {"T": made.text}
    for block in made.blocks:
        if "text" in block:
            told[block["block_id"][0]] = block["text"]["text"]
        elif block["type"] == "context":
            told["F"] = block["elements"][0]["text"]
    return {slot: text.replace("\u00a0", " ") for slot, text in told.items()}


def second(incident: Incident, **more: Any) -> str:
    """The line below the symptom."""
    return slots(incident, **more)["S"].splitlines()[1]


def test_who_is_on_it_stands_below_the_symptom_once_and_is_no_mention() -> None:
    told = slots(replace(TAKEN, silences=()))
    assert second(replace(TAKEN, silences=())) == "ben is on it since 03:03 UTC"
    assert str(told).count("ben") == 1
    assert "U0BEN" not in str(told)


def test_until_when_it_is_silenced_stands_in_the_same_line_while_it_holds() -> None:
    assert second(TAKEN) == "ben is on it · silenced until 05:10"
    assert second(replace(TAKEN, on_it=None)) == "Silenced until 05:10"
    assert second(TAKEN, now=at(131)) == "ben is on it since 03:03 UTC"
    assert "Silence of ana: 3 alerts · Incident" in slots(TAKEN)["F"]
    assert "Silence" not in slots(TAKEN, now=at(131))["F"]
    assert str(slots(TAKEN)).count("05:10") == 1


def test_a_silence_that_ends_tomorrow_says_its_day_only_where_its_clock_is_not_enough() -> None:
    night = replace(TAKEN.silences[0], until=at(21 * 60))
    later = replace(TAKEN.silences[0], until=at(25 * 60))
    assert second(replace(TAKEN, silences=(night,))) == "ben is on it · silenced until 00:00"
    assert "until 1 Dec 04:00" in second(replace(TAKEN, silences=(later,)))


@pytest.mark.parametrize(
    "name", ["b", "benjamin-of-the-second-shift-in-vienna", "<" * 40, "", "*b*"]
)
@pytest.mark.parametrize("silences", [(), TAKEN.silences])
def test_it_is_one_line_of_a_phone_whatever_the_name(
    name: str, silences: tuple[Silenced, ...]
) -> None:
    assert TAKEN.on_it is not None
    told = second(replace(TAKEN, on_it=replace(TAKEN.on_it, by=name), silences=silences))
    assert " is on it" in told
    assert lines(told) == 1


@pytest.mark.parametrize("name", STATES)
def test_whoever_would_begin_is_told_in_every_state_that_somebody_has(name: str) -> None:
    taken = slots(replace(STATES[name], on_it=TAKEN.on_it, silences=TAKEN.silences))
    if STATES[name].state in CLOSED_STATES:
        assert " is on it since" not in taken["S"]
    else:
        assert second(replace(STATES[name], on_it=TAKEN.on_it)) == "ben is on it since 03:03 UTC"


def test_the_longest_of_several_silences_is_told_and_the_others_are_counted() -> None:
    first = TAKEN.silences[0]
    more = replace(first, id="s3", by="ben", until=at(200), alerts=1)
    told = slots(replace(TAKEN, silences=(first, more)))["F"]
    assert "Silence of ben: 1 alert, + 1 more silence · " in told


def test_a_silence_that_does_not_stand_is_told_until_it_would_have_ended() -> None:
    why = "was not set: HTTP 403: <!here> these credentials may not set silences"
    failed = replace(TAKEN.silences[0], id="", trouble=why)
    held = TAKEN.silences[0]
    told = slots(replace(TAKEN, silences=(held, failed)))["F"]
    assert "Silence of ana: 3 alerts · *The silence of ana was not set:" in told
    assert second(replace(TAKEN, silences=(failed,))) == "ben is on it · silence not set"
    assert second(replace(TAKEN, silences=(held, failed))) == "ben is on it · silenced until 05:10"
    assert "HTTP 403: &lt;!here&gt; these credentials may not set silences* · Incident" in told
    assert "was not set" not in slots(replace(TAKEN, silences=(failed,)), now=at(131))["F"]


def test_the_last_of_several_that_do_not_stand_is_told_and_the_others_are_counted() -> None:
    first, last = (
        replace(TAKEN.silences[0], id="", by=by, trouble="was not set: HTTP 403")
        for by in ("ana", "ben")
    )
    told = slots(replace(TAKEN, silences=(first, last)))["F"]
    assert "*The silence of ben was not set: HTTP 403*, + 1 more that failed" in told


def test_a_silence_that_could_not_be_ended_is_told_before_longer_ones() -> None:
    stays = replace(TAKEN.silences[0], trouble="HTTP 403: grant them writing")
    longer = replace(TAKEN.silences[0], id="s3", by="ben", until=at(200))
    told = slots(replace(TAKEN, silences=(stays, longer)))["F"]
    assert "Silence of ana: 3 alerts, + 1 more silence, *could not be" in told
    assert "ended:* HTTP 403: grant them writing · " in told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (60.0, ""),
        (61.0, " · posted 60 s late"),
        (270.0, " · posted 4 min late"),
        (4_000.0, " · posted 1 h 6 min late"),
    ],
)
def test_a_post_that_was_late_says_so_from_a_minute_on(seconds: float, told: str) -> None:
    posted = (FIRST.received_at + timedelta(seconds=seconds)).timestamp()
    footer = slots(FIRST, posted_at=posted)["F"]
    assert footer.endswith(told or "changes: off (observe mode)")


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("", "posted 4 min late"),
        (f"{RATE_LIMIT} of chat.postMessage", "posted 4 min late (Slack limit)"),
        ("Slack answered internal_error", "posted 4 min late (Slack answered internal_error)"),
        ("many incidents at once", "posted 4 min late (many incidents at once)"),
        ("<!here> *x*", "posted 4 min late (&lt;!here&gt; ∗x∗)"),
    ],
)
def test_a_late_post_tells_what_kept_it_back(why: str, told: str) -> None:
    posted = FIRST.received_at.timestamp() + 270.0
    assert slots(FIRST, posted_at=posted, delayed_by=why)["F"].endswith(f" · {told}")
    assert "late" not in slots(FIRST, posted_at=posted - 230.0, delayed_by=why)["F"]


def test_a_post_that_is_not_there_yet_is_not_late() -> None:
    for posted in (0.0, -1.0):
        assert "late" not in slots(FIRST, posted_at=posted)["F"]


def test_the_group_from_the_configuration_is_called_at_the_end_of_the_symptom() -> None:
    assert slots(FIRST, mention="S0ONCALL")["S"].endswith("\ncc <!subteam^S0ONCALL>")
    assert "<!subteam" not in slots(FIRST, mention="S0ONCALL")["T"]


@pytest.mark.parametrize("mention", ["", "s0oncall", "S0<!channel>", "U0ANA", "S0 ", "S", "!here"])
def test_whatever_is_no_id_of_a_group_calls_nobody(mention: str) -> None:
    assert slots(FIRST, mention=mention) == slots(FIRST)


def test_the_answer_of_people_takes_the_place_of_the_question() -> None:
    assert slots(RESOLVED)["D"].startswith("*Was this the cause?* One tap helps the next person")
    told = slots(replace(RESOLVED, feedback=(SAID_RIGHT,)))["D"]
    assert told.startswith("*ben says:* right\n")
    assert "Was this" not in told


def test_the_newest_word_comes_first_and_the_rest_is_counted() -> None:
    said = tuple(
        replace(SAID_WRONG, by=f"p{n}", person=f"U{n}", at=at(39 + n), note="") for n in range(5)
    )
    told = slots(replace(RESOLVED, feedback=said))["D"]
    assert told.startswith("*p4 says:* wrong, it was node drain\n")
    assert f"+ {5 - told.count(' says:')} more on the page" in told


@pytest.mark.parametrize(
    ("rating", "cause", "told"),
    [
        (Rating.RIGHT, "node-drain", "right"),
        (Rating.PARTLY, "cpu-oversubscription",
         "right, but not the whole story: CPU oversubscription"),
        (Rating.PARTLY, "", "right, but not the whole story"),
        (Rating.WRONG, "node-drain", "wrong, it was node drain"),
        (Rating.WRONG, "", "wrong"),
        (Rating.UNSURE, "node-drain", "can't tell"),
    ],
)  # fmt: skip
def test_a_persons_word_is_told_as_they_gave_it(rating: Rating, cause: str, told: str) -> None:
    said = replace(SAID_WRONG, rating=rating, cause=cause, note="")
    assert f"*ana says:* {told}\n" in slots(replace(RESOLVED, feedback=(said,)))["D"] + "\n"


@pytest.mark.parametrize("incident", [CONFIRMED, TWO_FIT, UNKNOWN, BLIND, BACK])
def test_a_word_that_comes_early_stands_under_the_verdict(incident: Incident) -> None:
    told = slots(replace(incident, feedback=(replace(SAID_WRONG, note="x"),)))
    said = "*ana says:* wrong, it was node drain. “x”"
    if incident is CONFIRMED:  # what was measured fills the screen
        assert told["F"].startswith(f"{said} · ")
    else:
        assert told["W"].endswith(said)


def test_a_verdict_that_a_person_disputes_is_no_headline_once_resolved() -> None:
    told = slots(replace(RESOLVED, feedback=(SAID_WRONG,)))
    assert told["H"].endswith(": InferenceInterTokenLatencyHigh on chat-json")
    assert told["T"].endswith("Cause: disputed.")
    assert told["W"].startswith("*High confidence* (a person disputes it).")


def test_one_who_agrees_settles_a_dispute() -> None:
    told = slots(replace(RESOLVED, feedback=(SAID_WRONG, SAID_RIGHT)))
    assert told["H"].endswith("the CPU limit stopped the engine")
    assert "disputes" not in told["W"]


def test_what_changed_is_told_beside_the_chain_and_numbered_as_no_part_of_it() -> None:
    assert slots(CHANGED)["W"].splitlines()[-1] == (
        "*Changed before it* (no proof): 02:40 rollout of chat-json (by argocd); "
        "02:51 node gpu-node-3 was cordoned"
    )
    assert "Changed" not in slots(CONFIRMED)["W"]


def test_of_many_changes_the_last_are_told_and_the_others_counted() -> None:
    many = tuple(replace(CHANGES[0], at=at(-50 + n), what=f"change {n}") for n in range(9))
    assert CHANGED.diagnosis is not None
    told = slots(replace(CHANGED, diagnosis=replace(CHANGED.diagnosis, changed=many)))["W"]
    assert "change 8" in told.splitlines()[-1]
    assert "change 0" not in told
    shown = told.count("(by argocd)")
    assert told.endswith(f"; + {9 - shown} more on the page")


def test_a_place_in_the_queue_is_told_only_where_it_is_known() -> None:
    assert "this one is 27th, starts by about 03:04:00 UTC" in slots(QUEUED)["W"]
    assert slots(DEFERRED)["W"].startswith("*Many incidents at once.*")


def test_what_comes_back_says_what_was_suggested_before_and_assumes_nothing() -> None:
    told = slots(BACK)
    assert told["D"] == (
        "*Suggested last time:* raise the CPU limit by half · match the thread pools to the limit"
    )
    assert "Not assumed to be the same this time." in told["W"]


def test_without_a_symptom_the_message_says_why() -> None:
    told = slots(STATES["no-symptom"])
    assert "\nMeasured symptom: unknown (latency was not measured: nobody asked)" in told["S"]
    assert "1 present without a symptom.*\nWithout a symptom it can't be named" in told["W"]
    assert "1 confirmed" not in told["W"]
    assert told["D"].startswith(
        "*Suggestions only (observe mode):* once it is known that users wait\n1. Raise the CPU "
    )
    assert "symptom:" not in slots(BLIND)["S"]


def test_whole_suggestions_are_told_before_many() -> None:
    """With little room left, one suggestion is told by its whole title and what may go wrong."""
    told = slots(CHANGED)["D"].splitlines()
    assert told[1:] == [
        "1. Raise the CPU limit by half. Medium risk: its neighbours get less CPU.",
        f"<{PAGE}|+ 1 more on the page, with all steps>",
    ]


def test_where_no_suggestion_has_room_all_are_counted() -> None:
    """Never "the runbook offers nothing" where it does."""
    assert CONFIRMED.diagnosis is not None
    first = CONFIRMED.diagnosis.causes[0]
    wide = replace(first, title="t " * 60, says="word " * 60, mitigations=first.mitigations)
    packed = replace(
        CHANGED,
        feedback=(SAID_WRONG,),
        diagnosis=replace(
            CONFIRMED.diagnosis,
            causes=(wide, *CONFIRMED.diagnosis.causes[1:]),
            changed=CHANGES,
        ),
    )
    assert "offers nothing" not in slots(packed)["D"]


def test_the_footer_names_whom_the_labels_name_and_who_keeps_the_runbook() -> None:
    assert " · owner sre-platform" in slots(CONFIRMED)["F"]
    labelled = tuple(replace(one, owner="serving <!here>") for one in CONFIRMED.alerts)
    told = slots(replace(CONFIRMED, alerts=labelled))["F"]
    assert " · owner serving &lt;!here&gt;, sre-platform" in told
    assert "owner" not in slots(FIRST)["F"]


def test_the_footer_ends_with_what_else_there_is_to_know_and_nothing_of_it_is_markup() -> None:
    told = slots(FIRST, notes=("the thread is not joined", "a <!channel>"))["F"]
    assert told.endswith(" · the thread is not joined · a &lt;!channel&gt;")


def test_who_waits_in_a_storm_is_sent_to_where_most_of_it_is() -> None:
    assert QUEUED.queued is not None
    shared = Shared(kind="node", name="gpu-node-3", incidents=21, first="7F3K")
    waits = replace(QUEUED, queued=replace(QUEUED.queued, shared=shared))
    told = slots(waits)["W"]
    assert told.endswith(" 21 of them are on `gpu-node-3`: see incident 7F3K first.")
    itself = replace(waits, id="7F3K")
    assert slots(itself)["W"].endswith(" 21 of them are on `gpu-node-3`.")
    assert "of them are" not in slots(QUEUED)["W"]
    rack = replace(QUEUED.queued, shared=replace(shared, kind="rack", name="r7"))
    assert " 21 of them are in the rack `r7`: see" in slots(replace(QUEUED, queued=rack))["W"]
    hostile = replace(shared, name="a`<!here>`b")
    evil = replace(QUEUED, queued=replace(QUEUED.queued, shared=hostile))
    assert "<!here>" not in slots(evil)["W"]


# --- who need not begin


def test_who_is_on_it_and_a_silence_take_no_line_of_what_was_measured() -> None:
    line = "ben is on it · silenced until 05:10\n"
    assert slots(TAKEN)["S"].replace(line, "") == slots(CONFIRMED)["S"]
    alert = "Alert: InferenceInterTokenLatencyHigh, severity page, 3 alerts"
    assert alert in slots(TAKEN)["S"]


def test_a_severity_that_stands_alone_says_that_it_is_one() -> None:
    assert CONFIRMED.diagnosis is not None
    named = replace(CONFIRMED.alerts[0], name="A" * 60)
    crowded = replace(
        CONFIRMED, alerts=(named,), subject=replace(CONFIRMED.subject, cluster="c" * 60)
    )
    assert "severity page" in slots(crowded)["S"].splitlines()[1:2]


# --- afterwards


def test_a_resolved_incident_keeps_what_changed_its_slow_stage_and_the_way_to_its_page() -> None:
    over = replace(RESOLVED, diagnosis=CHANGED.diagnosis)
    told = slots(over)
    assert "*Changed before it* (no proof): 02:40 rollout of chat-json" in told["W"]
    assert "Slow stage then (mean): *decode 4.1 s*, usually 0.41 s" in told["S"]
    made = message(over, page_url=PAGE, now=NOW)
    links = [one.get("url") for block in made.blocks for one in block.get("elements", ())]
    assert PAGE in links


def test_the_line_about_the_steps_leads_to_the_page_where_it_has_an_address() -> None:
    assert f"<{PAGE}|" in slots(CONFIRMED)["D"]
    bare = message(CONFIRMED, page_url="", now=NOW)
    assert "<http" not in str(bare.blocks)
    odd = message(CONFIRMED, page_url="https://tailhound.example/a|b", now=NOW)
    assert "<http" not in next(
        one["text"]["text"] for one in odd.blocks if one["block_id"][0] == "D"
    )


def test_how_grave_it_is_and_how_many_alerts_it_has_is_told_in_every_state() -> None:
    assert "page, 3 alerts" in slots(CONFIRMED)["S"]
    assert " · severity page · " in slots(RESOLVED)["S"]
