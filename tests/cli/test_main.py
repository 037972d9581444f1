"""The command line as a whole: what it offers, and how it says what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

from cryptography.fernet import Fernet

from tests.cli.conftest import Cli, Environment, runner
from wechat_bridge.local.ports import free_port


def test_help_names_every_command(cli: Cli) -> None:
    shown = cli("--help")
    assert shown.returncode == 0
    for command in ("demo", "up", "channel", "health", "setup", "new-key"):
        assert f" {command} " in shown.stdout


def test_a_wrong_setting_is_named_in_one_line_with_exit_code_2(cli: Cli) -> None:
    done = cli("channel", "list", WECHAT_BRIDGE_STOP_GRACE_SECONDS="soon")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: WECHAT_BRIDGE_STOP_GRACE_SECONDS: ")
    assert "Traceback" not in done.stderr


def test_a_server_that_is_not_there_is_named_without_its_password(cli: Cli) -> None:
    address = f"127.0.0.1:{free_port()}"
    done = cli("setup", REDIS_URL=f"redis://user:hush@{address}/0", WECHAT_BRIDGE_START_WAIT_SECONDS="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error: Redis at {address} did not answer" in done.stderr
    assert "set REDIS_URL" in done.stderr
    assert "hush" not in done.stderr
    assert "Traceback" not in done.stderr


def test_setup_prepares_the_servers_and_says_what_it_did(cli: Cli, urls: tuple[str, str]) -> None:
    done = cli("setup")
    assert done.returncode == 0
    assert "MongoDB at 127.0.0.1:" in done.stderr
    assert re.search(r"inbox: \d+ indexes", done.stderr)
    assert "SECRET_KEYS" not in done.stderr


def test_setup_tells_when_no_key_is_set(cli: Cli) -> None:
    assert "wechat-bridge new-key" in cli("setup", WECHAT_BRIDGE_SECRET_KEYS="").stderr


def test_a_new_key_is_one_that_encrypts_and_needs_no_server(bare_environment: Environment, tmp_path: Path) -> None:
    done = runner(bare_environment, tmp_path)("new-key")
    assert done.returncode == 0
    token = Fernet(done.stdout.strip()).encrypt(b"text")
    assert Fernet(done.stdout.strip()).decrypt(token) == b"text"
