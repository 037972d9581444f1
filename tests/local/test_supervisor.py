"""Services and programs under one supervisor."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.local.conftest import MakeProgram
from tests.local.processes import is_running
from tests.support.system import wait_until
from wechat_bridge.errors import ServiceNotReachable
from wechat_bridge.local.managed import Managed
from wechat_bridge.local.services import RedisServer, Service
from wechat_bridge.local.supervisor import Supervisor

STUBBORN = "trap '' TERM; echo deaf; while true; do sleep 0.1; done"

Supervise = Callable[..., Supervisor]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def supervise(told: list[str]) -> Iterator[Supervise]:
    """Start a supervisor; whatever the test does, it is stopped at the end."""
    started: list[Supervisor] = []

    def start(programs: Sequence[Managed], services: Sequence[Service] = (), **options: bool) -> Supervisor:
        started.append(Supervisor(services, programs, told.append, **options))
        started[-1].start()
        return started[-1]

    yield start
    for supervisor in started:
        supervisor.stop()


def test_a_killed_program_is_started_again_within_seconds(supervise: Supervise, make_program: MakeProgram) -> None:
    steady, victim = make_program("steady", "exec sleep 60"), make_program("victim", "exec sleep 60")
    supervise([steady, victim])
    steady_pid, victim_pid = steady.pid, victim.pid
    os.kill(victim_pid, signal.SIGKILL)
    wait_until(lambda: victim.alive and victim.pid != victim_pid, 5, "the victim runs again")
    assert steady.pid == steady_pid


def test_a_killed_service_is_started_again_on_its_port(supervise: Supervise, tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis", durable=True)
    supervise([], [server])
    pid, url = server.pid, server.url
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: server.alive and server.pid != pid and server.answers(), 6, "Redis answers again")
    assert server.url == url


def test_a_program_that_dies_at_once_does_not_disturb_the_others(
    supervise: Supervise, make_program: MakeProgram, told: list[str]
) -> None:
    steady = make_program("steady", "exec sleep 60")
    supervise([make_program("broken", "echo cannot work; exit 1"), steady])
    wait_until(lambda: any("cannot work" in line for line in told), 5, "the death is told")
    assert steady.alive


def test_stop_ends_everything_it_started_and_nothing_else(
    supervise: Supervise, make_program: MakeProgram, tmp_path: Path, told: list[str]
) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    server = RedisServer(tmp_path / "redis")
    programs = [make_program(name, "exec sleep 60") for name in ("poll", "beat", "web")]
    supervisor = supervise(programs, [server])
    pids = [process.pid for process in (*programs, server)]
    begin = time.monotonic()
    supervisor.stop()
    elapsed_seconds = time.monotonic() - begin
    try:
        assert [pid for pid in pids if is_running(pid)] == []
        assert bystander.poll() is None
        assert elapsed_seconds < 3
        assert told[-1] == "everything has ended"
    finally:
        bystander.kill()
        bystander.wait()


def test_what_brings_work_is_stopped_before_the_workers_and_the_services_last(
    supervise: Supervise, make_program: MakeProgram, tmp_path: Path
) -> None:
    order = tmp_path / "order"
    line = "trap 'echo {0} >> {1}; exit' TERM; echo ready; while true; do sleep 0.02; done"
    names = ("poll", "reply", "beat", "web")
    programs = [make_program(name, line.format(name, order)) for name in names]
    server = RedisServer(tmp_path / "redis")
    supervisor = supervise(programs, [server])
    wait_until(lambda: all("ready" in program.log.read_text() for program in programs), 5, "the traps are set")
    supervisor.stop()
    ended = order.read_text().split()
    assert (sorted(ended[:2]), sorted(ended[2:])) == (["beat", "web"], ["poll", "reply"])
    assert server.log.stat().st_mtime >= order.stat().st_mtime


@pytest.mark.story
@pytest.mark.slow
def test_a_program_that_ignores_sigterm_is_killed_and_all_is_over_within_15_seconds(
    supervise: Supervise, make_program: MakeProgram, tmp_path: Path, told: list[str]
) -> None:
    stubborn = make_program("poll", STUBBORN)
    server = RedisServer(tmp_path / "redis")
    supervisor = supervise([stubborn], [server])
    wait_until(lambda: "deaf" in stubborn.log.read_text(), 5, "the trap is set")
    begin = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - begin < 15
    assert "poll did not end in time and is killed" in told
    assert not stubborn.alive
    assert not server.alive


def test_services_whose_data_nobody_keeps_are_not_waited_for(supervise: Supervise, tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis")
    supervisor = supervise([], [server], keep_data=False)
    supervisor.stop()
    assert server.exit_code == -signal.SIGKILL


def test_nothing_is_started_again_after_a_stop(supervise: Supervise, make_program: MakeProgram) -> None:
    program = make_program("poll", "exec sleep 60")
    supervisor = supervise([program])
    supervisor.stop()
    pid = program.pid
    # The watching thread has ended with stop(): there is nothing to wait for.
    assert (program.alive, program.pid) == (False, pid)


def test_a_service_that_cannot_start_is_told_and_what_was_started_can_be_stopped(
    make_program: MakeProgram, tmp_path: Path
) -> None:
    with RedisServer(tmp_path / "first") as first:
        program = make_program("poll", "exec sleep 60")
        supervisor = Supervisor([RedisServer(tmp_path / "second", port=first.port)], [program], lambda _line: None)
        with pytest.raises(ServiceNotReachable, match="ended while starting"):
            supervisor.start()
        supervisor.stop()
        assert not program.alive
        assert first.answers()
