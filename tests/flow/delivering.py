"""Steps that tests of turns share."""

from __future__ import annotations

from datetime import timedelta

from tests.support.doorbells import taken
from tests.support.world import World
from wechat_bridge.flow import deliver, reply
from wechat_bridge.model import keys
from wechat_bridge.model.outcome import Outcome
from wechat_bridge.model.turn import Chunk, ChunkState, Turn


def flush(world: World, name: str = "ann") -> Turn | None:
    """Flush somebody's conversation, due now; return the open turn."""
    world.make_due(name)
    return world.flush(name)


def answer_all(world: World) -> list[str]:
    """Answer turn after turn until none is open; return what ann read."""
    while (turn := flush(world)) is not None:
        world.answer(turn)
    return world.delivered()


def queued(world: World, text: str = "hello", name: str = "ann") -> Turn:
    """A turn that waits for its answer."""
    world.receive(world.text(text, name=name))
    turn = flush(world, name)
    assert turn is not None
    for queue in ("inbox", "reply"):
        taken(world, queue)
    return turn


def generated(world: World, *texts: str) -> Turn:
    """A turn of ann whose answer is stored."""
    world.receive(*(world.text(text) for text in texts or ("hello",)))
    turn = flush(world)
    assert turn is not None
    reply.generate_reply(world.bridge, turn.id)
    return world.turn(turn.id)


def send(world: World, turn: Turn) -> Outcome:
    """Answer the doorbell of a delivery, as if its time had come."""
    past = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.turns.collection.update_one(
        {"_id": turn.id, "state": "generated"}, {"$set": {"next_attempt_at": past}}
    )
    return deliver.deliver_reply(world.bridge, turn.id)


def calm(world: World) -> None:
    """Let the pause of the channel's account be over."""
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"send_blocked_until": None}})


def states(world: World, turn: Turn) -> list[ChunkState]:
    """The states of a turn's chunks."""
    return [chunk.state for chunk in world.turn(turn.id).chunks]


def sends_left(world: World) -> int:
    """What is left of ann's send budget."""
    conversation = world.bridge.conversations.get(world.chat())
    assert conversation is not None
    return conversation.sends_left


def generated_of(world: World, name: str) -> Turn:
    """A turn of somebody whose answer is stored."""
    turn = queued(world, "hello", name)
    reply.generate_reply(world.bridge, turn.id)
    return world.turn(turn.id)


def with_chunks(world: World, turn: Turn, count: int) -> None:
    """Give a turn so many chunks."""
    chunks = [Chunk(client_id=keys.client_id(turn.id, number), text=f"c{number}") for number in range(count)]
    changes = {"chunks": [chunk.model_dump() for chunk in chunks]}
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": changes})
