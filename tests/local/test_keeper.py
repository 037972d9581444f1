"""Restarting what ends, more and more patiently. The clock is the test's; the processes are real."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.local.conftest import MakeProgram
from tests.support.system import wait_until
from wechat_bridge.local.keeper import Keeper
from wechat_bridge.local.managed import Managed


@dataclass
class Watch:
    """A keeper whose time the test moves."""

    process: Managed
    now: float = 0.0
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.keeper = Keeper(self.process, self.told.append, lambda: self.now)

    def pause_after_death(self) -> float:
        """Let the process end and come back; return for how long it was left alone."""
        wait_until(lambda: not self.process.alive, 5, "the process ends")
        before = self.process.pid
        ended_at = self.now
        while self.process.pid == before:
            self.keeper.check()
            self.now += 1.0
        return self.now - ended_at - 1.0


def test_a_process_that_dies_at_once_is_restarted_after_2_4_8_and_at_most_60_seconds(make_program: MakeProgram) -> None:
    watch = Watch(make_program("broken", "exit 1"))
    watch.process.launch()
    assert [watch.pause_after_death() for _ in range(7)] == [2, 4, 8, 16, 32, 60, 60]


def test_a_process_that_ran_a_while_is_restarted_after_2_seconds_again(make_program: MakeProgram) -> None:
    watch = Watch(make_program("sometimes", "exec sleep 60"))
    watch.process.launch()
    for _ in range(3):
        watch.process.kill()
        watch.pause_after_death()
    watch.now += 31
    watch.process.kill()
    assert watch.pause_after_death() == 2


def test_a_living_process_is_left_alone(make_program: MakeProgram) -> None:
    watch = Watch(make_program("steady", "exec sleep 60"))
    watch.process.launch()
    pid = watch.process.pid
    for _ in range(100):
        watch.keeper.check()
        watch.now += 1
    assert (watch.process.pid, watch.told) == (pid, [])


def test_what_a_process_said_last_is_told_once(make_program: MakeProgram) -> None:
    watch = Watch(make_program("broken", "echo starting; echo 'no port left' >&2; exit 3"))
    watch.process.launch()
    wait_until(lambda: not watch.process.alive, 5, "the process ends")
    watch.keeper.check()
    watch.keeper.check()
    assert watch.told == ["broken ended (exit code 3: no port left), starts again in 2 s"]


def test_the_signal_that_ended_a_process_is_told(make_program: MakeProgram) -> None:
    watch = Watch(make_program("killed", "exec sleep 60"))
    watch.process.launch()
    watch.process.kill()
    watch.keeper.check()
    assert watch.told == ["killed ended (SIGKILL), starts again in 2 s"]


def test_a_process_that_cannot_be_started_is_tried_again(make_program: MakeProgram) -> None:
    program = make_program("homeless", "exec sleep 60")
    program.directory.parent.mkdir(exist_ok=True)
    program.directory.write_text("a file where the folder should be")
    watch = Watch(program)
    watch.keeper.check()
    watch.now = 3
    watch.keeper.check()
    assert [line.split("(")[0] for line in watch.told] == ["homeless ended ", "homeless could not be started "]
    program.directory.unlink()
    watch.now = 20
    watch.keeper.check()
    assert program.alive
