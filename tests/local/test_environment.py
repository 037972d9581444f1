"""The environment of the processes, and what commands borrow from it."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from wechat_bridge.local.environment import for_commands, for_processes, own_secrets
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
