"""When a process that was started counts as doing its work."""

from __future__ import annotations

import socket
from datetime import UTC, datetime

import pytest

from tests.local.conftest import MakeProgram
from wechat_bridge.errors import ServiceNotReachable
from wechat_bridge.local.ports import free_port
from wechat_bridge.local.program import Program
from wechat_bridge.local.ready import wait_ready
from wechat_bridge.model.worker import Worker


def document_of(program: Program, host: str = "") -> Worker:
    now = datetime.now(UTC)
    owner = f"{host or socket.gethostname()}:{program.pid}:abcd1234"
    return Worker(id=owner, kind="worker", seen_at=now, started_at=now, version="1")


def test_processes_are_ready_when_they_stand_in_the_ledger(make_program: MakeProgram) -> None:
    programs = [make_program(name, "exec sleep 60") for name in ("poll", "beat", "flower")]
    for program in programs:
        program.launch()
    told: list[str] = []
    documents = [document_of(programs[0]), document_of(programs[1])]
    wait_ready(programs, lambda: documents, free_port(), told.append, seconds=5)
    assert told == ["poll is ready", "beat is ready"]


def test_a_process_of_another_host_with_the_same_pid_is_somebody_else(make_program: MakeProgram) -> None:
    program = make_program("poll", "echo loading; exec sleep 60")
    program.launch()
    elsewhere = document_of(program, host="elsewhere")
    with pytest.raises(ServiceNotReachable, match=r"(?s)not everything started within 0 s.*poll is not ready"):
        wait_ready([program], lambda: [elsewhere], free_port(), lambda _line: None, seconds=0.2)


def test_the_web_process_is_ready_only_when_it_answers(make_program: MakeProgram) -> None:
    program = make_program("web", "exec sleep 60")
    program.launch()
    with pytest.raises(ServiceNotReachable, match=r"web is not ready: .* \(all of it: .*web\.log\)"):
        wait_ready([program], lambda: [document_of(program)], free_port(), lambda _line: None, seconds=0.2)
