"""`wechat-bridge access`: who may talk to a channel, as an operator says it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Cli
from wechat_bridge.model import keys
from wechat_bridge.store.conversations import Arrival
from wechat_bridge.store.windows import Window
from wechat_bridge.wiring import Wired

ANN = "ann@im.wechat"


def listed(cli: Cli, share_id: str) -> dict[str, Any]:
    done = cli("access", "list", share_id, "--json")
    assert done.returncode == 0, done.stderr
    fields: dict[str, Any] = json.loads(done.stdout)
    return fields


def said(cli: Cli, *arguments: str) -> str:
    """What a command that works says."""
    done = cli("access", *arguments)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def has_written(wired: Wired, share_id: str) -> None:
    now = wired.bridge.clock.now()
    chat = keys.chat_id(share_id, ANN)
    wired.bridge.conversations.arm(Arrival(chat, share_id, ANN, 1, "t", 1, now, now, 10), Window(1, 5, 20), now)


def test_a_new_channel_answers_who_scans_and_pairs_others_and_says_how_to_change_that(cli: Cli) -> None:
    added = cli("channel", "add", "fresh")
    assert "wechat-bridge access approve fresh CODE" in added.stderr
    assert "wechat-bridge access policy fresh open" in added.stderr
    assert listed(cli, "fresh")["policy"] == "pairing"
    assert "fresh: open, from the next message on" in said(cli, "policy", "fresh", "open")
    assert listed(cli, "fresh")["policy"] == "open"
    assert '"policy": "open"' in cli("channel", "show", "fresh", "--json").stdout


@pytest.mark.slow
def test_persons_are_let_in_denied_and_forgotten_by_name(cli: Cli) -> None:
    cli("channel", "add", "named")
    assert f"{ANN} is let in" in said(cli, "allow", "named", ANN)
    (person,) = listed(cli, "named")["persons"]
    assert (person["user_id"], person["standing"]) == (ANN, "listed")
    assert "@" in person["by"]
    said(cli, "deny", "named", ANN)
    table = cli("access", "list", "named").stdout
    assert "pairing" in table
    assert any(line.startswith(ANN) and "denied" in line for line in table.splitlines())
    said(cli, "forget", "named", ANN)
    assert listed(cli, "named")["persons"][0]["standing"] is None


@pytest.mark.slow
def test_a_code_is_approved(cli: Cli, wired: Wired) -> None:
    cli("channel", "add", "paired")
    has_written(wired, "paired")
    seen = wired.bridge.conversations.get(keys.chat_id("paired", ANN))
    assert seen is not None
    wired.bridge.access.settle(seen, 1, {}, "ABCDEFGH", wired.bridge.clock.now())
    assert "ABCDEFGH" in cli("access", "list", "paired").stdout
    wrong = cli("access", "approve", "paired", "HGFEDCBA")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.startswith("error: no such code waits")
    assert f"{ANN} is let in" in said(cli, "approve", "paired", "abcdefgh")
    assert listed(cli, "paired")["persons"][0]["standing"] == "paired"


@pytest.mark.slow
def test_a_conversation_is_muted_and_taken_over_and_given_back(cli: Cli, wired: Wired) -> None:
    cli("channel", "add", "helped")
    has_written(wired, "helped")
    said(cli, "mute", "helped", ANN)
    assert f'wechat-bridge send helped {ANN} "..."' in said(cli, "human", "helped", ANN)
    row = next(line for line in cli("access", "list", "helped").stdout.splitlines() if line.startswith(ANN))
    assert "muted, human until " in row
    said(cli, "unmute", "helped", ANN)
    said(cli, "bot", "helped", ANN)
    (person,) = listed(cli, "helped")["persons"]
    assert (person["muted"], "human_until" in person) == (False, False)
    assert "nothing is kept" in said(cli, "show", "helped", ANN)


@pytest.mark.slow
def test_limits_are_set_one_by_one(cli: Cli) -> None:
    cli("channel", "add", "limited")
    said(cli, "limit", "limited", "--per-minute", "20")
    said(cli, "limit", "limited", "--per-day", "300")
    fields = listed(cli, "limited")
    assert (fields["messages_per_minute"], fields["messages_per_day"]) == (20, 300)
    none = cli("access", "limit", "limited")
    assert none.returncode == 1
    assert "give the messages a minute, a day, or both" in none.stderr


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["policy", "open"], ["human", ANN]],
)
def test_a_channel_that_does_not_exist_is_an_error_in_one_line(cli: Cli, arguments: list[str]) -> None:
    done = cli("access", arguments[0], "nobody", *arguments[1:])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: there is no channel nobody")
