"""Where serve may listen, and credentials that rotate."""

from pathlib import Path

import pytest

from tailhound.errors import SettingsError
from tailhound.settings import Basic, Listen, Secret, Settings
from tailhound.web.auth import Gate, check_listen, is_loopback


def listening(**keys: object) -> Settings:
    return Settings.model_validate({"listen": keys})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_needs_no_credentials(host: str) -> None:
    check_listen(listening(host=host))
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.0.0.5", "tailhound.example", "127.1"])
def test_a_public_address_without_credentials_is_refused(host: str) -> None:
    with pytest.raises(SettingsError, match=r"set listen\.bearer or listen\.basic"):
        check_listen(listening(host=host))


def test_a_public_address_with_credentials_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", "token")
    check_listen(listening(host="0.0.0.0", bearer={"env": "HOOK"}))
    check_listen(listening(host="0.0.0.0", basic={"username": "am", "password": {"env": "HOOK"}}))


def test_an_empty_credential_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", " \n")
    with pytest.raises(SettingsError, match=r"listen\.bearer is empty"):
        check_listen(listening(host="0.0.0.0", bearer={"env": "HOOK"}))


def test_a_credential_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="can't read the secret file"):
        check_listen(listening(bearer={"file": str(tmp_path / "none")}))


def test_a_rotated_file_is_read_again_and_a_lost_one_keeps_the_last_value(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("old\n", encoding="utf-8")
    now = [0.0]
    gate = Gate(Listen(bearer=Secret(file=str(path))), lambda: now[0])
    path.write_text("new\n", encoding="utf-8")
    assert gate.lets_in("Bearer old")
    now[0] = 11
    assert gate.lets_in("Bearer new")
    assert not gate.lets_in("Bearer old")
    path.unlink()
    now[0] = 22
    assert gate.lets_in("Bearer new")


def test_the_challenge_names_the_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", "token")
    listen = Listen(basic=Basic(username="am", password=Secret(env="HOOK")))
    assert Gate(listen).challenge.startswith("Basic")
