"""Adding, logging in and removing one account leaves the others alone (report 46)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.doorbells import taken
from tests.support.variations import process, setting
from tests.support.world import World
from wechat_bridge.flow import poll
from wechat_bridge.flow.channel.switch import switch
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.flow.seed import seed_poll_chains
from wechat_bridge.model.channel import Account, Login
from wechat_bridge.simulators.ilink import IlinkSimulator


class Accounts:
    """Some channels, whose doorbells are answered as workers would answer them."""

    def __init__(self, first: World, simulator: IlinkSimulator) -> None:
        self._first = first
        self._simulator = simulator
        self.worlds: dict[str, World] = {}

    def add(self, name: str) -> None:
        """Add an account and log it in."""
        world = World.create(self._first.wired, self._first.control, self._simulator.base_url)
        world.control.set_options(world.bot_id, hold_seconds=0.02)
        self.worlds[name] = setting(world, "poll", polls_per_task=1, empty_poll_delay_seconds=0)

    def log_in_again(self, name: str) -> None:
        """The same person scans again and gets another bot; the old one's token is not valid any more."""
        world = self.worlds[name]
        world.control.expire_token(world.bot_id)
        bot = world.control.create_bot()
        world.control.set_options(bot["bot_id"], hold_seconds=0.02)
        account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=self._simulator.base_url)
        login = Login(account=account, owner_user_id=world.channel.owner_user_id or "")
        complete_login(world.bridge, world.share_id, login)
        world.bot_id = bot["bot_id"]

    def polled(self, seeder: World) -> set[str]:
        """One reconcile interval: who was polled in it."""
        before = {name: world.polls() for name, world in self.worlds.items()}
        seed_poll_chains(seeder.bridge)
        for world in self.worlds.values():
            for doorbell in taken(world, "poll"):
                poll.poll_channel(world.bridge, *doorbell.args)
        return {name for name, world in self.worlds.items() if world.polls() > before[name]}


@pytest.fixture
def accounts(world: World, simulator: IlinkSimulator) -> Iterator[Accounts]:
    """No account yet."""
    made = Accounts(world, simulator)
    yield made
    for each in made.worlds.values():
        switch(each.bridge, each.share_id, enabled=False)


def test_the_polled_accounts_are_the_online_ones_after_each_step(world: World, accounts: Accounts) -> None:
    accounts.add("A")
    assert accounts.polled(world) == {"A"}
    accounts.add("B")
    assert accounts.polled(world) == {"A", "B"}
    accounts.log_in_again("A")
    assert accounts.polled(world) == {"A", "B"}
    assert accounts.worlds["A"].channel.status == "online", "no zombie of the old bot gives -14"
    another_beat = process(world, "another-beat")
    assert accounts.polled(another_beat) == {"A", "B"}
    switch(world.bridge, accounts.worlds["B"].share_id, enabled=False)
    assert accounts.polled(world) == {"A"}
    assert accounts.polled(another_beat) == {"A"}
