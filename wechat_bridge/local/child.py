"""Child processes that a terminal's Ctrl-C does not reach and that do not outlive this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TETHER = Path(__file__).with_name("tether.py")

_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="child-starter")
# The kernel ends a tethered child when the *thread* that forked it ends, so one thread that lives as long as this
# process forks them all; callers may then start children from threads of their own.


class Child:
    """One running child process in a session of its own, its output appended to ``log``.

    The session keeps signals of our terminal away from it. On Linux the kernel kills it when this process ends in
    whatever way (see tether.py), so nothing is left behind.
    """

    def __init__(self, command: Sequence[str], log: Path, cwd: Path, env: Mapping[str, str] | None = None) -> None:
        self.log = log
        self._process = _starter.submit(_start, _tethered(command), log, cwd, env).result()

    @property
    def pid(self) -> int:
        """The process id, also of its process group and session."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Its exit code (minus the signal that ended it), or None while it lives."""
        return self._process.poll()

    def terminate(self) -> None:
        """Ask it to end (SIGTERM); nothing when it has ended."""
        self._process.terminate()

    def kill(self) -> None:
        """End it and whatever it started in its group, at once, and reap it."""
        if self.alive:
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


def _tethered(command: Sequence[str]) -> list[str]:
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", str(TETHER), str(os.getpid()), *command]


def _start(command: list[str], log: Path, cwd: Path, env: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=None if env is None else dict(env),
            start_new_session=True,
        )
