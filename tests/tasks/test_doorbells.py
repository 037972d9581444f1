"""Doorbells as they lie in Redis: ids only, in the right queue, with the id and the lifetime of the design."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from celery import Celery

from tests.support.doorbells import Doorbell, emptied, taken
from tests.support.world import World
from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.local.ports import free_port
from wechat_bridge.store import broker, redis_keys
from wechat_bridge.tasks.doorbells import EXPIRES_AFTER_SECONDS, CeleryDoorbells

Ring = Callable[[World, float], None]

RINGS: dict[str, tuple[str, Ring]] = {
    "poll_channel": ("poll", lambda world, delay: world.bridge.doorbells.ring_poll(world.share_id, 7, delay)),
    "flush_conversation": ("inbox", lambda world, delay: world.bridge.doorbells.ring_flush(world.chat(), delay)),
    "generate_reply": ("reply", lambda world, delay: world.bridge.doorbells.ring_reply(turn_id(world), delay)),
    "deliver_reply": ("deliver", lambda world, delay: world.bridge.doorbells.ring_deliver(turn_id(world), delay)),
    "pull_customer_service": ("history", lambda world, _: world.bridge.doorbells.ring_pull(world.share_id)),
    "record_dead_letter": ("dead_letter", lambda world, _: world.bridge.doorbells.ring_dead_letter(turn_id(world))),
}
DELAYED = [name for name in RINGS if name not in ("record_dead_letter", "pull_customer_service")]


def turn_id(world: World) -> str:
    """A turn of the channel."""
    return f"wechat-reply:{world.share_id}:9223372036854775809"


def rung(world: World, name: str, delay_seconds: float = 0.0) -> Doorbell:
    """Ring, and take what lies in Redis."""
    queue, ring = RINGS[name]
    ring(world, delay_seconds)
    found = taken(world, queue)
    assert len(found) == 1
    return found[0]


def seconds_until(world: World, moment: str | None) -> float:
    """How far away a moment is."""
    assert moment is not None
    return (datetime.fromisoformat(moment) - world.bridge.clock.now()).total_seconds()


@pytest.mark.parametrize("name", list(RINGS))
def test_each_lies_in_its_queue_and_carries_ids_only(world: World, name: str) -> None:
    doorbell = rung(world, name)
    assert doorbell.task == name
    known: dict[str, list[Any]] = {
        "poll_channel": [world.share_id, 7],
        "flush_conversation": [world.chat()],
        "pull_customer_service": [world.share_id],
    }
    assert doorbell.args == known.get(name, [turn_id(world)])
    assert doorbell.eta is None


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("poll_channel", "poll:{share_id}:7"), ("generate_reply", "{turn}"), ("deliver_reply", "deliver:{turn}"),
     ("record_dead_letter", "dead:{turn}")],
)  # fmt: skip
def test_task_ids_say_what_it_is_about(world: World, name: str, prefix: str) -> None:
    expected = prefix.format(share_id=world.share_id, turn=turn_id(world))
    assert rung(world, name).task_id == rung(world, name).task_id == expected


@pytest.mark.parametrize("name", DELAYED)
def test_a_delay_is_a_countdown(world: World, name: str) -> None:
    assert 29 <= seconds_until(world, rung(world, name, 30.0).eta) <= 31


@pytest.mark.parametrize("name", DELAYED)
def test_a_wait_beyond_a_minute_is_no_doorbell_the_sweep_rings_then(world: World, name: str) -> None:
    queue, ring = RINGS[name]
    ring(world, 61.0)
    assert taken(world, queue) == []


@pytest.mark.parametrize("name", list(RINGS))
def test_all_expire_but_that_of_a_poll_chain(world: World, name: str) -> None:
    expires = rung(world, name).expires
    if name == "poll_channel":
        assert expires is None
    else:
        assert EXPIRES_AFTER_SECONDS - 2 <= seconds_until(world, expires) <= EXPIRES_AFTER_SECONDS + 2
    if name == "generate_reply":
        late = seconds_until(world, rung(world, name, 30.0).expires)
        assert timedelta(seconds=late) > timedelta(seconds=EXPIRES_AFTER_SECONDS + 28)


def test_a_pass_of_the_seeder_comes_at_its_moment_and_not_much_later(world: World) -> None:
    emptied(world, "maintenance")
    world.bridge.doorbells.ring_seed(1.5)
    (doorbell,) = emptied(world, "maintenance")
    assert (doorbell.task, doorbell.args) == ("seed_poll_chains", [])
    assert 0.5 < seconds_until(world, doorbell.eta) < 2.5
    assert 2.5 < seconds_until(world, doorbell.expires) < 4.5


def test_no_doorbell_carries_what_people_write(world: World) -> None:
    world.receive(world.text("my secret words"))
    world.make_due()
    turn = world.flush()
    assert turn is not None
    world.answer(turn)
    for queue in ("inbox", "reply", "deliver"):
        for text in world.wired.redis.lrange(redis_keys.queue(queue), 0, -1):
            assert "secret" not in str(text)
        assert all("secret" not in str(each.args) for each in taken(world, queue))


def test_waiting_doorbells_are_counted_and_polls_found_by_channel(world: World) -> None:
    bridge = world.bridge
    world.wired.redis.delete(redis_keys.queue("poll"))
    assert bridge.doorbells.waiting("poll") == 0
    assert bridge.doorbells.waiting_polls(10) == set()
    for number in range(3):
        bridge.doorbells.ring_poll(f"{world.share_id}-{number}", number)
    bridge.doorbells.ring_poll(f"{world.share_id}-0", 9)
    assert bridge.doorbells.waiting("poll") == 4
    assert bridge.doorbells.waiting_polls(4) == {f"{world.share_id}-{number}" for number in range(3)}
    assert bridge.doorbells.waiting_polls(3) is None
    world.wired.redis.delete(redis_keys.queue("poll"))


@pytest.mark.parametrize("message", ["{}", "garbage", '{"headers":{"id":"x"}}', '{"headers":{"id":null}}', "[]"])
def test_what_somebody_else_put_into_the_poll_queue_does_not_stop_the_seeder(world: World, message: str) -> None:
    world.wired.redis.delete(redis_keys.queue("poll"))
    world.wired.redis.rpush(redis_keys.queue("poll"), message)
    world.bridge.doorbells.ring_poll(world.share_id, 1)
    found = world.bridge.doorbells.waiting_polls(10)
    world.wired.redis.delete(redis_keys.queue("poll"))
    assert found is not None
    assert world.share_id in found


def test_a_broker_that_is_away_is_told_as_such_and_soon() -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    client = broker.connect(url)
    with Celery("test") as app:
        app.config_from_object("celeryconfig")
        app.conf.update(broker_url=url, task_publish_retry_policy={"max_retries": 0})
        doorbells = CeleryDoorbells(app, client)
        for ring in (
            lambda: doorbells.ring_poll("shop", 1),
            lambda: doorbells.ring_flush("chat"),
            lambda: doorbells.waiting("poll"),
            lambda: doorbells.waiting_polls(1),
        ):
            with pytest.raises(BrokerUnavailable, match="Redis"):
                ring()
    client.close()
