"""MongoDB fails over: a primary steps down, answers get lost, the new primary's clock is behind (report 53)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.mongo_servers import ShiftedServer
from tests.support.proxy.mongo_faults import MongoProxy
from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.simulators.ilink import IlinkSimulatorProcess

pytestmark = [pytest.mark.story, pytest.mark.slow]

CHANNELS = 10
BEHIND_SECONDS = 600.0
QUICK = {"WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "2", "WECHAT_BRIDGE_POLL__FAILURE_DELAY_SECONDS": "2"}


class Stage:
    """A system with two poll workers and one of each other kind, whose MongoDB is reached through a proxy."""

    def __init__(self, system: System, server: ShiftedServer, proxy: MongoProxy) -> None:
        self.system = system
        self.server = server
        self.proxy = proxy
        self.worlds: list[World] = []

    def say(self, text: str) -> None:
        """Everybody says the same on every channel."""
        self.system.say(self.worlds, text)

    def assert_heard(self, texts: list[str], seconds: float) -> None:
        """Everybody hears the answers to these texts, in order, each once."""
        assert len(self.worlds) == CHANNELS
        self.system.assert_heard(self.worlds, texts, seconds)

    def cursors(self) -> list[str]:
        """The cursors as they are stored."""
        return [world.channel.sync_buf for world in self.worlds]

    def judged_dead(self) -> list[str]:
        """What the ops worker has taken from others."""
        lines = self.system.log_of("ops").splitlines()
        return [line for line in lines if "links_freed" in line or "turn_taken_over" in line]


@pytest.fixture(scope="module")
def running(
    urls: tuple[str, str], tmp_path_factory: pytest.TempPathFactory, simulated_wechat: IlinkSimulatorProcess
) -> Iterator[Stage]:
    """The system of this module."""
    directory = tmp_path_factory.mktemp("failover")
    with ShiftedServer(directory / "mongo") as server, MongoProxy(server.port) as proxy:
        places = (urls[0], proxy.url("failover"))
        with System(places, directory, simulated_wechat.control, simulated_wechat.base_url, **QUICK) as system:
            system.start_all()
            system.start("poll", "poll2")
            system.wait_alive(5)
            yield Stage(system, server, proxy)


@pytest.fixture
def stage(running: Stage) -> Iterator[Stage]:
    """Ten channels that are polled."""
    running.worlds = running.system.channels(CHANNELS)
    running.system.wait_polling(running.worlds)
    yield running
    running.system.retire()


def test_a_primary_that_steps_down_and_answers_that_get_lost(stage: Stage) -> None:
    """Some seconds in which writes are refused for a while or done without an answer, under load."""
    said = [f"message {number}" for number in range(6)]
    for number, text in enumerate(said):
        stage.say(text)
        stage.proxy.faults.leave_unanswered("", times=8)
        if number == len(said) // 2:
            stage.server.step_down(3)
        _let_pass(1)
    stage.proxy.faults.leave_unanswered("", times=0)
    stage.assert_heard(said, 60)
    assert stage.proxy.faults.cut > 10, "answers got lost at all"
    assert all(process.alive for process in stage.system.processes.values()), "beat and workers go on"
    assert stage.system.overlaps(stage.worlds) == 0


def test_a_new_primary_whose_clock_is_ten_minutes_behind(stage: Stage) -> None:
    """Cursors move, what was due by the old clock is not late, nobody living is judged dead, and who dies is."""
    stage.say("long before")
    stage.assert_heard(["long before"], 30)
    judged = stage.judged_dead()
    stage.say("just before")
    stage.server.stop()
    stage.server.shift_seconds = -BEHIND_SECONDS
    stage.server.start()
    cursors = stage.cursors()
    stage.say("after")
    stage.assert_heard(["long before", "just before", "after"], 30)
    assert all(old != new for old, new in zip(cursors, stage.cursors(), strict=True))
    assert stage.judged_dead() == judged
    killed_at = time.time()
    stage.system.kill("poll2")
    wait_until(lambda: all(stage.system.polls_since(each, killed_at) for each in stage.worlds), 25, "all are back")
    stage.say("at last")
    stage.assert_heard(["long before", "just before", "after", "at last"], 30)
    assert stage.system.overlaps(stage.worlds) == 0
    assert len(stage.judged_dead()) - len(judged) <= 1, "the killed one, and nobody else"


def _let_pass(seconds: float) -> None:
    """The length of a disturbance is what is tested."""
    time.sleep(seconds)
