"""Tasks that take a message to its answer."""

from __future__ import annotations

from celery import shared_task

from wechat_bridge import wiring
from wechat_bridge.flow import deliver, reply, turns
from wechat_bridge.flow.dead_letters import dead
from wechat_bridge.model.outcome import Outcome
from wechat_bridge.tasks.base import BridgeTask, TurnTask


@shared_task(name="wechat_bridge.flush_conversation", base=BridgeTask)
def flush_conversation(chat_id: str) -> None:
    """Make a turn of the waiting messages of a conversation."""
    turns.flush_conversation(wiring.bridge(), chat_id)


@shared_task(name="wechat_bridge.generate_reply", base=TurnTask)
def generate_reply(turn_id: str) -> Outcome:
    """Ask the engine for the answer of a turn."""
    return reply.generate_reply(wiring.bridge(), turn_id)


@shared_task(name="wechat_bridge.deliver_reply", base=TurnTask)
def deliver_reply(turn_id: str) -> Outcome:
    """Send the answer of a turn."""
    return deliver.deliver_reply(wiring.bridge(), turn_id)


@shared_task(name="wechat_bridge.record_dead_letter", base=BridgeTask)
def record_dead_letter(turn_id: str) -> None:
    """Keep a turn that was given up."""
    dead.record_dead_letter(wiring.bridge(), turn_id)
