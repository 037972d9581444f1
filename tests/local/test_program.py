"""Procfile lines as processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.local.conftest import MakeProgram
from tests.support.system import wait_until
from wechat_bridge.errors import ServiceNotReachable
from wechat_bridge.local.program import bundled_procfile, read_procfile

PROCESSES = ["poll", "reply", "ops", "beat", "web", "flower"]


def test_a_procfile_names_its_processes_in_order(tmp_path: Path) -> None:
    path = tmp_path / "Procfile"
    path.write_text("# comment\nweb: exec one ${PORT:-80}\n\nworker-1: exec two: three\n")
    assert read_procfile(path) == {"web": "exec one ${PORT:-80}", "worker-1": "exec two: three"}


def test_the_bridges_own_procfile_names_every_process() -> None:
    assert list(read_procfile(bundled_procfile())) == PROCESSES


def test_the_pid_is_that_of_the_process_itself_and_not_of_a_shell(make_program: MakeProgram) -> None:
    program = make_program("sleeper", "exec sleep ${SECONDS_TO_SLEEP:-60}")
    program.launch()
    wait_until(lambda: b"sleep" in Path(f"/proc/{program.pid}/cmdline").read_bytes()[:6], 5, "the shell became sleep")
    assert Path(f"/proc/{program.pid}/cmdline").read_bytes() == b"sleep\x0060\x00"


def test_output_goes_to_the_log_and_the_exit_code_is_known(make_program: MakeProgram) -> None:
    program = make_program("talker", "echo out; echo err >&2; exit 7")
    program.launch()
    wait_until(lambda: not program.alive, 5, "the program ends")
    assert program.log.read_text() == "out\nerr\n"
    assert program.exit_code == 7


def test_a_program_that_is_running_is_not_launched_twice(make_program: MakeProgram) -> None:
    program = make_program("sleeper", "exec sleep 60")
    program.launch()
    pid = program.pid
    program.launch()
    assert program.pid == pid


def test_a_program_that_was_never_started_says_so(make_program: MakeProgram) -> None:
    program = make_program("idle", "exec sleep 60")
    assert not program.alive
    assert program.exit_code is None
    with pytest.raises(ServiceNotReachable, match="idle was not started"):
        _ = program.pid


def test_killing_ends_what_the_program_started_too(make_program: MakeProgram, tmp_path: Path) -> None:
    program = make_program("parent", f"sleep 60 & echo $! > {tmp_path / 'pid'}; wait")
    program.launch()
    pid = int(wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), 5, "the child runs"))
    program.kill()
    wait_until(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text(), 5, "it ends")
    assert not program.alive
