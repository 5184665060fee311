"""What people copy into other programs is checked by those programs' own tools."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.lab


def shown(page: str, word: str) -> str:
    """The YAML block of a page that holds a word."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if word in block]
    return str(found)


def checked(*argv: str) -> str:
    """What a tool says of a file; it must be content."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_amtool_takes_the_receiver(needs: Callable[..., None]) -> None:
    needs("amtool")
    assert "2 receivers" in checked(
        "amtool", "check-config", str(ROOT / "deploy/alertmanager-receiver.yaml")
    )


@pytest.mark.parametrize("page", ["README.md", "docs/operators/webhook.md"])
def test_amtool_takes_the_receiver_that_a_page_shows(
    needs: Callable[..., None], page: str, tmp_path: Path
) -> None:
    needs("amtool")
    config = yaml.safe_load(shown(page, "webhook_configs:"))
    if "receiver" not in config["route"]:  # the page shows what is added to a configuration
        config["route"]["receiver"] = "everyone"
        config["receivers"].append({"name": "everyone"})
    path = tmp_path / "alertmanager.yml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    assert "2 receivers" in checked("amtool", "check-config", str(path))


def test_promtool_takes_the_alerts_on_tailhound(needs: Callable[..., None], tmp_path: Path) -> None:
    needs("promtool")
    path = tmp_path / "rules.yml"
    text = shown("docs/operators/monitoring.md", "alert:")
    path.write_text(text, encoding="utf-8")
    assert f"{text.count('- alert: ')} rules found" in checked(
        "promtool", "check", "rules", str(path)
    )
