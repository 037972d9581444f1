"""What the commands of the simulators have in common."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from pydantic import BaseModel

from wechat_bridge.simulators.ilink import IlinkOptions, IlinkSimulatorProcess
from wechat_bridge.simulators.running import ServerProcess
from wechat_bridge.simulators.wecom import WecomOptions, WecomSimulatorProcess


def command(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command of a simulator to its end."""
    whole = [sys.executable, "-m", "wechat_bridge.simulators", name, *arguments]
    return subprocess.run(whole, capture_output=True, text=True, timeout=20, check=False)


@pytest.mark.parametrize(
    ("name", "switch", "says"),
    [
        ("ilink", "--cursor=lax", "cursor"),
        ("ilink", "--hold-seconds=soon", "hold_seconds"),
        ("ilink", "--hold-seconds=none", "hold_seconds"),
        ("wecom", "--token-renewal=lax", "token_renewal"),
        ("wecom", "--callback-attempts=some", "callback_attempts"),
        ("engine", "--delay-seconds=soon", "delay_seconds"),
    ],
)
def test_a_wrong_switch_ends_the_command_with_a_message(name: str, switch: str, says: str) -> None:
    ended = command(name, switch)
    assert ended.returncode == 2
    assert says in ended.stderr


@pytest.mark.parametrize(
    ("name", "start"),
    [pytest.param("ilink", IlinkSimulatorProcess, marks=pytest.mark.slow), ("wecom", WecomSimulatorProcess)],
)
def test_a_taken_port_ends_the_command_with_a_message(name: str, start: Callable[..., ServerProcess]) -> None:
    with start() as first:
        port = first.base_url.rpartition(":")[2]
        ended = command(name, f"--port={port}")
        assert ended.returncode == 2
        assert port in ended.stderr
        with pytest.raises(RuntimeError, match="did not start"):
            start(port=int(port)).start()


@pytest.mark.parametrize(("name", "options"), [("ilink", IlinkOptions), ("wecom", WecomOptions)])
def test_the_help_names_every_switch(name: str, options: type[BaseModel]) -> None:
    ended = command(name, "--help")
    assert ended.returncode == 0
    for switch in options.model_fields:
        assert f"--{switch.replace('_', '-')}" in ended.stdout
