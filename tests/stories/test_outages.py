"""Redis or MongoDB are away for a while: nothing is lost or answered twice, and everything comes back by itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
import redis

from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.local.services import MongoServer, RedisServer
from wechat_bridge.simulators.ilink import IlinkSimulatorProcess

pytestmark = [pytest.mark.story, pytest.mark.slow]

CHANNELS = 10


class Outage:
    """A system on servers of its own, which the stories stop and start."""

    def __init__(self, system: System, redis_server: RedisServer, mongo_server: MongoServer) -> None:
        self.system = system
        self.redis = redis_server
        self.mongo = mongo_server


@pytest.fixture(scope="module")
def outage(tmp_path_factory: pytest.TempPathFactory, simulated_wechat: IlinkSimulatorProcess) -> Iterator[Outage]:
    """A system with one worker of each kind."""
    directory = tmp_path_factory.mktemp("outage")
    quick = {"WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "2", "WECHAT_BRIDGE_POLL__FAILURE_DELAY_SECONDS": "2"}
    with (
        RedisServer(directory / "redis", durable=True) as redis_server,
        MongoServer(directory / "mongo") as mongo_server,
    ):
        urls = (redis_server.url, mongo_server.database_url("outage"))
        with System(urls, directory, simulated_wechat.control, simulated_wechat.base_url, **quick) as system:
            system.start_all()
            yield Outage(system, redis_server, mongo_server)


@pytest.fixture
def worlds(outage: Outage) -> Iterator[list[World]]:
    """Ten channels that are polled."""
    made = outage.system.channels(CHANNELS)
    outage.system.wait_polling(made)
    yield made
    outage.system.retire()


def test_redis_stopped_for_half_a_minute(outage: Outage, worlds: list[World]) -> None:
    outage.system.say(worlds, "before")
    outage.redis.stop()
    outage.system.say(worlds, "while away")
    _let_pass(30)
    outage.redis.start()
    back_at = time.time()
    wait_until(lambda: all(outage.system.polls_since(world, back_at) for world in worlds), 30, "all chains go on")
    outage.system.say(worlds, "after")
    outage.system.assert_heard(worlds, ["before", "while away", "after"], 60)
    assert outage.system.overlaps(worlds) == 0


def test_redis_connections_cut_three_times_in_three_seconds(outage: Outage, worlds: list[World]) -> None:
    with redis.Redis.from_url(outage.redis.url) as client:
        for number in range(3):
            outage.system.say(worlds, f"cut {number}")
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            _let_pass(1)
    outage.system.say(worlds, "after")
    outage.system.assert_heard(worlds, ["cut 0", "cut 1", "cut 2", "after"], 60)
    assert outage.system.overlaps(worlds) == 0


def test_mongodb_that_hangs_for_twelve_seconds(outage: Outage, worlds: list[World]) -> None:
    os.kill(outage.mongo.pid, signal.SIGSTOP)
    try:
        outage.system.say(worlds, "while it hangs")
        _let_pass(12)
    finally:
        os.kill(outage.mongo.pid, signal.SIGCONT)
    outage.system.say(worlds, "after")
    outage.system.assert_heard(worlds, ["while it hangs", "after"], 60)


def test_mongodb_restarted(outage: Outage, worlds: list[World]) -> None:
    outage.system.say(worlds, "before")
    outage.mongo.stop()
    outage.system.say(worlds, "while away")
    _let_pass(3)
    outage.mongo.start()
    outage.system.say(worlds, "after")
    outage.system.assert_heard(worlds, ["before", "while away", "after"], 60)


def _let_pass(seconds: float) -> None:
    """The length of an outage is what is tested."""
    time.sleep(seconds)
