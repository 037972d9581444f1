"""The environment of the processes, and what commands borrow from it."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from wechat_bridge.local.environment import for_commands, for_others, for_processes, own_secrets
from wechat_bridge.local.home import Home

URLS = {"REDIS_URL": "redis://127.0.0.1:1/0", "MONGODB_URL": "mongodb://127.0.0.1:2"}
NAMES = (*URLS, "WECHAT_BRIDGE_SECRET_KEYS", "FLOWER_BASIC_AUTH", "WECHAT_BRIDGE_STOP_GRACE_SECONDS")


@pytest.fixture(autouse=True)
def _bare_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.create()
    return made


@pytest.fixture
def running(home: Home) -> Iterator[Home]:
    with home.locked():
        own_secrets(home)
        home.publish(URLS)
        yield home


def test_the_key_and_the_flower_password_are_made_once(home: Home) -> None:
    first = own_secrets(home)
    Fernet(first["WECHAT_BRIDGE_SECRET_KEYS"])
    user, _, password = first["FLOWER_BASIC_AUTH"].partition(":")
    assert (user, len(password) >= 32) == ("admin", True)
    assert own_secrets(home) == first


def test_secrets_of_the_shell_win(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOWER_BASIC_AUTH", "me:mine")
    assert own_secrets(home)["FLOWER_BASIC_AUTH"] == "me:mine"


def test_processes_find_the_commands_of_this_python_first(home: Home) -> None:
    env = for_processes(home, {**URLS, "EXTRA": "1"})
    assert env["PATH"].split(os.pathsep)[0] == sysconfig.get_path("scripts")
    assert {name: env[name] for name in (*URLS, "EXTRA")} == {**URLS, "EXTRA": "1"}
    assert env["WECHAT_BRIDGE_STOP_GRACE_SECONDS"] == "8"


def test_a_command_finds_the_servers_and_the_key_of_the_running_up(running: Home) -> None:
    found = for_commands(running)
    assert {name: found[name] for name in URLS} == URLS
    assert found["WECHAT_BRIDGE_SECRET_KEYS"] == own_secrets(running)["WECHAT_BRIDGE_SECRET_KEYS"]
    assert "FLOWER_BASIC_AUTH" not in found


def test_a_command_that_was_told_of_other_servers_is_left_alone(running: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONGODB_URL", "mongodb://elsewhere:27017")
    assert for_commands(running) == {}


def test_a_command_that_was_told_of_one_of_the_same_servers_finds_the_other(
    running: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", URLS["REDIS_URL"])
    assert for_commands(running)["MONGODB_URL"] == URLS["MONGODB_URL"]


def test_without_a_running_up_only_the_key_is_found(home: Home) -> None:
    assert for_commands(home) == {}
    own_secrets(home)
    assert list(for_commands(home)) == ["WECHAT_BRIDGE_SECRET_KEYS"]


def test_a_key_of_the_shell_is_kept(running: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WECHAT_BRIDGE_SECRET_KEYS", "mine")
    assert "WECHAT_BRIDGE_SECRET_KEYS" not in for_commands(running)


ENGINES = {
    "WECHAT_BRIDGE_ENGINES": '{\n  "wise": {"kind": "openai", "model": "m"}\n}',
    "WECHAT_BRIDGE_ENGINES__WISE__API_KEY": "sk-key=1",
}


@pytest.fixture
def up(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """An `up` in whose terminal engines were described; the test is another terminal."""
    own = {**ENGINES, "wechat_bridge_reply__apology": "sorry", "WECHAT_BRIDGE_START_WAIT_SECONDS": "90"}
    with home.locked():
        with monkeypatch.context() as shell:
            for name, value in {**own, "HOME_OF": "nobody", "WECHAT_BRIDGE_DATA_DIR": "elsewhere"}.items():
                shell.setenv(name, value)
            home.publish(for_others(URLS))
        yield home


def test_a_command_finds_the_settings_of_the_running_up_with_the_keys_of_its_engines(up: Home) -> None:
    assert for_commands(up) == {**URLS, **ENGINES, "wechat_bridge_reply__apology": "sorry"}


def test_a_command_learns_the_public_address_of_the_running_up(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with home.locked():
        with monkeypatch.context() as shell:
            shell.setenv("PUBLIC_BASE_URL", "https://bridge.example.com")
            home.publish(for_others(URLS))
        assert for_commands(home) == {**URLS, "PUBLIC_BASE_URL": "https://bridge.example.com"}
        monkeypatch.setenv("PUBLIC_BASE_URL", "https://other.example.com")
        assert for_commands(home) == URLS


def test_what_up_tells_is_for_its_user_alone(up: Home) -> None:
    modes = {oct(path.stat().st_mode & 0o777) for path in up.run.iterdir() if "sk-key" in path.read_text()}
    assert modes == {"0o600"}


def test_a_setting_of_the_commands_own_stays(up: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WECHAT_BRIDGE_REPLY__APOLOGY", "mine")
    assert for_commands(up) == {**URLS, **ENGINES}


def test_engines_that_a_command_describes_are_not_mixed_with_those_of_up(
    up: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WECHAT_BRIDGE_ENGINES__OTHER__KIND", "openai")
    assert for_commands(up) == {**URLS, "wechat_bridge_reply__apology": "sorry"}


def test_a_command_that_was_told_of_other_servers_gets_no_settings_either(
    up: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://elsewhere:6379/0")
    assert for_commands(up) == {}


def test_a_key_that_up_was_given_goes_before_the_one_in_the_folder(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    own_secrets(home)
    with home.locked():
        with monkeypatch.context() as shell:
            shell.setenv("WECHAT_BRIDGE_SECRET_KEYS", "given")
            home.publish(for_others(URLS))
        assert for_commands(home)["WECHAT_BRIDGE_SECRET_KEYS"] == "given"
