"""Every key in Redis has a lifetime or an owner: told by looking at all of them after work."""

from __future__ import annotations

from typing import cast

import pytest

from celeryconfig import QUEUES
from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow import spill
from wechat_bridge.flow.dead_letters import letters
from wechat_bridge.flow.login.start import start_login
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient

pytestmark = pytest.mark.story

BROKER_OWNED = {redis_keys.queue(name) for name in QUEUES} | {
    redis_keys.queue(name) for name in ("unacked", "unacked_index", "unacked_mutex")
}
"""Lists of doorbells, emptied by workers, and what a worker holds of countdowns."""

BINDINGS = redis_keys.queue("_kombu.binding")
"""The library's names of queues by exchange, as many as there are queues and processes that answer `inspect`."""

UNTIL_DRAINED = {redis_keys.SPILLED, redis_keys.SPILL_BYTES, redis_keys.DEAD_SPILL}
"""Owned by the sweep, which empties them."""

REPLACED = {redis_keys.CONFIGURATION}
"""One of each, which the next one replaces."""


def ownerless(client: RedisClient) -> list[str]:
    """Keys that nobody would ever remove."""
    lasting = [key for key in cast("list[str]", list(client.scan_iter())) if client.ttl(key) == -1]
    spilled = cast("set[str]", client.smembers(redis_keys.SPILLED))
    owned = BROKER_OWNED | UNTIL_DRAINED | REPLACED | {redis_keys.spill(share_id) for share_id in spilled}
    return sorted(key for key in lasting if key not in owned and not key.startswith(BINDINGS))


def answer(world: World) -> None:
    world.receive(world.text("hello"))
    wait_until(lambda: world.delivered() == ["hello"], 20, "the message is answered")


def test_after_work_every_key_has_a_lifetime_or_an_owner(system: System) -> None:
    world = system.channel()
    answer(world)
    bridge = system.wired.bridge
    bridge.locks.take(world.share_id, bridge.owner, 1)
    bridge.locks.announce(world.share_id, bridge.owner, 10)
    bridge.locks.count_failure(world.share_id, 300)
    bridge.locks.count_failure(world.share_id, 300)
    bridge.locks.clear_failures("another", 300)
    login = start_login(bridge, world.share_id, system.base_url)
    bridge.logins.submit_number(world.share_id, login.id, "4711")
    bridge.logins.take(world.share_id, login.id, login.step, bridge.clock.now())
    system.wired.celery.send_task("wechat_bridge.enable", [world.share_id]).get(timeout=15)
    system.wired.configuration.set("settings.debounce.idle_seconds", 0.5, "ann")
    wait_until(lambda: system.wired.redis.exists(redis_keys.CONFIGURATION), 5, "the last good version is kept")
    assert ownerless(system.wired.redis) == []


@pytest.mark.slow
def test_polling_leaves_no_key_behind_either(system: System) -> None:
    system.start("poll", threads=4)
    system.start("beat")
    world = system.channel()
    system.wait_polling([world])
    system.control.say(world.bot_id, world.user(), "polled")
    wait_until(lambda: world.delivered() == ["polled"], 20, "the message is answered")
    system.retire()
    assert ownerless(system.wired.redis) == []


def test_spills_are_owned_while_they_last_and_leave_nothing_once_drained(system: System) -> None:
    world, bridge = system.channel(), system.wired.bridge
    spill.keep(bridge, world.channel, [world.text("kept")], "poll", LedgerUnavailable("away"))
    now = bridge.clock.now()
    bridge.dead_spill.put(DeadLetter(
        id="x", share_id="s", chat_id="c", stage="reply", error_class="", error="", traceback="", attempts=1,
        original=[], trace_id="", first_failure_at=now, last_failure_at=now,
    ))  # fmt: skip
    assert ownerless(system.wired.redis) == []
    spill.drain(bridge)
    letters.drain(bridge)
    left = set(cast("list[str]", list(system.wired.redis.scan_iter())))
    assert not left & {*UNTIL_DRAINED, redis_keys.spill(world.share_id)}


def test_a_key_that_nobody_owns_would_be_noticed(system: System) -> None:
    system.wired.redis.set("forgotten", "1")
    try:
        assert ownerless(system.wired.redis) == ["forgotten"]
    finally:
        system.wired.redis.delete("forgotten")
