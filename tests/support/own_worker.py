"""A Celery worker of somebody else's application, as operators run it beside the bridge."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

QUEUE = "shop"


@contextmanager
def shop_worker(source: str, folder: Path, redis_url: str, threads: int = 2, **environment: str) -> Iterator[None]:
    """Run a worker of the module ``shop`` with this source, in a process of its own, while the block runs."""
    (folder / "shop.py").write_text(source)
    path = os.pathsep.join([str(Path(__file__).parents[2]), str(folder)])
    command = [sys.executable, "-m", "celery", "-A", "shop", "worker", "-P", "threads", "-c", str(threads)]
    process = subprocess.Popen(
        [*command, "-l", "WARNING"], cwd=folder, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path, "REDIS_URL": redis_url, **environment},
    )  # fmt: skip
    try:
        yield
    finally:
        process.kill()  # it has nothing to lose, and tasks may still wait for somebody slow
        process.wait()
