"""The lab as people start it, and what it hands to the bot."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import yaml

from tailhound.settings import Settings, load
from tailhound.sources.alertmanager import read_group
from tests.lab import bot, notification, scenario
from tests.lab.apiserver import ApiServer
from tests.lab.conftest import Needs
from tests.lab.lab import Lab
from tests.lab.process import fetched
from tests.lab.requirements import PARTS, Part

SCENARIOS = Path(__file__).parents[1] / "scenarios"
ROOT = Path(__file__).parents[2]
NAMES = sorted(path.parent.name for path in SCENARIOS.glob("*/scenario.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_the_bot_reads_the_alert_of_every_scenario(name: str) -> None:
    given = scenario.load(SCENARIOS / name)
    group = read_group(notification.body(given.alert, 1_796_000_000, "http://p", "http://a"))
    (alert,) = group.alerts
    assert dict(alert.labels) == dict(given.alert.labels)
    assert alert.starts_at.timestamp() == 1_796_000_000 + given.alert.since


@pytest.mark.parametrize("name", NAMES)
def test_the_settings_of_every_scenario_are_settings_of_the_bot(name: str) -> None:
    ends = bot.Endpoints(
        prometheus="http://127.0.0.1:1",
        kubernetes="https://127.0.0.1:2",
        kubernetes_token_file="/token",
        ssh_key="/key",
        hosts={"gpu-node-1": ("127.0.0.1", 3)},
    )
    read = Settings.model_validate(bot.settings(ends, scenario.load(SCENARIOS / name).config))
    assert read.ssh.hosts["gpu-node-1"].port == 3
    assert read.ssh.gap_seconds == bot.GAP_SECONDS


def test_a_scenario_s_own_settings_win() -> None:
    values = bot.settings(
        bot.Endpoints(prometheus="http://p", hosts={}), {"prometheus": {"url": "x"}}
    )
    assert values["prometheus"] == {"url": "x", "timeout_seconds": 4}


def test_a_black_holed_backend_takes_the_connection_and_never_answers(
    apiserver: ApiServer,
) -> None:
    given = scenario.load(SCENARIOS / "cpu-prometheus-black-holed")
    with Lab(given, apiserver=apiserver) as lab:
        assert fetched(f"{lab.endpoints.prometheus}/-/ready", timeout=0.3) is None
        assert lab.prometheus is None
        assert lab.endpoints.kubernetes.startswith("https://")
        folder = lab.folder
    assert not folder.exists()


@pytest.mark.lab
def test_a_kept_lab_says_where_it_is_and_leaves_nothing_behind(needs: Needs) -> None:
    needs("prometheus", "sshd", "ssh-keygen", "unshare")
    argv = [sys.executable, "-m", "tests.lab.run", str(SCENARIOS / "cpu-host-hanging")]
    argv += ["--keep", "--stand-in"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        lines: list[str] = []
        while not lines or not lines[-1].startswith("Ctrl-C"):
            lines.append(process.stdout.readline())
        ends = json.loads("".join(lines[:-2]))
        assert fetched(f"{ends['prometheus']}/-/ready") is not None
        config = Path(lines[-2].split("--config ")[1].strip())
        assert load(config, {}).prometheus.url == ends["prometheus"]
        assert yaml.safe_load(config.read_text())["runbooks"][0] == "shipped"
        started = psutil.Process(process.pid).children(recursive=True)
        assert {child.name() for child in started} >= {"prometheus", "sshd"}
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.communicate()
    assert [child for child in started if child.is_running()] == []
    assert not config.exists()


def test_a_wrong_scenario_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text("name: x\nalert: 3\nexpect: {}\n", encoding="utf-8")
    argv = [sys.executable, "-m", "tests.lab.run", str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert f"{tmp_path}/scenario.yaml: alert: Input should be a valid dictionary" in done.stderr


def test_a_missing_part_is_named_with_its_package_and_its_use() -> None:
    absent = Part("prometheus-of-the-future", "prometheus", "answer PromQL")
    assert not absent.present
    assert absent.advice == (
        "prometheus-of-the-future is missing, needed to answer PromQL: "
        "apt-get install -y --no-install-recommends prometheus"
    )
    assert {"prometheus", "prometheus-alertmanager", "sshd", "chromium"} <= set(PARTS)
