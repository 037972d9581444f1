from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.channels.scripted_server import ScriptedServer
from wechat_bridge.channels.http import HttpClient


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that answers ``{}`` until the test gives it another script."""
    with ScriptedServer(lambda exchange: exchange.answer(b"{}")) as running:
        yield running


@pytest.fixture
def http() -> Iterator[HttpClient]:
    client = HttpClient(pool_maxsize=10)
    yield client
    client.close()
