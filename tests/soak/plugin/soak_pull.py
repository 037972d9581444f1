"""Ends a process between the rows of a page of customer service and its cursor, as a crash would."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from wechat_bridge.model.wecom_kf import Service
from wechat_bridge.store.customer_service import CustomerServiceStore

FLAG_NAME = "SOAK_PULL_KILL"


def let_pulls_die() -> None:
    """From now on the process ends before it moves a cursor, if it finds the file named in the environment.

    The file is removed first, so that one process dies for it, and its pid noted beside.
    """
    move = CustomerServiceStore.move

    def move_unless_killed(self: CustomerServiceStore, service: Service, cursor: str) -> bool:
        if _is_told():
            with Path(f"{os.environ[FLAG_NAME]}ed").open("a", encoding="utf-8") as killed:
                killed.write(f"{os.getpid()}\n")
            os.kill(os.getpid(), signal.SIGKILL)
        return move(self, service, cursor)

    CustomerServiceStore.move = move_unless_killed  # type: ignore[method-assign]


def _is_told() -> bool:
    try:
        Path(os.environ[FLAG_NAME]).unlink()
    except FileNotFoundError:
        return False
    return True
