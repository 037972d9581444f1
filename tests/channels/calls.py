"""Calls as tests make them, and waiting for what follows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from wechat_bridge.channels.http import (
    HttpAnswer,
    HttpClient,
)

SECRET = "a1b2c3d4e5f6@im.bot:0600"
HEADERS = {"Content-Type": "application/json", "Authorization": f"Bearer {SECRET}"}


def post(
    client: HttpClient,
    url: str,
    body: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    read_seconds: float = 5.0,
    total_seconds: float = 10.0,
) -> HttpAnswer:
    return client.post_json(
        url,
        {} if body is None else body,
        headers or HEADERS,
        connect_seconds=2.0,
        read_seconds=read_seconds,
        total_seconds=total_seconds,
    )


def wait_until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.005)


def one_byte_at_a_time() -> Iterator[bytes]:
    while True:
        yield b"x"
