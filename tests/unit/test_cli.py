"""The commands, called as the console script calls them."""

import io
import json
import re
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tailhound import __version__
from tailhound.cli import main
from tailhound.model import State
from tailhound.shipped import shipped
from tailhound.store import records
from tailhound.store.database import open_database
from tests.samples import incidents

RECORDING = shipped("demo") / "cpu-throttling.json"
RUNBOOK = shipped("runbooks") / "cpu-throttling.yaml"


class Told:
    """What one command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


class Terminal:
    """Runs commands in an empty directory, with an environment that configures nothing."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capsys = capsys
        self.folder = folder

    def run(self, *argv: str) -> Told:
        try:
            code = main(argv)
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = self._capsys.readouterr()
        return Told(code, out, err)

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def alert(self) -> str:
        """The recorded alert body as a file."""
        body = json.loads(RECORDING.read_text(encoding="utf-8"))["alert"]
        return self.file("alert.json", json.dumps(body))

    def replayed(self, *more: str) -> Told:
        return self.run("diagnose", "--alert", self.alert(), "--replay", str(RECORDING), *more)


@pytest.fixture
def terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    monkeypatch.chdir(tmp_path)
    for name in ("TAILHOUND_STORE__URL", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Terminal(capsys, tmp_path)


def test_version_prints_the_version_of_the_package(terminal: Terminal) -> None:
    told = terminal.run("version")
    assert (told.code, told.out) == (0, f"tailhound {__version__}\n")


def test_no_command_prints_what_there_is(terminal: Terminal) -> None:
    told = terminal.run()
    assert told.code == 2
    for command in ("diagnose", "serve", "demo", "check", "test", "incidents", "version"):
        assert re.search(rf"^ +{command}\s", told.out, re.MULTILINE), command


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("diagnoze",), "invalid choice: 'diagnoze'"),
        (("diagnose",), "one of the arguments --alert --runbook is required"),
        (("diagnose", "--alert", "a", "--runbook", "b"), "not allowed with argument"),
        (("diagnose", "--alert", "a", "--format", "xml"), "invalid choice: 'xml'"),
        (("check",), "check: name a PATH, or --config FILE, or both"),
        (("test",), "the following arguments are required: PATH"),
        (("demo", "--port", "x"), "invalid int value: 'x'"),
        (("diagnose", "--alert", "absent.json"), "absent.json: can't be read: No such file"),
        (
            ("diagnose", "--runbook", "cpu-throttling", "--input", "y"),
            "--input y: write NAME=VALUE",
        ),
        (("diagnose", "--alert", "a", "--input", "pods=a"), "--input goes with --runbook"),
        (
            ("diagnose", "--runbook", "cpu", "--input", "namespace=a"),
            "no such runbook; there are: ",
        ),
        (("check", "absent.yaml"), "absent.yaml: can't be read: No such file"),
        (("check", "."), ".: no *.yaml file in it"),
        (("incidents", "--config", "absent.yaml"), "absent.yaml: can't be read: No such file"),
        (("diagnose", "--alert", "-", "--replay", "absent"), "absent"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage_says_what_is_wrong_and_ends_with_2(
    terminal: Terminal, argv: Sequence[str], says: str
) -> None:
    told = terminal.run(*argv)
    assert told.code == 2
    assert says in told.err
    assert told.out == ""


def test_every_mistake_of_the_configuration_is_told_at_once_with_its_place(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = terminal.file(
        "bot.yaml",
        "mode: loud\n"
        "prometheus:\n"
        "  url: http://prometheus:9090\n"
        "  timeout_second: 3\n"
        "ssh:\n"
        "  hosts:\n"
        "    gpu-1: {adress: 10.0.0.1, port: 99999}\n"
        "profiles:\n"
        "  - match: {cluster: a}\n"
        "    treshold: 3\n"
        "listen:\n"
        "  bearer: {env: A, file: b}\n",
    )
    monkeypatch.setenv("TAILHOUND_LISTEN__PORT", "eighty")
    told = terminal.run("incidents", "--config", config)
    assert told.code == 2
    assert set(told.err.splitlines()) == {
        f"{config}:1:1: mode: Input should be 'observe', 'shadow' or 'one-click'",
        f"{config}:4:3: prometheus.timeout_second: no such key; did you mean 'timeout_seconds'?",
        f"{config}:7:13: ssh.hosts.gpu-1.adress: no such key; did you mean 'address'?",
        f"{config}:7:31: ssh.hosts.gpu-1.port: Input should be less than or equal to 65535",
        f"{config}:10:5: profiles.0.treshold: no such key; did you mean 'thresholds'?",
        f"{config}:12:3: listen.bearer: give either env: NAME or file: PATH",
        "TAILHOUND_LISTEN__PORT: listen.port: Input should be a valid integer, "
        "unable to parse string as an integer",
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [1\nb: 2\n", ":2:2: not YAML: did not find expected ',' or ']'"),
        ("mode: observe\nmode: shadow\n", ":2:1: 'mode' is given twice"),
        ("- 1\n", ":1:1: must hold `key: value` lines, but is list"),
        ("&a [*a]\n", ":1:1: must hold `key: value` lines, but is list"),
        ("a: \0\n", ": not YAML: unacceptable character #x0000"),
        ("cluster: 2024-13-45\n", ": not YAML: month must be in 1..12"),
        ("prometheis: {}\n", ":1:1: prometheis: no such key; did you mean 'prometheus'?"),
        ("xyzzy: 1\n", ":1:1: xyzzy: no such key; there are: mode, stop_file, "),
    ],
)
def test_a_configuration_that_is_none_is_told_with_its_place(
    terminal: Terminal, text: str, says: str
) -> None:
    config = terminal.file("bot.yaml", text)
    told = terminal.run("check", str(RUNBOOK), "--config", config)
    assert told.code == 2
    assert told.err.startswith(config + says)


def test_check_of_the_shipped_runbooks_finds_nothing(terminal: Terminal) -> None:
    told = terminal.run("check", str(RUNBOOK.parent))
    assert told.code == 0
    assert told.out.startswith("no findings in ")


def test_check_tells_findings_with_their_place_and_ends_with_1(terminal: Terminal) -> None:
    text = RUNBOOK.read_text(encoding="utf-8")
    broken = text.replace("cpu.throttled_ratio > suspect", "cpu.throttle_ratio > suspect")
    path = terminal.file("cpu-throttling.yaml", broken)
    line = 1 + broken[: broken.index("cpu.throttle_ratio")].count("\n")
    told = terminal.run("check", path)
    assert told.code == 1
    assert f"{path}:{line}:" in told.out
    assert "did you mean 'throttled_ratio'?" in told.out
    assert terminal.run("test", path).code == 1

    as_json = terminal.run("check", path, "--format", "json")
    assert as_json.code == 1
    assert any(finding["line"] == line for finding in _findings(as_json.out))
    github = terminal.run("check", path, "--format", "github")
    assert f"file={path},line={line}" in github.out


def test_check_ends_with_1_on_a_warning_alone(terminal: Terminal) -> None:
    text = RUNBOOK.read_text(encoding="utf-8").replace("owner: sre-platform\n", "")
    told = terminal.run("check", terminal.file("cpu-throttling.yaml", text))
    assert told.code == 1
    assert "warning: no `owner:`" in told.out


def _findings(text: str) -> list[dict[str, Any]]:
    said = json.loads(text)
    found: list[dict[str, Any]] = said if isinstance(said, list) else said["findings"]
    return found


def test_test_runs_what_a_runbook_carries(terminal: Terminal) -> None:
    told = terminal.run("test", str(RUNBOOK))
    assert told.code == 0
    assert re.search(r"^(\d+) of \1 passed in ", told.out, re.MULTILINE)


def test_a_failing_test_of_a_runbook_ends_with_1(terminal: Terminal) -> None:
    text = RUNBOOK.read_text(encoding="utf-8")
    path = terminal.file("cpu.yaml", text.replace("suspect: {value: 0.10", "suspect: {value: 0.50"))
    told = terminal.run("test", path)
    assert told.code == 1
    assert re.search(r"^FAIL ", told.out, re.MULTILINE | re.IGNORECASE)


def test_a_recording_is_diagnosed_as_text(terminal: Terminal) -> None:
    told = terminal.replayed()
    assert told.code == 0
    told_as = r"CONFIRMED +The CPU limit throttles\s+2 of 2 pods\s+high\s+confidence"
    assert re.search(told_as, told.out)
    assert "\x1b" not in told.out
    assert "\x1b[" in terminal.replayed("--color", "always").out


def test_the_recording_of_the_demo_answers_all_that_is_asked_today(terminal: Terminal) -> None:
    evidence = json.loads(terminal.replayed("--format", "json").out)["evidence"]
    unasked = [
        one["reason"] for one in evidence if "a recording has no answer to this" in one["reason"]
    ]
    assert unasked == [], "run `make record`"


def test_a_recording_is_diagnosed_as_json(terminal: Terminal) -> None:
    told = terminal.replayed("--format", "json")
    said = json.loads(told.out)
    assert (told.code, said["primary"], said["confidence"]) == (0, "cpu-throttling", "high")
    assert {one["status"] for one in said["evidence"]} <= {"collected", "empty"}


def test_a_recording_is_diagnosed_as_markdown(terminal: Terminal) -> None:
    told = terminal.replayed("--format", "md")
    assert told.code == 0
    assert told.out.startswith("#")
    assert "The CPU limit throttles 2 of 2 pods" in told.out


def test_the_alert_may_come_from_standard_input(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = Path(terminal.alert()).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(body)))
    told = terminal.run("diagnose", "--alert", "-", "--replay", str(RECORDING), "--format", "json")
    assert json.loads(told.out)["primary"] == "cpu-throttling"


def test_what_was_asked_is_kept_and_gives_the_same_answer_again(terminal: Terminal) -> None:
    kept = str(terminal.folder / "kept.json")
    first = terminal.replayed("--record", kept, "--format", "json")
    again = terminal.run(
        "diagnose", "--alert", terminal.alert(), "--replay", kept, "--format", "json"
    )
    assert again.code == 0
    assert json.loads(again.out)["causes"] == json.loads(first.out)["causes"]


def test_without_any_backend_it_ends_with_3_and_says_what_to_configure(terminal: Terminal) -> None:
    told = terminal.run("diagnose", "--alert", terminal.alert())
    assert told.code == 3
    assert "CANNOT SEE" in told.out
    said = " ".join(told.out.split())
    assert "set kubernetes.in_cluster, kubernetes.kubeconfig or kubernetes.server" in said


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("no json", "alert.json: "),
        ("[]", "alert.json: "),
        ('{"version": "3", "groupKey": "", "alerts": []}', "alert.json: "),
        ('{"labels": {"alertname": "Watchdog"}}', "1 not diagnosed: "),
    ],
)
def test_an_alert_that_can_not_be_diagnosed_ends_with_2(
    terminal: Terminal, body: str, says: str
) -> None:
    told = terminal.run("diagnose", "--alert", terminal.file("alert.json", body))
    assert told.code == 2
    assert says in told.err
    assert "Traceback" not in told.err


def test_incidents_without_a_database_says_what_to_do(terminal: Terminal) -> None:
    told = terminal.run("incidents")
    assert told.code == 2
    assert f"there is no database at {terminal.folder / 'tailhound.db'}" in told.err
    assert not (terminal.folder / "tailhound.db").exists()


def test_a_body_that_cannot_be_read_is_listed_as_one(terminal: Terminal) -> None:
    with closing(open_database(f"sqlite:///{terminal.folder / 'tailhound.db'}")) as database:
        plain = replace(incidents.UNREADABLE, state=State.FAILED)
        with database.writing() as connection:
            records.insert(connection, [records.Record(incident=plain)], plain.received_at)
    listed = terminal.run("incidents").out
    assert listed.split()[:2] == ["8R5W", "unreadable"]
    assert listed.split()[-2:] == ["-", "-"]
    assert max(map(len, listed.splitlines())) <= 80
    assert "page:" not in terminal.run("incidents", "8R5W").out


def test_incidents_of_an_empty_database(terminal: Terminal) -> None:
    open_database(f"sqlite:///{terminal.folder / 'tailhound.db'}").close()
    assert terminal.run("incidents").out.startswith("No incidents yet.")
    assert json.loads(terminal.run("incidents", "--format", "json").out) == []
    told = terminal.run("incidents", "7F3K")
    assert (told.code, told.err) == (1, "no incident 7F3K; `tailhound incidents` lists them\n")
