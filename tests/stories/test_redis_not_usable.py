"""Redis is up but not usable: it loads its data, refuses writes on old connections, lost everything (report 48)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.proxy.redis_faults import Mood, RedisProxy
from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.local.services import RedisServer
from wechat_bridge.simulators.ilink import IlinkSimulatorProcess

pytestmark = [pytest.mark.story, pytest.mark.slow]

CHANNELS = 10
UNUSABLE_SECONDS = 6
WELL_WITHIN_SECONDS = 30
MOST_LINES_A_SECOND = 50
"""A process that tries again without waiting writes thousands."""


class Stage:
    """A system whose Redis is reached through a proxy."""

    def __init__(self, system: System, server: RedisServer, proxy: RedisProxy) -> None:
        self.system = system
        self.server = server
        self.proxy = proxy

    def restart_loading(self) -> None:
        """Redis restarts, and does not get ready."""
        self.proxy.be(Mood.LOADING)
        self.server.stop()
        self.server.start()

    def lines(self) -> int:
        """How much all processes have written."""
        return sum(len(self.system.log_of(name).splitlines()) for name in self.system.processes)


@pytest.fixture(scope="module")
def stage(
    mongodb_url: str, tmp_path_factory: pytest.TempPathFactory, simulated_wechat: IlinkSimulatorProcess
) -> Iterator[Stage]:
    """A system with one worker of each kind."""
    directory = tmp_path_factory.mktemp("unusable")
    quick = {"WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "2", "WECHAT_BRIDGE_POLL__FAILURE_DELAY_SECONDS": "2"}
    with RedisServer(directory / "redis", durable=True) as server, RedisProxy(server.port) as proxy:
        urls = (proxy.url(), mongodb_url.replace("/wechat_bridge", "/unusable"))
        with System(urls, directory, simulated_wechat.control, simulated_wechat.base_url, **quick) as system:
            system.start_all()
            yield Stage(system, server, proxy)


@pytest.fixture
def worlds(stage: Stage) -> Iterator[list[World]]:
    """Ten channels with an open poll each."""
    made = stage.system.channels(CHANNELS)
    stage.system.wait_polling(made)
    yield made
    stage.proxy.be(Mood.WELL)
    stage.system.retire()


def test_loading_then_read_only_then_empty(stage: Stage, worlds: list[World]) -> None:
    """The polls that are open when it begins bring messages, which are kept; nothing is polled or answered twice."""
    pids = {name: process.pid for name, process in stage.system.processes.items()}
    lines = stage.lines()
    stage.restart_loading()
    stage.system.say(worlds, "while it loads")
    _let_pass(UNUSABLE_SECONDS)
    assert stage.proxy.faults.refused > 0
    stage.proxy.be(Mood.WELL)
    stage.system.assert_heard(worlds, ["while it loads"], WELL_WITHIN_SECONDS)
    refused = stage.proxy.faults.refused
    stage.proxy.be(Mood.READONLY)
    stage.system.say(worlds, "while it is read only")
    _let_pass(UNUSABLE_SECONDS)
    assert stage.proxy.faults.refused > refused
    stage.proxy.be(Mood.WELL)
    well_at = time.time()
    stage.system.wired.redis.flushall()
    stage.system.say(worlds, "after the flush")
    stage.system.assert_heard(
        worlds, ["while it loads", "while it is read only", "after the flush"], WELL_WITHIN_SECONDS
    )
    wait_until(lambda: all(stage.system.polls_since(world, well_at) for world in worlds), 15, "all chains go on")
    assert stage.system.overlaps(worlds) == 0
    assert {name: process.pid for name, process in stage.system.processes.items() if process.alive} == pids
    assert stage.lines() - lines < MOST_LINES_A_SECOND * (2 * UNUSABLE_SECONDS + WELL_WITHIN_SECONDS)


def _let_pass(seconds: float) -> None:
    """The length of an outage is what is tested."""
    time.sleep(seconds)
