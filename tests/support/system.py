"""The whole system as real processes: workers, beat and the simulated WeChat."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from celery import Celery

from tests.support.world import KEY, LOOPBACK, World, settings_for
from wechat_bridge.local.child import Child
from wechat_bridge.simulators.ilink import IlinkControl
from wechat_bridge.wiring import Wired, build

PLUGIN = Path(__file__).with_name("plugin")

QUEUES = {
    "poll": "poll",
    "reply": "inbox,reply,deliver,events",
    "ops": "management,maintenance,history,dead_letter",
}


def wait_until(true: Callable[[], Any], seconds: float, what: str) -> Any:
    """Return the first true value; fail after ``seconds`` saying what did not happen."""
    deadline = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return value


class System:
    """Worker processes on the databases of one test module."""

    def __init__(
        self, urls: tuple[str, str], directory: Path, control: IlinkControl, base_url: str, **environment: str
    ) -> None:
        self.directory = directory
        self.control = control
        self.base_url = base_url
        self.engine_log = directory / "engine.log"
        self.environment = _environment(urls, self.engine_log) | environment
        self.processes: dict[str, Child] = {}
        self.wired = self._wire(urls)

    def _wire(self, urls: tuple[str, str]) -> Wired:
        """A bridge of this process, to look into the ledger with; it is no worker and rings nothing by itself."""
        app = Celery("story")
        app.config_from_object("celeryconfig")
        app.conf.broker_url = app.conf.result_backend = urls[0]
        return build(settings_for(*urls), app)

    def __enter__(self) -> Self:
        self.wired.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes.values():
            process.kill()
        self.wired.stop()

    def start(self, kind: str, name: str | None = None, threads: int = 50) -> Child:
        """Start a worker (poll, reply, ops) or beat; return at once."""
        name = name or kind
        command = [sys.executable, "-m", "celery", "-A", "wechat_bridge.app"]
        if kind == "beat":
            command += ["beat"]
        else:
            command += ["worker", "-Q", QUEUES[kind], "-P", "threads", "-c", str(threads), "-n", f"{name}@%h"]
            command += ["--without-gossip", "--without-mingle"]
        log = self.directory / f"{name}.log"
        environment = self.environment | _procfile_environment(kind)
        self.processes[name] = Child(command, log, cwd=self.directory, env=environment)
        return self.processes[name]

    def start_all(self, poll_threads: int = 50, reply_threads: int = 50) -> None:
        """Start one of each and wait until all are seen in the ledger."""
        self.start("poll", threads=poll_threads)
        self.start("reply", threads=reply_threads)
        self.start("ops", threads=8)
        self.start("beat")
        self.wait_alive(4)

    def wait_alive(self, count: int) -> None:
        """Wait until so many processes (this one apart) are seen as alive."""
        own = self.wired.bridge.owner

        def alive() -> bool:
            return len([worker for worker in self.wired.bridge.workers.all() if worker.id != own]) >= count

        wait_until(alive, 30, f"{count} processes in the ledger; see {self.directory}")

    def kill(self, name: str) -> None:
        """End a process as a crash would."""
        self.processes.pop(name).kill()

    def stop(self, name: str, seconds: float = 30) -> float:
        """Ask a process to end (SIGTERM); return after how many seconds it did."""
        process = self.processes.pop(name)
        started = time.monotonic()
        process.terminate()
        wait_until(lambda: not process.alive, seconds, f"{name} ends after SIGTERM")
        return time.monotonic() - started

    def freeze(self, name: str) -> None:
        """Stop a process from running without ending it."""
        os.kill(self.processes[name].pid, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let a frozen process go on."""
        os.kill(self.processes[name].pid, signal.SIGCONT)

    def channel(self, **fields: Any) -> World:
        """Add a channel and log it in."""
        return World.create(self.wired, self.control, self.base_url, **fields)

    def channels(self, count: int, **fields: Any) -> list[World]:
        """Add channels and log them in."""
        return [self.channel(**fields) for _ in range(count)]

    def wait_polling(self, worlds: list[World], seconds: float = 15) -> None:
        """Wait until every one of these channels has an open poll that began after now."""
        since = time.time()

        def late() -> list[str]:
            return [world.share_id for world in worlds if not self.polls_since(world, since)]

        wait_until(lambda: not late(), seconds, "every channel polls anew")

    def polls_since(self, world: World, since: float) -> list[dict[str, Any]]:
        """Return the polls of a channel that began after a Unix time."""
        return [poll for poll in self.control.polls(world.bot_id) if poll["started_at"] >= since]

    def heard(self, world: World, name: str = "ann") -> list[str]:
        """Return what a user heard, message by message, where turns merged several."""
        return [line for text in world.delivered(name) for line in text.split("\n")]

    def say(self, worlds: list[World], text: str) -> None:
        """Everybody says the same on every channel."""
        for world in worlds:
            self.control.say(world.bot_id, world.user(), text)

    def assert_heard(self, worlds: list[World], texts: list[str], seconds: float) -> None:
        """Everybody hears the answers to these texts within ``seconds``, in order, each once."""
        wait_until(
            lambda: all(len(self.heard(world)) >= len(texts) for world in worlds),
            seconds,
            f"everybody hears {texts}; heard {[self.heard(world) for world in worlds]}",
        )
        assert [self.heard(world) for world in worlds] == [texts] * len(worlds)

    def assert_answered(self, world: World, said: dict[str, list[str]], seconds: float) -> None:
        """Everybody hears the answers to what they ``said``, by name, within ``seconds``, in order, each once."""
        wait_until(
            lambda: all(len(self.heard(world, name)) >= len(said[name]) for name in said), seconds, "all are answered"
        )
        assert {name: self.heard(world, name) for name in said} == said

    def retire(self) -> None:
        """Let no channel made so far be polled any more, so that later stories have the machine to themselves."""
        channels = self.wired.bridge.channels.collection
        channels.update_many({}, {"$set": {"enabled": False, "next_poll_at": None}})
        for row in channels.find({"poll_owner": {"$ne": None}}, {"_id": 1}):
            self.wired.bridge.locks.revoke(row["_id"])

    def wait_steady(self) -> None:
        """Wait until the ops worker has lived long enough (10 s) to judge others."""

        def steady() -> bool:
            workers = [worker for worker in self.wired.bridge.workers.all() if "maintenance" in worker.queues]
            now = self.wired.bridge.clock.now()
            return any((now - worker.started_at).total_seconds() > 10.5 for worker in workers)

        wait_until(steady, 15, "the seeder may judge")

    def name_of(self, owner: str) -> str:
        """Return the name under which the process of an owner was started."""
        pid = int(owner.split(":")[1])
        return next(name for name, process in self.processes.items() if process.pid == pid)

    def overlaps(self, worlds: list[World]) -> int:
        """How often two polls of one channel were open at once."""
        return sum(self.control.stats(world.bot_id)["overlap_count"] for world in worlds)

    def engine_calls(self) -> list[str]:
        """The texts the slow engine was asked, in order."""
        if not self.engine_log.exists():
            return []
        return [line.split("\t")[1] for line in self.engine_log.read_text(encoding="utf-8").splitlines()]

    def log_of(self, name: str) -> str:
        """What a process has printed."""
        return (self.directory / f"{name}.log").read_text(encoding="utf-8")


def _procfile_environment(kind: str) -> dict[str, str]:
    """The variables that the Procfile gives to a process of this kind."""
    procfile = Path(__file__).parents[2] / "Procfile"
    line = next(line for line in procfile.read_text(encoding="utf-8").splitlines() if line.startswith(f"{kind}:"))
    return dict(re.findall(r"\b([A-Z_]+)=(\S+)", line.partition(" celery ")[0]))


def _environment(urls: tuple[str, str], engine_log: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WECHAT_", "PYTEST_"))}
    return kept | {
        "REDIS_URL": urls[0],
        "MONGODB_URL": urls[1],
        "WECHAT_BRIDGE_SECRET_KEYS": KEY,
        "PYTHONPATH": str(PLUGIN),
        "STORY_ENGINE_LOG": str(engine_log),
        "WECHAT_BRIDGE_DEBOUNCE__IDLE_SECONDS": "0",
        "WECHAT_BRIDGE_REPLY__PACING_SECONDS": "0",
        "WECHAT_BRIDGE_MEDIA__ORIGINS": LOOPBACK,
    }
