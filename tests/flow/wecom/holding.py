"""Steps that tests of held apps share."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.doorbells import taken
from tests.support.wecom_world import WecomWorld
from wechat_bridge.flow.wecom.held import HeldApps
from wechat_bridge.model.hold import Hold
from wechat_bridge.model.turn import Turn

ADDRESS = "192.0.2.7"
"""From where the app's calls seem to come."""


def allow(world: WecomWorld) -> None:
    """Do in the console what the alert says."""
    world.control.set_app(world.bot_id, trusted_ips=[ADDRESS])


def hold_of(world: WecomWorld) -> Hold:
    """The hold of the app, which has one."""
    hold = world.channel.hold
    assert hold is not None
    return hold


def let_a_probe_be_due(world: WecomWorld) -> None:
    """Let the minutes until the next probe pass, if the app is still held."""
    past = world.bridge.clock.now() - timedelta(seconds=1)
    lasting = {"_id": world.share_id, "hold.probe_at": {"$type": "date"}}
    world.bridge.channels.collection.update_one(lasting, {"$set": {"hold.probe_at": past}})


def rung(world: WecomWorld) -> list[str]:
    """Answer the doorbells of deliveries that wait; return whose they were, in order."""
    turn_ids = [str(bell.args[0]) for bell in taken(world, "deliver")]
    for turn_id in turn_ids:
        world.send(world.turn(turn_id))
    return turn_ids


def pass_over(world: WecomWorld) -> list[str]:
    """Let the sweep look after held apps, and the deliveries it rings happen."""
    taken(world, "deliver")
    HeldApps().look(world.bridge, 100)
    return rung(world)


def waiting(world: WecomWorld, *names: str) -> list[Turn]:
    """An answer for each of some members, refused or parked without being tried."""
    turns = [world.answered(f"for {name}", name) for name in names]
    for turn in turns:
        world.send(turn)
    return turns


def alerts(lines: Any, world: WecomWorld) -> list[str]:
    """What was said to the operator about the app."""
    return [line["event"] for line in lines if line.get("subject") == world.share_id]
