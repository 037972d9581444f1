"""One started system for each module of stories; every story has channels of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.support.system import System
from wechat_bridge.simulators.ilink import IlinkOptions, IlinkSimulatorProcess


@pytest.fixture(scope="session")
def simulated_wechat() -> Iterator[IlinkSimulatorProcess]:
    """A simulated WeChat in a process of its own, which holds polls for 3 s."""
    with IlinkSimulatorProcess(IlinkOptions(hold_seconds=3.0)) as running:
        yield running


@pytest.fixture(autouse=True)
def _one_story_at_a_time(request: pytest.FixtureRequest) -> Iterator[None]:
    """The channels of a story are switched off after it."""
    yield
    for name in {"system", "small", "pair"} & set(request.fixturenames):
        request.getfixturevalue(name).retire()


SLICES = [pytest.param(8, id="slices-of-8"), pytest.param(1, id="slices-of-1", marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=SLICES)
def polls_per_task(request: pytest.FixtureRequest) -> int:
    """Every story passes with slices of one poll, too (acceptance K13)."""
    return int(request.param)


@pytest.fixture(scope="module")
def make_system(
    urls: tuple[str, str], tmp_path_factory: pytest.TempPathFactory, simulated_wechat: IlinkSimulatorProcess
) -> Callable[..., System]:
    """Makes a system at the simulated WeChat, in an environment, of which nothing runs yet."""

    def make(**environment: str) -> System:
        directory = tmp_path_factory.mktemp("system")
        return System(urls, directory, simulated_wechat.control, simulated_wechat.base_url, **environment)

    return make


@pytest.fixture(scope="module")
def system(make_system: Callable[..., System], polls_per_task: int) -> Iterator[System]:
    """A running system with one worker of each kind."""
    slices = {"WECHAT_BRIDGE_POLL__POLLS_PER_TASK": str(polls_per_task)}
    quick = {"WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "2"}
    with make_system(**slices, **quick) as running:
        running.start_all(poll_threads=150)
        yield running
