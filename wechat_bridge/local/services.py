"""Redis and MongoDB as child processes of this one, for one machine and for tests."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import redis
from pymongo import MongoClient
from pymongo.errors import PyMongoError
from redis.exceptions import RedisError

from wechat_bridge.errors import ServiceNotReachable
from wechat_bridge.local import binaries
from wechat_bridge.local.logs import tail
from wechat_bridge.local.managed import Managed, wait_all
from wechat_bridge.local.ports import free_port

Progress = Callable[[str], None]
"""Is told in a few words what is happening."""

START_SECONDS = 30.0
STOP_SECONDS = 12.0
PROBE_SECONDS = 0.5
PAUSE_SECONDS = 0.02


class Service(Managed):
    """A server on 127.0.0.1 that keeps its data in ``directory``; usable as a context manager.

    Without ``port`` a free one is chosen once; a restarted server keeps it. Without ``log`` the log lies beside the
    directory.
    """

    def __init__(self, name: str, directory: Path, port: int | None, log: Path | None) -> None:
        super().__init__(name, directory, log or directory.with_name(f"{directory.name}.log"))
        self.port = port or free_port()

    @property
    @abstractmethod
    def url(self) -> str:
        """Where it is reached."""

    @abstractmethod
    def answers(self) -> bool:
        """Return whether this very server answers, not another one that listens on its port."""

    def wait_ready(self, progress: Progress | None = None, seconds: float = START_SECONDS) -> None:
        """Return when it answers. Raises ServiceNotReachable with the end of its log."""
        deadline = time.monotonic() + seconds
        while not self.answers():
            if not self.alive:
                raise ServiceNotReachable(self._explain("ended while starting"))
            if time.monotonic() > deadline:
                raise ServiceNotReachable(self._explain(f"did not answer within {seconds:.0f} s"))
            time.sleep(PAUSE_SECONDS)
        if progress is not None:
            progress(f"{self.name} answers on port {self.port}")

    def start(self, progress: Progress | None = None) -> None:
        """Launch it and wait until it answers; nothing when it runs. Raises NotConfigured, ServiceNotReachable."""
        if progress is not None:
            progress(f"starting {self.name}")
        self.launch()
        self.wait_ready(progress)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Ask it to end, wait, and kill it at the end; its folder can be opened again afterwards."""
        self.terminate()
        wait_all([self], seconds)
        self.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _explain(self, what: str) -> str:
        return f"{self.name} (port {self.port}) {what}. The end of {self.log}:\n{tail(self.log)}"


class RedisServer(Service):
    """A redis-server that never evicts; with ``durable`` it keeps its data over a restart (AOF, fsync every second)."""

    def __init__(
        self, directory: Path, port: int | None = None, *, log: Path | None = None, durable: bool = False
    ) -> None:
        super().__init__("Redis", directory, port, log)
        self.durable = durable

    @property
    def url(self) -> str:
        """Database 0 of the server."""
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> list[str]:
        """Return the command line. Raises NotConfigured when there is no redis-server."""
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(self.directory),
            "save": "",
            "appendonly": "yes" if self.durable else "no",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
        }
        return [binaries.redis_server(), *(part for name, value in options.items() for part in (f"--{name}", value))]

    def answers(self) -> bool:
        """Return whether it answers PING, which it does once its data is loaded, and is the process we started."""
        timeouts = {"socket_timeout": PROBE_SECONDS, "socket_connect_timeout": PROBE_SECONDS}
        with redis.Redis(port=self.port, **timeouts, retry=None) as client:  # type: ignore[arg-type]
            try:
                return bool(client.ping()) and self.alive and client.info("server")["process_id"] == self.pid
            except RedisError:
                return False


class MongoServer(Service):
    """A mongod, or else SecantusDB's server, which speaks MongoDB's protocol and stores through WiredTiger.

    SecantusDB may need 10 s to end; its folder must not be opened by a second server before that.
    """

    def __init__(self, directory: Path, port: int | None = None, *, log: Path | None = None) -> None:
        super().__init__("MongoDB", directory, port, log)

    @property
    def url(self) -> str:
        """The bridge's own database on the server."""
        return self.database_url("wechat_bridge")

    def database_url(self, name: str) -> str:
        """Return the URL of a database on the server.

        Without the driver's own retries: SecantusDB keeps a record of each write that may be retried and, beyond 10,000
        of them, sorts all at every write. The flow tries again by itself, and its writes bear that.
        """
        return f"mongodb://127.0.0.1:{self.port}/{name}?retryWrites=false"

    def command(self) -> list[str]:
        """Return the command line. Raises NotConfigured when there is neither server."""
        place = str(self.directory)
        mongod = binaries.mongod()
        if mongod is not None:
            return [mongod, "--bind_ip", "127.0.0.1", "--port", str(self.port), "--dbpath", place]
        own = ["--host", "127.0.0.1", "--port", str(self.port), "--storage-path", place, "--sync-on-commit"]
        return [binaries.secantusd(), *own]

    def answers(self) -> bool:
        """Return whether it answers, and is the process we started."""
        wait_ms = int(PROBE_SECONDS * 1000)
        client: MongoClient[dict[str, object]] = MongoClient(
            self.url, directConnection=True, serverSelectionTimeoutMS=wait_ms, connectTimeoutMS=wait_ms
        )
        with client:
            try:
                return self.alive and client.admin.command("serverStatus")["pid"] == self.pid
            except PyMongoError:
                return False
