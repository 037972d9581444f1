"""What asks the simulated engine, which each test finds empty."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.channels.test_transport import certificate
from tests.engines.asking import Maker
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.simulators.engine import EngineSimulator

__all__ = ["certificate", "engine_http", "maker", "server"]


@pytest.fixture
def server(simulated_engine: EngineSimulator) -> EngineSimulator:
    """The simulated engine, as what an engine of the bridge asks."""
    return simulated_engine


@pytest.fixture(scope="module")
def engine_http() -> Iterator[EngineHttp]:
    """One client for a module, as a process has one for all its calls; to make one loads all certificates."""
    http = EngineHttp(pool_maxsize=4)
    yield http
    http.close()


@pytest.fixture
def maker(server: EngineSimulator, engine_http: EngineHttp) -> Maker:
    """Makes engines that ask the simulated one."""
    return Maker(server.base_url, engine_http)
