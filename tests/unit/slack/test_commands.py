"""`/tailhound ...`: what is typed, done, and said to one or to all."""

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tailhound.app import collectors, runbook_files
from tailhound.durable.acts import Person
from tailhound.durable.switch import Moved, Stopped
from tailhound.errors import SettingsError, StoreUnavailable
from tailhound.model import OnIt, Part, State, Verdict, may_change
from tailhound.requests.argv import SHIPPED
from tailhound.rules.loading import load_runbooks
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings
from tailhound.slack.approvers import Approvers
from tailhound.slack.blocks import message
from tailhound.slack.command_texts import subject_labels
from tailhound.slack.commands import COMMANDS, unknown_text
from tailhound.slack.deeds import Begun
from tailhound.slack.local import Person as Member
from tailhound.slack.people import STRANGER, People
from tailhound.slack.promptly import NOT_YET, STORE_SECONDS
from tailhound.slack.seconds import WHO_SECONDS
from tests.samples.incidents import CONFIRMED, DEFERRED, FIRST, LISTED, STATES, TAKEN, UNKNOWN
from tests.samples.story import NOW, at
from tests.unit.slack.floor import ANA, BEN, CHANNEL, Floor, envelope, floor, texts


@pytest.fixture(scope="module")
def runbooks() -> tuple[Runbook, ...]:
    return load_runbooks(runbook_files(Settings()), collectors(), SHIPPED)


@pytest.fixture
def room(runbooks: tuple[Runbook, ...]) -> Iterator[Floor]:
    with floor() as made:
        made.desk.runbooks = runbooks
        yield made


def said_aloud(room: Floor) -> list[str]:
    """What everybody in the channel reads."""
    return [str(message["text"]) for message in room.slack.messages(CHANNEL)]


def _fail() -> None:
    raise StoreUnavailable("locked")


@pytest.mark.parametrize("text", ["", "help", "HELP me"])
def test_help_lists_every_command(room: Floor, text: str) -> None:
    told = room.type(text)
    for word in COMMANDS:
        assert f"`/tailhound {word}`" in told
    assert said_aloud(room) == []


def test_every_command_stands_in_the_responders_guide() -> None:
    guide = Path(__file__).parents[3] / "docs" / "responders" / "reading.md"
    shown = guide.read_text(encoding="utf-8").partition("### `/tailhound`")[2]
    for word in COMMANDS:
        assert re.search(rf"`{word}[ `]", shown), word


def test_an_unknown_word_runs_nothing_and_gets_the_nearest_command(room: Floor) -> None:
    assert room.type("dignose") == (
        "No command `dignose`. Did you mean `diagnose`? `/tailhound help` lists all 12."
    )
    assert room.type("<!channel>`x") == (
        "No command `&lt;!channel&gt;'x`. `/tailhound help` lists all 12."
    )
    assert room.desk.stored == []


def test_status_tells_what_is_open_and_how_the_backends_stand(room: Floor) -> None:
    taken = replace(CONFIRMED, on_it=OnIt(by="ana", since=at(4)))
    room.desk.listed = (taken, *room.desk.listed[1:])
    assert room.type("status").splitlines() == [
        "*2 open, changes off (observe mode).*",
        "8R5W llm/chat-json · severity page · the CPU limit stops the engine · high · since "
        "03:00 UTC · ana is on it",
        "8R5W llm/chat-json · severity page · being checked · since 03:00 UTC",
        "Prometheus 40 ms · *SSH can't be reached*",
        "*Re-check* under a message looks again; `/tailhound help` lists what else can be done.",
    ]
    assert said_aloud(room) == []


def test_status_and_the_home_tab_say_until_when_an_incident_is_silenced(room: Floor) -> None:
    room.desk.listed = (TAKEN,)
    assert " · ben is on it · silenced until 05:10 UTC" in room.type("status")
    room.hands().look_home()
    assert "silenced until 05:10 UTC" in texts(room.home())
    over = tuple(replace(one, ended_at=at(4)) for one in TAKEN.silences)
    room.desk.listed = (replace(TAKEN, silences=over),)
    assert "silenced" not in room.type("status")


def test_status_takes_no_incident_and_names_the_command_that_does(room: Floor) -> None:
    assert room.type("status prod/chat") == (
        "`/tailhound status` takes no incident: it lists what is open. "
        "`/tailhound show prod/chat` shows that one."
    )
    assert "<!channel>" not in room.type("status <!channel>`")


def test_a_long_status_is_cut_with_a_count(room: Floor) -> None:
    room.desk.listed = LISTED * 40
    told = room.type("status")
    assert f"*{len(room.desk.listed)} open" in told
    assert f"+ {len(room.desk.listed) - 20} more on the page" in told


def test_status_counts_what_the_list_leaves_out(room: Floor) -> None:
    room.desk.listed, room.desk.page = LISTED[:1] * 1_234, ""
    told = room.type("status")
    assert "*1234 open" in told
    assert "+ 1214 more in `tailhound incidents`" in told
    room.hands().look_home()
    assert "Open incidents (1234)" in texts(room.home())


def test_status_with_nothing_open_names_the_next_step(room: Floor) -> None:
    room.desk.listed = ()
    assert room.type("status").startswith("*Nothing is open, changes off (observe mode).*")
    assert "/tailhound diagnose" in room.type("status")


def test_a_store_that_is_silent_is_told(room: Floor) -> None:
    room.desk.before = _fail
    assert room.type("status").startswith("The store did not answer")
    assert room.type("diagnose prod/llm-70b") == "Not recorded, type it again."
    assert room.type("stop") == "Not recorded, type it again."
    assert room.answer("resume") == "Not recorded, type it again."


@pytest.mark.parametrize(
    ("typed", "outcome"),
    [("diagnose prod/llm-70b", "Checking prod/llm-70b (7F3K)."), ("stop", "⛔ u0ana stopped")],
)
def test_a_store_that_is_late_is_told_at_once_and_what_came_of_it_later(
    room: Floor, typed: str, outcome: str
) -> None:
    release = threading.Event()
    room.desk.before = lambda: release.wait(10)
    assert room.type(typed) == NOT_YET
    release.set()
    room.slack.wait_for(lambda: bool(room.slack.messages(CHANNEL)))
    assert room.slack.messages(CHANNEL)[0]["text"].startswith(outcome)
    assert len(room.desk.stored) == 1


def test_nothing_waits_for_approval_in_this_version(room: Floor) -> None:
    assert "no changes exist in this version" in room.type("approvals")


@pytest.mark.parametrize("mode", ["observe", "shadow", "one-click"])
def test_every_place_says_the_same_of_changes(room: Floor, mode: str) -> None:
    room.desk.mode = mode
    told = may_change.changes_stand(mode, None, NOW)
    assert told.startswith(f"off ({mode} mode")
    assert f"changes {told}" in room.type("status")
    room.hands().look_home()
    assert f"changes {told}" in texts(room.home())
    footer = message(replace(FIRST, mode=mode), page_url="", now=NOW).blocks[-1]
    assert f"changes: {told}" in str(footer)
    assert "observe" not in room.type("approvals")


def test_diagnose_is_stored_and_everybody_sees_it(room: Floor) -> None:
    told = room.type("diagnose prod/llm-70b")
    assert told == (
        "Checking prod/llm-70b (7F3K). The diagnosis appears in this channel in up to 30\u00a0s."
    )
    assert said_aloud(room) == [told]
    labels = {"namespace": "prod", "deployment": "llm-70b"}
    assert room.desk.stored == [("diagnose", Person(ANA, "u0ana"), labels)]


def test_diagnose_says_where_the_message_stands(room: Floor) -> None:
    room.desk.begun = replace(room.desk.begun, channels=("C0OTHER",))
    assert "appears in <#C0OTHER> in" in room.type("diagnose prod/llm-70b")
    room.desk.begun = replace(room.desk.begun, channels=("C1", "C2", "C3", "C4", "C5"))
    assert "<#C3>, + 2 more in up to" in room.type("diagnose prod/llm-70b")


def test_diagnose_of_what_is_open_already_names_that_incident(room: Floor) -> None:
    room.desk.begun = replace(room.desk.begun, joined=True)
    assert "prod/llm-70b is incident 7F3K already" in room.type("diagnose prod/llm-70b")


def test_diagnose_that_starts_nothing_says_why_to_one_person(room: Floor) -> None:
    room.desk.begun = Begun(incident="", why_not="severity is none")
    assert room.type("diagnose prod/x") == "prod/x is not checked: severity is none."
    assert said_aloud(room) == []


@pytest.mark.parametrize("text", ["", "llm", "a b c", "<!here>/x", "prod/<@U1>", "prod/a/b/c", "/"])
def test_what_names_nothing_checks_nothing(room: Floor, text: str) -> None:
    told = room.type(f"diagnose {text}")
    assert "Write `/tailhound diagnose NAMESPACE/WORKLOAD`" in told
    assert "<!" not in told
    assert "<@" not in told
    assert room.desk.stored == []


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("prod/llm-70b", {"namespace": "prod", "deployment": "llm-70b"}),
        ("prod/statefulset/db", {"namespace": "prod", "statefulset": "db"}),
        ("llm chat-json-2", {"namespace": "llm", "pod": "chat-json-2"}),
        ("node=gpu-node-7", {"node": "gpu-node-7"}),
        ("prod/llm cluster=eu-1", {"namespace": "prod", "deployment": "llm", "cluster": "eu-1"}),
    ],
)
def test_subjects_are_read_as_people_write_them(words: str, labels: dict[str, str]) -> None:
    assert subject_labels(words.split()) == labels


def test_nobody_names_an_alert_of_their_own() -> None:
    assert subject_labels(["alertname=Watchdog"]) == "Something is missing."


def test_run_answers_in_the_channel_and_stores_nothing(room: Floor) -> None:
    room.type("run cpu-throttling llm/chat-json")
    room.slack.wait_for(lambda: len(said_aloud(room)) == 2)
    told, answer = said_aloud(room)
    assert told.startswith("Checking `cpu-throttling` of llm/chat-json.")
    assert answer.startswith("🎯 *confirmed*, high confidence: `cpu-throttling` of llm/chat-json")
    assert "Stopped in more than a quarter of its periods" in answer
    assert "Nothing was stored." in answer
    assert "`/tailhound runbooks cpu-throttling`" in answer


def test_run_says_unknown_where_it_is(room: Floor) -> None:
    diagnosis = UNKNOWN.diagnosis
    assert diagnosis is not None
    first = next(cause for cause in diagnosis.causes if cause.verdict is Verdict.UNKNOWN)
    one = replace(UNKNOWN, diagnosis=replace(diagnosis, causes=(first,)))
    room.desk.answer = lambda: one
    room.type("run cpu-throttling llm/chat-json")
    room.slack.wait_for(lambda: len(said_aloud(room)) == 2)
    assert "*unknown*: `" in "".join(said_aloud(room))


def test_run_of_what_would_be_refused_is_told_to_one_person_and_promises_nothing(
    room: Floor,
) -> None:
    room.desk.no_run = "4 such checks run already; try in a minute"
    told = room.type("run cpu-throttling llm/chat-json")
    assert told == "Not checked: 4 such checks run already; try in a minute"
    assert said_aloud(room) == []
    assert room.desk.stored == []


def test_run_that_fails_behind_its_promise_is_told_where_that_was_made(room: Floor) -> None:
    def fail() -> None:
        raise SettingsError("4 such checks run already; try in a minute")

    room.desk.before = fail
    room.type("run cpu-throttling llm/chat-json")
    room.slack.wait_for(lambda: len(said_aloud(room)) == 2)
    assert said_aloud(room)[1] == "Not checked: 4 such checks run already; try in a minute"
    assert room.slack.whispers(CHANNEL) == []


def test_run_that_hits_a_bug_is_told_instead_of_an_answer_that_never_comes(room: Floor) -> None:
    def fail() -> None:
        raise ZeroDivisionError("a bug")

    room.desk.before = fail
    room.type("run cpu-throttling llm/chat-json")
    room.slack.wait_for(lambda: len(said_aloud(room)) == 2)
    assert said_aloud(room)[1].startswith(
        "`cpu-throttling` of llm/chat-json was not checked: tailhound itself failed"
    )


def test_run_shows_every_claim_for_nothing_else_has_them(room: Floor) -> None:
    assert CONFIRMED.diagnosis is not None
    cause = CONFIRMED.diagnosis.causes[0]
    first = next(one for one in cause.checks if one.part is Part.CONFIRM)
    checks = [replace(first, claim=f"Claim {n} <&>" + " is so" * 20) for n in range(40)]
    many = replace(cause, checks=tuple(checks))
    one = replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, causes=(many,)))
    room.desk.answer = lambda: one
    room.type("run cpu-throttling llm/chat-json")
    room.slack.wait_for(lambda: len(said_aloud(room)) == 2)
    message = room.slack.messages(CHANNEL)[1]
    told = message["text"]
    assert [n for n in range(40) if f"Claim {n} &lt;&amp;&gt; is so" not in told] == []
    assert "on the page" not in told
    assert told.endswith("More of it: `/tailhound runbooks cpu-throttling`")
    assert len(message["blocks"]) > 1


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("run", "No runbook"),
        ("run cpu-throtling a/b", "Did you mean `cpu-throttling`?"),
        ("run cpu-throttling", "Something is missing."),
        ("run cpu-throttling x", "`x` is not enough."),
    ],
)
def test_run_of_nothing_says_what_it_takes(room: Floor, text: str, hint: str) -> None:
    told = room.type(text)
    assert hint in told
    assert "/tailhound run RUNBOOK NAMESPACE/WORKLOAD" in told
    assert room.desk.stored == []


def test_runbooks_are_listed_found_and_shown(room: Floor, runbooks: tuple[Runbook, ...]) -> None:
    listed = room.type("runbooks")
    assert all(f"`{one.id}`" in listed for one in runbooks)
    one = room.type("runbooks cpu-throttling")
    assert "(`cpu-throttling`)" in one
    assert "Confirms: Stopped in more than a tenth of its periods" in one
    assert "/tailhound run cpu-throttling" in one
    for runbook in runbooks:
        shown = room.type(f"runbooks {runbook.id}")
        assert shown.count("Confirms: ") == len(runbook.confirm)
        assert shown.count("Rules out: ") == len(runbook.refute)
    assert "Did you mean `cpu-throttling`?" in room.type("runbooks cpu-throtling")


def test_many_runbooks_are_cut_with_a_count(room: Floor, runbooks: tuple[Runbook, ...]) -> None:
    room.desk.runbooks = [replace(runbooks[0], id=f"cause-{n:03}") for n in range(300)]
    told = room.type("runbooks cause")
    assert "more: `/tailhound runbooks WORD` lists those with a word" in told
    assert len(told) < 3_000


def test_silence_opens_the_form(room: Floor) -> None:
    assert room.type("silence 8r5w") == ""
    room.modal(lambda view: "*Mutes now:*" in texts(view))


@pytest.mark.parametrize("command", ["silence", "show", "why", "recheck"])
def test_what_names_no_incident_says_what_the_command_takes(room: Floor, command: str) -> None:
    for text in ("", "a b"):
        assert f"rite `/tailhound {command} INCIDENT`" in room.type(f"{command} {text}")
    for text in ("<!here>", "../x", "ZZZZ", "https://tailhound.example/incidents/ZZZZ"):
        told = room.type(f"{command} {text}")
        assert told.startswith("No incident ")
        assert "<!" not in told
        assert told.endswith("`/tailhound status` lists what is open.")
    assert room.desk.stored == []


WAYS = [
    "8R5W", "8r5w", "#8R5W", "`8R5W`", "https://tailhound.example/incidents/8R5W",
    "<https://tailhound.example/incidents/8r5w#cpu-throttling|8R5W>",
    "https://acme.slack.com/archives/C0ALERTS/p1796007600000100",
    "<https://acme.slack.com/archives/C0ALERTS/p1796007600000999?thread_ts=1796007600.000100>",
    "http://127.0.0.1:9111/channel#m1796007600.000100", "llm/chat-json", "chat-json", "",
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_an_incident_is_named_by_its_id_by_a_link_by_its_workload_or_by_the_channel(
    room: Floor, way: str
) -> None:
    stands = room.desk.whereabouts
    stands.messages = {(CHANNEL, "1796007600.000100"): "8R5W"}
    stands.open_here, stands.newest = (CONFIRMED,), LISTED[:2]
    assert room.type(f"show {way}").startswith("*🎯 Cause found: the CPU limit stops the engine*\n")
    assert "✓ Stopped in more than a quarter" in room.type(f"why {way}")
    assert "8R5W is checked again" in room.type(f"recheck {way}")
    assert [(call[0], call[1].incident) for call in room.desk.stored] == [("recheck", "8R5W")]
    assert said_aloud(room) == []


def test_where_several_are_open_they_are_named(room: Floor) -> None:
    room.desk.whereabouts.open_here = LISTED[:7]
    told = room.type("show")
    assert told.startswith("7 incidents are open in this channel: 7F3K (prod/llm-70b), 8R5W (llm/")
    assert " + 2 more. Write `/tailhound show INCIDENT`." in told
    room.desk.whereabouts.newest = [replace(one, subject=LISTED[0].subject) for one in LISTED[:2]]
    assert room.type("show llm-70b").startswith("2 incidents of `llm-70b` are open: 7F3K")


def test_an_id_that_is_mistyped_gets_the_nearest_ones(room: Floor) -> None:
    room.desk.whereabouts.newest = LISTED
    assert room.type("show 7F3X").startswith(
        "No incident `7F3X` is known. Did you mean 7F3K (prod/llm-70b)? `/tailhound status`"
    )
    assert "Did you mean 2H8D (storage/db-1)?" in room.type("recheck storage")
    room.desk.incidents["0A10"] = replace(CONFIRMED, id="0A10")
    assert "Incident 0A10" in room.type("show oalo")


def test_a_place_that_two_clusters_have_is_told_with_its_cluster(room: Floor) -> None:
    there = replace(CONFIRMED.subject, cluster="eu-2")
    other = replace(CONFIRMED, id="9C1Q", subject=there)
    room.desk.listed = room.desk.whereabouts.open_here = (CONFIRMED, other)
    assert "llm/chat-json (eu-2) · severity page" in room.type("status")
    assert "9C1Q (llm/chat-json (eu-2))" in room.type("why")


def test_ids_are_links_where_there_is_something_to_link_to(room: Floor) -> None:
    room.desk.whereabouts.addresses = {"8R5W": "https://acme.slack.com/archives/C1/p17"}
    linked = "<https://acme.slack.com/archives/C1/p17|8R5W>"
    assert f"{linked} llm/chat-json" in room.type("status")
    assert f"Incident {linked} · <https://tailhound.example/incidents/8R5W|" in room.type(
        "show 8R5W"
    )
    assert f"Recorded: {linked} is checked again" in room.type("recheck 8R5W")
    room.hands().look_home()
    assert f"{linked} llm/chat-json" in texts(room.home())
    room.desk.whereabouts.addresses = {"8R5W": "https://x|<!channel>"}
    assert "8R5W llm/chat-json" in room.type("status")


def test_what_waits_its_turn_is_checked_now_when_it_is_asked_for(room: Floor) -> None:
    room.desk.incidents["8R5W"] = DEFERRED
    assert "8R5W is checked again" in room.type("recheck 8R5W")
    room.desk.is_new = False
    assert "8R5W is being checked already" in room.type("recheck 8R5W")
    assert room.desk.stored == [("check_now", "8R5W")] * 2


def test_what_is_over_is_not_checked_again_and_says_why(room: Floor) -> None:
    room.desk.over = "It is over (resolved 03:38 UTC); *nothing* is checked again."
    assert room.type("recheck 8R5W") == (
        "It is over (resolved 03:38 UTC); ∗nothing∗ is checked again."
    )
    assert room.desk.stored == []


@pytest.mark.parametrize("state", STATES)
def test_every_state_can_be_shown_and_says_what_to_type_next(room: Floor, state: str) -> None:
    room.desk.incidents["8R5W"] = replace(STATES[state], id="8R5W")
    shown, why = room.type("show 8R5W"), room.type("why 8R5W")
    over = state.startswith(("resolved", "joined", "unreadable"))
    recheck = "" if over else " · `/tailhound recheck 8R5W`"
    assert shown.endswith(f" · `/tailhound why 8R5W`{recheck}")
    assert why.endswith(f" · `/tailhound show 8R5W`{recheck}")
    assert shown.splitlines()[0] == why.splitlines()[0]


@pytest.mark.parametrize("state", ["unknown", "no-symptom", "nothing-left"])
def test_why_without_a_cause_begins_with_what_is_near_also_once_it_is_over(
    room: Floor, state: str
) -> None:
    open_ = replace(STATES[state], id="8R5W")
    for incident in (open_, replace(open_, state=State.RESOLVED, resolved_at=at(38))):
        room.desk.incidents["8R5W"] = incident
        assert " causes checked: " in room.type("why 8R5W").splitlines()[1]


def test_what_somebody_asked_for_is_not_cut_as_a_message_is(room: Floor) -> None:
    assert CONFIRMED.diagnosis is not None
    says = "The queue of the engine grew to many times its usual length. " * 8
    causes = tuple(replace(cause, says=says) for cause in CONFIRMED.diagnosis.causes)
    long = replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, causes=causes))
    room.desk.incidents["8R5W"] = long
    assert room.type("show 8R5W").count("its usual length") == 16


@pytest.mark.parametrize("command", ["show 8R5W", "why 8R5W", "recheck 8R5W", "silence 8R5W"])
def test_a_store_that_is_silent_is_told_of_an_incident_too(room: Floor, command: str) -> None:
    room.desk.before = _fail
    told = room.type(command)
    assert told.startswith(("The store did not answer", "Not recorded, type it again."))


def test_silence_without_alertmanager_says_so(room: Floor) -> None:
    room.desk.can_silence = False
    assert room.type("silence 8R5W").startswith("No Alertmanager is configured")


def test_stop_and_resume_are_seen_by_all(room: Floor) -> None:
    assert room.type("stop game <!here> day") == (
        "⛔ u0ana stopped all changes 03:04 UTC: “game &lt;!here&gt; day”. It holds nothing "
        "back now, for no changes exist in this version; it is kept for one that has them. "
        "Diagnoses go on. End: `/tailhound resume`"
    )
    assert room.type("stop", user=BEN).startswith("⛔ Already stopped. u0ana stopped all changes")
    assert "changes stopped by u0ana since 03:04 UTC" in room.type("status")
    resumed = room.answer("resume")
    assert resumed.startswith("Changes are no longer stopped (u0ana, 03:04 UTC; stopped for ")
    assert "That turns nothing on: no changes exist in this version." in resumed
    assert len(said_aloud(room)) == 3
    assert room.answer("resume").startswith("Nothing was stopped.")
    assert len(said_aloud(room)) == 3


def test_a_stop_that_is_typed_after_a_resume_stands(
    room: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.desk.switch = Stopped(by="cleo", at=NOW, why="game day")
    gate, lists = threading.Event(), Approvers.why_not

    def slow(approvers: Approvers, person: Person) -> str:
        gate.wait(5)
        return lists(approvers, person)

    monkeypatch.setattr(Approvers, "why_not", slow)
    room.hands(ANA).type(CHANNEL, "resume")
    assert room.type("stop failover", user=BEN).startswith("⛔ Already stopped. cleo stopped")
    gate.set()
    told = room.told()
    assert told[0].startswith("Not changed: u0ben stopped all changes 03:04 UTC, and that had not")
    assert room.desk.switch is not None
    assert room.answer("resume").startswith("Changes are no longer stopped")
    assert room.desk.switch is None


def test_guests_do_not_stop(room: Floor) -> None:
    room.slack.core.add_person(Member(BEN, "ben", is_restricted=True))
    assert "full members" in room.type("stop", user=BEN)
    assert room.desk.stored == []


@pytest.mark.parametrize(
    "text",
    ["diagnose llm/chat-json", "status", "show 8R5W", "why 8R5W", "recheck 8R5W", "approvals",
     "runbooks", "help"],
)  # fmt: skip
def test_guests_type_what_changes_nothing_outside(room: Floor, text: str) -> None:
    room.slack.core.add_person(Member(BEN, "ben", is_restricted=True))
    told = room.type(text, user=BEN)
    assert told
    assert "full members" not in told
    assert not told.startswith("Not ")


def test_who_is_a_guest_stays_one_while_slack_does_not_tell(
    room: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.slack.core.add_person(Member(BEN, "ben", is_restricted=True))
    room.type("stop", user=BEN)
    monkeypatch.setattr("tailhound.slack.people.KNOWN_SECONDS", -1.0)
    room.slack.core.scopes = room.slack.core.scopes - {"users:read"}
    assert "full members" in room.type("stop", user=BEN)
    assert room.desk.stored == []


def test_stopping_is_safe_so_it_works_where_slack_does_not_tell_who_somebody_is(
    room: Floor,
) -> None:
    room.slack.core.scopes = room.slack.core.scopes - {"users:read"}
    assert room.type("stop").startswith("⛔ u0ana stopped all changes")
    assert [call[0] for call in room.desk.stored] == ["stop"]


@pytest.mark.parametrize("is_guest", [False, True])
def test_a_stop_waits_for_slack_no_longer_than_for_the_store(
    room: Floor, monkeypatch: pytest.MonkeyPatch, is_guest: bool
) -> None:
    room.slack.core.add_person(Member(BEN, "ben", is_restricted=is_guest))
    room.type("silence X", user=BEN)
    assert ("full members" in room.type("stop", user=BEN)) is is_guest
    monkeypatch.setattr("tailhound.slack.people.KNOWN_SECONDS", -1.0)
    hung, asked = threading.Event(), People._asked

    def trickles(people: People, id: str) -> Any:
        hung.wait(10)
        return asked(people, id)

    monkeypatch.setattr(People, "_asked", trickles)
    told = room.type("stop failover", user=BEN)
    assert not hung.is_set()
    hung.set()
    assert told.startswith("Not done. This is for full" if is_guest else "⛔ Already stopped.")


def test_a_click_of_whom_slack_does_not_tell_in_time_is_refused(
    room: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = threading.Event()
    monkeypatch.setattr(People, "_found", lambda *_: (hung.wait(10), "no answer")[1])
    monkeypatch.setattr("tailhound.slack.tools.WHO_SECONDS", 0.05)
    assert "did not tell who you are (no answer)" in room.answer("diagnose prod/llm-70b")
    hung.set()
    assert room.desk.stored == []


@pytest.mark.parametrize(
    "text", ["status", "show 8R5W", "why 8R5W", "recheck 8R5W", "silence 8R5W"]
)
def test_a_stranger_is_not_told_what_is_open(room: Floor, text: str) -> None:
    room.slack.core.add_person(Member(BEN, "ben", is_stranger=True))
    assert room.type(text, user=BEN) == STRANGER
    assert room.desk.stored == []


@pytest.mark.parametrize(
    "text", ["status", "show 8R5W", "why 8R5W", "recheck 8R5W", "silence 8R5W"]
)
def test_a_slow_slack_and_a_slow_store_together_leave_slack_its_answer_in_time(
    room: Floor, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    asked, hung = threading.Event(), threading.Event()

    def who(*_: Any) -> str:
        return "" if asked.wait(1.5) else "asked one after the other"

    def is_stranger(*_: Any) -> bool:
        asked.set()
        return hung.wait(10)

    monkeypatch.setattr(People, "why_stranger", who)
    monkeypatch.setattr(People, "is_stranger", is_stranger)
    room.desk.before = lambda: hung.wait(10)
    begun = time.monotonic()
    told = room.type(text)
    took = time.monotonic() - begun
    hung.set()
    assert told.startswith("The store ")
    assert WHO_SECONDS + STORE_SECONDS < 2.8
    assert took < 3.0


def test_a_stop_file_is_told_and_resume_says_what_to_remove(room: Floor) -> None:
    room.desk.switch = Stopped(by="the file x.stop", at=NOW, why="a\tb", file="/var/x.stop")
    assert "changes stopped by the file x․stop since 03:04 UTC" in room.type("status")
    room.desk.keeps_file = True
    assert room.answer("resume") == (
        "Not changed. `/var/x.stop` stops all changes as long as it exists. "
        "Remove it where tailhound runs."
    )
    assert said_aloud(room) == []


def test_a_command_from_another_workspace_does_nothing(room: Floor) -> None:
    room.type("stop")
    payload = room.slack.core.command("stop", CHANNEL, BEN)
    payload["team_id"] = "T0OTHER"
    assert STRANGER in str(room.deliver(envelope(), payload).body)
    assert len(room.desk.stored) == 1


@pytest.mark.parametrize("command", ["stop", "resume"])
def test_a_command_that_another_replica_has_done_is_told_to_who_typed(
    room: Floor, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    stands = Stopped(by="<!here>", at=NOW, why="")
    known = Moved(before=stands, now=stands, known=True)
    monkeypatch.setattr(room.desk, command, lambda *_: known)
    told = "Done already; nothing was moved now. Changes are stopped by &lt;!here&gt; since"
    typed = room.answer if command == "resume" else room.type
    assert typed(command).startswith(told)
    assert len(room.slack.whispers(CHANNEL)) == 1


def test_with_a_dead_token_people_stop_changes_and_do_nothing_else() -> None:
    with floor(token="xoxb-dead") as room:
        assert room.type("stop game day").startswith("⛔ u0ana stopped all changes")
        assert "which workspace this is (invalid_auth)" in room.answer("status")
        assert [call[0] for call in room.desk.stored] == ["stop"]


@pytest.mark.parametrize("typed", ["JW2X", "1zak"])
def test_an_incident_s_id_alone_says_what_it_goes_with(typed: str) -> None:
    told = unknown_text(typed)
    assert told.startswith(f"`{typed.upper()}` alone does nothing.")
    assert f"`/tailhound show {typed.upper()}`" in told
    assert unknown_text("stat").startswith("No command")
