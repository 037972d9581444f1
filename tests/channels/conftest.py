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


@pytest.fixture(scope="module")
def http() -> Iterator[HttpClient]:
    """One client for a module, as a process has one for all its calls; to make one loads all certificates."""
    client = HttpClient(pool_maxsize=10)
    yield client
    client.close()
