"""One simulated engine for all tests of a module; each begins with an empty one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.channels.test_transport import certificate
from tests.engines.asking import Maker
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.simulators.engine import EngineSimulator

__all__ = ["certificate", "engine_http", "maker", "running", "server"]


@pytest.fixture(scope="module")
def running() -> Iterator[EngineSimulator]:
    with EngineSimulator() as simulator:
        yield simulator


@pytest.fixture
def server(running: EngineSimulator) -> EngineSimulator:
    """The simulated engine, with nothing scripted and nothing recorded."""
    running.clear()
    return running


@pytest.fixture
def engine_http() -> Iterator[EngineHttp]:
    http = EngineHttp(pool_maxsize=4)
    yield http
    http.close()


@pytest.fixture
def maker(server: EngineSimulator, engine_http: EngineHttp) -> Maker:
    """Makes engines that ask the simulated one."""
    return Maker(server.base_url, engine_http)
