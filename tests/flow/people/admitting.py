"""Steps that tests of who may talk share."""

from __future__ import annotations

from tests.flow.delivering import send
from tests.support.world import World
from wechat_bridge.flow import turns
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.model import keys
from wechat_bridge.model.access import Person, Policy, Reason
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.model.turn import Lane, Turn

OPERATOR = "operator@host"


def under(world: World, policy: Policy) -> World:
    """The channel under a policy."""
    admin.set_policy(world.bridge, world.share_id, policy, OPERATOR)
    return world


def wrote(world: World, *texts: str, name: str = "ann") -> list[InboundMessage]:
    """Let somebody write, and flush."""
    messages = [world.text(text, name=name) for text in texts]
    world.receive(*messages)
    world.make_due(name)
    turns.flush_conversation(world.bridge, world.chat(name))
    return messages


def notice(world: World, name: str = "ann") -> Turn | None:
    """The notice that waits to be sent to somebody."""
    return world.bridge.turns.open_of(world.chat(name), Lane.NOTICE)


def told(world: World, name: str = "ann") -> str:
    """Send the notice that waits for somebody; return what they were told."""
    turn = notice(world, name)
    assert turn is not None
    send(world, turn)
    return world.delivered(name)[-1]


def person(world: World, name: str = "ann") -> Person:
    """What is known of somebody."""
    found = world.bridge.conversations.get(world.chat(name))
    assert found is not None
    return found.access


def is_refused(world: World, message: InboundMessage, reason: Reason) -> bool:
    """Whether a message ended with a reason, nothing waits, and no turn was made of it."""
    conversation = world.bridge.conversations.get(keys.chat_id(world.share_id, message.user_id))
    assert conversation is not None
    turn = world.bridge.turns.open_of(conversation.id)
    return (world.row_state(message), conversation.flush_at, turn) == (("skipped", reason.value), None, None)


def age(world: World, seconds: float, name: str = "ann") -> None:
    """Let what was decided and told about somebody be so much older, codes included."""
    fields = world.bridge.conversations.collection.find_one({"_id": world.chat(name)}) or {}
    known = Person.model_validate(fields["access"])
    shift = world.bridge.clock.now() - world.bridge.clock.after(seconds)
    aged: dict[str, object] = {f"access.told.{kind}.at": each.at + shift for kind, each in known.told.items()}
    aged |= {f"access.{n}": v + shift for n in ("at", "code_until", "human_until") if (v := getattr(known, n))}
    aged |= {n: fields[n] + shift for n in ("minute_from", "day_from")}
    world.bridge.conversations.collection.update_one({"_id": world.chat(name)}, {"$set": aged})
