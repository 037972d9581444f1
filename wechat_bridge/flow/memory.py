"""What an engine is told of the conversation before a turn, and what it wants to be told the next time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from wechat_bridge.engines.base import Answer, Engine, Question, Round
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.store.ledger import LONG_AGO

MOST_ROUNDS = 50
"""Engines take what fits from these."""


@dataclass(frozen=True)
class Remembering:
    """A question with its memory. ``since`` is the moment at which the person last started anew."""

    question: Question
    since: datetime | None


def with_memory(bridge: Bridge, engine: Engine, question: Question) -> Remembering:
    """Return a question with what was said before it, since the person last started anew. Raises LedgerUnavailable.

    An engine that says ``needs_memory = False`` is spared the reads.
    """
    if not getattr(engine, "needs_memory", True):
        return Remembering(question, None)
    conversation = bridge.conversations.get(question.chat_id)
    if conversation is None:
        return Remembering(question, None)
    since = conversation.memory_from
    rounds = bridge.turns.rounds(question.chat_id, since or LONG_AGO, MOST_ROUNDS)
    known = conversation.engine_conversation if conversation.engine_name == engine.name else ""
    told = replace(
        question,
        history=tuple(Round(asked, answered) for asked, answered in rounds),
        memory_id=f"{since:%Y%m%d%H%M%S%f}" if since else "",
        engine_conversation=known,
    )
    return Remembering(told, since)


def remember(bridge: Bridge, engine: Engine, asked: Remembering, answer: Answer) -> None:
    """Keep the engine's own name for the conversation, unless the person has started anew meanwhile.

    A ledger that refuses gets it later: the answer is there, and must not be asked for again because of a name.
    """
    name, chat_id = answer.engine_conversation, asked.question.chat_id
    if not name or name == asked.question.engine_conversation:
        return
    step = partial(bridge.conversations.name_for_engine, chat_id, engine.name, name, asked.since)
    try:
        step()
    except LedgerUnavailable:
        bridge.unfinished.add(f"engine conversation {chat_id}", step)
