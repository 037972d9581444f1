"""Adding an app of WeCom and changing what is known of it: secrets are typed or in the environment, never arguments."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import COMMAND, Cli, Environment
from wechat_bridge.channels.wecom.crypto import key_of
from wechat_bridge.flow.wecom.app import app_of
from wechat_bridge.model.access import Policy
from wechat_bridge.model.channel import Channel, ChannelKind
from wechat_bridge.model.wecom import WecomAccount, WecomSettings
from wechat_bridge.model.wecom_kf import KfSettings
from wechat_bridge.wiring import Wired

SECRET = "s3cr3t-of-the-app-that-nobody-may-see-01234"
TOKEN = "QDG6eKtoken"
AES_KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
SECRETS = {"WECOM_SECRET": SECRET, "WECOM_TOKEN": TOKEN, "WECOM_ENCODING_AES_KEY": AES_KEY}
APP = ("--kind", "wecom", "--corp-id", "ww5823bf96d3bd56c7", "--agent-id", "1000002")


def stored(wired: Wired, share_id: str) -> tuple[Channel, WecomSettings, WecomAccount]:
    channel = wired.bridge.channels.get(share_id)
    assert channel is not None
    return channel, *app_of(wired.bridge, channel)


def shown(cli: Cli, share_id: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(cli("channel", "show", share_id, "--json").stdout)
    return fields


def test_an_app_is_added_with_typed_secrets_and_the_next_step_is_said(cli: Cli, wired: Wired) -> None:
    done = cli("channel", "add", "desk", *APP, "--name", "小助手", typed=f"{SECRET}\n{TOKEN}\n{AES_KEY}\n",
               PUBLIC_BASE_URL="https://bridge.example.com/bridge/")  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "URL  https://bridge.example.com/bridge/wecom/desk\n"), done.stderr
    assert "接收消息服务器配置" in done.stderr
    assert "then: wechat-bridge doctor desk" in done.stderr
    channel, settings, account = stored(wired, "desk")
    assert (channel.kind, channel.name, channel.access.policy) == (ChannelKind.WECOM, "小助手", Policy.OPEN)
    assert (channel.status.value, settings.agent_id, settings.proxy) == ("online", 1000002, "")
    assert (account.token, account.callback_token, account.encoding_aes_key) == (SECRET, TOKEN, AES_KEY)


def test_every_option_is_kept_and_the_secrets_come_from_the_environment(cli: Cli, wired: Wired) -> None:
    options = (
        "--proxy",
        "http://10.0.0.9:3128",
        "--api-base-url",
        "https://wecom.corp.example",
        "--welcome-text",
        "hi",
    )
    done = cli("channel", "add", "full", *APP, *options, **SECRETS, WECOM_PROXY_LOGIN="me:pa55word")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "PUBLIC_BASE_URL is not set" in done.stderr
    _, settings, account = stored(wired, "full")
    assert (settings.proxy, settings.welcome_text) == ("http://10.0.0.9:3128", "hi")
    assert (account.proxy, account.base_url) == ("http://me:pa55word@10.0.0.9:3128", "https://wecom.corp.example")


def test_new_callback_keys_are_printed_once_and_are_of_the_form_that_the_console_takes(cli: Cli, wired: Wired) -> None:
    done = cli("channel", "add", "made", *APP, "--new-callback-keys", typed=f"{SECRET}\n")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split() for line in done.stdout.splitlines())
    assert re.fullmatch("[A-Za-z0-9]{32}", lines["Token"])
    assert re.fullmatch("[A-Za-z0-9]{43}", lines["EncodingAESKey"])
    assert len(key_of(lines["EncodingAESKey"])) == 32
    _, _, account = stored(wired, "made")
    assert (account.callback_token, account.encoding_aes_key) == (lines["Token"], lines["EncodingAESKey"])
    again = cli("channel", "secret", "made", "--new-callback-keys")
    assert again.returncode == 0, again.stderr
    assert lines["Token"] not in again.stdout
    assert stored(wired, "made")[2].token == SECRET
    assert SECRET not in done.stdout + done.stderr + again.stdout + again.stderr


def test_list_and_show_say_what_there_is_to_say_about_an_app_and_no_secret(cli: Cli, wired: Wired) -> None:
    cli("channel", "add", "quiet", *APP, **SECRETS)
    cli("channel", "add", "personal")
    wired.bridge.channels.note_callback("quiet", wired.bridge.clock.now(), is_message=False)
    fields = shown(cli, "quiet")
    assert (fields["kind"], fields["account_id"]) == ("wecom", "ww5823bf96d3bd56c7:1000002")
    assert fields["last_callback_at"] is not None
    assert not {"last_poll_at", "next_poll_at", "poll_owner", "generation", "owner_user_id"} & set(fields)
    assert "last_callback_at" not in shown(cli, "personal")
    outputs = [cli(*arguments).stdout for arguments in (
        ("channel", "list"), ("channel", "list", "--json"), ("channel", "show", "quiet"),
    )]  # fmt: skip
    row = next(line for line in outputs[0].splitlines() if line.startswith("quiet"))
    assert re.search(r"quiet +wecom +- +online +echo +\d+ s ago +-", row), row
    sealed = wired.bridge.channels.get("quiet")
    assert sealed is not None
    assert [
        secret for secret in (SECRET, TOKEN, AES_KEY, str(sealed.sealed_account)) if secret in "".join(outputs)
    ] == []


def test_a_new_secret_moves_the_epoch_on_and_leaves_the_rest(cli: Cli, wired: Wired) -> None:
    cli("channel", "add", "moving", *APP, **SECRETS)
    before, _, _ = stored(wired, "moving")
    done = cli("channel", "secret", "moving", typed="another-secret\n")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "channel moving: changed Secret" in done.stderr
    after, _, account = stored(wired, "moving")
    assert after.epoch == before.epoch + 1
    assert (account.token, account.callback_token) == ("another-secret", TOKEN)
    keys = {"WECOM_TOKEN": "other", "WECOM_ENCODING_AES_KEY": AES_KEY[::-1]}
    assert cli("channel", "secret", "moving", "--callback-keys", **keys).returncode == 0
    _, _, account = stored(wired, "moving")
    assert (account.token, account.callback_token) == ("another-secret", "other")
    assert account.encoding_aes_key == AES_KEY[::-1]


def test_an_app_whose_credentials_were_removed_is_asked_for_all_of_them(cli: Cli, wired: Wired) -> None:
    cli("channel", "add", "emptied", *APP, **SECRETS)
    cli("channel", "logout", "emptied")
    assert shown(cli, "emptied")["status_reason"] == "logged_out"
    done = cli("channel", "secret", "emptied", typed=f"{SECRET}\n{TOKEN}\n{AES_KEY}\n")
    assert done.returncode == 0, done.stderr
    channel, settings, account = stored(wired, "emptied")
    assert (channel.status.value, settings.agent_id, account.callback_token) == ("online", 1000002, TOKEN)


def test_the_way_to_wecom_is_changed_without_the_secrets(cli: Cli, wired: Wired) -> None:
    cli("channel", "add", "rerouted", *APP, **SECRETS)
    done = cli("channel", "app", "rerouted", "--proxy", "http://10.0.0.9:3128", "--agent-id", "7")
    assert done.returncode == 0, done.stderr
    assert "channel rerouted: proxy: - -> http://10.0.0.9:3128" in done.stderr
    channel, settings, account = stored(wired, "rerouted")
    assert (settings.agent_id, channel.account_id) == (7, "ww5823bf96d3bd56c7:7")
    assert (account.proxy, account.token, channel.epoch) == ("http://10.0.0.9:3128", SECRET, 1)
    assert cli("channel", "app", "rerouted", "--proxy", "").returncode == 0
    assert stored(wired, "rerouted")[2].proxy == ""


def test_an_account_of_customer_service_is_added_like_an_app(cli: Cli, wired: Wired) -> None:
    service = ("--kind", "wecom_kf", *APP[2:], "--open-kfid", "wkAJ2GCAAASSm4")
    done = cli("channel", "add", "service", *service, "--servicer", "LiSi", **SECRETS)
    assert done.returncode == 0, done.stderr
    channel, settings, account = stored(wired, "service")
    assert (channel.kind, channel.account_id) == (ChannelKind.WECOM_KF, "ww5823bf96d3bd56c7:wkAJ2GCAAASSm4")
    assert (settings.agent_id, account.token) == (1000002, SECRET)
    assert isinstance(settings, KfSettings)
    assert (settings.servicer_userid, settings.moves_sessions) == ("LiSi", True)
    done = cli("channel", "app", "service", "--keep-sessions", "--servicer", "")
    assert "channel service: moves_sessions: True -> False" in done.stderr
    again = cli("channel", "add", "service-2", *service, **SECRETS)
    assert "is read by channel service; remove that first" in again.stderr
    refused = cli("channel", "add", "service-3", *APP, "--open-kfid", "wk1", "--keep-sessions", **SECRETS)
    assert refused.returncode == 2


def test_an_app_has_no_qr_login(cli: Cli) -> None:
    cli("channel", "add", "noqr", *APP, **SECRETS)
    done = cli("channel", "login", "noqr")
    assert done.returncode == 1
    assert "no QR login" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "secrets", "code", "words"),
    [
        (("--kind", "wecom"), {}, 2, "needs --corp-id and --agent-id"),
        (("--agent-id", "7"), {}, 2, "add --kind wecom"),
        ((*APP, "--agent-id", "seven"), {}, 1, "agent_id: Input should be a valid integer"),
        ((*APP, "--proxy", "http://me:pa55word@10.0.0.9"), {}, 1, "proxy: should be http://host:port"),
        ((*APP, "--engine", "parrot"), {}, 1, "there is no engine parrot"),
        (APP, {"WECOM_ENCODING_AES_KEY": "short-key"}, 1, "encoding_aes_key: should be 43 letters and digits"),
        (APP, {"WECOM_SECRET": ""}, 1, "Secret is empty; type it when asked, or set WECOM_SECRET"),
    ],
)
def test_what_cannot_be_right_is_refused_without_repeating_what_may_be_secret(
    cli: Cli, wired: Wired, arguments: tuple[str, ...], secrets: dict[str, str], code: int, words: str
) -> None:
    done = cli("channel", "add", "refused", *arguments, **(SECRETS | secrets))
    assert done.returncode == code
    assert words in " ".join(done.stderr.replace("│", "").split())
    assert [text for text in ("pa55word", "short-key", SECRET) if text in done.stderr] == []
    assert wired.bridge.channels.get("refused") is None


def test_a_name_that_is_taken_is_refused_before_secrets_are_typed(cli: Cli) -> None:
    cli("channel", "add", "taken")
    done = cli("channel", "add", "taken", *APP)
    assert done.returncode == 1
    assert "error: channel taken exists already; choose another share_id" in done.stderr


def test_a_personal_account_has_no_secret(cli: Cli) -> None:
    cli("channel", "add", "qr-only")
    done = cli("channel", "secret", "qr-only", typed="x\n")
    assert done.returncode == 1
    assert "channel qr-only is of kind ilink, no app of WeCom" in done.stderr
    assert cli("channel", "app", "nobody", "--proxy", "").returncode == 1
    assert cli("channel", "app", "qr-only").returncode == 2


@pytest.mark.slow
def test_at_a_terminal_what_is_typed_is_not_shown(environment: Environment, tmp_path: Path, wired: Wired) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "channel", "add", "typed", *APP], env=environment, cwd=tmp_path, stdin=theirs, stdout=theirs,
        stderr=theirs, start_new_session=True, close_fds=True,
    )  # fmt: skip
    os.close(theirs)
    screen = b""
    for label, secret in (("Secret", SECRET), ("Token", TOKEN), ("EncodingAESKey", AES_KEY)):
        screen += _until(ours, label.encode())
        _wait_hidden(ours)
        os.write(ours, f"{secret}\n".encode())
    screen += _until(ours, b"wechat-bridge doctor typed")
    assert process.wait(20) == 0
    os.close(ours)
    assert [secret for secret in (SECRET, TOKEN, AES_KEY) if secret.encode() in screen] == []
    assert stored(wired, "typed")[2].token == SECRET


def _until(terminal: int, words: bytes) -> bytes:
    """What the terminal shows until it shows certain words."""
    shown_so_far, deadline = b"", time.monotonic() + 30
    while words not in shown_so_far:
        readable, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert readable, shown_so_far
        shown_so_far += os.read(terminal, 4096)
    return shown_so_far


def _wait_hidden(terminal: int) -> None:
    """Wait until what is typed is not shown: what was typed before is thrown away at that moment."""
    deadline = time.monotonic() + 10
    while termios.tcgetattr(terminal)[3] & termios.ECHO:
        assert time.monotonic() < deadline, "the terminal shows what is typed"
        time.sleep(0.01)
