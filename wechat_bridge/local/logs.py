"""Log files of child processes."""

from __future__ import annotations

from pathlib import Path

TAIL_BYTES = 2_000
LARGEST_BYTES = 20 * 1024 * 1024
LINE_CHARACTERS = 300


def tail(path: Path, most_bytes: int = TAIL_BYTES) -> str:
    """Return the end of a log, from a line's start; a hint when there is nothing to read."""
    if not path.exists() or path.stat().st_size == 0:
        return "(the log is empty)"
    with path.open("rb") as file:
        size = path.stat().st_size
        file.seek(max(0, size - most_bytes))
        text = file.read().decode(errors="replace")
    return text if size <= most_bytes else text.partition("\n")[2]


def rotate(path: Path, largest_bytes: int = LARGEST_BYTES) -> None:
    """Move a log that has grown too large aside; the one moved aside before is dropped."""
    if path.exists() and path.stat().st_size > largest_bytes:
        path.replace(path.with_suffix(path.suffix + ".1"))


def last_line(path: Path) -> str:
    """Return the last line of a log, shortened; what an error says usually stands there."""
    lines = tail(path).rstrip().splitlines()
    return lines[-1].strip()[:LINE_CHARACTERS] if lines else ""
