"""Customers write to a customer service account: real doorbells, real processes, a simulated WeCom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.called import Called
from tests.support.customer_world import HUMAN, CustomerWorld
from tests.support.system import wait_until
from tests.web.conftest import WebProcess

pytestmark = [pytest.mark.story, pytest.mark.slow]

WORKERS = (("reply", "reply"), ("ops", "ops"), ("ops", "ops2"), ("beat", "beat"))


class Desk(Called):
    """Customers, and an account for each test; two processes pull what they say."""

    def account(self) -> CustomerWorld:
        """Make an account whose doorbells ring here."""
        return self.reached(CustomerWorld.of_account(self.system.wired, self.control))


@pytest.fixture(scope="module")
def desk(urls: tuple[str, str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk of this module."""
    web = WebProcess(repository, tmp_path_factory.mktemp("desk"), urls)
    with Desk.running(urls, web, WORKERS, threads=20) as running:
        yield running


def ring_and_say(world: CustomerWorld, name: str, text: str) -> None:
    """Write as a customer, whereupon WeCom rings."""
    world.control.kf_say(world.open_kfid, world.user(name), text)


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
    desk.system.assert_answered(world, said, 25)
    desk.system.start("ops", "ops", threads=20)


def test_a_message_for_which_nobody_could_ring_is_found_and_a_human_is_not_talked_over(desk: Desk) -> None:
    world = desk.account()
    ring_and_say(world, "ann", "hello")
    desk.system.assert_answered(world, {"ann": ["hello"]}, 10)
    world.session(HUMAN, 1, name="ann")
    world.say("are you there?", name="ann")
    world.say("is anybody there?", name="bob")
    world.let_pass(300)  # what would take five minutes
    desk.system.assert_answered(world, {"bob": ["is anybody there?"]}, 15)
    wait_until(lambda: len(world.said()) == 3, 5, "all is in the inbox")
    assert ("are you there?", "skipped", "a human answers") in world.said()
    assert desk.system.heard(world, "ann") == ["hello"]
