"""Steps that tests of polls share."""

from __future__ import annotations

from typing import Any

from prometheus_client import REGISTRY

from tests.support.world import World
from wechat_bridge.model.channel import Channel
from wechat_bridge.store import redis_keys

FAILURES: dict[str, dict[str, Any]] = {
    "cut": {"cut": True},
    "cut in the middle": {"cut_after_bytes": 5, "answer": {"ret": 0, "msgs": []}},
    "gateway error": {"status": 524, "body": "<html>timeout</html>"},
    "server error with JSON": {"status": 500, "answer": {"ret": 0, "msgs": []}},
    "a page": {"body": "<html>maintenance</html>"},
    "bad JSON": {"body": '{"ret":0,"msgs":['},
    "no object": {"answer": [1, 2]},
    "ret": {"answer": {"ret": -1, "errmsg": "system busy"}},
    "errcode": {"answer": {"errcode": -2}},
}


def delay_seconds(world: World, channel: Channel) -> float:
    """In how many seconds the next link is due."""
    assert channel.next_poll_at is not None
    return (channel.next_poll_at - world.bridge.clock.now()).total_seconds()


def texts_waiting(world: World) -> list[str]:
    """The texts of ann's waiting messages."""
    return sorted(row.items[0].text for row in world.bridge.inbox.pending(world.chat()))


def fail(world: World, kind: str = "bad JSON") -> Channel:
    """Let the next poll fail."""
    world.control.script("getupdates", bot_id=world.bot_id, **FAILURES[kind])
    return world.poll()


def alerts(cause: str) -> float:
    """How many alerts of a cause there were in this process."""
    return REGISTRY.get_sample_value("wechat_bridge_alerts_total", {"cause": cause}) or 0.0


def counter(world: World) -> Any:
    """The failure counter of the channel."""
    return world.wired.redis.get(redis_keys.poll_failures(world.share_id))


def seconds_from_now(world: World, moment: Any) -> float:
    """How far away a moment is."""
    return float((moment - world.bridge.clock.now()).total_seconds())


def let_probe_be_due(world: World) -> None:
    """Let the time to the probe pass."""
    world.bridge.channels.collection.update_one(
        {"_id": world.share_id}, {"$set": {"probe_at": world.bridge.clock.now()}}
    )


def stopped(world: World) -> Channel:
    """The channel after five failures."""
    for _ in range(5):
        channel = fail(world)
    return channel
