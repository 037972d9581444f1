"""Asking an engine from the command line, without WeChat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.engines.asking import SHOP
from tests.support.own_worker import shop_worker
from wechat_bridge.simulators.engine import EngineOptions, EngineSimulator

Urls = tuple[str, str]
KEY = "sk-key-that-nobody-may-see"


def described(server: EngineSimulator, key: str = KEY) -> dict[str, str]:
    """The environment that describes an engine, its key apart from the rest."""
    engine = {"kind": "openai", "base_url": f"{server.base_url}/v1", "model": "m"}
    return {"WECHAT_BRIDGE_ENGINES": json.dumps({"wise": engine}), "WECHAT_BRIDGE_ENGINES__WISE__API_KEY": key}


@pytest.fixture(scope="module")
def running() -> Iterator[EngineSimulator]:
    with EngineSimulator(EngineOptions(key=KEY)) as simulator:
        yield simulator


def test_what_an_engine_answers_is_printed_with_how_long_it_took(cli: Cli, running: EngineSimulator) -> None:
    assert cli("channel", "add", "asks", "--engine", "wise", **described(running)).returncode == 0
    running.script(text="你也好")
    done = cli("engine", "test", "asks", "你好", **described(running))
    assert (done.returncode, done.stdout) == (0, "你也好\n"), done.stderr
    assert "engine wise, model simulated-1, elapsed_ms " in done.stderr
    assert "prompt_tokens 11, completion_tokens 7, finish_reason stop" in done.stderr
    assert running.calls[-1].body["messages"] == [{"role": "user", "content": "你好"}]
    fields = json.loads(cli("engine", "test", "asks", "hi", "--json", **described(running)).stdout)
    assert (fields["text"], fields["engine"]) == ("hi", "wise")


@pytest.mark.slow
def test_a_task_of_ones_own_is_asked_too(cli: Cli, running: EngineSimulator, urls: Urls, tmp_path: Path) -> None:
    own = {"WECHAT_BRIDGE_ENGINES": json.dumps({"own": {"kind": "task", "task": "shop.answer", "queue": "shop"}})}
    assert cli("channel", "add", "own-task", "--engine", "own", **own).returncode == 0
    with shop_worker(SHOP, tmp_path, urls[0], SHOP_ASKS=f"{running.base_url}/webhook"):
        done = cli("engine", "test", "own-task", "在吗", **own)
    assert (done.returncode, done.stdout) == (0, "在吗\n"), done.stderr
    assert "engine own, model shop.answer, elapsed_ms " in done.stderr


@pytest.mark.slow
def test_a_wrong_key_is_an_error_without_the_key(cli: Cli, running: EngineSimulator) -> None:
    assert cli("channel", "add", "locked", "--engine", "wise", **described(running)).returncode == 0
    done = cli("engine", "test", "locked", "你好", **described(running, "sk-wrong-key-0123"))
    assert done.returncode == 1
    assert done.stderr.startswith("error: engine wise (http://127.0.0.1:")
    assert "401 simulated wrong key; check its key" in done.stderr
    assert "sk-wrong" not in done.stderr


@pytest.mark.slow
def test_an_engine_that_is_not_described_here_and_a_channel_that_is_not_there_are_named(
    cli: Cli, running: EngineSimulator
) -> None:
    assert cli("channel", "add", "elsewhere", "--engine", "wise", **described(running)).returncode == 0
    done = cli("engine", "test", "elsewhere", "hi")
    assert "error: channel elsewhere wants the engine 'wise'; this command knows: echo. Give it the" in done.stderr
    assert "there is no channel nowhere" in cli("engine", "test", "nowhere", "hi").stderr


def test_settings_of_an_engine_that_cannot_be_are_named_without_what_they_hold(cli: Cli) -> None:
    assert cli("health", WECHAT_BRIDGE_ENGINES="{").stderr.startswith(
        "error: WECHAT_BRIDGE_ENGINES: should be a JSON object."
    )
    engine = {"a": {"kind": "openai", "api_key": KEY + "，"}}
    done = cli("health", WECHAT_BRIDGE_ENGINES=json.dumps(engine))
    assert done.returncode == 2
    assert "WECHAT_BRIDGE_ENGINES__A__MODEL: Field required" in done.stderr
    assert "WECHAT_BRIDGE_ENGINES__A__API_KEY: should be letters, digits and signs" in done.stderr
    assert KEY not in done.stderr
