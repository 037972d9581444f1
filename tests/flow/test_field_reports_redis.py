"""Redis that does not answer, or has done what it did not answer (report 48): no lock without a link stays behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flow.customer_service.fixtures import own, service
from tests.support.customer_world import CustomerWorld
from tests.support.variations import failing, process, unanswered, using
from tests.support.world import World
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable, TransientError
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.store import redis_keys

__all__ = ["service"]

Spoil = Callable[[World], World]


def take_is_unanswered(world: World) -> World:
    """Redis takes the lock and cannot say so."""
    return unanswered(world, "locks", "take", BrokerUnavailable("cut"))


def release_is_refused(world: World) -> World:
    """The ledger refuses the link, then Redis refuses to release the lock."""
    refusing = failing(world, "channels", "take_link", LedgerUnavailable("away"))
    return failing(refusing, "locks", "release", BrokerUnavailable("away"))


def pull_is_refused(world: World) -> World:
    """The ledger refuses the pull, then Redis refuses to release the lock."""
    refusing = failing(world, "services", "take", LedgerUnavailable("away"))
    return failing(refusing, "locks", "release", BrokerUnavailable("away"))


@pytest.mark.parametrize("spoil", [take_is_unanswered, release_is_refused])
def test_a_lock_without_a_link_is_let_go_and_the_channel_is_polled(quick: World, spoil: Spoil) -> None:
    with pytest.raises(TransientError):
        spoil(quick).poll()
    assert quick.polls() == 0
    assert quick.wired.redis.exists(redis_keys.poll_lock(quick.share_id))
    quick.bridge.unfinished.work_off()
    assert not quick.wired.redis.exists(redis_keys.poll_lock(quick.share_id))
    assert process(quick, "another").poll().generation == quick.channel.generation
    assert quick.polls() == 1


@pytest.mark.parametrize("spoil", [take_is_unanswered, pull_is_refused])
def test_a_lock_without_a_pull_is_let_go_and_the_account_is_read(service: CustomerWorld, spoil: Spoil) -> None:
    service.say("hello")
    with pytest.raises(TransientError):
        own(spoil(service)).pull()
    assert service.pulls() == []
    assert service.wired.redis.exists(redis_keys.poll_lock(service.share_id))
    service.bridge.unfinished.work_off()
    assert not service.wired.redis.exists(redis_keys.poll_lock(service.share_id))
    own(process(service, "another")).pull()
    assert service.said() == [("hello", "pending", "")]


def test_the_lock_of_who_took_it_meanwhile_stays(quick: World) -> None:
    spoilt = using(quick, unfinished=Unfinished())
    with pytest.raises(BrokerUnavailable):
        failing(spoilt, "locks", "take", BrokerUnavailable("away")).poll()
    assert quick.bridge.locks.take(quick.share_id, "another", quick.channel.generation + 1)
    spoilt.bridge.unfinished.work_off()
    assert quick.wired.redis.get(redis_keys.poll_lock(quick.share_id)) == f"another|{quick.channel.generation + 1}"
