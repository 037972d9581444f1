"""Everything that runs: the two servers, the simulated platforms, two processes of every kind, and the channels."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import requests

from tests.soak.front import Front
from tests.soak.plan import COPIES, WORKER_KINDS, Plan
from tests.support.customer_world import CustomerWorld
from tests.support.system import System
from tests.support.wecom_world import WecomWorld
from tests.support.world import World
from wechat_bridge.local.child import Child
from wechat_bridge.local.ports import free_port
from wechat_bridge.local.services import MongoServer, RedisServer
from wechat_bridge.simulators.ilink import IlinkControl, IlinkOptions, IlinkSimulatorProcess
from wechat_bridge.simulators.wecom import WecomControl, WecomOptions, WecomSimulatorProcess

PLUGIN = Path(__file__).with_name("plugin")
WITHOUT_NAME = "SOAK_WITHOUT"
THREADS = {"poll": 30, "reply": 20, "ops": 8, "beat": 0}
POLL_LOG_SIZE = 100_000
ENGINES = ("echo", "pensive")

REPEAT_SECONDS = 4.0
"""Between the end of one delivery of a callback and the next: seen were three, about five seconds apart (facts, 2d)."""

PULL_KILL_NAME = "SOAK_PULL_KILL"

SETTINGS = {
    "WECHAT_BRIDGE_DEBOUNCE__IDLE_SECONDS": "0",
    "WECHAT_BRIDGE_REPLY__PACING_SECONDS": "0.05",
    # Short chunks, so that an answer to several messages has several of them.
    "WECHAT_BRIDGE_REPLY__CHUNK_CHARACTERS": "64",
    # A lease of a turn ends half a minute after this: a run must not wait five minutes for one.
    "WECHAT_BRIDGE_REPLY__ENGINE_DEADLINE_SECONDS": "5",
}


GRACE = ("--timeout-graceful-shutdown", "5")


def pull_flag(folder: Path) -> Path:
    """Return the file by which a pull is told to die."""
    return folder / "pull.kill"


@dataclass(frozen=True)
class Stage:
    """What the driver acts upon."""

    redis: RedisServer
    mongo: MongoServer
    simulator: IlinkSimulatorProcess
    wecom: WecomSimulatorProcess
    system: System
    worlds: list[World]
    web_ports: dict[str, int]
    redis_lock: threading.Lock = field(default_factory=threading.Lock)
    web_lock: threading.Lock = field(default_factory=threading.Lock)

    def control(self) -> IlinkControl:
        """A control of the simulated WeChat for one thread."""
        return IlinkControl(self.simulator.base_url)

    def wecom_control(self) -> WecomControl:
        """A control of the simulated WeCom for one thread."""
        return WecomControl(self.wecom.base_url)

    @property
    def pull_flag(self) -> Path:
        """While this file is there, the next process that has stored a page of customers' messages ends."""
        return pull_flag(self.system.directory)

    def answers(self, name: str) -> bool:
        """Whether a web process answers."""
        try:
            return requests.get(f"http://127.0.0.1:{self.web_ports[name]}/livez", timeout=1.0).status_code == 200
        except requests.RequestException:
            return False

    def died_in_a_pull(self, pid: int) -> bool:
        """Whether a process ended because the file told it to."""
        killed = self.pull_flag.with_suffix(".killed")
        return killed.exists() and str(pid) in killed.read_text(encoding="utf-8").split()

    def world_of(self, share_id: str) -> World:
        """Return a channel."""
        return next(world for world in self.worlds if world.share_id == share_id)

    def start(self, name: str) -> None:
        """Start a process by its name, such as ``poll-1``."""
        kind = name.partition("-")[0]
        if kind == "web":
            self._start_web(name)
        else:
            self.system.start(kind, name, threads=THREADS[kind])

    def _start_web(self, name: str) -> None:
        options = ["--port", str(self.web_ports[name]), "--no-server-header", "--no-access-log"]
        command = [sys.executable, "-m", "uvicorn", "wechat_bridge.web.app:app", *options, *GRACE]
        folder = self.system.directory
        self.system.processes[name] = Child(command, folder / f"{name}.log", folder, self.system.environment)


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
        wecom = stack.enter_context(WecomSimulatorProcess(WecomOptions(callback_pause_seconds=REPEAT_SECONDS)))
        ports = {name: free_port() for name in process_names() if name.startswith("web")}
        front = stack.enter_context(Front(list(ports.values())))
        urls = (redis.url, mongo.database_url("soak"))
        own = _environment(plan) | {PULL_KILL_NAME: os.fspath(pull_flag(folder))}
        system = stack.enter_context(System(urls, folder, simulator.control, simulator.base_url, **own))
        worlds = [*_worlds(plan, system), *_called_worlds(plan, system, wecom.control, front.port)]
        for number, world in enumerate(worlds):
            world.bridge.channels.configure(world.share_id, {"engine": ENGINES[number % len(ENGINES)]})
        running = Stage(redis, mongo, simulator, wecom, system, worlds, ports)
        for name in process_names():
            running.start(name)
        system.wait_alive(len(process_names()))
        yield running


def _worlds(plan: Plan, system: System) -> list[World]:
    return [system.channel() for _ in range(plan.channels)]


def _called_worlds(plan: Plan, system: System, control: WecomControl, port: int) -> Iterator[World]:
    """Apps and customer service accounts, all called at one address."""
    for number in range(plan.apps + plan.accounts):
        make = WecomWorld.of_app if number < plan.apps else CustomerWorld.of_account
        world = make(system.wired, control)
        control.set_app(world.bot_id, callback_url=f"http://127.0.0.1:{port}/wecom/{world.share_id}")
        yield world


def _environment(plan: Plan) -> dict[str, str]:
    return SETTINGS | {
        "PYTHONPATH": os.pathsep.join(filter(None, [os.fspath(PLUGIN), os.environ.get("PYTHONPATH")])),
        WITHOUT_NAME: plan.without,
        "SOAK_ENGINE_SECONDS": str(plan.engine_seconds),
        "WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": str(plan.empty_poll_delay_seconds),
    }
