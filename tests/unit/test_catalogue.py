"""The catalogue tells when files on disk are no longer what runs."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tailhound.app import compiled
from tailhound.app.catalogue import Catalogue
from tailhound.settings import Settings

SINCE = datetime(2026, 11, 12, 9, 30, tzinfo=UTC)
RUNBOOK = """\
runbook: {id}
cause: Requests wait
owner: us
docs: none
trigger: {{alerts: [Slow]}}
inputs: {{namespace: the namespace}}
thresholds:
  high: {{value: 3, unit: count, source: our own}}
evidence:
  queue: {{promql: {{waiting: {{query: 'sum(up{{namespace="$namespace"}})', unit: count}}}}}}
confirm:
  - Many wait: queue.waiting > {bound}
refute:
  - Few wait: queue.waiting < high
status: active
baseline:
  queue: {{waiting: 0}}
tests:
  - name: many
    given: {{queue: {{waiting: 9}}}}
    expect: confirmed
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for id in ("queue-saturation", "gc-pause"):
        (tmp_path / f"{id}.yaml").write_text(RUNBOOK.format(id=id, bound="high"), encoding="utf-8")
    return tmp_path


@pytest.fixture
def catalogue(folder: Path) -> Catalogue:
    settings = Settings.model_validate({"runbooks": [str(folder)]})
    return Catalogue(settings, compiled(settings), SINCE)


def test_nothing_is_told_while_the_files_are_what_runs(catalogue: Catalogue) -> None:
    assert [runbook.id for runbook in catalogue.runbooks] == ["gc-pause", "queue-saturation"]
    assert catalogue.troubles() == ()


def test_the_tests_of_a_runbook_are_run_once(catalogue: Catalogue) -> None:
    results = catalogue.tests("gc-pause")
    assert [result.passed for result in results] == [True, True]
    assert catalogue.tests("gc-pause") is results


def test_a_file_that_is_wrong_now_is_told_with_its_place_and_what_runs(
    catalogue: Catalogue, folder: Path
) -> None:
    wrong = RUNBOOK.format(id="gc-pause", bound="hihg")
    (folder / "gc-pause.yaml").write_text(wrong, encoding="utf-8")
    (told,) = catalogue.troubles()
    assert told.startswith(f"Not active: {folder}/gc-pause.yaml:12:")
    assert "'hihg'" in told
    assert told.endswith("; the version of 12 Nov 09:30 UTC runs")
    assert len(catalogue.runbooks) == 2


def test_a_new_file_that_is_wrong_has_nothing_that_stands_in(
    catalogue: Catalogue, folder: Path
) -> None:
    (folder / "new.yaml").write_text("runbook: [", encoding="utf-8")
    (told,) = catalogue.troubles()
    assert told.endswith("; nothing stands in for it")


def test_a_changed_file_and_one_that_is_gone_ask_for_a_restart(
    catalogue: Catalogue, folder: Path
) -> None:
    changed = RUNBOOK.format(id="gc-pause", bound="high").replace("owner: us", "owner: them")
    (folder / "gc-pause.yaml").write_text(changed, encoding="utf-8")
    (folder / "queue-saturation.yaml").unlink()
    assert catalogue.troubles() == (
        "Changed on disk: gc-pause.yaml; restart tailhound to use it",
        "Gone from disk: queue-saturation.yaml; it runs until tailhound restarts",
    )
    original = RUNBOOK.format(id="gc-pause", bound="high")
    (folder / "gc-pause.yaml").write_text(original, encoding="utf-8")
    assert len(catalogue.troubles()) == 1


def test_a_folder_that_is_gone_is_told(catalogue: Catalogue, folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    (told,) = catalogue.troubles()
    assert told.startswith("The files can't be read: ")
    assert f"{folder}: no such folder" in told
    assert "What was active 12 Nov 09:30 UTC runs" in told
