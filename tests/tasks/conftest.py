"""The bridge's application, and a reply worker and an ops worker as real processes, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from celery import Celery

from tests.support.system import System
from wechat_bridge.simulators.ilink import IlinkSimulator


@pytest.fixture(scope="module")
def app(urls: tuple[str, str]) -> Iterator[Celery]:
    """The bridge's application."""
    own = Celery("test", set_as_current=False)
    own.config_from_object("celeryconfig")
    own.conf.broker_url = own.conf.result_backend = urls[0]
    yield own
    own.close()


@pytest.fixture(scope="module")
def system(
    urls: tuple[str, str], tmp_path_factory: pytest.TempPathFactory, simulator: IlinkSimulator
) -> Iterator[System]:
    """Workers of queues that carry replies, and nobody who rings by a clock."""
    with System(urls, tmp_path_factory.mktemp("system"), simulator.control, simulator.base_url) as running:
        running.start("reply", threads=4)
        running.start("ops", threads=4)
        running.wait_alive(2)
        yield running
