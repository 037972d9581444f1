"""Run as a script: become another program that ends when the process that started it ends.

``python tether.py PARENT_PID PROGRAM ARGUMENT...`` asks the Linux kernel to kill this process when its parent ends
(PR_SET_PDEATHSIG, which survives exec) and then turns into PROGRAM, so that the pid stays the same. A script of its own
instead of Popen's ``preexec_fn``, because Python code between fork and exec may deadlock when threads run. It imports
nothing of the bridge, so that it costs about 20 ms.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Tether this process to its parent and become the program."""
    parent, program = int(arguments[0]), arguments[1:]
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the kernel was told
        sys.exit(1)
    try:
        os.execvp(program[0], program)
    except OSError as error:
        sys.exit(f"cannot run {program[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
