"""The gates of the engines on the command line: what `engine list` shows, and that `engine test` goes past them."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Cli
from wechat_bridge.model.engine import BreakerSettings
from wechat_bridge.simulators.engine import EngineSimulator
from wechat_bridge.store import broker
from wechat_bridge.store.engine_gates import EngineGates, GateState, Verdict

pytestmark = pytest.mark.slow


def given(base_url: str) -> dict[str, str]:
    """The environment that describes an engine which takes four questions at once."""
    wise = {"kind": "openai", "base_url": base_url, "model": "m", "api_key": "sk-key-that-nobody-may-see"}
    return {"WECHAT_BRIDGE_ENGINES": json.dumps({"wise": wise | {"max_concurrency": 4}})}


def test_the_engines_are_listed_with_their_limits_and_without_their_keys(cli: Cli) -> None:
    shown = cli("engine", "list", **given("http://127.0.0.1:1/v1"))
    assert shown.returncode == 0, shown.stderr
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert lines[0] == ["ENGINE", "KIND", "LIMIT", "IN", "USE", "WAITING", "STATE"]
    assert lines[1:] == [["echo", "echo", "-", "-", "-", "answers"], ["wise", "openai", "4", "0", "0", "answers"]]
    assert "sk-key" not in shown.stdout


def test_an_engine_is_tried_by_hand_past_its_shut_gate_and_the_gate_stays_as_it_is(
    cli: Cli, urls: tuple[str, str]
) -> None:
    client = broker.connect(urls[0])
    gates = EngineGates(client)

    def state() -> GateState:
        return gates.look({"wise": 4})[0]

    place = gates.admit("wise", 4, "turn", "me|1", 60)
    assert place is not None
    gates.leave(place, Verdict.FAILED, BreakerSettings(failures=1), reason="HTTP 503", may_wait=True)
    before = state()
    with EngineSimulator() as running:
        assert cli("channel", "add", "asks", "--engine", "wise", **given(f"{running.base_url}/v1")).returncode == 0
        done = cli("engine", "test", "asks", "你好", **given(f"{running.base_url}/v1"))
    assert (done.returncode, done.stdout) == (0, "你好\n"), done.stderr
    assert state() == before
    assert before.is_open
    (_, wise) = json.loads(cli("engine", "list", "--json", **given("http://127.0.0.1:1/v1")).stdout)
    assert (wise["is_open"], wise["waiting"], wise["last_error"]) == (True, 1, "HTTP 503")
    client.close()
