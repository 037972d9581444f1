"""Everything that runs: the two servers, the simulated WeChat, two processes of every kind, and the channels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.soak.plan import COPIES, WORKER_KINDS, Plan
from tests.support.system import System
from tests.support.world import World
from wechat_bridge.local.services import MongoServer, RedisServer
from wechat_bridge.simulators.ilink import IlinkControl, IlinkOptions, IlinkSimulatorProcess

PLUGIN = Path(__file__).with_name("plugin")
WITHOUT_NAME = "SOAK_WITHOUT"
THREADS = {"poll": 30, "reply": 20, "ops": 8, "beat": 0}
POLL_LOG_SIZE = 100_000
ENGINES = ("echo", "pensive")

SETTINGS = {
    "WECHAT_BRIDGE_DEBOUNCE__IDLE_SECONDS": "0",
    "WECHAT_BRIDGE_REPLY__PACING_SECONDS": "0.05",
    # Short chunks, so that an answer to several messages has several of them.
    "WECHAT_BRIDGE_REPLY__CHUNK_CHARACTERS": "64",
    # A lease of a turn ends half a minute after this: a run must not wait five minutes for one.
    "WECHAT_BRIDGE_REPLY__ENGINE_DEADLINE_SECONDS": "5",
}


@dataclass(frozen=True)
class Stage:
    """What the driver acts upon."""

    redis: RedisServer
    mongo: MongoServer
    simulator: IlinkSimulatorProcess
    system: System
    worlds: list[World]

    def control(self) -> IlinkControl:
        """A control of the simulated WeChat for one thread."""
        return IlinkControl(self.simulator.base_url)

    def start(self, name: str) -> None:
        """Start a process by its name, such as ``poll-1``."""
        kind = name.partition("-")[0]
        self.system.start(kind, name, threads=THREADS[kind])


def process_names() -> list[str]:
    """Return the names of all processes of the bridge."""
    return [f"{kind}-{copy + 1}" for kind in WORKER_KINDS for copy in range(COPIES)]


@contextmanager
def stage(plan: Plan, folder: Path) -> Iterator[Stage]:
    """Start everything; at the end, end everything."""
    options = IlinkOptions(
        hold_seconds=plan.hold_seconds,
        longpolling_timeout_ms=int(plan.hold_seconds * 1000),
        cursor=plan.cursor,
        poll_log_size=POLL_LOG_SIZE,
        sends_per_token=None,
    )
    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer(folder / "redis", durable=True))
        mongo = stack.enter_context(MongoServer(folder / "mongo"))
        simulator = stack.enter_context(IlinkSimulatorProcess(options))
        urls = (redis.url, mongo.database_url("soak"))
        own = _environment(plan)
        system = stack.enter_context(System(urls, folder, simulator.control, simulator.base_url, **own))
        worlds = [system.channel(engine=ENGINES[number % len(ENGINES)]) for number in range(plan.channels)]
        running = Stage(redis, mongo, simulator, system, worlds)
        for name in process_names():
            running.start(name)
        system.wait_alive(len(process_names()))
        yield running


def _environment(plan: Plan) -> dict[str, str]:
    return SETTINGS | {
        "PYTHONPATH": os.pathsep.join(filter(None, [os.fspath(PLUGIN), os.environ.get("PYTHONPATH")])),
        WITHOUT_NAME: plan.without,
        "SOAK_ENGINE_SECONDS": str(plan.engine_seconds),
        "WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": str(plan.empty_poll_delay_seconds),
    }
