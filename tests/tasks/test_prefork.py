"""A client made before a fork does not work after it (report 53): a worker with forked children is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.system import System, wait_until
from wechat_bridge.simulators.ilink import IlinkSimulator

pytestmark = [pytest.mark.story, pytest.mark.slow]


def test_a_worker_that_would_fork_ends_and_says_why(
    urls: tuple[str, str], tmp_path: Path, simulator: IlinkSimulator
) -> None:
    system = System(urls, tmp_path, simulator.control, simulator.base_url)
    command = [sys.executable, "-m", "celery", "-A", "wechat_bridge.app", "worker", "-P", "prefork", "-c", "1"]
    try:
        with (tmp_path / "log").open("wb") as log, subprocess.Popen(
            command, cwd=tmp_path, env=system.environment, stdout=log, stderr=subprocess.STDOUT
        ) as worker:  # fmt: skip
            try:
                wait_until(lambda: worker.poll() is not None, 40, "it ends")
            finally:
                worker.kill()
        assert worker.returncode != 0
        assert "start the worker with -P threads" in (tmp_path / "log").read_text(encoding="utf-8")
    finally:
        system.wired.close()
