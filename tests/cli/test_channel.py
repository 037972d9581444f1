"""Adding, showing and switching channels, and logging them in by QR code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Cli
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.model.channel import Account, Channel, Login
from wechat_bridge.model.turn import Turn
from wechat_bridge.simulators.ilink import IlinkSimulator
from wechat_bridge.wiring import Wired

TOKEN = "token-that-nobody-may-see"

Start = Callable[..., subprocess.Popen[str]]


def shown(cli: Cli, share_id: str) -> dict[str, Any]:
    done = cli("channel", "show", share_id, "--json")
    assert done.returncode == 0, done.stderr
    fields: dict[str, Any] = json.loads(done.stdout)
    return fields


def test_an_empty_list_says_what_to_do(cli: Cli, wired: Wired) -> None:
    wired.bridge.channels.collection.delete_many({})
    done = cli("channel", "list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "wechat-bridge channel add SHARE_ID" in done.stderr


def test_an_added_channel_is_listed(cli: Cli) -> None:
    done = cli("channel", "add", "shop", "--name", "小店")
    assert done.returncode == 0
    assert "wechat-bridge channel login shop" in done.stderr
    fields = shown(cli, "shop")
    assert (fields["share_id"], fields["name"], fields["engine"]) == ("shop", "小店", "echo")
    assert (fields["status"], fields["status_reason"]) == ("offline", "never_logged_in")
    assert fields in json.loads(cli("channel", "list", "--json").stdout)
    row = next(line for line in cli("channel", "list").stdout.splitlines() if line.startswith("shop"))
    assert "offline: never_logged_in" in row


@pytest.mark.slow
def test_adding_a_channel_twice_is_refused(cli: Cli) -> None:
    assert cli("channel", "add", "twice").returncode == 0
    again = cli("channel", "add", "twice", "--name", "other")
    assert again.returncode == 1
    assert again.stderr == "error: channel twice exists already; choose another share_id\n"
    assert shown(cli, "twice")["name"] == ""


def test_a_name_that_no_channel_can_have_is_a_usage_error(cli: Cli) -> None:
    done = cli("channel", "add", "My Shop")
    assert done.returncode == 2
    assert "1 to 32 lower-case letters, digits and hyphens" in " ".join(done.stderr.replace("│", "").split())


def test_an_engine_that_does_not_exist_is_refused_naming_those_that_do(cli: Cli) -> None:
    done = cli("channel", "add", "parrot", "--engine", "parrot")
    assert done.returncode == 1
    assert "there is no engine parrot; there are: echo" in done.stderr
    assert cli("channel", "show", "parrot").returncode == 1


@pytest.mark.slow
def test_credentials_are_never_shown(cli: Cli, wired: Wired) -> None:
    wired.bridge.channels.add(Channel(id="secretive"))
    account = Account(token=TOKEN, account_id="bot-1", base_url="http://127.0.0.1:1")
    complete_login(wired.bridge, "secretive", Login(account=account, owner_user_id="owner-1"))
    channel = wired.bridge.channels.get("secretive")
    assert channel is not None
    assert channel.sealed_account is not None
    for arguments in (("show", "secretive"), ("show", "secretive", "--json"), ("list",), ("list", "--json")):
        done = cli("channel", *arguments)
        assert "secretive" in done.stdout
        for secret in (TOKEN, channel.sealed_account, "sealed_account", "sync_buf"):
            assert secret not in done.stdout + done.stderr


def test_a_channel_is_switched_off_and_on(cli: Cli) -> None:
    cli("channel", "add", "switched")
    assert "switched is disabled" in cli("channel", "disable", "switched").stderr
    assert shown(cli, "switched")["enabled"] is False
    assert "switched is enabled" in cli("channel", "enable", "switched").stderr
    assert shown(cli, "switched")["enabled"] is True


@pytest.mark.parametrize("command", ["show", "enable", "disable", "login", "logout", "remove"])
def test_a_channel_that_does_not_exist_is_an_error_for_every_command(cli: Cli, command: str) -> None:
    done = cli("channel", command, "nobody")
    assert (done.returncode, done.stdout) == (1, "")
    assert "error: there is no channel nobody" in done.stderr


def test_a_login_shows_the_code_follows_the_scan_and_puts_the_channel_online(
    cli: Cli, start: Start, simulator: IlinkSimulator
) -> None:
    cli("channel", "add", "scanned")
    codes = len(simulator.control.qrcodes())
    login = start("channel", "login", "scanned", "--api-base", simulator.base_url)
    code = simulator.control.wait_for_qrcode(after=codes, timeout_seconds=20)
    simulator.control.scan(code)
    bot = simulator.control.confirm(code, "cli-scanner@im.wechat")
    output, errors = login.communicate(timeout=30)
    assert login.returncode == 0, errors
    assert output.count("\n") > 15
    assert set(output) <= set("█▀▄ \n")
    assert "scan the code with WeChat" in errors
    assert "or open this link as a QR code elsewhere: https://liteapp.weixin.qq.com/q/" in errors
    assert "channel scanned is online" in errors
    assert bot["bot_token"] not in output + errors
    fields = shown(cli, "scanned")
    assert (fields["status"], fields["account_id"]) == ("online", bot["ilink_bot_id"])
    assert fields["owner_user_id"] == "cli-scanner@im.wechat"


def test_a_login_without_a_key_is_refused_before_anybody_scans(cli: Cli, simulator: IlinkSimulator) -> None:
    cli("channel", "add", "keyless")
    codes = len(simulator.control.qrcodes())
    done = cli("channel", "login", "keyless", "--api-base", simulator.base_url, WECHAT_BRIDGE_SECRET_KEYS="")
    assert (done.returncode, done.stdout) == (1, "")
    assert "WECHAT_BRIDGE_SECRET_KEYS is not set" in done.stderr
    assert len(simulator.control.qrcodes()) == codes


def test_the_number_of_the_phone_is_asked_for(cli: Cli, start: Start, simulator: IlinkSimulator) -> None:
    cli("channel", "add", "numbered")
    codes = len(simulator.control.qrcodes())
    login = start("channel", "login", "numbered", "--api-base", simulator.base_url)
    code = simulator.control.wait_for_qrcode(after=codes, timeout_seconds=20)
    simulator.control.scan(code, verify_code="4711")
    assert login.stdin is not None
    login.stdin.write("1\n4711\n")
    login.stdin.flush()
    while simulator.control.qrcodes(after=codes)[0]["status"] != "scaned":
        assert login.poll() is None
    simulator.control.confirm(code, "number-scanner@im.wechat")
    _, errors = login.communicate(timeout=30)
    assert login.returncode == 0, errors
    assert "submit the number shown on the phone" in errors
    assert "that number is wrong" in errors


def test_a_channel_is_logged_out(cli: Cli, wired: Wired) -> None:
    log_in(wired, "leaving")
    assert "is logged out and its credentials are removed" in cli("channel", "logout", "leaving").stderr
    fields = shown(cli, "leaving")
    assert (fields["status"], fields["status_reason"], fields["account_id"]) == ("offline", "logged_out", "")


def test_a_channel_is_removed_and_its_history_kept(cli: Cli, wired: Wired) -> None:
    log_in(wired, "closing")
    done = cli("channel", "remove", "closing")
    assert (done.returncode, done.stdout) == (0, "")
    assert "channel closing and its credentials are removed; its messages" in done.stderr
    assert "under way" not in done.stderr
    assert cli("channel", "show", "closing").returncode == 1


def test_a_channel_with_replies_under_way_is_removed_by_force_only(cli: Cli, wired: Wired) -> None:
    log_in(wired, "busy")
    now = wired.bridge.clock.now()
    wired.bridge.turns.open(Turn(
        id="wechat-reply:busy:1", share_id="busy", chat_id="c", user_id="u", message_ids=["1"], next_attempt_at=now,
        trace_id="t",
    ))  # fmt: skip
    refused = cli("channel", "remove", "busy")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: 1 replies of channel busy are under way: ")
    forced = cli("channel", "remove", "busy", "--force")
    assert forced.returncode == 0
    assert "1 replies were under way: they wait for a channel of that name, or become dead letters" in forced.stderr


def log_in(wired: Wired, share_id: str) -> None:
    wired.bridge.channels.add(Channel(id=share_id))
    account = Account(token=TOKEN, account_id=f"bot-{share_id}", base_url="http://127.0.0.1:1")
    complete_login(wired.bridge, share_id, Login(account=account, owner_user_id=f"owner-{share_id}"))


def test_wechat_that_does_not_answer_is_an_error_in_one_line(cli: Cli) -> None:
    cli("channel", "add", "unreachable")
    done = cli("channel", "login", "unreachable", "--api-base", "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
