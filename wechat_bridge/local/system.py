"""The whole bridge on one machine: its folder, servers and processes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from wechat_bridge.local import environment
from wechat_bridge.local.home import Home
from wechat_bridge.local.keeper import Tell
from wechat_bridge.local.managed import Managed
from wechat_bridge.local.program import Program, bundled_procfile, read_procfile
from wechat_bridge.local.services import MongoServer, RedisServer, Service
from wechat_bridge.local.supervisor import Supervisor


class System:
    """Embedded servers, except where REDIS_URL or MONGODB_URL names one, and a process for each line of the Procfile.

    ``variables`` are added to the environment of the processes; ``others`` run beside them. Data that need not survive
    the end (``keep_data`` off) is not closed with care.
    """

    def __init__(
        self,
        home: Home,
        tell: Tell,
        variables: Mapping[str, str] | None = None,
        others: Sequence[Managed] = (),
        *,
        keep_data: bool = True,
    ) -> None:
        home.create()
        self.home = home
        self.urls, services = _servers(home)
        self.env = environment.for_processes(home, {**(variables or {}), **self.urls})
        self.programs = [
            Program(name, line, home.run, home.logs / f"{name}.log", self.env)
            for name, line in read_procfile(bundled_procfile()).items()
        ]
        self._supervisor = Supervisor(services, [*others, *self.programs], tell, keep_data=keep_data)

    def start(self) -> None:
        """Start everything; return when the servers answer. Raises NotConfigured, ServiceNotReachable, OSError."""
        self._supervisor.start()

    def stop(self) -> None:
        """End everything that was started, within 15 s."""
        self._supervisor.stop()


def _servers(home: Home) -> tuple[dict[str, str], list[Service]]:
    """Return the addresses of the servers by variable, and those servers that are ours to start."""
    urls = {name: os.environ[name] for name in ("REDIS_URL", "MONGODB_URL") if os.environ.get(name)}
    services: list[Service] = []
    if "REDIS_URL" not in urls:
        services.append(RedisServer(home.data / "redis", log=home.logs / "redis.log", durable=True))
        urls["REDIS_URL"] = services[-1].url
    if "MONGODB_URL" not in urls:
        services.append(MongoServer(home.data / "mongodb", log=home.logs / "mongodb.log"))
        urls["MONGODB_URL"] = services[-1].url
    return urls, services
