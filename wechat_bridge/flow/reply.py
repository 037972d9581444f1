"""Ask the engine for the answer of a turn."""

from __future__ import annotations

from functools import partial

from wechat_bridge.engines.base import Answer, Attachment, Engine, Question
from wechat_bridge.errors import BridgeError, NotConfigured
from wechat_bridge.flow.admission import Entry, enter
from wechat_bridge.flow.answer import skip, store
from wechat_bridge.flow.claim import claim_turn
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.failure import failed, given_back, or_later
from wechat_bridge.flow.media.fetch import with_media
from wechat_bridge.flow.memory import remember, with_memory
from wechat_bridge.flow.people.commands import run_command
from wechat_bridge.flow.quotes import with_quotes
from wechat_bridge.flow.typing import typing
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.message import InboxRow, in_order
from wechat_bridge.model.outcome import Done, Outcome
from wechat_bridge.model.platform import platform_of
from wechat_bridge.model.question import question_text
from wechat_bridge.model.turn import EngineCall, Lane, Turn, TurnState
from wechat_bridge.observe.logging import logger

log = logger(__name__)

LEASE_SLACK_SECONDS = 30.0
"""Between the engine's deadline and the moment others may take over: time to store the answer."""


def generate_reply(bridge: Bridge, turn_id: str) -> Outcome:
    """Claim a queued turn, ask its engine, store the answer, ring the delivery. Raises OwnerStale before claiming.

    A turn that its engine cannot take now stays as it is.
    """
    bridge.alive.check()
    settings = bridge.settings
    lease_seconds = settings.media.fetch_seconds + settings.reply.engine_deadline_seconds + LEASE_SLACK_SECONDS
    entry = enter(bridge, turn_id, lease_seconds)
    if entry is None:
        return Done()
    try:
        turn = claim_turn(bridge, turn_id, TurnState.QUEUED, TurnState.GENERATING, lease_seconds)
        return _generate(bridge, turn, entry) if turn is not None else Done()
    finally:
        entry.leave()


def _generate(bridge: Bridge, turn: Turn, entry: Entry) -> Outcome:
    try:
        rows = in_order(bridge.inbox.claim(turn.message_ids, turn.id))
        answered = _answer(bridge, turn, rows, entry) if rows else None
    except BridgeError as error:
        return given_back(bridge, turn, error) if entry.is_given_back else failed(bridge, turn, error)
    later = partial(store, bridge, turn, *answered) if answered else partial(skip, bridge, turn, "already answered")
    return or_later(bridge, f"answer {turn.id}", later)


def _answer(bridge: Bridge, turn: Turn, rows: list[InboxRow], entry: Entry) -> tuple[Answer, EngineCall]:
    turn.platform = platform_of(entry.channel) if entry.channel else None
    if turn.lane is Lane.COMMAND:
        return Answer(run_command(bridge, turn, rows)), EngineCall(engine="command")
    fetched, media = with_media(bridge, turn, rows, entry.channel)
    turn.question = question_text(with_quotes(bridge, fetched))
    return _ask(bridge, turn, turn.question, media, entry)


def _ask(
    bridge: Bridge, turn: Turn, text: str, media: tuple[Attachment, ...], entry: Entry
) -> tuple[Answer, EngineCall]:
    channel = entry.channel or bridge.channels.get(turn.share_id)
    engine = _engine(bridge, turn, channel)
    turn.outgoing = channel.outgoing if channel else None
    deadline = bridge.settings.reply.engine_deadline_seconds
    plain = Question(turn.id, turn.share_id, turn.chat_id, turn.user_id, text, deadline, media)
    asked = with_memory(bridge, engine, plain)
    bridge.alive.check()  # last of all: who stood still in the reads may have lost the turn to another process
    log.info("engine_called", turn_id=turn.id, engine=engine.name, trace_id=turn.trace_id)
    with typing(bridge, channel, turn.user_id):
        answer, elapsed_seconds = entry.ask(turn, engine, asked.question)
    remember(bridge, engine, asked, answer)
    return answer, EngineCall(
        engine=engine.name,
        model=answer.model,
        elapsed_ms=round(elapsed_seconds * 1000),
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        finish_reason=answer.finish_reason,
        attempt=turn.generate_attempts,
    )


def _engine(bridge: Bridge, turn: Turn, channel: Channel | None) -> Engine:
    name = channel.engine if channel else ""
    engine = bridge.engines.get(name)
    if engine is None:
        known = ", ".join(sorted(bridge.engines))
        raise NotConfigured(f"channel {turn.share_id} wants the engine {name!r}; there are: {known}")
    return engine
