from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
import requests

from wechat_bridge.simulators.wecom import WecomOptions, WecomSimulatorProcess

COMMAND = [sys.executable, "-m", "wechat_bridge.simulators", "wecom"]


def test_the_command_listens_on_the_given_port_with_the_given_switches() -> None:
    options = WecomOptions(callback_timeout_seconds=0.5, token_renewal="rotate", calls_per_minute=None)
    with WecomSimulatorProcess(options) as process:
        assert process.base_url.startswith("http://127.0.0.1:")
        assert process.control.options() == options.model_dump()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_prints_one_line_and_ends_cleanly_at_a_signal_while_a_call_hangs(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert process.stdout is not None
    base_url = process.stdout.readline().split()[-1]
    entry = {"path": "gettoken", "entry": {"hang": True}}
    assert requests.post(f"{base_url}/_control/script", json=entry, timeout=5).json() is True
    with pytest.raises(requests.ReadTimeout):
        requests.get(f"{base_url}/cgi-bin/gettoken", timeout=0.2)
    started = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "")
    assert time.monotonic() - started < 8
