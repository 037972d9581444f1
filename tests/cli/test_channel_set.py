"""`wechat-bridge channel set`: how a channel answers, as an operator says it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from wechat_bridge.wiring import Wired

SECRET = "the-secret-of-the-check"
URL = "https://check.example/hooks/s3cret-path?token=s3cret-query"


def shown(cli: Cli, share_id: str) -> dict[str, Any]:
    done = cli("channel", "show", share_id, "--json")
    assert done.returncode == 0, done.stderr
    fields: dict[str, Any] = json.loads(done.stdout)
    return fields


def changed(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines by which a command that works says what it did."""
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr.splitlines()


def test_it_says_what_changed_and_show_tells_it(cli: Cli, tmp_path: Path) -> None:
    cli("channel", "add", "shop")
    words = tmp_path / "words.txt"
    words.write_text("\ufeffbad => good\n\nworst\n", encoding="utf-8")
    done = cli(
        "channel", "set", "shop", "--name", "小店", "--queue-mode", "followup", "--label", "（AI 生成）",
        "--refusal", "", "--words-file", str(words),
    )  # fmt: skip
    assert changed(done) == [
        "channel shop: name: - -> 小店",
        "channel shop: queue_mode: collect -> followup",
        "channel shop: label: - -> （AI 生成）",
        "channel shop: refusal: 抱歉，这个问题我不方便回答。 -> -",
        "channel shop: words: 0 -> 2",
        "channel shop: it counts from the next message on",
    ]
    fields = shown(cli, "shop")
    assert (fields["name"], fields["queue_mode"]) == ("小店", "followup")
    assert fields["outgoing"] == {
        "label": "（AI 生成）", "refusal": "", "words": 2, "check_url": "", "check_secret": "",
    }  # fmt: skip


def test_a_check_is_set_with_a_secret_from_the_environment_and_nothing_shows_it(cli: Cli, wired: Wired) -> None:
    cli("channel", "add", "checked")
    done = cli("channel", "set", "checked", "--check-url", URL, WECHAT_BRIDGE_CHECK_SECRET=SECRET)
    assert changed(done) == [
        "channel checked: check_url: - -> https://check.example/...",
        "channel checked: check_secret: - -> set",
        "channel checked: it counts from the next message on",
    ]
    channel = wired.bridge.channels.get("checked")
    assert channel is not None
    assert channel.outgoing.check_url == URL
    assert wired.bridge.channels.vault.open_text(channel.outgoing.sealed_check_secret) == SECRET
    told = done.stderr + cli("channel", "show", "checked").stdout + cli("channel", "list", "--json").stdout
    for secret in (SECRET, "s3cret", channel.outgoing.sealed_check_secret):
        assert secret not in told


@pytest.mark.slow
def test_a_secret_is_typed_changed_and_taken_away(cli: Cli, wired: Wired) -> None:
    cli("channel", "add", "typed")
    first = cli("channel", "set", "typed", "--check-url", URL, "--check-secret", typed=f"{SECRET}\n")
    assert "check_secret: - -> set" in first.stderr
    again = cli("channel", "set", "typed", "--check-secret", typed="another\n")
    assert changed(again)[0] == "channel typed: check_secret: changed"
    assert "check_url: https://check.example/... -> -" in cli("channel", "set", "typed", "--no-check").stderr
    assert shown(cli, "typed")["outgoing"]["check_secret"] == ""


@pytest.mark.slow
def test_words_are_taken_away_with_a_hyphen(cli: Cli, tmp_path: Path) -> None:
    cli("channel", "add", "worded")
    words = tmp_path / "words.txt"
    words.write_text("bad")
    cli("channel", "set", "worded", "--words-file", str(words))
    words.write_text("worse")
    assert changed(cli("channel", "set", "worded", "--words-file", str(words)))[0] == "channel worded: words: 1 others"
    assert "words: 1 -> 0" in cli("channel", "set", "worded", "--words-file", "-").stderr
    assert "nothing changes" in cli("channel", "set", "worded", "--words-file", "-").stderr


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["--engine", "parrot"], 1, "there is no engine parrot; there are: echo"),
        (["--check-url", URL], 1, "a check needs a secret"),
        ([], 2, "say what to change"),
        (["--words-file", "/nowhere/words.txt"], 2, "cannot read /nowhere/words.txt"),
        (["--no-check", "--check-url", URL], 2, "--no-check goes with neither"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(
    cli: Cli, wired: Wired, arguments: list[str], code: int, complaint: str
) -> None:
    if code == 1 and wired.bridge.channels.get("wrong") is None:
        cli("channel", "add", "wrong")
    done = cli("channel", "set", "wrong", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert complaint in " ".join(done.stderr.replace("│", "").split())
    assert "s3cret" not in done.stderr


def test_a_channel_that_does_not_exist_is_an_error_in_one_line(cli: Cli) -> None:
    done = cli("channel", "set", "nobody", "--name", "x")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("error: there is no channel nobody")
