"""`wechat-bridge events`: keys, events from a file, and what became of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from wechat_bridge.gateway.api_keys import holder_of
from wechat_bridge.wiring import Wired

RULES = {"events": {"types": {"plain": {"schema": {"json_schema": {"type": "object"}, "mode": "passthrough"}}}}}


@pytest.fixture(autouse=True)
def _rules(wired: Wired) -> None:
    wired.configuration.apply(RULES, "a test")


def test_a_key_is_shown_once_and_is_good_until_it_is_removed(cli: Cli, wired: Wired) -> None:
    made = cli("events", "key", "add", "shop.eu", "--type", "plain")
    assert made.returncode == 0, made.stderr
    key = made.stdout.strip()
    wired.follower.load()
    holder = holder_of(wired.gateway.rules(), key)
    assert holder is not None
    assert holder.types == ("plain",)
    listed = cli("events", "key", "list", "--json").stdout
    assert json.loads(listed) == [{"name": "shop.eu", "types": ["plain"]}]
    assert key not in listed + cli("config", "show").stdout
    assert cli("events", "key", "add", "shop.eu").returncode == 2
    assert cli("events", "key", "remove", "shop.eu").returncode == 0
    wired.follower.load()
    assert holder_of(wired.gateway.rules(), key) is None
    assert cli("events", "key", "remove", "shop.eu").returncode == 1


def test_an_event_from_a_file_is_taken_and_shown(cli: Cli, wired: Wired, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text('{"eventType": "plain", "n": 1}')
    sent = cli("events", "send", "event.json")
    assert sent.returncode == 0, sent.stderr
    [event_id] = [word for word in sent.stdout.split() if word.startswith("evt-")]
    shown = json.loads(cli("events", "show", event_id, "--json").stdout)
    assert (shown["state"], shown["payload"], shown["event_type"]) == (
        "queued",
        {"eventType": "plain", "n": 1},
        "plain",
    )


def test_what_is_wrong_with_an_event_is_said_and_the_exit_code_is_1(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text('{"eventType": "nobody.knows"}')
    refused = cli("events", "send", "event.json")
    assert refused.returncode == 1
    assert "Unsupported event type" in refused.stdout
    assert cli("events", "show", "evt-none").returncode == 1


def test_without_a_queue_to_read_the_reader_ends_and_says_what_to_do(cli: Cli) -> None:
    ended = cli("events", "consume")
    assert ended.returncode == 1
    assert "events.consume" in ended.stderr
