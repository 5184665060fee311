"""The messages against the mock-ups that they were designed from: order, budgets, words."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tailhound.model import Incident
from tailhound.slack.blocks import message
from tailhound.slack.buttons import Offers
from tailhound.slack.limits import BUDGETS
from tests.samples.incidents import (
    BACK,
    BLIND,
    COLLECTING,
    CONFIRMED,
    FIRST,
    MEDIUM,
    QUEUED,
    RESOLVED,
    REVISED,
    STATES,
    TAKEN,
    TWO_FIT,
    UNKNOWN,
    WITH_PEOPLE,
)
from tests.samples.story import NOW

ORDER = "HSWDAENLF"
PAGE = "https://tailhound.example/incidents/8R5W"
FILE = Path(__file__).parents[2] / "golden" / "slack" / "mockups.md"
DATE = re.compile(r"<!date\^\d+\^\{ago\}\|[^>]*>")

SHOWN: Mapping[str, Incident] = {
    "first": FIRST,
    "collecting": COLLECTING,
    "confirmed": MEDIUM,
    "proposed": CONFIRMED,
    "competing": TWO_FIT,
    "unknown": UNKNOWN,
    "blind": BLIND,
    "revised": REVISED,
    "resolved": RESOLVED,
    "reopened": BACK,
    "deferred": QUEUED,
}
WITH_MITIGATIONS = frozenset({"withheld", "waiting", "applying", "verified", "undone", "unclear"})
"""Mock-ups of changes: a version that only suggests has none of these states."""

EVERYTHING = Offers(can_silence=True)
ALL = {**STATES, **WITH_PEOPLE}
PHRASES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "first": {
        "H": ("🔎 Investigating: ",),
        "T": ("Investigating: ", " causes are being checked; verdict by ", " UTC."),
        "S": ("*The alert says:* “", "”\n`", " · started ", " ago (0"),
        "W": (" causes are being checked. Verdict by ", ", with whatever has arrived by then."),
        "F": ("Incident ", " · received ", " · changes: "),
    },
    "collecting": {
        "H": ("🔎 Investigating: slow ",),
        "S": (", usually ", " · SLO ", "pods · started ", "\nSlow stage: *", "s*, usually "),
        "W": ("*Checking:* 31 of 47 questions answered, 15 waiting, 1 failed · verdict by ",),
        "T": ("Investigating: ", ", usually ", "). Verdict by "),
    },
    "confirmed": {
        "H": ("🎯 Cause found: ",),
        "T": ("Cause found (", "): ", ", usually "),
        "S": (" · SLO ", " · 3 of ", " pods · started ", "\nSlow stage: *"),
        "W": (" confidence", " What led to what:\n1. 02:", "\n2. ", "\n3. 0"),
        "D": ("\n1. ", " risk"),
        "E": ("✓ ", "Nothing speaks against it ("),
        "N": (
            "*Ruled out (",
            "queue saturation (",
            "GPU clocks (",
            " more ",
            "*Could not check (",
            " did not answer SSH within 5 s. Fix: ",
            "tailhound doctor ssh gpu-node-7",
        ),
        "F": (" · verdict 0", " UTC, ", " s after the alert came in · ", " questions answered"),
    },
    "proposed": {
        "H": ("🎯 Cause found: the CPU limit stops the engine",),
        "T": (
            "Cause found (high confidence): ",
            "llm/chat-json, inter-token p50 80 ms, usually 8 ms.",
        ),
        "S": (
            "*Inter-token p50 80 ms*, usually 8 ms (x10) · SLO 20 ms\n",
            "\n`llm / chat-json` · ",
            " · 3 of 3 pods · ",
            " · started 4 min ago (03:00 UTC)",
        ),
        "W": ("*High confidence.* What led to what:\n1. 02:5", "\n2. 0", ": 80 ms, usually 8 ms"),
        "D": ("\n1. Raise the CPU limit", "Medium risk", "\n2. "),
        "E": (
            "✓ Stopped in more than a quarter of its periods: 100 % (needs 25 %)\n",
            "✓ Loses real time, not just idle bursts: 1.4 s",
            " slower",
            ": x10 (needs x1.5)\n",
            "Nothing speaks against it (",
            " checked).",
        ),
        "N": (
            "*Ruled out (",
            "):* queue saturation (GPU ",
            "GPU clocks",
            "KV preemption",
            "*Could not check (2):* ingress path, DNS",
            "o such series in Prometheus",
            "Fix: ",
        ),
        "F": ("Incident 8R5W · verdict 03:04:11 UTC", " · ", " questions answered"),
    },
    "competing": {
        "H": ("⚖️ Two causes fit: ", "node drain", "CPU throttling"),
        "T": ("Two causes fit (medium): ", "usually "),
        "W": ("*Medium confidence.* Both are confirmed; neither leads to the other.\nA. ", "\nB. "),
        "E": ("A ✓ ", "\nB ✓ "),
    },
    "unknown": {
        "H": ("❔ No cause confirmed: slow ", " on "),
        "T": ("No cause confirmed: ",),
        "W": (
            " causes checked: ",
            " ruled out, 2 unknown",
            "0 confirmed.* Nearest:\n1. *",
            "\n2. *",
            "*Would decide:* ",
        ),
        "D": ("*You can",),
        "E": ("✓ ", "? ", ": not measured"),
        "N": ("*Ruled out (", "*Could not check (2):* ", "Fix: "),
        "F": ("Incident ", " · verdict ", " UTC, at the deadline · ", " questions answered"),
    },
    "blind": {
        "H": ("🔌 Cannot see: Prometheus does not answer",),
        "T": ("Cannot see: Prometheus does not answer. llm/chat-json, ", " causes not checked."),
        "S": (
            "*The alert says:* “p50 ITL 68-93 ms, objective 20 ms”\n`llm / chat-json` · ",
            "` · page · started ",
        ),
        "W": (
            "*No verdict.* ",
            " accepted the connection and sent nothing for 10 s, 3 times. ",
            " causes ",
            ". Asked again every 30 s until 03:17",
            " UTC; this message changes when it answers.",
        ),
        "D": (
            "*You can:* check Prometheus itself; it may be part of this incident. ",
            " Known without it:\n· ",
            "ready",
            "6 cores",
        ),
        "N": ("*Ruled out (", "node drain", "*Could not check (", "Fix: "),
        "F": ("Incident ", " UTC, at the deadline · ", " questions answered"),
    },
    "revised": {
        "H": ("🎯 Cause found: ",),
        "T": ("Revised to cause found (", "Was: no cause confirmed."),
        "W": ("*Revised 03:", " UTC:* ", " answered after 47 s.", "~03:", " no cause confirmed~"),
        "F": ("Incident ", " · revised 03:", " questions answered"),
    },
    "resolved": {
        "H": ("✅ Resolved after 38 min: the CPU limit stop",),
        "T": (
            "Resolved after 38 min: llm/chat-json, inter-token p50 ",
            "the CPU limit stop",
            " (high confidence).",
        ),
        "S": (
            "80 ms",
            " · SLO 20 ms\n`llm / chat-json` · 03:00 to 03:38 UTC · resolved by the alert",
        ),
        "D": ("*Was this the cause?* One tap helps the next person on call.",),
    },
    "reopened": {
        "H": ("🔁 Back again: ", " on chat-json (2nd time)"),
        "T": (
            "Back again 03:51 UTC, 13 min after resolving: llm/chat-json, ",
            "eing checked again",
        ),
        "S": (" · started ", "(03:51 UTC)"),
        "W": (
            "*Being checked again*, verdict by 03:52:30 UTC. Last time: the CPU limit stop",
            " (high confidence). Not assumed to be the same this time.",
        ),
    },
    "deferred": {
        "H": ("⏸️ Waiting its turn: ",),
        "T": (
            "Waiting its turn: ",
            " 37 incidents at once; this one is 27th, starts by about 0",
        ),
        "W": (
            "*412 alerts in 60 s became 37 incidents.* The most severe go first; "
            "this one is 27th, starts by about 0",
        ),
    },
}
ROWS = {
    "A": "[I'm on it]",
    "L": "[Re-check] [Silence…] [Wrong? Tell us the cause] [Full evidence ↗]",
}
"""The rows of a mock-up that names none."""


def mockups() -> dict[str, dict[str, str]]:
    """The mock-ups by name: slot -> text."""
    states: dict[str, dict[str, str]] = {}
    block = FILE.read_text(encoding="utf-8").split("```slack\n")[1].split("\n```")[0]
    slots: dict[str, str] = {}
    last = ""
    for line in block.splitlines():
        if line.startswith("== "):
            name, base = _named(line)
            slots = states[name] = dict(states.get(base, {}))
            continue
        for part in line.split(" ‖ "):
            slot, _, text = part.partition("|")
            if slot.strip():
                last = slot.strip()
                slots[last] = text.strip().replace(" ⏎ ", "\n")
            else:
                slots[last] += "\n" + text.strip().replace(" ⏎ ", "\n")
    return {
        name: {slot: text for slot, text in (ROWS | found).items() if text != "-"}
        for name, found in states.items()
    }


def labels(row: str) -> list[str]:
    """The buttons of a row."""
    return re.findall(r"\[([^]]+)\]", row)


def _named(line: str) -> tuple[str, str]:
    words = line.split("#", maxsplit=1)[0].split()
    base = next((word.removeprefix("base=") for word in words if word.startswith("base=")), "")
    return words[1], base


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
    return DATE.sub("4 min ago", text).replace("\u00a0", " ")


def test_the_file_holds_each_state_that_is_shown() -> None:
    assert set(SHOWN) | WITH_MITIGATIONS == set(mockups())
    assert not set(SHOWN) & WITH_MITIGATIONS
    assert set(PHRASES) == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_a_message_has_the_words_of_its_mockup(name: str) -> None:
    mockup, ours = mockups()[name], shown(SHOWN[name])
    for slot, phrases in PHRASES[name].items():
        for phrase in phrases:
            wanted = phrase.replace("4 min ago", "ago") if name != "proposed" else phrase
            assert wanted in mockup[slot], f"the mock-up's {slot} has not {phrase!r}"
            assert wanted in ours[slot], f"our {slot} has not {phrase!r}: {ours[slot]!r}"


@pytest.mark.parametrize("name", SHOWN)
def test_a_message_has_the_slots_of_its_mockup_in_order(name: str) -> None:
    mockup = [slot for slot in ORDER if slot in mockups()[name]]
    made = message(SHOWN[name], page_url=PAGE, now=NOW)
    ours = [block["block_id"][0] for block in made.blocks]
    assert ours == [slot for slot in ORDER if slot in ours]
    assert set(mockup) <= set(ours)


@pytest.mark.parametrize("name", SHOWN)
def test_a_message_has_the_buttons_of_its_mockup_that_change_nothing(name: str) -> None:
    mockup, ours = mockups()[name], shown(SHOWN[name])
    taken = [label for label in labels(mockup["A"]) if not label.endswith("…")]
    assert labels(ours["A"]) == taken
    assert labels(ours.get("L", "")) == labels(mockup.get("L", ""))


def test_who_is_on_it_and_what_is_silenced_stand_first_in_the_footer() -> None:
    first = "ben is on it since 03:03 UTC · Silenced by ana until 05:10 UTC (3 alerts) · Incident "
    assert shown(TAKEN)["F"].startswith(first)
    assert '"ben is on it since 03:03 UTC · "' in FILE.read_text(encoding="utf-8")
    assert '"Silenced by ana until 05:10 UTC (3 alerts) · "' in FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHOWN)
def test_the_mockups_keep_the_budgets(name: str) -> None:
    for slot, text in mockups()[name].items():
        if slot in BUDGETS:
            assert len(text) <= BUDGETS[slot]


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
    assert told["H"] == "🔎 Investigating: slow inter-token p50 on chat-json"
    assert told["S"].startswith("*Inter-token p50 80 ms*, usually 8 ms (x10) · SLO 20 ms\n")
    assert told["S"].endswith("\nSlow stage: *decode 4.1 s*, usually 0.41 s")
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
    for state in (BACK, STATES["again"]):
        assert "80 ms" not in shown(replace(state, progress=None))["S"]
        told = shown(replace(state, progress=progress))["S"]
        assert told.startswith("*Inter-token p50 760 ms*, usually 8 ms (x95)")


def test_when_nobody_is_asked_again_any_more_the_message_promises_nothing() -> None:
    for over in (None, NOW - timedelta(seconds=1)):
        told = shown(replace(BLIND, asked_until=over))
        assert told["W"].endswith("could not be checked. *Re-check* asks again.")


def test_a_late_answer_counts_as_long_as_it_is_waited_for() -> None:
    asked = replace(UNKNOWN, asked_until=NOW + timedelta(minutes=2))
    assert " · a late answer still counts until 03:06:30 UTC" in shown(asked)["F"]
    assert "late answer" not in shown(UNKNOWN)["F"]


def test_re_check_is_drawn_only_where_there_is_something_to_check_again() -> None:
    drawn = {
        name for name, incident in STATES.items() if "Re-check" in shown(incident).get("L", "")
    }
    assert drawn == {
        "confirmed", "medium", "two-fit", "unknown", "no-symptom", "nothing-left", "blind",
        "revised", "failed",
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
    assert shown(short)["S"].splitlines()[1] == "Alert: InferenceInterTokenLatencyHigh"
    assert short.diagnosis is not None
    roomy = replace(short, diagnosis=replace(short.diagnosis, stages=(), shape=""))
    assert shown(roomy)["S"].splitlines()[1] == (
        "Alert: InferenceInterTokenLatencyHigh (“p50 80 ms, objective 20 ms”)"
    )


def test_the_onset_is_told_beside_the_start_of_the_alert_where_they_differ() -> None:
    diagnosis = CONFIRMED.diagnosis
    assert diagnosis is not None
    assert diagnosis.symptom is not None
    early = replace(diagnosis.symptom, onset=CONFIRMED.since - timedelta(minutes=8))
    told = shown(replace(CONFIRMED, diagnosis=replace(diagnosis, symptom=early)))["S"]
    assert "alert started 4 min ago (03:00 UTC), slow since 02:52" in told
    assert "slow since" not in shown(CONFIRMED)["S"]


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


def test_the_verdict_that_was_replaced_stands_before_the_chain() -> None:
    told = shown(REVISED)["W"].splitlines()
    assert told[0].endswith("*Revised 03:03:17 UTC:* Prometheus answered after 47 s.")
    assert told[1] == "~03:02:30 no cause confirmed~"
    assert told[2] == "What led to what:"
    assert told[3].startswith("1. ")
