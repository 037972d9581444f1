"""Whether the processes that were started do their work."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence

from wechat_bridge.errors import ServiceNotReachable
from wechat_bridge.local.keeper import Tell
from wechat_bridge.local.logs import last_line
from wechat_bridge.local.managed import Managed
from wechat_bridge.local.ports import http_ok
from wechat_bridge.model.worker import Worker

ANNOUNCED = ("poll", "reply", "ops", "beat", "web")
"""The processes that write a document to the ledger once they have started."""

PAUSE_SECONDS = 0.1


def wait_ready(
    programs: Sequence[Managed], workers: Callable[[], list[Worker]], web_port: int, tell: Tell, seconds: float
) -> None:
    """Return when each process stands in the ledger and the web process answers. Raises ServiceNotReachable."""
    deadline = time.monotonic() + seconds
    waiting = [program for program in programs if program.name in ANNOUNCED]
    while waiting:
        for program in _started(waiting, workers(), web_port):
            tell(f"{program.name} is ready")
            waiting.remove(program)
        if waiting and time.monotonic() > deadline:
            raise ServiceNotReachable(_explain(waiting, seconds))
        time.sleep(PAUSE_SECONDS)


def _started(programs: Sequence[Managed], workers: Sequence[Worker], web_port: int) -> list[Managed]:
    here = socket.gethostname()
    owners = {worker.id.rpartition(":")[0] for worker in workers}  # host:pid:random
    announced = [program for program in programs if f"{here}:{program.pid}" in owners]
    return [program for program in announced if program.name != "web" or http_ok(web_port, "GET", "/livez")]


def _explain(programs: Sequence[Managed], seconds: float) -> str:
    rows = [f"{program.name} is not ready: {last_line(program.log)} (all of it: {program.log})" for program in programs]
    return "\n".join([f"not everything started within {seconds:.0f} s", *rows])
