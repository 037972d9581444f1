"""What a benchmark prints: a table for people, one line of JSON for comparisons; progress goes to stderr."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

_started_at = time.monotonic()


def progress(text: str) -> None:
    """Say on stderr what is under way."""
    sys.stderr.write(f"[{time.monotonic() - _started_at:6.1f} s] {text}\n")
    sys.stderr.flush()


def wait(true: Callable[[], bool], seconds: float, what: str, pause_seconds: float = 0.1) -> None:
    """Return once ``true()``. Raises TimeoutError, saying what did not happen, after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(pause_seconds)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that ``percent`` of all do not exceed (nearest rank). Raises ValueError for none."""
    if not values:
        raise ValueError("no values, no percentile")
    return sorted(values)[max(0, math.ceil(percent / 100 * len(values)) - 1)]


def spread_ms(seconds: Sequence[float]) -> dict[str, float | None]:
    """Return p50, p90, p99 and the largest of times given in seconds, in milliseconds; None each for no times."""
    percents = {"p50": 50, "p90": 90, "p99": 99, "max": 100}
    return {name: round(1000 * percentile(seconds, of), 2) if seconds else None for name, of in percents.items()}


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table on stdout."""
    texts = [[_text(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(len(row[number]) for row in texts) for number in range(len(columns))]
    sys.stdout.write(f"\n{title}\n")
    for row in texts:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        sys.stdout.write("  " + "  ".join(cells).rstrip() + "\n")
    sys.stdout.flush()


def json_line(benchmark: str, **figures: Any) -> None:
    """Print all figures on one line of stdout."""
    sys.stdout.write(json.dumps({"benchmark": benchmark, **figures}) + "\n")
    sys.stdout.flush()


def _text(cell: object) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)
