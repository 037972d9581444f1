"""Real servers for every test: Redis and a MongoDB-protocol server, or those of REDIS_URL and MONGODB_URL."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis
from celery import Celery

from tests.support.world import World, settings_for
from wechat_bridge.local.services import MongoServer, RedisServer
from wechat_bridge.simulators.engine import EngineSimulator
from wechat_bridge.simulators.ilink import IlinkOptions, IlinkSimulator
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl, WecomSimulator
from wechat_bridge.wiring import Wired, build

# Settings of the surrounding shell would change what is tested; the two addresses are the documented exception.
for name in [name for name in os.environ if name.startswith(("WECHAT_", "FLOWER_", "PUBLIC_"))]:
    del os.environ[name]

# Each test process would compile every test, and each of some hundred others every module, if none kept the result.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

_REDIS_DATABASES = 15
_worlds = count()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where Redis runs; ends with ``/0``."""
    if given := os.environ.get("REDIS_URL"):
        yield given
        return
    with RedisServer(tmp_path_factory.mktemp("redis") / "data") as server:
        yield server.url


@pytest.fixture(scope="session")
def mongodb_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the MongoDB-protocol server runs."""
    if given := os.environ.get("MONGODB_URL"):
        yield given
        return
    with MongoServer(tmp_path_factory.mktemp("mongo") / "data") as server:
        yield server.url
        server.kill()  # an end in good order takes it 2 s, and nobody opens its folder again


@pytest.fixture(scope="session")
def simulator() -> Iterator[IlinkSimulator]:
    """A simulated WeChat that holds polls for 2 s, shared; every test has bots of its own."""
    with IlinkSimulator(IlinkOptions(hold_seconds=2.0)) as running:
        yield running


@pytest.fixture(scope="module")
def simulated_wecom() -> Iterator[WecomSimulator]:
    """A simulated WeCom of this module; most tests want ``wecom``."""
    with WecomSimulator() as running:
        yield running


@pytest.fixture
def wecom(simulated_wecom: WecomSimulator) -> WecomControl:
    """The members, the operator and the person behind the server, with nothing left of the tests before."""
    simulated_wecom.control.reset()
    return simulated_wecom.control


@pytest.fixture
def console(wecom: WecomControl) -> AppCredentials:
    """An app of this test alone, as it stands in WeCom's console."""
    return wecom.create_app()


@pytest.fixture(scope="module")
def running_engine() -> Iterator[EngineSimulator]:
    """A simulated engine of this module; most tests want ``simulated_engine``."""
    with EngineSimulator() as running:
        yield running


@pytest.fixture
def simulated_engine(running_engine: EngineSimulator) -> EngineSimulator:
    """The simulated engine, with nothing scripted and nothing recorded."""
    running_engine.clear()
    return running_engine


@pytest.fixture(scope="module")
def urls(redis_url: str, mongodb_url: str, request: pytest.FixtureRequest) -> tuple[str, str]:
    """A Redis database and a MongoDB database for this module alone, both empty."""
    number = next(_worlds)
    own_redis = f"{redis_url.rpartition('/')[0]}/{1 + number % _REDIS_DATABASES}"
    with redis.Redis.from_url(own_redis) as client:
        client.flushdb()
    return own_redis, urlsplit(mongodb_url)._replace(path=f"/test_{number}").geturl()


@pytest.fixture(scope="module")
def wired(urls: tuple[str, str]) -> Iterator[Wired]:
    """A bridge of this process, alive, on databases of this module; doorbells ring but no worker answers."""
    given = settings_for(*urls)
    app = Celery("test")
    app.config_from_object("celeryconfig")
    app.conf.broker_url = app.conf.result_backend = given.redis_url
    parts = build(given, app)
    parts.kind = "test"
    parts.start()
    yield parts
    parts.stop()


@pytest.fixture
def world(wired: Wired, simulator: IlinkSimulator, request: pytest.FixtureRequest) -> World:
    """A channel of this test alone, logged in at the simulated WeChat, driven step by step in this process."""
    return World.create(wired, simulator.control, simulator.base_url)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).parents[1]
