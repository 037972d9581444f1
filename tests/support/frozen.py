"""A server that takes connections and bytes, and answers nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from wechat_bridge.local.services import Service


@contextmanager
def frozen(server: Service) -> Iterator[None]:
    """Stop the process of a server where it stands, and let it go on afterwards."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)
