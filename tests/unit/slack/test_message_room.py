"""What a message leaves out where there is little room, and where it says that the rest is."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tailhound.charts.plan import charts_of
from tailhound.model import Also, Diagnosis, Incident, Outlook, Stage
from tailhound.model.gaps import Gap
from tailhound.slack import open_view, thread
from tailhound.slack.blocks import SlackMessage, lines, message
from tailhound.slack.ink import INKS, LADDERS, Ink
from tailhound.slack.limits import SYMPTOM_LINES
from tailhound.slack.storm_view import storm_message
from tailhound.slack.todo import offers
from tailhound.slack.view import View
from tests.samples.causes import MATCH, RAISE
from tests.samples.incidents import CONFIRMED, RESOLVED, STATES, STORM, TWO_FIT, WITH_PEOPLE
from tests.samples.story import NOW, SYMPTOM, at
from tests.unit.web.test_pages import page

PAGE = "https://tailhound.example/incidents/8R5W"
ALL = {**STATES, **WITH_PEOPLE}


def slots(incident: Incident, page_url: str = PAGE) -> dict[str, str]:
    """The texts of a message by slot, T among them."""
    made = message(incident, page_url=page_url, now=NOW)
    told = {"T": made.text}
    for block in made.blocks:
        if "text" in block:
            told[block["block_id"][0]] = block["text"]["text"]
    return {slot: text.replace("\u00a0", " ") for slot, text in told.items()}


def diagnosed(**changes: object) -> Incident:
    """The confirmed incident with another diagnosis."""
    assert CONFIRMED.diagnosis is not None
    return replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, **changes))  # type: ignore[arg-type]


CROWDED = replace(
    diagnosed(
        symptom=replace(SYMPTOM, name="time to first token p99", onset=at(-8)),
        scope="2 of 4 pods, on gpu-node-3, 1 not measured",
        stages=(
            Stage(stage="preprocessing", seconds=0.9, usual_seconds=0.1),
            Stage(stage="decode", seconds=4.1, usual_seconds=0.41),
        ),
    ),
    subject=replace(CONFIRMED.subject, cluster="eu-central-1-production", workload="chat-json-70b"),
)


# --- values stay whole


def test_no_value_of_a_crowded_symptom_is_cut() -> None:
    told = slots(CROWDED)["S"]
    assert "…" not in told
    assert lines(told) <= SYMPTOM_LINES
    for part in (
        "*Time to first token p99 80 ms*, usually 8 ms (x10)",
        "`llm / chat-json-70b` · cluster eu-central-1-production",
        "Slow stage (mean): *decode 4.1 s*",
    ):
        assert part in told


def test_the_least_important_goes_first() -> None:
    told = slots(CROWDED)["S"]
    assert "preprocessing" not in told
    assert "rose in one step" not in told
    short = replace(CONFIRMED, alerts=(replace(CONFIRMED.alerts[0], name="SlowTokens"),))
    assert "rose in one step" in slots(short)["S"]


SEVERAL = replace(
    SYMPTOM,
    also=(
        Also(name="end to end", value=4.88, unit="seconds", usual=1.9),
        Also(name="first token", value=0.987, unit="seconds", usual=0.7),
        Also(name="error share at the ingress", value=0.02, unit="ratio", usual=0.0),
    ),
)


def test_what_else_grew_is_told_in_the_line_of_the_symptom_where_there_is_room() -> None:
    told = slots(in_short(diagnosed(symptom=SEVERAL)))["S"]
    first = told.splitlines()[0]
    assert first.endswith(" · also end to end x2.6, first token x1.4, + 1 more")
    assert lines(told) <= SYMPTOM_LINES
    crowded = replace(CROWDED, diagnosis=diagnosed(symptom=SEVERAL, scope="x" * 60).diagnosis)
    assert lines(slots(crowded)["S"]) <= SYMPTOM_LINES


def test_what_the_alert_names_and_nobody_measured_is_told_however_little_room_there_is() -> None:
    missed = replace(SEVERAL, unmeasured="error share: not measured")
    for told in (
        diagnosed(symptom=missed),
        replace(CROWDED, diagnosis=diagnosed(symptom=missed).diagnosis),
    ):
        assert "error share: not measured" in slots(told)["S"]


@pytest.mark.parametrize("slot", LADDERS)
def test_room_only_gets_less_from_step_to_step(slot: str) -> None:
    steps = LADDERS[slot]
    assert [ink.terse for ink in steps] == sorted(ink.terse for ink in steps)
    lengths = [ink.value_length for ink in steps]
    assert lengths == sorted(lengths, reverse=True)
    assert steps[-1].lines == 0


# --- what a notification shows


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("It stops", "Cause found (high confidence): it stops. llm/chat-json (eu-1), inter-token"),
        (
            "Running requests are thrown out of it",
            "Cause found (high): running requests are thrown out of it. llm/chat-json, inter-token",
        ),
        (
            "Running requests are thrown out of a full KV cache, as often as not",
            "Cause found (high): CPU throttling. llm/chat-json, inter-token p50 80 ms, usually",
        ),
    ],
)
def test_a_long_title_makes_room_for_the_value(title: str, told: str) -> None:
    assert CONFIRMED.diagnosis is not None
    first, *others = CONFIRMED.diagnosis.causes
    long = diagnosed(causes=(replace(first, title=title), *others))
    where = replace(CONFIRMED.subject, cluster="eu-1")
    text = slots(replace(long, subject=where))["T"]
    assert text.startswith(told)
    assert "80 ms" in text[:100]


def test_where_even_names_are_too_long_the_value_comes_first() -> None:
    assert TWO_FIT.diagnosis is not None
    first, second, *others = TWO_FIT.diagnosis.causes
    named = (replace(first, runbook="a-cause-of-many-words"), replace(second, runbook="b-" * 30))
    two = replace(TWO_FIT, diagnosis=replace(TWO_FIT.diagnosis, causes=(*named, *others)))
    text = slots(two)["T"]
    assert text.startswith("Two causes fit (medium): llm/chat-json, inter-token p50 80 ms, usually")
    assert "a cause of many words" in text


# --- which cluster


def test_the_same_workload_of_two_clusters_is_told_apart() -> None:
    for incident in (CONFIRMED, STATES["first"], RESOLVED, STATES["blind"]):
        one = replace(incident, subject=replace(incident.subject, cluster="eu-1"))
        told = slots(one)
        assert "llm/chat-json (eu-1)" in told["T"][:100]
        assert "` · cluster eu-1 · " in told["S"]
        assert "cluster" not in slots(incident)["S"]


# --- where the rest is


def every_text(page: str) -> Iterator[str]:
    for incident in ALL.values():
        yield str(_said(message(incident, page_url=page, now=NOW)))
        if incident.diagnosis is not None:
            for made in (
                *thread.timeline(incident, NOW, page=bool(page)),
                *thread.evidence(incident, NOW),
                *thread.charts(incident, NOW, charts_of(incident, NOW), (), page=bool(page)),
            ):
                yield str(_said(made))
    for storm in (STORM, replace(STORM, worst=())):
        yield str(_said(storm_message(storm, list_url=page, now=NOW, channel_limit=(12, 600.0))))


def _said(made: SlackMessage) -> tuple[str, object]:
    return made.text, made.blocks


def test_without_an_address_of_the_pages_nothing_is_said_to_be_there() -> None:
    for text in every_text(""):
        assert not re.search(r"\b(?:the|its) pages?\b", text)


def test_with_an_address_the_rest_is_on_the_page() -> None:
    assert any("on the page" in text for text in every_text(PAGE))
    assert any("in the thread" in text for text in every_text(""))


# --- stages


def test_a_stage_that_nobody_waits_for_is_not_slow() -> None:
    quick = Stage(stage="server", seconds=0.000185, usual_seconds=0.000035)
    little = Stage(stage="queue", seconds=0.15, usual_seconds=0.02)
    slow = Stage(stage="decode", seconds=4.1, usual_seconds=0.41)
    told = slots(diagnosed(stages=(quick, little, slow)))["S"]
    assert told.endswith("Slow stage (mean): *decode 4.1 s*, usually 0.41 s")
    assert "Slow stage" not in slots(diagnosed(stages=(quick,)))["S"]


# --- what a suggestion costs


def test_a_suggestion_tells_all_that_speaks_for_and_against_it() -> None:
    (line, _) = offers((RAISE,), LADDERS["D"][0], shadow=False)
    assert line == (
        "1. Raise the CPU limit by half. Medium risk: its neighbours get less CPU. "
        "First token: better, cost: none while the node has idle CPU, low complexity. "
        "Helps: inter-token p99. When the node has idle CPU."
    )


def test_with_little_room_a_suggestion_keeps_its_risk_and_what_makes_the_first_token_worse() -> (
    None
):
    tight = replace(LADDERS["D"][0], terse=5)
    (told, second, third, _) = offers((RAISE, MATCH, RAISE), tight, shadow=False)
    assert told == "1. Raise the CPU limit by half. Medium risk: its neighbours get less CPU."
    assert second == "2. Match the thread pools to the limit. Low risk."
    assert third == told.replace("1.", "3.", 1)
    dear = replace(RAISE, cost="high")
    assert offers((dear,), tight, shadow=False)[0].endswith(" less CPU. Cost: high.")
    worse = replace(RAISE, ttft="worse")
    assert offers((worse,), tight, shadow=False)[0].endswith(" less CPU. First token: worse.")
    bare = replace(tight, terse=6)
    assert offers((RAISE,), bare, shadow=False)[0] == "1. Raise the CPU limit by half. Medium risk."


def test_a_title_is_whole_with_however_little_room_and_half_a_name_is_not_told() -> None:
    found = (replace(RAISE, title="Find out why no node takes the pod", of="prod/chat-6d9f7c5b8"),)
    for ink in LADDERS["D"]:
        first = offers(found, ink, shadow=False)[0]
        if ink.lines:
            assert first.startswith("1. Find out why no node takes the pod"), ink
            assert "(prod/chat-6d9f7c5b8)" in first or "(" not in first, ink


def test_a_risk_of_which_nobody_says_what_it_is_stands_alone() -> None:
    (line, _) = offers((replace(RAISE, risk_of=""),), LADDERS["D"][0], shadow=False)
    assert line.startswith("1. Raise the CPU limit by half. Medium risk. First token: better, ")


def test_what_does_not_fit_this_case_is_suggested_last() -> None:
    unfit = replace(RAISE, offered=False, why_not="No CPU limit is set")
    assert CONFIRMED.diagnosis is not None
    first, *others = CONFIRMED.diagnosis.causes
    told = slots(diagnosed(causes=(replace(first, mitigations=(unfit, MATCH)), *others)))["D"]
    assert told.index("1. Match the thread pools") < told.index("2. Raise the CPU limit")


def test_the_message_and_the_page_count_what_does_not_fit_now_apart_and_alike() -> None:
    unfit = replace(RAISE, id="unfit", offered=False, why_not="No CPU limit is set")
    few = replace(LADDERS["D"][0], lines=1)
    found = (RAISE, MATCH, unfit)
    told = "+ 1 more and 1 that does not apply"
    assert offers(found, few, shadow=False)[-1] == f"{told}, on the page, with all steps"
    none = replace(few, lines=0)
    assert offers(found, none, shadow=False) == (
        "1. Raise the CPU limit by half. + 2 more on the page",
    )
    assert offers(found[:1], none, shadow=False, page_url=PAGE) == (
        f"1. Raise the CPU limit by half. <{PAGE}|Steps>",
    )
    last = offers((RAISE, unfit), few, shadow=False)[-1]
    assert last.startswith("+ 1 that does not apply, on the page")
    assert CONFIRMED.diagnosis is not None
    first, *others = CONFIRMED.diagnosis.causes
    causes = (replace(first, mitigations=found), *(replace(o, mitigations=()) for o in others))
    shown = page("/incidents/8R5W", diagnosed(causes=causes)).text
    assert f"You can: raise the CPU limit by half, {told}" in shown


# --- no symptom, no cause


def test_a_fix_is_told_whole_where_its_reason_is_cut() -> None:
    ink = Ink(60, 40, 2)
    fix = "if one of its labels does, add it to incidents.workload_labels"
    assert ink.whole(fix) == fix
    assert len(ink.sentence(fix)) < len(fix)


def test_without_anything_to_ask_by_hand_the_next_gap_is_told_with_its_reason() -> None:
    found = STATES["unknown"].diagnosis
    assert isinstance(found, Diagnosis)
    assert found.outlook is Outlook.NONE_CONFIRMED
    empty = tuple(item for item in found.evidence if item.name == "ingress")
    told = slots(replace(STATES["unknown"], diagnosis=replace(found, evidence=empty)))["D"]
    assert told == (
        "*Next:* CPU throttling could not be checked: evidence is missing: "
        "cpu.lost_seconds_per_second, latency.cpu_stage_times. Then *Re-check*."
    )


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "gpu-node-1 (127.0.0.1:22) accepted a connection and sent no SSH banner (it hangs, or "
            "is overloaded), for 3 s",
            "RDMA fabric could not be checked: gpu-node-1 accepted a connection and sent no SSH "
            "banner, for 3 s. Check that SSH to gpu-node-1 is up",
        ),
        (
            f"gpu-node-1 said {'x' * 400}",
            "RDMA fabric could not be checked. Check that SSH to gpu-node-1 is up",
        ),
    ],
)
def test_a_gap_whose_reason_has_no_room_is_told_all_the_same(
    reason: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ("RDMA fabric", Gap(reason, "check that SSH to gpu-node-1 is up, then check again"))
    monkeypatch.setattr(open_view, "next_gap", lambda _: found)
    asked = View(incident=STATES["unknown"], now=NOW, ink=INKS[3], page=True, asks=True)
    assert asked.next_gap == told


# --- what must not be done


BEWARE = "do not drain nodes or evict pods; that needs the API servers, and the pods are well"


def warned(incident: Incident) -> Incident:
    """The incident, whose first cause warns of something."""
    assert incident.diagnosis is not None
    first, *others = incident.diagnosis.causes
    causes = (replace(first, beware=BEWARE), *others)
    return replace(incident, diagnosis=replace(incident.diagnosis, causes=causes))


@pytest.mark.parametrize("state", ["confirmed", "two-fit"])
def test_what_must_not_be_done_stands_whole_above_the_suggestions(state: str) -> None:
    first, *others = slots(warned(STATES[state]))["D"].splitlines()
    assert first == f"*Beware:* {BEWARE}."
    assert any(line.startswith("1. ") for line in others)


def test_a_warning_is_not_given_up_for_room_and_ends_with_the_incident() -> None:
    crowded = warned(CROWDED)
    assert f"*Beware:* {BEWARE}." in slots(crowded)["D"]
    assert "Beware" not in slots(warned(STATES["resolved"]))["D"]


def test_a_phone_shows_the_suspect_that_a_cause_begins_with() -> None:
    says = "First suspect: DaemonSet telemetry/node-telemetry. " + "The servers take 60 s. " * 30
    assert CROWDED.diagnosis is not None
    first, *others = CROWDED.diagnosis.causes
    crowded = diagnosed(causes=(replace(first, says=says), *others))
    assert "First suspect: DaemonSet telemetry/node-telemetry." in slots(crowded)["W"]


REST = Stage(
    stage="preprocessing",
    seconds=0.444,
    usual_seconds=0.197,
    remainder="first token less queue and prefill",
)
DARK = Stage(stage="decode", seconds=None, usual_seconds=None)


def in_short(incident: Incident) -> Incident:
    """The incident of one alert with a short name: it leaves room."""
    alert = replace(CONFIRMED.alerts[0], name="Slow", annotations={})
    return replace(incident, alerts=(alert,))


def test_a_stage_that_is_only_what_others_leave_is_told_as_that() -> None:
    told = slots(in_short(diagnosed(stages=(REST,))))["S"]
    assert (
        "Slow stage (mean): *before prefill (first token less queue and prefill) 444 ms*, "
        "usually 197 ms"
    ) in told
    assert "preprocessing" not in told


def test_a_stage_that_explains_less_than_half_of_the_growth_is_not_called_the_slow_one() -> None:
    part = diagnosed(symptom=replace(SYMPTOM, grew_seconds=2.98), stages=(REST, DARK))
    told = slots(in_short(part))["S"]
    assert told.splitlines()[-1].startswith(
        "Where the time went: +0.25 s of +2.98 s before prefill "
        "(first token less queue and prefill); decode: not measured"
    )
    assert "Slow stage" not in told
    assert lines(told) <= SYMPTOM_LINES
    most = diagnosed(symptom=replace(SYMPTOM, grew_seconds=0.4), stages=(REST, DARK))
    assert "Slow stage (mean): *before prefill" in slots(most)["S"]


def test_where_the_time_went_keeps_its_value_in_a_crowded_symptom() -> None:
    assert CROWDED.diagnosis is not None
    symptom = replace(SEVERAL, name="time to first token p99", grew_seconds=2.98, onset=at(-8))
    crowded = replace(
        CROWDED, diagnosis=replace(CROWDED.diagnosis, symptom=symptom, stages=(REST, DARK))
    )
    told = slots(crowded)["S"]
    assert "+0.25 s of +2.98 s before prefill" in told
    assert lines(told) <= SYMPTOM_LINES


def test_what_else_grew_and_which_stage_is_dark_stay_when_the_scope_goes() -> None:
    symptom = replace(
        SEVERAL, name="inter-token p99", value=0.0875, usual=0.025, slo=None, grew_seconds=2.98,
        onset=at(-8),
    )  # fmt: skip
    found = diagnosed(symptom=symptom, stages=(REST, DARK), scope="2 of 4 pods, on gpu-node-3")
    alert = replace(CONFIRMED.alerts[0], annotations={})
    told = slots(replace(found, alerts=(alert,)))["S"]
    assert " · also end to end x2.6, + 2 more" in told
    assert told.endswith("+0.25 s of +2.98 s before prefill; decode: not measured")
    assert "slow since" in told
    assert lines(told) <= SYMPTOM_LINES


def test_when_it_is_over_the_stages_are_told_in_the_same_way() -> None:
    assert RESOLVED.diagnosis is not None
    over = replace(
        RESOLVED.diagnosis, symptom=replace(SYMPTOM, grew_seconds=2.98), stages=(REST, DARK)
    )
    told = slots(replace(RESOLVED, diagnosis=over))["S"]
    assert "Where the time went then: +0.25 s of +2.98 s before prefill" in told
