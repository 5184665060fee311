"""`record` and `replay`: case files, stored incidents, and what changed."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from tailhound import app
from tailhound.cli import alerts, main
from tailhound.durable.boot import Boot
from tailhound.durable.casefile import with_incidents
from tailhound.durable.investigation import Investigator
from tailhound.durable.offline import Terms, investigate
from tailhound.model import Feedback, Incident, Missing, Rating, Reason
from tailhound.requests import Query
from tailhound.settings import Settings
from tailhound.shipped import shipped
from tailhound.store import recordings
from tailhound.transports.recording import Answer, Recording, load, save
from tailhound.transports.replay import ReplayTransport
from tests.unit.durable import kit

RECORDING = shipped("demo") / "cpu-throttling.json"
RUNBOOK = shipped("runbooks") / "cpu-throttling.yaml"
BARE = replace(load(RECORDING), incidents=())
"""The demo's recording without the verdicts of then."""
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


class Told:
    """What one command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


class Desk:
    """Runs commands with a configuration of one runbook, which loads fast.

    The streams are caught here: a workflow engine that starts under `capsys` keeps its stream.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rules = folder / "rules"
        rules.mkdir()
        (rules / RUNBOOK.name).write_bytes(RUNBOOK.read_bytes())
        url = f"sqlite:///{folder / 'bot.db'}"
        text = f"store: {{url: {url}}}\nrunbooks: [{rules}]\n"
        self.config = self.file("tailhound.yaml", text)

    def run(self, *argv: str) -> Told:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*argv, "--config", self.config])
        return Told(code, out.getvalue(), err.getvalue())

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def alert(self) -> str:
        """The recorded alert body as a file."""
        return self.file("alert.json", json.dumps(BARE.alert))

    def bare(self) -> str:
        """A recording that holds no verdicts, as a file."""
        return self.saved(BARE)

    def saved(self, recording: Recording) -> str:
        path = self.folder / "recording.json"
        save(recording, path)
        return str(path)

    def case(self) -> str:
        """A case file: the recording with the verdict of the configured rules."""
        return self.saved(with_incidents(BARE, [judged()]))

    def edited(self, *changes: tuple[str, str]) -> str:
        """A folder with the runbook, edited, in a file of another name."""
        text = RUNBOOK.read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1
            text = text.replace(old, new)
        target = self.folder / "edited"
        target.mkdir()
        (target / "mine.yaml").write_text(text, encoding="utf-8")
        return str(target)


@cache
def investigator() -> Investigator:
    """One that asks the demo's recording, with the rules of the one runbook."""
    settings = Settings()
    rules = app.only(app.compiled(settings), "cpu-throttling")
    return Investigator(rules, app.collectors(), (ReplayTransport(BARE),), settings)


@cache
def judged() -> Incident:
    """The demo's incident with its verdict."""
    group = alerts.group_of(json.dumps(BARE.alert).encode(), "recording")
    (incident,), _ = alerts.incidents_of(group, Settings(), BARE.as_of)
    terms = Terms(as_of=BARE.as_of, seconds=30)
    return asyncio.run(investigate(investigator(), incident, terms))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TAILHOUND_STORE__URL", raising=False)
    return Desk(tmp_path)


NEVER = ("lost_time: {value: 0.05", "lost_time: {value: 100")


@pytest.mark.parametrize("name", sorted(path.name for path in shipped("demo").glob("*.json*")))
def test_what_the_demo_shows_is_what_todays_rules_say(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAILHOUND_STORE__URL", raising=False)
    code = main(["replay", str(shipped("demo") / name)])
    told = capsys.readouterr().out
    assert code == 0, f"{told}\n`make record` makes the recordings anew"
    assert "not asked then" not in told


def test_a_case_file_gives_the_same_verdicts_again(desk: Desk) -> None:
    told = desk.run("replay", desk.case())
    assert told.code == 0
    head, said, last, *_ = told.out.splitlines()
    assert said == "  feedback: none"
    assert "InferenceInterTokenLatencyHigh  llm/chat-json" in head
    assert "1 cause as then; " in last
    assert "nothing was asked" in last
    assert "CHANGED" not in told.out


def test_an_edited_threshold_shows_what_it_changes(desk: Desk) -> None:
    case = desk.case()
    told = desk.run("replay", case, "--runbooks", desk.edited(NEVER))
    assert told.code == 1
    cause, *claims = told.out.splitlines()[2:]
    rest = [line for line in claims if line.startswith("  ") and line[2] != " "]
    claim = " ".join(claims[: claims.index(rest[0])])
    assert cause.split() == ["cpu-throttling", "confirmed", "->", "unknown", "CHANGED"]
    assert claim.split("   ")[0].strip() == ""
    assert "Loses real time, not just idle bursts" in claim
    assert "yes -> no" in claim
    assert "needed 0.05 s per second" in " ".join(claim.replace("\xa0", " ").split())
    assert "now needs 100 s per second" in " ".join(claim.replace("\xa0", " ").split())
    assert rest[0].split() == ["primary", "cpu-throttling", "->", "none", "CHANGED"]
    assert rest[1].split() == ["confidence", "high", "->", "none", "CHANGED"]


def test_a_change_is_better_or_worse_only_against_what_people_said(desk: Desk) -> None:
    rules = desk.edited(NEVER)
    for rating, told in (
        (Rating.RIGHT, "WORSE than the feedback"),
        (Rating.WRONG, "BETTER than the feedback"),
        (Rating.UNSURE, "CHANGED"),
    ):
        said = Feedback(
            rating=rating, cause="", note="", by="ana", at=BARE.as_of, said_primary="cpu-throttling"
        )
        case = desk.saved(with_incidents(BARE, [replace(judged(), feedback=(said,))]))
        shown = desk.run("replay", case, "--runbooks", rules)
        (primary,) = [line for line in shown.out.splitlines() if line.startswith("  primary")]
        assert primary.endswith(told)
        assert max(map(len, shown.out.splitlines())) <= 80
        as_json = json.loads(desk.run("replay", case, "--runbooks", rules, "--format", "json").out)
        word = told.split()[0].lower()
        assert as_json["against_feedback"] == (None if word == "changed" else word)
    shown = desk.run("replay", desk.case(), "--runbooks", rules)
    assert "feedback: none" in shown.out
    assert "than the feedback" not in shown.out


def test_json_holds_both_sides_of_each_claim(desk: Desk) -> None:
    case, rules = desk.case(), desk.edited(NEVER)
    told = desk.run("replay", case, "--runbooks", rules, "--format", "json")
    said = json.loads(told.out)
    assert (told.code, said["same"], said["compared_with"]) == (1, False, "then")
    assert said["primary"] == {"old": "cpu-throttling", "new": None}
    (cause,) = said["causes"]
    assert (cause["old"], cause["new"]) == ("confirmed", "unknown")
    (claim,) = cause["claims"]
    assert (claim["old"]["truth"], claim["new"]["truth"]) == ("true", "false")
    assert "cpu.lost_seconds_per_second > 0.05" in claim["old"]["needs"]
    assert "cpu.lost_seconds_per_second > 100" in claim["new"]["needs"]
    assert claim["new"]["seen"]["cpu.lost_seconds_per_second"] > 36


def test_a_recording_without_verdicts_has_nothing_to_be_compared_with(desk: Desk) -> None:
    told = desk.run("replay", desk.bare())
    assert told.code == 0
    assert "cpu-throttling        confirmed" in told.out
    assert "nothing to compare with" in told.out


def test_a_recording_without_verdicts_is_compared_with_the_configured_rules(
    desk: Desk,
) -> None:
    told = desk.run("replay", desk.bare(), "--runbooks", desk.edited(NEVER))
    assert told.code == 1
    assert "confirmed -> unknown" in told.out
    assert "as by the configured runbooks" in told.out


def test_a_file_that_only_moves_within_the_folder_changes_nothing(desk: Desk) -> None:
    told = desk.run("replay", desk.bare(), "--runbooks", desk.edited())
    assert told.code == 0
    assert "CHANGED" not in told.out


def test_questions_that_were_not_asked_then_are_told_and_stay_unknown(desk: Desk) -> None:
    case = Path(desk.case())
    whole = load(case)
    kept = tuple(answer for answer in whole.answers if "cfs_throttled" not in answer.request.shown)
    gone = len(whole.answers) - len(kept)
    save(replace(whole, answers=kept), case)
    told = desk.run("replay", str(case), "--format", "json")
    said = json.loads(told.out)
    assert told.code == 1
    assert said["verdicts"]["cpu-throttling"] == "unknown"
    lacking = [question for question in said["not_asked_then"] if "cfs_throttled" in question]
    assert 0 < len(lacking) <= gone
    shown = desk.run("replay", str(case)).out
    assert f"{len(said['not_asked_then'])} questions were not asked then" in shown
    assert "-> ?" in shown


def test_a_claim_that_is_rewritten_is_found_by_its_condition(desk: Desk) -> None:
    rules = desk.edited(
        ("- Loses real time, not just", "- It loses real time, and no"),
        ("  Loses real time, not just", "  It loses real time, and no"),
    )
    told = desk.run("replay", desk.case(), "--runbooks", rules)
    assert told.code == 0


def test_a_removed_claim_is_told(desk: Desk) -> None:
    text = RUNBOOK.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines(keepends=True) if "Loses real time" in line]
    unused = (
        "  lost_time: {value: 0.05, unit: seconds_per_second, "
        'source: "our own default: an idle burster shows a high share at less"}\n'
    )
    rules = desk.edited(*((line, "") for line in lines), (unused, ""))
    told = desk.run("replay", desk.case(), "--runbooks", rules)
    assert told.code == 1
    assert "still confirmed" in told.out
    assert "yes -> (not there)" in told.out


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{}", "is no recording"),
        ("not json", "is not JSON"),
        ('{"tailhound_recording": 2}', "has version 2"),
        (
            '{"tailhound_recording": 1, "as_of": "2026-11-30T03:00:00Z", "alert": null, '
            '"answers": [], "incidents": [{"id": 1}]}',
            "incidents: ",
        ),
        (
            '{"tailhound_recording": 1, "as_of": "2026-11-30T03:00:00Z", "alert": null, '
            '"answers": []}',
            "alert",
        ),
    ],
)
def test_a_file_that_is_no_case_ends_with_2_and_its_name(
    desk: Desk, content: str, why: str
) -> None:
    path = desk.file("case.json", content)
    told = desk.run("replay", path)
    assert told.code == 2
    assert told.err.startswith(path)
    assert why in told.err


def test_a_file_that_is_not_there_and_an_incident_without_a_database_end_with_2(
    desk: Desk,
) -> None:
    assert "can't be read" in desk.run("replay", "gone.json").err
    told = desk.run("replay", "7F3K")
    assert told.code == 2
    assert "no database" in told.err


def test_rules_that_cant_be_loaded_end_with_2_and_their_places(desk: Desk) -> None:
    rules = desk.edited(
        ("bursts: cpu.lost_seconds_per_second > lost_time", "bursts: cpu.lost > lost_tim")
    )
    told = desk.run("replay", desk.bare(), "--runbooks", rules)
    assert told.code == 2
    assert "mine.yaml:" in told.err
    empty = desk.folder / "empty"
    empty.mkdir()
    told = desk.run("replay", desk.bare(), "--runbooks", str(empty))
    assert (told.code, "no *.yaml file" in told.err) == (2, True)


def test_what_the_case_file_says_cant_write_on_the_terminal(desk: Desk) -> None:
    case = Path(desk.case())
    body = json.loads(case.read_text(encoding="utf-8"))
    body["incidents"][0]["alerts"][0]["name"] = "\x1b]0;owned\x07\u202eevil"
    case.write_text(json.dumps(body), encoding="utf-8")
    told = desk.run("replay", str(case))
    assert told.code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(told.out)


def test_a_live_alert_is_recorded_with_its_verdict_and_no_secret(desk: Desk) -> None:
    labels = {"alertname": "X", "namespace": "prod", "deployment": "llm", "note": SECRET}
    alert = desk.file("one.json", json.dumps({"labels": labels}))
    out = desk.folder / "case.json"
    told = desk.run("record", "--alert", alert, "--out", str(out))
    assert told.code == 3, "nobody is configured"
    assert "no cause confirmed" in told.out
    assert SECRET not in out.read_text(encoding="utf-8")
    (incident,) = load(out).incidents
    assert incident["diagnosis"]["causes"]
    assert desk.run("replay", str(out)).code == 0


def test_record_wants_one_source_and_a_place_that_can_be_written(desk: Desk) -> None:
    assert desk.run("record", "--out", "x.json").code == 2
    alert = desk.alert()
    assert desk.run("record", "7F3K", "--alert", alert, "--out", "x.json").code == 2
    told = desk.run("record", "--alert", alert, "--out", "no/such/folder/x.json")
    assert (told.code, "can't be written" in told.err) == (2, True)


Command = Callable[..., Awaitable[Told]]


def _stored(desk: Desk, scene: Callable[[kit.Lab, str, Command], Awaitable[None]]) -> None:
    """An incident that was investigated on the demo's evidence, in a database that is in use."""

    async def inside() -> None:
        async with kit.lab(
            desk.folder,
            detective=cast(Any, investigator()),
            boot=Boot(clock=lambda: BARE.as_of),
            verdict_seconds=25.0,
        ) as lab:
            id = await lab.accepted(json.dumps(BARE.alert).encode())
            await lab.diagnosed(id)

            async def command(*argv: str) -> Told:
                return await asyncio.to_thread(desk.run, *argv)

            await scene(lab, id, command)

    kit.run(inside())


def test_a_stored_incident_is_replayed_and_recorded_beside_the_one_who_serves(desk: Desk) -> None:
    async def scene(lab: kit.Lab, id: str, command: Command) -> None:
        before = lab.incident(id)
        assert before.diagnosis is not None
        assert before.diagnosis.primary == "cpu-throttling"
        assert {part.part for part in lab.reader.recorded(id)} >= {"resolve", "collect"}
        told = await command("replay", id.lower())
        assert (told.code, "1 cause as then; " in told.out) == (0, True)
        told = await command("replay", id, "--runbooks", desk.edited(NEVER))
        assert (told.code, "confirmed -> unknown" in told.out) == (1, True)
        told = await command("record", id, "--out", "case.json")
        assert (told.code, f"{id} cpu-throttling" in told.out) == (0, True)
        assert lab.incident(id) == before

    _stored(desk, scene)
    case = desk.folder / "case.json"
    (incident,) = load(case).incidents
    assert incident["timeline"] == []
    (desk.folder / "bot.db").unlink()
    assert desk.run("replay", str(case)).code == 0, "a file opens no database"


def test_why_there_is_nothing_to_replay_is_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "AT_MOST", 5000)

    async def scene(lab: kit.Lab, id: str, command: Command) -> None:
        told = await command("replay", id)
        assert (told.code, "can't be replayed" in told.err) == (2, True)
        told = await command("record", id, "--out", "x.json")
        assert (told.code, "can't be replayed" in told.err) == (1, True)
        assert not (desk.folder / "x.json").exists()
        with lab.database.writing() as connection:
            connection.exec_driver_sql("DELETE FROM th_recording")
        told = await command("replay", id)
        assert (told.code, "not kept" in told.err) == (2, True)
        told = await command("replay", "NOPE")
        assert (told.code, "no incident NOPE" in told.err) == (2, True)

    _stored(desk, scene)


def test_answers_that_failed_then_fail_again_for_the_same_reason(desk: Desk) -> None:
    forbidden = Missing(Reason.FORBIDDEN, "no right to list pods")
    answers = tuple(
        Answer(a.request, a.reply if isinstance(a.request, Query) else forbidden, a.took)
        for a in BARE.answers
    )
    path = desk.folder / "partial.json"
    save(replace(BARE, answers=answers), path)
    case = desk.folder / "case.json"
    asked = ("diagnose", "--alert", desk.alert(), "--replay", str(path))
    assert desk.run(*asked, "--record", str(case)).code == 0
    told = desk.run("replay", str(case), "--format", "json")
    assert json.loads(told.out)["same"] is True
