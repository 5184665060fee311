"""The documentation says what the code does: every setting, fact, flag, error, link and command."""

import argparse
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from tailhound import __version__, app, errors
from tailhound.cli import _parser, main
from tailhound.durable.tidy import KEPT
from tailhound.model import EvidenceStatus, Outlook, Verdict
from tailhound.schedule import JOBS, TIDY
from tailhound.settings import Secret, Settings, load
from tailhound.slack.commands import COMMANDS
from tests.generated import pages

ROOT = Path(__file__).parents[2]
MADE = re.compile(r"(?:`|^)make ([a-z]+)", re.MULTILINE)
ROW = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<second>[^|]+) \| (?P<third>.*)\|$", re.MULTILINE)


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def tracked() -> tuple[str, ...]:
    """The files of the repository, as git lists them."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(name for name in listed.stdout.splitlines() if (ROOT / name).is_file())


PAGES = tuple(
    name for name in tracked() if name.endswith(".md") and not name.startswith("tests/golden/")
)


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(page), re.MULTILINE | re.DOTALL)


# configuration


def settings_keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every key with its default, the way the documentation writes them."""
    for key, field in model.model_fields.items():
        name = field.alias or key
        inner, place = _inner(field.annotation)
        if inner is None or inner is Secret:
            yield prefix + name, field.default
            continue
        if place:
            yield prefix + name, field.default
        yield from settings_keys(inner, f"{prefix}{name}.{place}")


def _inner(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    """The section behind an annotation, and how one of several is written."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    places = {tuple: "N.", Mapping: "NAME."}
    kind = get_origin(annotation)
    for argument in get_args(annotation):
        inner, _ = _inner(argument)
        if inner is not None:
            return inner, next((p for k, p in places.items() if kind and issubclass(kind, k)), "")
    return None, ""


def written(default: Any) -> str:
    """A default as the table writes it."""
    if default is None or default is PydanticUndefined:
        return "-"
    match default:
        case bool():
            text = str(default).lower()
        case tuple():
            text = f"[{', '.join(default)}]"
        case Mapping():
            text = "{}"
        case _:
            text = str(default) or '""'
    return f"`{text}`"


def test_every_setting_is_documented_with_its_default_and_no_other() -> None:
    rows = {
        row["name"]: row["second"].strip()
        for row in ROW.finditer(text_of("docs/operators/configuration.md"))
    }
    assert rows == {name: written(default) for name, default in settings_keys(Settings)}


MEMBERS_ONLY = {"silence", "stop", "resume"}


def test_every_command_that_guests_may_type_is_told() -> None:
    page = text_of("docs/operators/security.md")
    told = page.split("may\nalso type", 1)[1].split("Each press", 1)[0]
    named = re.findall(r"`(?:/tailhound )?([a-z]+)`", told)
    assert sorted(named) == sorted(set(COMMANDS) - MEMBERS_ONLY)


@pytest.mark.parametrize("page", ["README.md", "docs/operators/configuration.md"])
def test_every_configuration_that_is_shown_can_be_loaded(page: str, tmp_path: Path) -> None:
    shown = [text for text in blocks(page, "yaml") if "receivers:" not in text]
    assert shown
    for text in shown:
        path = tmp_path / "tailhound.yaml"
        path.write_text(text, encoding="utf-8")
        settings = load(path, {})
        assert settings != Settings()
        app.compiled(settings)


def test_the_way_of_a_variable_is_as_documented() -> None:
    assert load(None, {"TAILHOUND_LISTEN__PORT": "9"}).listen.port == 9
    assert load(None, {"TAILHOUND_MODE": "shadow"}).mode == "observe"


# collectors


@pytest.mark.parametrize("path", sorted(pages()))
def test_a_page_that_is_made_from_the_code_is_as_the_code_is(path: str) -> None:
    assert text_of(path) == pages()[path], "run `make docs`"


def test_every_collector_says_what_it_collects_and_what_its_facts_mean() -> None:
    for collector in app.collectors().values():
        for described in (type(collector), collector.facts):
            assert not (described.__doc__ or "").startswith((f"{described.__name__}(", "None")), (
                f"{described.__name__} has no docstring"
            )
            assert described.__doc__


# commands


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in _parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def test_every_command_is_documented_with_all_its_flags_and_no_other() -> None:
    rows = dict(
        re.findall(
            r"^\| `tailhound (\w+)[^`]*` \| [^|]+\|(.*)\|$",
            text_of("docs/operators/install.md").replace("\\|", "/"),
            re.MULTILINE,
        )
    )
    flags = {
        name: {o for a in parser._actions for o in a.option_strings if o.startswith("--")}
        - {"--help"}
        for name, parser in commands()
    }
    assert {name: set(re.findall(r"--[a-z-]+", told)) for name, told in rows.items()} == flags


def test_every_choice_of_a_flag_is_documented() -> None:
    told = text_of("docs/operators/install.md").replace("\\|", "|")
    for _, parser in commands():
        for action in parser._actions:
            if action.choices and action.option_strings:
                assert f"`{action.option_strings[0]} {'|'.join(action.choices)}`" in told


def test_the_six_commands_of_the_readme_are_commands() -> None:
    lines = [x for block in blocks("README.md", "sh") for x in block.splitlines()]
    shown = [shlex.split(line, comments=True) for line in lines if line.startswith("tailhound ")]
    assert len(shown) == 6
    for _, *argv in shown:
        assert _parser().parse_args(argv).command == argv[0]


def test_what_the_readme_says_to_make_can_be_made() -> None:
    pages = ("README.md", "CONTRIBUTING.md", "docs/operators/install.md")
    named = {name for page in pages for name in MADE.findall(text_of(page))}
    known = set(re.findall(r"^([a-z]+):", text_of("Makefile"), re.MULTILINE))
    assert {"demo", "test", "check", "lab"} <= named
    assert named <= known


def test_every_command_of_slack_is_documented() -> None:
    (command,) = yaml.safe_load(text_of("deploy/slack-manifest.yaml"))["features"]["slash_commands"]
    assert command["command"] == "/tailhound"
    assert set(command["usage_hint"].split(" | ")) == set(COMMANDS)


# the tutorial


@pytest.fixture
def tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (shown,) = [text for text in blocks("docs/authors/index.md", "yaml") if "confirm:" in text]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queue-wait.yaml").write_text(shown, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("tutorial")
def test_the_runbook_of_the_tutorial_passes_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    shown = "".join(blocks("docs/authors/index.md", "console"))
    steps = [x.removeprefix("$ tailhound ") for x in shown.splitlines() if x.startswith("$ ")]
    local = [step for step in steps if step.endswith("queue-wait.yaml")]
    assert len(local) == 3
    for step in local:
        assert main(shlex.split(step)) == 0
    said = capsys.readouterr().out
    promised = re.search(r"^no findings in 1 file, \d+ tests passed", shown, re.MULTILINE)
    assert promised is not None
    assert promised[0] in said


# words


def test_every_error_is_documented() -> None:
    told = text_of("docs/operators/install.md")
    kinds = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert {name for name in kinds if f"`{name}`" not in told} == set()


def test_every_word_of_a_diagnosis_is_explained() -> None:
    told = text_of("docs/responders/reading.md").lower()
    words = [outlook.value for outlook in Outlook]
    words += [status.value for status in EvidenceStatus if status is not EvidenceStatus.COLLECTED]
    words += [verdict.value.replace("-", " ") for verdict in Verdict]
    assert [word for word in words if word not in told] == []


def test_the_thresholds_that_people_read_are_those_of_the_runbook() -> None:
    told = text_of("docs/responders/causes/cpu-throttling.md")
    runbook = yaml.safe_load(text_of("runbooks/cpu-throttling.yaml"))
    for name, threshold in runbook["thresholds"].items():
        value, unit = threshold["value"], threshold["unit"]
        shown = {"ratio": f"{value * 100:g} %", "times": f"x{value:g}"}.get(unit, f"{value:g} s")
        assert f"`{name}` {shown}" in told, name


def test_every_shipped_runbook_names_a_page_that_exists() -> None:
    for path in sorted((ROOT / "runbooks").glob("*.yaml")):
        page = yaml.safe_load(path.read_text(encoding="utf-8"))["docs"]
        assert (ROOT / page).is_file(), path.name
        assert path.stem in text_of(page)


def test_the_retention_that_is_documented_is_the_one_that_runs() -> None:
    told = text_of("docs/operators/storage.md")
    assert f"- after {KEPT.days} days: raw answers, recordings, webhook bodies" in told
    assert f"- after `incidents.keep_days`, {Settings().incidents.keep_days} unless set" in told
    trigger = JOBS[TIDY].get_next_fire_time(None, datetime(2026, 1, 1, tzinfo=UTC))
    assert trigger is not None
    assert f"Daily at {trigger:%H:%M} UTC is deleted" in told


# the repository


def test_the_newest_version_of_the_changelog_is_that_of_the_package() -> None:
    versions = re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == __version__


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_something(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), target
        if anchor:
            assert anchor in _anchors(file), target


def _anchors(file: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_is_named_exists(page: str) -> None:
    roots = "bot|collectors|deploy|docs|runbooks|templates|tests|demo"
    named = re.findall(rf"`((?:{roots})/[\w./-]+\.\w+)`", text_of(page))
    placeholders = ("NAME", "CAUSE", "my-cause")
    kept = [name for name in named if not any(word in name for word in placeholders)]
    assert [name for name in kept if not (ROOT / name).exists()] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        for target in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8")):
            found = (page.parent / target).resolve()
            waiting += sorted(found.glob("*.md")) if found.is_dir() else [found]
    pages = {ROOT / name for name in PAGES if name.startswith("docs/")}
    assert pages - reached == set()


def test_no_image_is_large() -> None:
    images = [name for name in tracked() if name.endswith(".png")]
    assert images
    assert [name for name in images if (ROOT / name).stat().st_size > 200_000] == []


def test_no_file_names_a_machine_or_a_package_index() -> None:
    words = ("/wo" + "rk/", "/ro" + "ot/.py", "fi" + "les.pythonhosted.org", "py" + "pi.org/simple")
    found = {
        name: word
        for name in tracked()
        if not name.endswith(".png")
        for word in words
        if word in (ROOT / name).read_text(encoding="utf-8", errors="replace")
    }
    assert found == {}


def test_the_receiver_for_alertmanager_is_the_same_wherever_it_is_shown() -> None:
    texts = [text_of("deploy/alertmanager-receiver.yaml")]
    for page in ("README.md", "docs/operators/webhook.md"):
        texts += [text for text in blocks(page, "yaml") if "webhook_configs:" in text]
    assert len(texts) == 3
    shown = []
    for text in texts:
        config = yaml.safe_load(text)
        (route,) = (one for one in config["route"]["routes"] if one["receiver"] == "tailhound")
        (receiver,) = (one for one in config["receivers"] if one["name"] == "tailhound")
        shown.append((route, receiver))
    assert shown[0] == shown[1] == shown[2]


def test_the_route_takes_alerts_of_latency_and_leaves_the_others() -> None:
    config = yaml.safe_load(text_of("deploy/alertmanager-receiver.yaml"))
    (text,) = (one for one in config["route"]["routes"][0]["matchers"] if "alertname" in one)
    name = re.compile(text.removeprefix('alertname=~"').removesuffix('"'))
    triggers = {
        alert
        for path in sorted((ROOT / "runbooks").glob("*.yaml"))
        for alert in yaml.safe_load(path.read_text(encoding="utf-8"))["trigger"]["alerts"]
    }
    served = {one for one in triggers if re.match("Inference|LLMD|Triton|TorchServe", one)}
    assert len(served) > 10
    assert {one for one in served if not name.fullmatch(one)} == set()
    noise = ("CertExpiringSoon", "Watchdog", "KubeJobFailed", "TargetDown", "KubePodNotReady")
    assert not any(name.fullmatch(one) for one in noise)
