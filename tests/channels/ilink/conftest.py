from __future__ import annotations

from collections.abc import Iterator

import pytest

from wechat_bridge.channels.http import HttpClient


@pytest.fixture(scope="module")
def http() -> Iterator[HttpClient]:
    """One client for a module, as a process has one for all its calls."""
    client = HttpClient(pool_maxsize=10)
    yield client
    client.close()
