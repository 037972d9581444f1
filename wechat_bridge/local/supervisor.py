"""Run services and programs together: restart what ends, and end everything in order and in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from wechat_bridge.local.keeper import Keeper, Tell
from wechat_bridge.local.managed import Managed, wait_all
from wechat_bridge.local.services import Service

STOP_FIRST = ("beat", "web", "flower", "simulator")
"""What brings new work ends before the workers do."""

START_LATE = ("ops", "beat", "web", "flower")
"""No first message waits for these, so on few cores they do not compete with the start of those it waits for."""

HEAD_START_SECONDS = 0.5
PROGRAMS_SECONDS = 10.5
EVERYTHING_SECONDS = 13.8
"""Counted from the order to stop. Workers end their open polls for 8 s (WECHAT_BRIDGE_STOP_GRACE_SECONDS); killing
a late one loses nothing, the ledger has it. The services get the rest, of which SecantusDB needs a fraction once nobody
is connected."""

WATCH_SECONDS = 0.2


class Supervisor:
    """Starts what it is given, watches over it in a thread, and ends it; it signals no process that it did not start.

    ``tell`` is called with one line for each thing that happens, from the watching thread too. Services whose data
    nobody keeps (``keep_data`` off) are killed rather than waited for.
    """

    def __init__(
        self, services: Sequence[Service], programs: Sequence[Managed], tell: Tell, *, keep_data: bool = True
    ) -> None:
        self.services = services
        self.programs = programs
        self._tell = tell
        self._keep_data = keep_data
        self._stopping = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    def start(self) -> None:
        """Start everything, return when the services answer. Programs wait for the services by themselves.

        Raises NotConfigured, ServiceNotReachable and OSError; then, as always, ``stop`` ends what was started.
        """
        late = [program for program in self.programs if program.name in START_LATE]
        self._launch([*self.services, *(program for program in self.programs if program not in late)])
        for service in self.services:
            service.wait_ready(self._tell)
        self._launch(late)
        self._watcher.start()

    def stop(self) -> None:
        """End everything within 15 s: what brings work, the workers, the services; kill what is late."""
        begin = time.monotonic()
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._tell("stopping")
        self._stop_programs(begin)
        self._stop_services(begin)
        self._tell("everything has ended")

    def _stop_services(self, begin: float) -> None:
        if self._keep_data:
            _terminate(self.services)
            _end(self.services, begin + EVERYTHING_SECONDS, self._tell)
        for service in self.services:
            service.kill()

    def _stop_programs(self, begin: float) -> None:
        first = [program for program in self.programs if program.name in STOP_FIRST]
        _terminate(first)
        wait_all(first, HEAD_START_SECONDS)
        _terminate([program for program in self.programs if program not in first])
        _end(self.programs, begin + PROGRAMS_SECONDS, self._tell)

    def _launch(self, processes: Sequence[Managed]) -> None:
        self._tell(f"starting {', '.join(process.name for process in processes)}")
        for process in processes:
            process.launch()

    def _watch(self) -> None:
        keepers = [Keeper(process, self._tell) for process in (*self.services, *self.programs)]
        while not self._stopping.wait(WATCH_SECONDS):
            for keeper in keepers:
                keeper.check()


def _terminate(processes: Sequence[Managed]) -> None:
    for process in processes:
        process.terminate()


def _end(processes: Sequence[Managed], deadline: float, tell: Tell) -> None:
    wait_all(processes, deadline - time.monotonic())
    for process in processes:
        if process.alive:
            tell(f"{process.name} did not end in time and is killed")
            process.kill()
