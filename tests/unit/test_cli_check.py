"""`check --config`: the whole configuration, and its profiles against the runbooks."""

import json
from pathlib import Path

import pytest

from tailhound.rules.schema import json_schema
from tests.unit.test_cli import RUNBOOK, Terminal, terminal

__all__ = ["terminal"]

SCHEMA = Path(__file__).parents[2] / "docs" / "authors" / "runbook.schema.json"

PROFILES = """\
prometheus: {url: "http://p:9090"}
profiles:
  - match: {namespace: llm}
    thresholds:
      cpu-throttling: {suspekt: 0.2, strong: 60}
      cpu-throtling: {x: 1}
      kv-preemption: {full: 0.9}
"""


def test_a_configuration_that_is_right_has_no_findings(terminal: Terminal) -> None:
    config = terminal.file(
        "bot.yaml", "profiles: [{thresholds: {cpu-throttling: {strong: 0.3}}}]\n"
    )
    told = terminal.run("check", "--config", config)
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("no findings in 8 files, ")


@pytest.mark.parametrize("paths", [(), (str(RUNBOOK),)])
def test_the_profiles_are_held_against_the_runbooks_with_their_places(
    terminal: Terminal, paths: tuple[str, ...]
) -> None:
    config = terminal.file("prof.yaml", PROFILES)
    told = terminal.run("check", *paths, "--config", config)
    assert told.code == 1
    lines = told.out.splitlines()
    key = "profiles.0.thresholds"
    assert lines[0] == (
        f"{config}:5:24: {key}.cpu-throttling.suspekt: no threshold named 'suspekt'; "
        "did you mean 'suspect'?"
    )
    assert lines[1:3] == [
        "    5 |       cpu-throttling: {suspekt: 0.2, strong: 60}",
        "      |                        ^^^^^^^",
    ]
    assert lines[3].startswith(f"{config}:5:38: {key}.cpu-throttling.strong: a ratio is a share")
    assert lines[6] == (
        f"{config}:6:7: {key}.cpu-throtling: no runbook named 'cpu-throtling'; "
        "did you mean 'cpu-throttling'?"
    )
    assert lines[-1].startswith("3 findings in 1 of ")


def test_findings_of_a_configuration_come_in_every_format(terminal: Terminal) -> None:
    config = terminal.file("prof.yaml", PROFILES)
    said = json.loads(terminal.run("check", "--config", config, "--format", "json").out)
    assert [(one["path"], one["line"]) for one in said["findings"]] == [
        (config, 5), (config, 5), (config, 6)
    ]  # fmt: skip
    github = terminal.run("check", "--config", config, "--format", "github").out
    assert f"::error file={config},line=6,col=7,title=profile::" in github


def test_a_runbook_that_is_being_written_may_be_named_by_a_profile(terminal: Terminal) -> None:
    text = RUNBOOK.read_text(encoding="utf-8").replace(
        "runbook: cpu-throttling", "runbook: mine", 1
    )
    path = terminal.file("mine.yaml", text)
    config = terminal.file("bot.yaml", "profiles: [{thresholds: {mine: {strong: 0.3}}}]\n")
    assert terminal.run("check", path, "--config", config).code == 0
    broken = terminal.file("mine.yaml", text + "xyzzy: 1\n")
    told = terminal.run("check", broken, "--config", config)
    assert told.code == 1
    assert "no runbook named" not in told.out


@pytest.mark.parametrize(
    "argv", [("serve",), ("diagnose", "--alert", "a.json"), ("replay", "a.json")]
)
def test_every_command_tells_the_place_of_a_wrong_profile(
    terminal: Terminal, argv: tuple[str, ...]
) -> None:
    config = terminal.file("prof.yaml", PROFILES)
    terminal.file("a.json", '{"labels": {"alertname": "A", "namespace": "llm"}}')
    told = terminal.run(*argv, "--config", config)
    assert told.code == 2
    if argv[0] != "replay":  # a.json is no case file, which is told first
        assert told.err.startswith(f"{config}:5:24: profiles.0.thresholds.cpu-throttling.suspekt")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("runbooks: [shipped, /absent]\n", ":1:1: runbooks: /absent: no such folder"),
        ("mode: observe\nssh: {allow: [[rm, -rf, /]]}\n", ":2:7: ssh.allow: [rm, -rf, /]: never"),
    ],
)
def test_what_the_configuration_names_is_told_with_its_place(
    terminal: Terminal, text: str, says: str
) -> None:
    config = terminal.file("bot.yaml", text)
    told = terminal.run("check", "--config", config)
    assert told.code == 2
    assert told.err.startswith(config + says)


def test_the_schema_for_editors_is_that_of_this_version(terminal: Terminal) -> None:
    told = terminal.run("check", "--schema")
    assert told.code == 0
    assert json.loads(told.out) == json_schema()
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema()
