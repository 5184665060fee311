"""Forms, home tab and commands against the mock-ups that they were designed from."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from tailhound.app import collectors, runbook_files
from tailhound.durable.switch import Moved, Stopped
from tailhound.model import Alert, OnIt
from tailhound.requests.argv import SHIPPED
from tailhound.rules.loading import load_runbooks
from tailhound.settings import Settings
from tailhound.slack import command_texts, commands
from tailhound.slack.app_home import home_view
from tailhound.slack.commands import Standing
from tailhound.slack.deeds import Begun, Open, Overview, Part
from tailhound.slack.modals import feedback, silence
from tailhound.slack.modals.sheet import Note
from tailhound.slack.validate import view_faults
from tailhound.store.history import Month, Past
from tests.samples.incidents import CONFIRMED
from tests.samples.mocked import MOCKED
from tests.samples.mocking import clock
from tests.unit.slack.mockup_differences import CHANGES, Differs
from tests.unit.slack.mockup_forms import Slots, built, fenced, written

MODALS, HOMES = fenced("modal"), fenced("home")
GRAVE: Final = "What to look at first is told by how grave each of them is."
NOTE: Final = Note(incident="8R5W")
PAGE: Final = "https://tailhound.example/incidents"
ITL: Final = "InferenceInterTokenLatencyHigh"

PARTS: Final = (
    Part("Prometheus", "40 ms", True),
    Part("Kubernetes", "90 ms", True),
    Part("SSH", "11 of 12 hosts", False),
)

OFF: Final = "changes off (one-click mode, but this version has none)"
COUNTED: Final = (
    "A silence of Alertmanager mutes what its matchers say, and these are what it offers."
)
ID: Final = (
    "The id is what people type behind `/tailhound silence`, and what the message ends with."
)
STATES: Final = "How long each backend takes says more than that it is well."
DIFFER: Final[Mapping[str, tuple[Differs, ...]]] = {
    "silence": (
        Differs(
            "Only this group (3 alerts now) / All latency alerts of llm/chat-json (5 now) / ",
            "Only these alerts (3 now) / ",
            "Which alerts are of latency is not known; by one name there is one choice less.",
        ),
        Differs('namespace="llm"\nservice="chat-json"', 'deployment="chat-json"\nnamespace="llm"', (
            COUNTED
        )),
        Differs("2 warning). *In", "2 warnings).\n*In", "Each of the two counts has a line."),
        Differs(
            "14 alerts, 2 of them pages that were real incidents",
            "14 other alerts, among them pages of 2 real incidents",
            "Several pages may be of one incident, which is what is named. This one is no other.",
        ),
        Differs("of the same service", "beside it", "It may be a node that it is about."),
        Differs(
            "anyone can end it sooner.",
            "any full member can end it sooner: *Silence…* again.",
            "Whoever ends a silence writes to Alertmanager: changes are for full members.",
        ),
        Differs("F | Alert", "C | I know this mutes pages\n\nF | Alert", (
            "Muting a page asks for one tick more, and one of these is a page."
        )),
    ),
    "feedback": (
        Differs(
            '(all runbooks, the confirmed and nearest first, then "not in this list")',
            "CPU throttling: The CPU limit stops the engine / not in this list",
            "The mock-up says what the choices are; there is one runbook here.",
        ),
    ),
    "home": (
        Differs("🎯 *prod/llm-70b*", "🎯 7F3K prod/llm-70b · critical", ID),
        Differs(
            "🛠️ *llm/chat-json* · CPU limit 6 → 9 running · ben",
            "🎯 8R5W llm/chat-json · severity page · the CPU limit stops the engine · high · "
            "since 03:00 UTC",
            CHANGES,
        ),
        Differs(
            "(1)\n\nS | ana asks: lower max-num-seqs on prod/llm-70b, until 03:26 UTC\n\n"
            "A | [Review and approve…](primary) [Decline…]",
            "(0)\n\nS | Nothing waits for you: no changes exist in this version.",
            CHANGES,
        ),
        Differs("could not see\n", "could not see.\n", "Each line is a sentence."),
        Differs(" · 9 changes: 7 verified, 2 undone", ".", CHANGES),
        Differs("Prometheus ok · Kubernetes ok", "Prometheus 40 ms · Kubernetes 90 ms", STATES),
        Differs("SSH 11 of 12 hosts (`gpu-node-7` times out since 01:10 UTC)", (
            "*SSH 11 of 12 hosts*"
        ), "What is in trouble is bold; the page tells since when, and what to do."),
        Differs("changes on\n", f"{OFF}\n", CHANGES),
    ),
}  # fmt: skip
"""Where ours differ on purpose, and why."""

ELSEWHERE: Final = {
    "run cpu-throttling llm chat-json-2": "what a check says is tested in test_commands",
    "runbooks kv": "what the list says is tested in test_commands",
    "silence 7F3K": "the form that it opens is above",
}
ANSWERS: Final[Mapping[str, tuple[Differs, ...]]] = {
    "diagnose prod/llm-70b": (Differs("llm-70b.", "llm-70b (7F3K).", ID),),
    "status": (
        Differs("2 open, 1 waiting for approval, changes on (one-click)", (
            "2 open, changes off (one-click mode, but this version has none)"
        ), CHANGES),
        Differs("llm-70b ·", "llm-70b · critical ·", GRAVE),
        Differs("chat-json ·", "chat-json · severity page ·", GRAVE),
        Differs(" · change running", " · since 03:00 UTC", CHANGES),
        Differs("SSH 11 of 12 hosts · Slack queue 0", "*SSH 11 of 12 hosts*", (
            "What is in trouble is bold; what waits to be told stands on the page of health."
        )),
        Differs("hosts*", (
            "hosts*\n*Re-check* under a message looks again; `/tailhound help` lists what else can "
            "be done."
        ), "Each answer ends with the next useful step."),
    ),
    "approvals": (
        Differs(
            "1 waits for you: lower max-num-seqs on prod/llm-70b, asked by ana, until 03:26 UTC",
            "Nothing waits for approval: no changes exist in this version. `/tailhound status` "
            "lists what is open.",
            CHANGES,
        ),
    ),
    "stop game day": (
        Differs(" 1 change is being verified; it is undone only by hand now.", "", CHANGES),
        Differs("Diagnoses go on.", (
            "It holds nothing back now, for no changes exist in this version; it is kept for one "
            "that has them. Diagnoses go on."
        ), CHANGES),
    ),
    "resume": (
        Differs("Changes are on again", "Changes are no longer stopped", CHANGES),
        Differs("off for", "stopped for", CHANGES),
        Differs("2 offers made meanwhile have expired; *Re-check* makes fresh ones.", (
            "That turns nothing on: no changes exist in this version. `/tailhound status` tells "
            "how things stand."
        ), CHANGES),
    ),
    "dignose": (Differs("all 9", "all 12", "Also what is typed with an incident's id."),),
}  # fmt: skip
"""The same for what commands answer."""


def answers() -> dict[str, str]:
    """What was designed to be answered, by what is typed."""
    told = "\n".join(text for _, text in fenced("ephemeral")["commands"])
    parts = re.split(r"^`/tailhound ([^`]+)`  →  ", told, flags=re.MULTILINE)[1:]
    return {typed: said.strip() for typed, said in zip(parts[::2], parts[1::2], strict=True)}


def answered() -> dict[str, str]:
    """The answers of ours to the same, about the same."""
    taken = OnIt(by="ana", since=clock("02:55"))
    both = (replace(MOCKED["confirmed"][0], on_it=taken), MOCKED["proposed"][0])
    standing = Standing(open=Open(both, 2), parts=PARTS, mode="one-click", stopped=None, page=PAGE)
    stopped = Stopped(by="ana", at=clock("02:40"), why="game day")
    labels = {"namespace": "prod", "deployment": "llm-70b"}
    begun = Begun(incident="7F3K", channels=("C1",), seconds=30.0)
    found = {
        "diagnose prod/llm-70b": command_texts.begun_text(begun, labels, "C1"),
        "status": commands.status_text(standing, clock("03:10")),
        "approvals": commands.WAITS,
        "stop game day": command_texts.stopped_text(stopped, is_new=True, now=clock("03:10")),
        "resume": command_texts.resumed_text(
            Moved(before=stopped, now=None), "ben", clock("03:10")
        ),
        "dignose": commands.unknown_text("dignose"),
    }
    return {typed: said.replace("\u00a0", " ") for typed, said in found.items()}


def text(slots: Slots) -> str:
    """Slot after slot, to be compared."""
    return "\n\n".join(f"{slot} | {told}" for slot, told in slots)


def wanted(name: str, mock: Slots) -> str:
    """A mock-up with the differences made; each of them must be one."""
    return changed(text(mock), DIFFER[name])


def changed(found: str, differences: tuple[Differs, ...]) -> str:
    """A text of a mock-up with the differences made."""
    for one in differences:
        assert one.mock in found, f"a difference that is none any more: {one.mock}"
        found = found.replace(one.mock, one.ours, 1)
    return found


def firing(name: str, amount: int, severity: str) -> tuple[Alert, ...]:
    """Alerts of the workload that the mock-up is about."""
    labels = {"namespace": "llm", "deployment": "chat-json", "alertname": name}
    alert = replace(CONFIRMED.alerts[0], name=name, severity="")
    return tuple(
        replace(alert, labels={**labels, "severity": severity}, fingerprint=f"{name}{severity}{n}")
        for n in range(amount)
    )


# --- the mock-ups themselves


@pytest.mark.parametrize("name", [*MODALS, *HOMES])
def test_a_mockup_is_a_view_that_slack_takes(name: str) -> None:
    view = built({**MODALS, **HOMES}[name])
    assert view_faults(view) == []
    assert 3 <= len(view["blocks"]) <= 10
    assert written(view)[-1][0] in ("F", "A")


def test_the_mockups_of_forms_have_the_sizes_that_were_designed() -> None:
    blocks = [len(built(slots)["blocks"]) for slots in MODALS.values()]
    assert (min(blocks), max(blocks)) == (3, 7)
    assert len(built(HOMES["home"])["blocks"]) == 10


# --- ours


def test_the_form_for_silences_is_its_mockup() -> None:
    own = (*firing(ITL, 1, "page"), *firing(ITL, 2, "warning"))
    choice = silence.Choice.of(replace(CONFIRMED, alerts=own))
    assert choice is not None
    known = silence.Known(
        firing=(*own, *firing("InferenceErrorRateHigh", 4, "warning")),
        past=Past(alerts=14, real=("5B2M", "1Q9X")),
    )
    view = silence.preview(choice, known, NOTE, clock("03:10"))
    assert text(written(view)) == wanted("silence", MODALS["silence"])


def test_the_form_for_feedback_is_its_mockup() -> None:
    runbooks = load_runbooks(runbook_files(Settings()), collectors(), SHIPPED)
    (one,) = (runbook for runbook in runbooks if runbook.id == "cpu-throttling")
    view = feedback.form(CONFIRMED, (one,), NOTE)
    assert text(written(view)) == wanted("feedback", MODALS["feedback"])


def test_the_home_tab_is_its_mockup() -> None:
    both = (MOCKED["confirmed"][0], MOCKED["proposed"][0])
    month = Month(incidents=41, found=31, blind=2, right=24, partly=1, wrong=1)
    found = Overview(open=Open(both, 2), last=None, month=month, parts=PARTS, stopped=None)
    view = home_view(found, mode="one-click", page=PAGE, now=clock("03:10"))
    assert text(written(view)) == wanted("home", HOMES["home"])


def test_each_mocked_command_is_compared_here_or_elsewhere() -> None:
    assert {*answers()} == {*answered(), *ELSEWHERE}


@pytest.mark.parametrize("typed", ANSWERS)
def test_an_answer_is_its_mockup(typed: str) -> None:
    assert answered()[typed] == changed(answers()[typed], ANSWERS[typed])


def test_every_difference_has_a_reason() -> None:
    for one in (one for some in (*DIFFER.values(), *ANSWERS.values()) for one in some):
        assert len(one.why) > 20
        assert one.mock != one.ours
