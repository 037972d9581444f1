from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
import requests

from wechat_bridge.simulators.ilink import IlinkOptions, IlinkSimulatorProcess

COMMAND = [sys.executable, "-m", "wechat_bridge.simulators", "ilink"]


def test_the_command_listens_on_the_given_port_with_the_given_switches() -> None:
    options = IlinkOptions(hold_seconds=0.1, cursor="redeliver", sends_per_token=None, notice_disconnect=False)
    with IlinkSimulatorProcess(options) as process:
        assert process.base_url.startswith("http://127.0.0.1:")
        assert process.control.options() == options.model_dump()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_prints_one_line_and_ends_cleanly_at_a_signal_while_a_poll_is_open(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert process.stdout is not None
    base_url = process.stdout.readline().split()[-1]
    token = requests.post(f"{base_url}/_control/create_bot", timeout=5).json()["token"]
    with pytest.raises(requests.ReadTimeout):
        requests.post(
            f"{base_url}/ilink/bot/getupdates", json={}, headers={"Authorization": f"Bearer {token}"}, timeout=0.2
        )
    started = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "")
    assert time.monotonic() - started < 8
