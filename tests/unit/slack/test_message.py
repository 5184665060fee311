"""What a message says and shows in each state: words, rows of buttons, times, blocks."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from tailhound.model import Alert, Incident, Recheck, Revised, State, Symptom
from tailhound.model import incident as incident_module
from tailhound.slack.blocks import message
from tailhound.slack.buttons import Offers
from tests.samples.incidents import (
    BACK,
    BLIND,
    COLLECTING,
    CONFIRMED,
    RESOLVED,
    REVISED,
    STATES,
    TAKEN,
    UNKNOWN,
    WITH_PEOPLE,
)
from tests.samples.story import NOW
from tests.unit.slack.mockup import FILE
from tests.unit.slack.mockup_differences import TAKEN_LINES

PAGE = "https://tailhound.example/incidents/8R5W"
DATE = re.compile(r"<!date\^\d+\^\{ago\}\|[^>]*>")

EVERYTHING = Offers(can_silence=True)
ALL = {**STATES, **WITH_PEOPLE}


def labels(row: str) -> list[str]:
    """The buttons of a row."""
    return re.findall(r"\[([^]]+)\]", row)


def shown(incident: Incident) -> dict[str, str]:
    """Our message as slot -> text, written as in a mock-up."""
    made = message(incident, page_url=PAGE, now=NOW, offers=EVERYTHING)
    slots = {"T": made.text}
    for block in made.blocks:
        slot = block["block_id"][0]
        if "text" in block:
            slots[slot] = block["text"]["text"]
        elif block["type"] == "context":
            slots[slot] = block["elements"][0]["text"]
        else:
            slots[slot] = " ".join(f"[{e['text']['text']}]" for e in block["elements"])
    return {slot: _as_in_a_mockup(text) for slot, text in slots.items()}


def _as_in_a_mockup(text: str) -> str:
    plain = DATE.sub("4 min ago", text).replace("\u00a0", " ")
    return re.sub(r"<https?://[^|>]+\|([^>]*)>", r"\1", plain)


def test_of_thousands_of_alerts_the_worst_is_looked_for_a_few_times_and_not_at_each_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ranked: list[str] = []
    rank = incident_module._rank

    def counted(alert: Alert) -> object:
        ranked.append(alert.fingerprint)
        return rank(alert)

    monkeypatch.setattr(incident_module, "_rank", counted)
    alerts = tuple(replace(CONFIRMED.alerts[0], fingerprint=f"f{n}") for n in range(3000))
    message(replace(CONFIRMED, alerts=alerts), page_url=PAGE, now=NOW)
    assert 3000 <= len(ranked) <= 5 * 3000


def test_who_is_on_it_and_what_is_silenced_is_that_of_the_mockups_in_its_own_place() -> None:
    modes = FILE.read_text(encoding="utf-8")
    assert all(f'"{one.mock}"' in modes for one in TAKEN_LINES)
    told = shown(TAKEN)
    first, last = TAKEN_LINES
    assert first.ours in told["S"]
    assert told["F"].startswith(f"{last.ours}Incident ")


@pytest.mark.parametrize("state", ALL)
def test_what_matters_fits_on_a_phone(state: str) -> None:
    """Head, symptom, verdict, what to do and its buttons: at most 26 lines of 40 characters."""
    ours = shown(ALL[state])
    lines = sum(
        max(1, -(-len(line) // 40)) for slot in "HSWD" for line in ours.get(slot, "").splitlines()
    )
    assert lines + len(labels(ours.get("A", ""))) <= 26


@pytest.mark.parametrize("state", ALL)
def test_without_glyphs_the_state_is_still_a_word(state: str) -> None:
    ours = shown(ALL[state])
    plain = ours["T"].encode("ascii", "ignore").decode()
    assert re.match(
        r"(Investigating|Back again|Cause found|Revised to|Two causes fit|No cause confirmed"
        r"|Cannot see|Resolved|Waiting its turn|Joined|tailhound itself failed|Unreadable alert)",
        plain,
    )


@pytest.mark.parametrize("state", ALL)
def test_no_message_says_what_must_never_be_said(state: str) -> None:
    text = " ".join(shown(ALL[state]).values())
    for word in (
        "likely",
        "probabl",
        "healthy",
        "culprit",
        "root cause",
        "NaN",
        "None",
        "n/a",
        "!",
    ):
        assert word not in text
    assert "@here" not in text


@pytest.mark.parametrize("state", ALL)
def test_a_time_that_goes_stale_is_told_by_the_readers_client(state: str) -> None:
    made = message(ALL[state], page_url=PAGE, now=NOW)
    for block in made.blocks:
        text = str(block)
        assert not re.search(r"\d+\s*(s|min|h) ago", text.replace("\u00a0", " "))


def test_what_is_measured_stands_in_the_message_before_the_verdict() -> None:
    told = shown(COLLECTING)
    assert told["H"] == "🔎 Investigating: slow tokens on chat-json"
    assert told["S"].startswith("*Inter-token p50 80 ms*, usually 8 ms (x10) · SLO 20 ms\n")
    assert told["S"].endswith("\nSlow stage (mean): *decode 4.1 s*, usually 0.41 s")
    assert told["T"].startswith(
        "Investigating: llm/chat-json, inter-token p50 80 ms, usually 8 ms (x10). Verdict by "
    )


def test_until_a_symptom_is_measured_only_what_the_alert_says_is_told() -> None:
    assert COLLECTING.progress is not None
    early = shown(
        replace(COLLECTING, progress=replace(COLLECTING.progress, symptom=None, stages=()))
    )
    assert early["S"].startswith("*The alert says:* “")
    assert "usually" not in early["S"]
    assert early["H"] == "🔎 Investigating: InferenceInterTokenLatencyHigh on chat-json"


def test_while_it_is_checked_again_the_symptom_is_the_new_one_and_never_the_old() -> None:
    assert COLLECTING.progress is not None
    assert COLLECTING.progress.symptom is not None
    worse = replace(COLLECTING.progress.symptom, value=0.76)
    progress = replace(COLLECTING.progress, symptom=worse)
    assert "80 ms" not in shown(replace(BACK, progress=None))["S"]
    told = shown(replace(BACK, progress=progress))["S"]
    assert told.startswith("*Inter-token p50 760 ms*, usually 8 ms (x95)")


def test_while_a_verdict_is_checked_again_it_stays_and_says_who_asked() -> None:
    before, again = shown(CONFIRMED), shown(STATES["again"])
    line = "*Checking again since 03:05 UTC (asked by ana)…*\n"
    assert again["W"] == line + before["W"]
    assert {slot: again[slot] for slot in "HSAENL"} == {slot: before[slot] for slot in "HSAENL"}
    assert again["D"].splitlines()[:2] == before["D"].splitlines()[:2]


@pytest.mark.parametrize(
    "state", ["confirmed", "two-fit", "unknown", "no-symptom", "nothing-left", "blind", "revised"]
)
def test_whatever_the_verdict_is_it_stays_while_it_is_checked_again(state: str) -> None:
    it = STATES[state]
    check = Recheck(n=2, since=it.received_at, by="ana")
    for now in (State.INVESTIGATING, State.DEFERRED):
        again = shown(replace(it, n=2, state=now, recheck=check))
        assert again["H"] == shown(it)["H"]
        assert again["S"].splitlines()[0] == shown(it)["S"].splitlines()[0]
        told = again["W"] if "again since" in again["W"] else again["F"]
        assert "again since" in told.splitlines()[0]
        assert "asked by ana" in told.splitlines()[0]


def test_a_check_that_waits_behind_one_that_runs_takes_neither_its_time_nor_its_name() -> None:
    again = replace(STATES["again"], recheck=Recheck(n=3, since=NOW, by="ben"))
    first = shown(again)["W"].splitlines()[0]
    assert first == "*Checking again, and once more after that (asked by ben)…*"


def test_a_check_that_comes_to_the_same_says_so_and_when() -> None:
    first = shown(STATES["same-again"])["W"].splitlines()[0]
    assert first == "Checked again 03:05 UTC: same answer."


def test_a_check_that_fails_leaves_the_verdict_and_says_why_it_failed() -> None:
    told = shown(STATES["failed-again"])
    assert told["H"] == "🎯 Cause found: the CPU limit stops the engine"
    assert told["W"].startswith("Checking again failed 03:05 UTC")
    assert "the database was full" in told["W"].splitlines()[0]


@pytest.mark.parametrize("state", ["confirmed", "two-fit", "unknown", "blind"])
def test_a_check_that_comes_to_another_verdict_tells_the_one_before(state: str) -> None:
    it = STATES[state]
    was = Revised(at=NOW, was_at=NOW, was="no cause confirmed", why="checked again, asked by ana")
    told = shown(replace(it, revised=was))
    assert "~03:04:30 no cause confirmed~" in told["W"]
    assert "03:04:30 UTC" in told["F"]
    if state in ("confirmed", "unknown"):
        assert "checked again, asked by ana" in told["W"]


def test_the_verdict_of_an_earlier_episode_does_not_stand() -> None:
    again = replace(BACK, diagnosed_in=1, recheck=Recheck(n=2, since=NOW, by="ana"))
    told = shown(again)
    assert told["H"].startswith("🔁 Back again")
    assert "Checking again" not in " ".join(told.values())
    assert shown(replace(again, diagnosed_in=2))["H"].startswith("🎯 Cause found")


def test_what_is_over_before_it_is_checked_again_names_the_cause_of_the_last_time_as_that() -> None:
    over = replace(BACK, state=State.RESOLVED, diagnosed_in=1, resolved_at=NOW, feedback=())
    told = shown(over)
    assert told["H"].startswith("✅ Resolved")
    assert "Cause" not in told["H"]
    assert told["W"].startswith("*Resolved before there was a verdict of this time.* Last time: ")
    assert "Not assumed to be the same this time." in told["W"]
    assert "Cause" not in told["T"]
    assert labels(told["A"]) == ["Tell us the cause", "Postmortem draft ↗"]
    assert labels(shown(replace(over, diagnosed_in=2))["A"])[0] == "Yes, that was it"


def test_when_nobody_is_asked_again_any_more_the_message_promises_nothing() -> None:
    for over in (None, NOW - timedelta(seconds=1)):
        told = shown(replace(BLIND, asked_until=over))
        assert told["W"].endswith("could not be checked. *Re-check* asks again.")


def test_what_nobody_said_is_over_is_not_called_resolved() -> None:
    told = " ".join(shown(replace(STATES["resolved"], unheard=True)).values())
    assert "💤 Not heard of since 03:38 UTC" in told
    assert "resolved" not in told.lower()
    assert "began 03:00 UTC" in told
    assert "to 03:38" not in told


def test_a_late_answer_counts_as_long_as_it_is_waited_for() -> None:
    asked = replace(UNKNOWN, asked_until=NOW + timedelta(minutes=2))
    assert " · a late answer still counts until 03:06 UTC" in shown(asked)["F"]
    assert "late answer" not in shown(UNKNOWN)["F"]


def test_re_check_is_drawn_only_where_there_is_something_to_check_again() -> None:
    drawn = {
        name for name, incident in STATES.items() if "Re-check" in shown(incident).get("L", "")
    }
    assert drawn == {
        "confirmed", "medium", "two-fit", "unknown", "no-symptom", "nothing-left", "blind",
        "revised", "failed", "again", "same-again", "failed-again",
    }  # fmt: skip


def test_without_an_address_of_the_page_there_is_no_link() -> None:
    made = message(CONFIRMED, page_url="", now=NOW)
    (row,) = [block for block in made.blocks if block["block_id"].startswith("L")]
    assert [element["action_id"] for element in row["elements"]] == ["recheck", "wrong"]
    assert row["elements"][0]["value"] == "8R5W:3"


def test_observe_mode_says_that_it_only_suggests() -> None:
    assert shown(CONFIRMED)["D"].startswith("*Suggestions only (observe mode):*")


def test_a_joined_incident_is_one_line_that_points_to_the_earlier_one() -> None:
    ours = shown(STATES["joined"])
    assert set(ours) == {"T", "S", "L"}
    assert "\n" not in ours["S"]
    assert "incident 7F3K" in ours["S"]


def test_a_failed_incident_says_that_the_alert_stands() -> None:
    assert shown(STATES["failed"])["W"] == (
        "*tailhound itself failed:* the database was full for 10 min; the alert stands."
    )


def test_the_block_ids_are_slot_and_revision() -> None:
    for block in message(RESOLVED, page_url=PAGE, now=NOW).blocks:
        assert re.fullmatch(r"[HSWDAENLF]:9", block["block_id"])


def test_the_alert_that_fired_stands_below_the_symptom_with_what_it_says() -> None:
    noted = tuple(
        replace(one, annotations={"summary": "p50 80 ms, objective 20 ms"})
        for one in CONFIRMED.alerts
    )
    short = replace(CONFIRMED, alerts=noted)
    assert (
        shown(short)["S"].splitlines()[1]
        == "Alert: InferenceInterTokenLatencyHigh, severity page, 3 alerts"
    )
    assert short.diagnosis is not None
    roomy = replace(short, diagnosis=replace(short.diagnosis, stages=(), shape=""))
    assert shown(roomy)["S"].splitlines()[1] == (
        "Alert: InferenceInterTokenLatencyHigh, severity page, 3 alerts "
        "(“p50 80 ms, objective 20 ms”)"
    )


def test_the_onset_is_told_beside_the_start_of_the_alert_where_it_is_earlier() -> None:
    diagnosis = CONFIRMED.diagnosis
    assert diagnosis is not None
    assert diagnosis.symptom is not None
    early = replace(diagnosis.symptom, onset=CONFIRMED.since - timedelta(minutes=8))
    told = shown(replace(CONFIRMED, diagnosis=replace(diagnosis, symptom=early)))["S"]
    assert "alert started 4 min ago (03:00 UTC), slow since 02:52" in told
    assert "slow since" not in shown(CONFIRMED)["S"]
    late = replace(diagnosis.symptom, onset=CONFIRMED.since + timedelta(minutes=1))
    assert "since" not in shown(replace(CONFIRMED, diagnosis=replace(diagnosis, symptom=late)))["S"]


def test_a_chain_without_room_names_its_primary_cause_and_numbers_only_causes() -> None:
    diagnosis = CONFIRMED.diagnosis
    assert diagnosis is not None
    first, *others = diagnosis.causes
    says = "The pods wait for something that takes much longer than usual, and so do others. "
    links = tuple(replace(first, runbook=f"cause-{n}", says=says * 2) for n in range(8))
    chain = tuple(link.runbook for link in links)
    long = replace(diagnosis, causes=(*links, *others), primary="cause-7", chain=chain)
    told = shown(replace(REVISED, diagnosis=long))["W"].splitlines()
    assert any("*Cause 7*" in line for line in told)
    (left,) = (line for line in told if line.startswith("+ "))
    assert left.endswith(" more on the page")
    numbered = [line for line in told if re.match(r"\d\. ", line)]
    assert [line[0] for line in numbered] == [str(n) for n in range(1, len(numbered) + 1)]


def test_one_link_alone_leads_to_nothing_and_has_no_number() -> None:
    diagnosis = CONFIRMED.diagnosis
    assert diagnosis is not None
    alone = replace(diagnosis, chain=(str(diagnosis.primary),), symptom=None)
    told = shown(replace(CONFIRMED, diagnosis=alone))["W"].splitlines()
    assert told[0].endswith("The cause:")
    assert told[1].startswith("02:59 *CPU throttling*: ")
    assert not any("What led to what" in line for line in told)


def test_the_verdict_that_was_replaced_stands_before_the_chain() -> None:
    told = shown(REVISED)["W"].splitlines()
    assert told[0].endswith("*Revised 03:03:17 UTC:* Prometheus answered after 47 s.")
    assert told[1] == "~03:02:30 no cause confirmed~"
    assert told[2] == "What led to what:"
    assert told[3].startswith("1. ")


def test_a_lower_quantile_of_thin_traffic_says_why_it_stands_there() -> None:
    symptom = replace(_symptom(), name="first token p90", thin_requests=43.2)
    told = shown(_with_symptom(symptom))["S"]
    assert told.startswith("*First token p90 80 ms* (p99 not used: 43 requests), usually 8 ms")
    assert "not used" not in shown(CONFIRMED)["S"]


def test_a_value_without_a_usual_one_is_told_with_the_age_of_its_history() -> None:
    symptom = replace(_symptom(), usual=None, history_seconds=1200.0)
    told = shown(_with_symptom(symptom))["S"]
    assert told.startswith("*Inter-token p50 80 ms*, no usual value yet (history: 20 min)")


def _symptom() -> Symptom:
    assert CONFIRMED.diagnosis is not None
    assert CONFIRMED.diagnosis.symptom is not None
    return CONFIRMED.diagnosis.symptom


def _with_symptom(symptom: Symptom) -> Incident:
    assert CONFIRMED.diagnosis is not None
    return replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, symptom=symptom))


def test_what_makes_sense_only_while_it_lasts_is_not_suggested_afterwards() -> None:
    diagnosis = RESOLVED.diagnosis
    assert diagnosis is not None
    first = diagnosis.causes[0]
    wait = replace(first.mitigations[0], title="Let it load", while_it_lasts=True)
    causes = (replace(first, mitigations=(wait, *first.mitigations[1:])), *diagnosis.causes[1:])
    told = replace(diagnosis, causes=causes)
    assert "Let it load" in shown(replace(CONFIRMED, diagnosis=told))["D"]
    over = shown(replace(RESOLVED, diagnosis=told))
    assert "Let it load" not in over["D"]
    assert "1. " in over["D"]


def test_a_cause_is_told_in_the_past_once_it_is_over() -> None:
    over = shown(RESOLVED)
    assert "the CPU limit stopped the engine" in over["H"]
    assert "the CPU limit stopped the engine" in over["T"]
    assert "Seen at" in over["W"]
    assert "stops the engine" in shown(CONFIRMED)["H"]
