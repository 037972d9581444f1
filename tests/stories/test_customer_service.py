"""Customers write to a customer service account: real doorbells, real processes, a simulated WeCom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.customer_world import HUMAN, CustomerWorld
from tests.support.system import System, wait_until
from tests.web.conftest import WebProcess
from wechat_bridge.simulators.wecom import WecomControl, WecomSimulatorProcess

pytestmark = [pytest.mark.story, pytest.mark.slow]

KINDS = (("reply", "reply"), ("ops", "ops"), ("ops", "ops2"), ("beat", "beat"))


class Desk:
    """A running system with two processes that pull, its callback server, and WeCom."""

    def __init__(self, system: System, web: WebProcess, control: WecomControl) -> None:
        self.system = system
        self.control = control
        self._web = web

    def account(self) -> CustomerWorld:
        """Make an account whose doorbells ring here."""
        world = CustomerWorld.of_account(self.system.wired, self.control)
        url = f"http://127.0.0.1:{self._web.port}/wecom/{world.share_id}"
        assert self.control.set_callback(world.bot_id, url)["ok"]
        return world


@pytest.fixture(scope="module")
def desk(urls: tuple[str, str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk of this module."""
    directory = tmp_path_factory.mktemp("desk")
    web = WebProcess(repository, directory, urls)
    with WecomSimulatorProcess() as wecom, System(urls, directory, cast("Any", None), "") as system:
        for kind, name in KINDS:
            system.start(kind, name, threads=20)
        web.start()
        try:
            system.wait_alive(len(KINDS))
            system.wait_steady()
            yield Desk(system, web, wecom.control)
        finally:
            web.kill()


def heard(world: CustomerWorld, name: str) -> list[str]:
    """What a customer read, message by message, where turns merged several."""
    return [line for text in world.delivered(name) for line in text.split("\n")]


def ring_and_say(world: CustomerWorld, name: str, text: str) -> None:
    """Write as a customer, whereupon WeCom rings."""
    world.control.kf_say(world.open_kfid, world.user(name), text)


def wait_heard(world: CustomerWorld, said: dict[str, list[str]], seconds: float) -> None:
    """Every customer reads the answers to what they said, in order, each once."""
    wait_until(lambda: all(len(heard(world, name)) >= len(said[name]) for name in said), seconds, "all are answered")
    assert {name: heard(world, name) for name in said} == said


def test_customers_are_answered_once_and_in_order_though_a_process_that_pulls_is_killed(desk: Desk) -> None:
    world = desk.account()
    said: dict[str, list[str]] = {f"c{number}": [] for number in range(15)}
    for text in "ab":
        for name, texts in said.items():
            texts.append(f"{name} {text}")
            ring_and_say(world, name, texts[-1])
    desk.system.kill("ops")
    for name, texts in said.items():
        texts.append(f"{name} c")
        ring_and_say(world, name, texts[-1])
    wait_heard(world, said, 25)
    desk.system.start("ops", "ops", threads=20)


def test_a_message_for_which_nobody_could_ring_is_found_and_a_human_is_not_talked_over(desk: Desk) -> None:
    world = desk.account()
    ring_and_say(world, "ann", "hello")
    wait_heard(world, {"ann": ["hello"]}, 10)
    world.session(HUMAN, 1, name="ann")
    world.say("are you there?", name="ann")
    world.say("is anybody there?", name="bob")
    world.let_pass(300)  # what would take five minutes
    wait_heard(world, {"bob": ["is anybody there?"]}, 15)
    wait_until(lambda: len(world.said()) == 3, 5, "all is in the inbox")
    assert ("are you there?", "skipped", "a human answers") in world.said()
    assert heard(world, "ann") == ["hello"]
