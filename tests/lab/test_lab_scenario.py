"""Reading a scenario: what is wrong is said with file and key, all at once."""

from pathlib import Path

import pytest

from tests.lab import scenario
from tests.lab.scenario import ScenarioError

WHOLE = """
name: a scenario
alert: {labels: {alertname: Slow, namespace: llm}, since: -9m}
prometheus:
  let: {pod: 'namespace="llm",pod="a"'}
  series:
    - {gauge: 'up{<pod>}', phases: [{until: 0m, value: 1}]}
kubernetes: {objects: [{apiVersion: v1, kind: Pod, metadata: {name: a}}], forbidden: [nodes]}
hosts:
  node-1:
    tools: {nvme: [{words: [list], stdout: hello, then: {stdout: world}}]}
    files: {/proc/pressure/io: absent, /sys/a: {text: "1", then: "2"}}
unreachable: [node-1]
config: {slo: {ttft_p99_seconds: 2.5}}
expect: {primary: null, confirmed: [], never_confirmed: [gpu-clocks]}
"""


def write(folder: Path, text: str) -> Path:
    (folder / "scenario.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_whole_scenario_is_read(tmp_path: Path) -> None:
    given = scenario.load(write(tmp_path, WHOLE))
    assert given.alert.since == -540
    assert given.series[0].gauge == 'up{namespace="llm",pod="a"}'
    assert given.unreachable == {"node-1"}
    assert given.kubernetes is not None
    assert given.kubernetes.forbidden == ("nodes",)
    assert given.hosts["node-1"].files["/proc/pressure/io"] == "absent"
    assert given.expect.primary_given
    assert given.expect.primaries == ()


def test_without_the_key_any_primary_is_right(tmp_path: Path) -> None:
    given = scenario.load(write(tmp_path, WHOLE.replace("primary: null, ", "")))
    assert not given.expect.primary_given


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("name: a scenario", "nam: a scenario", "nam: Extra inputs"),
        ("alertname: Slow, ", "", "alert: labels need an alertname"),
        ("since: -9m", "since: 9m", "alert.since: '9m' is in the future"),
        ("value: 1", "valeu: 1", r"prometheus.series\[0\].phases.0.valeu: Extra inputs"),
        ("<pod>", "<pot>", r"series\[0\]: <pot> is not in `let`"),
        ("kind: Pod, ", "", "objects.0. needs apiVersion, kind and metadata.name"),
        ("unreachable: [node-1]", "unreachable: [node-2]", "'node-2' is none of"),
        ("stdout: hello", "stdout_file: gone.txt", "there is no gone.txt beside it"),
        ("config: {", "name: twice\nconfig: {", "'name' stands twice"),
        ("config: {", "config: [{", "not YAML"),
        ("expect: {", "expects: {", "expect: Field required"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert old in WHOLE
    with pytest.raises(ScenarioError, match=says) as caught:
        scenario.load(write(tmp_path, WHOLE.replace(old, new)))
    assert "scenario.yaml: " in str(caught.value)


def test_all_wrong_series_are_named_at_once(tmp_path: Path) -> None:
    text = WHOLE.replace(
        "kubernetes:",
        "    - {gauge: 'x{', phases: [{until: 0m, value: 1}]}\n"
        "    - {counter: y, phases: [{until: 0m, value: 1}]}\n"
        "    - {gauge: 'up{<pod>}', phases: [{until: 0m, value: 1}]}\nkubernetes:",
    )
    with pytest.raises(ScenarioError) as caught:
        scenario.load(write(tmp_path, text))
    assert [line.split("series[")[1][0] for line in str(caught.value).splitlines()] == list("123")


def test_a_missing_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"nowhere.*can't be read"):
        scenario.load(tmp_path / "nowhere")
