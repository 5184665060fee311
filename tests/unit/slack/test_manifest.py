"""The app manifest asks for what tailhound uses, and for nothing else."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tailhound.slack.local import SCOPES, LocalSlack
from tailhound.slack.local.methods import METHODS

MANIFEST = Path(__file__).parents[3] / "deploy" / "slack-manifest.yaml"


@pytest.fixture(scope="module")
def manifest() -> Any:
    return yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))


def test_the_stand_in_grants_what_the_manifest_asks_for(manifest: Any) -> None:
    assert frozenset(manifest["oauth_config"]["scopes"]["bot"]) == SCOPES
    assert LocalSlack(lambda: 1.0).scopes == SCOPES


def test_each_scope_is_for_something(manifest: Any) -> None:
    used = {scope for method in METHODS.values() for scope in method.scopes}
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == used | {"commands"}


def test_the_command_the_home_tab_and_the_socket_are_switched_on(manifest: Any) -> None:
    features, settings = manifest["features"], manifest["settings"]
    assert [command["command"] for command in features["slash_commands"]] == ["/tailhound"]
    assert features["app_home"]["home_tab_enabled"] is True
    assert settings["event_subscriptions"]["bot_events"] == ["app_home_opened"]
    assert settings["socket_mode_enabled"] is True
    assert settings["interactivity"]["is_enabled"] is True


def test_it_keeps_slacks_own_limits_of_a_manifest(manifest: Any) -> None:
    (command,) = manifest["features"]["slash_commands"]
    assert len(manifest["display_information"]["name"]) <= 35
    assert len(manifest["display_information"]["description"]) <= 140
    assert len(command["description"]) <= 2_000
    assert len(command["usage_hint"]) <= 1_000
    assert len(manifest["features"]["bot_user"]["display_name"]) <= 80
