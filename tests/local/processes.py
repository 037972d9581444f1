"""Looking at processes from outside."""

from __future__ import annotations

import os
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def session_of(pid: int) -> int:
    """The session of a process."""
    return os.getsid(pid)


def descendants(pid: int) -> list[int]:
    """The running processes below a process, whatever session they are in."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    below = [int(child) for file in children for child in file.read_text().split()]
    return [each for child in below if is_running(child) for each in (child, *descendants(child))]
