"""The servers of one benchmark: Redis, a MongoDB-protocol server, a simulated WeChat, and the bridge's processes."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.report import progress
from tests.support.system import PLUGIN, System
from wechat_bridge.local.services import MongoServer, RedisServer
from wechat_bridge.simulators.ilink import IlinkControl, IlinkOptions, IlinkSimulatorProcess

PREFIX = "wechat-bridge-benchmark-"
OWN_PLUGIN = Path(__file__).with_name("plugin")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of every benchmark that has a stage."""
    parser.add_argument("--polls-per-task", type=int, default=8)
    parser.add_argument("--hold-seconds", type=float, default=35.0, help="of a poll that no message ends")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="for the bridge's processes")
    parser.add_argument("--folder", type=Path, help="a new folder that keeps data and logs (default: a temporary one)")


def wechat_options(options: argparse.Namespace) -> IlinkOptions:
    """Return a simulated WeChat that holds as long as it says."""
    hold_seconds: float = options.hold_seconds
    return IlinkOptions(hold_seconds=hold_seconds, longpolling_timeout_ms=int(hold_seconds * 1000))


@dataclass(frozen=True)
class Stage:
    """What runs. ``engine_log`` has a line for each question that the engine ``clock`` was asked."""

    system: System
    redis: RedisServer
    mongo: MongoServer
    services: dict[str, int]
    engine_log: Path

    @property
    def control(self) -> IlinkControl:
        """The simulated WeChat."""
        return self.system.control

    @property
    def pids(self) -> dict[str, int]:
        """The process id of everything that runs now, by name."""
        return {name: child.pid for name, child in self.system.processes.items()} | self.services


@contextmanager
def stage(options: argparse.Namespace, **environment: str) -> Iterator[Stage]:
    """Start the servers; ``environment`` is that of the bridge's processes, which are not started yet."""
    environment |= {"WECHAT_BRIDGE_POLL__POLLS_PER_TASK": str(options.polls_per_task)}
    environment |= dict(pair.split("=", 1) for pair in options.env)
    with ExitStack() as stack:
        folder: Path = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=PREFIX)))
        folder.mkdir(parents=True, exist_ok=options.folder is None)
        redis = stack.enter_context(RedisServer(folder / "redis"))
        mongo = stack.enter_context(MongoServer(folder / "mongo"))
        simulator = stack.enter_context(IlinkSimulatorProcess(wechat_options(options)))
        engine_log = folder / "engine-calls.log"
        own = {
            "PYTHONPATH": os.pathsep.join([str(PLUGIN), str(OWN_PLUGIN)]),
            "BENCHMARK_ENGINE_LOG": str(engine_log),
        }
        urls = (redis.url, mongo.database_url("benchmark"))
        system = stack.enter_context(System(urls, folder, simulator.control, simulator.base_url, **own, **environment))
        services = {"redis": redis.pid, "ledger": mongo.pid, "simulator": simulator.pid, "benchmark": os.getpid()}
        progress(f"Redis, MongoDB and the simulated WeChat run; logs are in {folder}")
        yield Stage(system, redis, mongo, services, engine_log)
