"""One process that can be started, watched and ended again."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from wechat_bridge.errors import ServiceNotReachable
from wechat_bridge.local.child import Child
from wechat_bridge.local.logs import rotate

PAUSE_SECONDS = 0.02


class Managed(ABC):
    """A process that runs in ``directory`` and writes to ``log``; when it has ended it can be launched again."""

    def __init__(self, name: str, directory: Path, log: Path, env: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.directory = directory
        self.log = log
        self.env = env
        self._child: Child | None = None

    @abstractmethod
    def command(self) -> list[str]:
        """Return the command line. Raises NotConfigured when the program is missing."""

    @property
    def pid(self) -> int:
        """The process id. Raises ServiceNotReachable before the first launch."""
        if self._child is None:
            raise ServiceNotReachable(f"{self.name} was not started")
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._child is not None and self._child.alive

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process that ended (minus the signal that ended it), or None."""
        return None if self._child is None else self._child.exit_code

    def launch(self) -> None:
        """Start it without waiting until it is ready; nothing when it runs. Raises NotConfigured, OSError."""
        if self.alive:
            return
        command = self.command()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        rotate(self.log)
        self._child = Child(command, self.log, self.directory, self.env)

    def terminate(self) -> None:
        """Ask it to end (SIGTERM), without waiting."""
        if self._child is not None:
            self._child.terminate()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._child is not None:
            self._child.kill()


def wait_all(processes: Sequence[Managed], seconds: float) -> bool:
    """Wait at most ``seconds`` until all have ended; return whether they have."""
    deadline = time.monotonic() + seconds
    while any(process.alive for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_SECONDS)
    return True
