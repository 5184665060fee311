"""A real Alertmanager delivers to the real webhook: with credentials, and again after a 503."""

import json
import re
import subprocess
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from tailhound.errors import StoreUnavailable
from tailhound.settings import Settings
from tailhound.sources.alertmanager import read_group
from tests.lab.alertmanager import Alertmanager
from tests.lab.process import wait_until
from tests.unit.web.running import running
from tests.unit.web.shelf import Intake, parts

DOCS = Path(__file__).parents[2] / "docs" / "operators" / "webhook.md"
HOSTILE = "<!channel> \"}' `id` $(reboot) {{ 7*7 }} \u202e <script>"
pytestmark = pytest.mark.lab


def guarded(monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HOOK_TOKEN", "lab-token")
    return Settings.model_validate({"listen": {"bearer": {"env": "HOOK_TOKEN"}}})


def fire(alertmanager: Alertmanager, **labels: str) -> None:
    """Post one alert to Alertmanager, as Prometheus does."""
    alert = {
        "labels": {"alertname": "InferenceSlow", "namespace": "llm"} | labels,
        "annotations": {"summary": HOSTILE},
        "startsAt": datetime.now(UTC).isoformat(),
    }
    request = urllib.request.Request(  # noqa: S310 (a local server of this test)
        f"{alertmanager.url}/api/v2/alerts",
        json.dumps([alert]).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
        assert answer.status == 200


def test_a_real_notification_arrives_with_its_credential_and_is_read(
    needs: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("prometheus-alertmanager")
    intake = Intake()
    alertmanager = Alertmanager(tmp_path)
    with running(parts(intake=intake, settings=guarded(monkeypatch))) as server:
        url = f"http://127.0.0.1:{server.port}/webhook/alertmanager"
        try:
            alertmanager.start(url, "lab-token")
            fire(alertmanager, pod=HOSTILE)
            wait_until(lambda: bool(intake.bodies), "the notification", 20)
        finally:
            alertmanager.stop()
    (alert,) = read_group(intake.bodies[0]).alerts
    assert alert.name == "InferenceSlow"
    assert alert.labels["pod"] == HOSTILE
    assert alert.annotations["summary"] == HOSTILE
    assert alert.ends_at is None


def test_a_notification_that_could_not_be_stored_comes_again(
    needs: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("prometheus-alertmanager")
    intake = Intake(raises=StoreUnavailable("disk full"))
    given = parts(intake=intake, settings=guarded(monkeypatch))

    def refused() -> float:
        name = "tailhound_bodies_refused_total"
        return given.metrics.registry.get_sample_value(name, {"reason": "store"}) or 0

    alertmanager = Alertmanager(tmp_path)
    with running(given) as server:
        url = f"http://127.0.0.1:{server.port}/webhook/alertmanager"
        try:
            alertmanager.start(url, "lab-token")
            fire(alertmanager)
            wait_until(lambda: refused() >= 1, "the first delivery", 20)
            intake.raises = None
            wait_until(lambda: bool(intake.bodies), "the second delivery", 30)
        finally:
            alertmanager.stop()
    assert read_group(intake.bodies[0]).alerts[0].name == "InferenceSlow"


def test_the_configuration_in_the_documentation_is_valid(
    needs: Callable[..., None], tmp_path: Path
) -> None:
    needs("amtool")
    blocks = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    config = tmp_path / "alertmanager.yml"
    config.write_text(blocks[0], encoding="utf-8")
    checked = subprocess.run(
        ["amtool", "check-config", str(config)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert Settings.model_validate(yaml.safe_load(blocks[1])).listen.bearer
