"""A command line in a process of its own, forked from one that has imported it: a second less for each command.

The command starts as from a shell in all but the import of its modules: arguments, environment, folder and streams are
its own, and it ends with its exit code.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

MODULE = "wechat_bridge.cli.main"
PROGRAM = "wechat-bridge"
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([MODULE])


def run(
    arguments: Sequence[str], typed: str, environment: Mapping[str, str], cwd: Path, timeout_seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. Raises TimeoutExpired when it does not come to one."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        streams = [str(folder / name) for name in ("stdin", "stdout", "stderr")]
        Path(streams[0]).write_text(typed, encoding="utf-8")
        process = _context.Process(target=_command, args=(list(arguments), dict(environment), str(cwd), streams))
        process.start()
        process.join(timeout_seconds)
        if process.is_alive():
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(arguments), timeout_seconds)
        out, err = (Path(name).read_text(encoding="utf-8") for name in streams[1:])
        return subprocess.CompletedProcess(list(arguments), process.exitcode or 0, out, err)


def _command(arguments: list[str], environment: dict[str, str], cwd: str, streams: list[str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for descriptor, (name, flag) in enumerate(zip(streams, flags, strict=True)):
        os.dup2(os.open(name, flag, 0o600), descriptor)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)  # multiprocessing has put an empty one there
    sys.argv = [PROGRAM, *arguments]
    sys.modules[MODULE].main()
