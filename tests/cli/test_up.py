"""`wechat-bridge up`: everything on one machine, found by other commands, ended by Ctrl-C, and nothing else ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, Cli, Environment, runner
from tests.local.processes import descendants, is_running
from tests.support.system import wait_until
from wechat_bridge.local.home import Home
from wechat_bridge.local.ports import free_port
from wechat_bridge.simulators.ilink import IlinkOptions, IlinkSimulator

pytestmark = [pytest.mark.story, pytest.mark.slow]

KEY = "sk-key-that-nobody-may-see"
ENGINES = {
    "WECHAT_BRIDGE_ENGINES": json.dumps(
        {"away": {"kind": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}}
    ),
    "WECHAT_BRIDGE_ENGINES__AWAY__API_KEY": KEY,
}
"""What only the terminal of `up` was told."""

PROCESSES = 8
"""Redis, MongoDB and the six of the Procfile."""


class Up:
    """A running `up` on a data folder of its own."""

    def __init__(self, environment: Environment, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "up.log"
        self.environment = environment | {
            "WECHAT_BRIDGE_DATA_DIR": str(folder / "data"),
            "WECHAT_BRIDGE_WEB_PORT": str(free_port()),
            "WECHAT_BRIDGE_FLOWER_PORT": str(free_port()),
            "WECHAT_CHANNEL_CONCURRENCY": "10",
        }
        self.cli: Cli = runner(self.environment, folder)
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [*COMMAND, "up"], env=self.environment | ENGINES, cwd=folder, stdout=output, stderr=output
            )

    def wait_ready(self) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, self.output.read_text()
            return "the bridge runs" in self.output.read_text()

        wait_until(ready, 60, "up says that the bridge runs")

    def children(self) -> list[int]:
        return descendants(self.process.pid)

    def pid_of(self, name: str) -> int:
        """The process whose command line names a worker."""
        [pid] = [pid for pid in self.children() if f"{name}@" in Path(f"/proc/{pid}/cmdline").read_text()]
        return pid


@pytest.fixture(scope="module")
def up(bare_environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    running = Up(bare_environment, tmp_path_factory.mktemp("up"))
    try:
        running.wait_ready()
        yield running
    finally:
        running.process.kill()
        running.process.wait()


def test_commands_in_another_terminal_find_its_servers(up: Up) -> None:
    added = up.cli("channel", "add", "found")
    assert added.returncode == 0, added.stderr
    assert [row["share_id"] for row in json.loads(up.cli("channel", "list", "--json").stdout)] == ["found"]


def test_it_is_healthy(up: Up) -> None:
    done = up.cli("health", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (0, True), report


def test_commands_in_another_terminal_know_its_engines_and_how_to_ask_them(up: Up) -> None:
    assert up.cli("channel", "add", "asks", "--engine", "away").returncode == 0
    done = up.cli("engine", "test", "asks", "你好")
    assert done.returncode == 1
    assert done.stderr.startswith("error: engine away (http://127.0.0.1:9): ")
    assert "refused" in done.stderr, "it was asked where the terminal of `up` says it is"
    assert up.cli("channel", "remove", "asks").returncode == 0


def test_no_secret_is_in_its_output_or_its_logs(up: Up) -> None:
    data = up.folder / "data"
    secrets = [(data / name).read_text().strip() for name in ("secret-keys", "flower-password")]
    secrets += [secrets[1].partition(":")[2], KEY]
    texts = [up.output.read_text(), *(path.read_text(errors="replace") for path in (data / "logs").iterdir())]
    command_lines = [Path(f"/proc/{pid}/cmdline").read_text() for pid in up.children()]
    assert len(texts) > PROCESSES
    assert [secret for secret in secrets for text in (*texts, *command_lines) if secret in text] == []
    assert str(data / "flower-password") in up.output.read_text()


def test_a_second_one_on_the_same_folder_is_refused(up: Up) -> None:
    done = up.cli("up")
    assert done.returncode == 1
    assert "error: another `wechat-bridge up` uses" in done.stderr
    assert len(up.children()) == PROCESSES


def test_a_port_that_is_taken_is_named(up: Up, tmp_path: Path) -> None:
    done = up.cli("up", WECHAT_BRIDGE_DATA_DIR=str(tmp_path / "other"))
    port = up.environment["WECHAT_BRIDGE_WEB_PORT"]
    assert done.returncode == 2
    assert done.stderr == f"error: WECHAT_BRIDGE_WEB_PORT: port {port} is in use, set it to a free one\n"


def test_a_killed_worker_comes_back_and_the_bridge_is_healthy_again(up: Up) -> None:
    victim = up.pid_of("reply")
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: "reply ended (SIGKILL), starts again in 2 s" in up.output.read_text(), 5, "the death is told")
    wait_until(lambda: len(up.children()) == PROCESSES, 10, "eight processes again")
    wait_until(lambda: up.cli("health").returncode == 0, 40, "healthy again")
    assert up.pid_of("reply") != victim


@pytest.fixture
def open_poll(up: Up) -> Iterator[None]:
    """A channel whose poll WeChat holds for 30 s."""
    with IlinkSimulator(IlinkOptions(hold_seconds=30, auto_confirm="new")) as wechat:
        up.cli("channel", "add", "held")
        done = up.cli("channel", "login", "held", "--api-base", wechat.base_url)
        assert done.returncode == 0, done.stderr
        assert wechat.control.wait_for_open_polls(1, timeout_seconds=20) == 1
        yield


@pytest.mark.usefixtures("open_poll")
def test_ctrl_c_ends_every_process_it_started_and_nothing_else_within_15_seconds(up: Up) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    children = up.children()
    assert len(children) == PROCESSES
    begin = time.monotonic()
    up.process.send_signal(signal.SIGINT)
    exit_code = up.process.wait(20)
    elapsed_seconds = time.monotonic() - begin
    try:
        assert exit_code == 0
        assert elapsed_seconds < 15
        assert [pid for pid in children if is_running(pid)] == []
        assert bystander.poll() is None
        assert up.output.read_text().endswith("everything has ended\n")
    finally:
        bystander.kill()
        bystander.wait()


def test_afterwards_no_command_takes_its_servers_for_running(up: Up) -> None:
    assert up.process.poll() is not None
    assert Home(up.folder / "data").published() == {}


def test_the_data_is_there_again_after_a_restart_and_a_killed_supervisor_leaves_no_process(up: Up) -> None:
    assert up.process.poll() is not None
    again = Up(up.environment, up.folder)
    try:
        again.wait_ready()
        assert [row["share_id"] for row in json.loads(again.cli("channel", "list", "--json").stdout)] == [
            "found",
            "held",
        ]
        children = again.children()
    finally:
        again.process.kill()
        again.process.wait()
    assert len(children) == PROCESSES
    wait_until(lambda: not any(map(is_running, children)), 5, "the kernel ends the children")
