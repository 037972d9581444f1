"""Store the answer of a turn as chunks, before anything is sent."""

from __future__ import annotations

from wechat_bridge.engines.base import Answer
from wechat_bridge.flow.close import close_turn
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.files import keep_files
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model.characters import without_lone_surrogates
from wechat_bridge.model.chunks import split
from wechat_bridge.model.markdown import for_wechat
from wechat_bridge.model.outcome import Done, Outcome
from wechat_bridge.model.turn import EngineCall, Turn, TurnState, chunks_of
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def store(bridge: Bridge, turn: Turn, answer: Answer, call: EngineCall) -> Outcome:
    """Store an answer under this claim and ring its delivery. Raises LedgerUnavailable."""
    if not answer.text.strip() and not answer.files:
        return skip(bridge, turn, "the engine answered nothing")
    media_ids, sentences = keep_files(bridge, turn, answer.files)
    text = "\n".join(filter(None, [without_lone_surrogates(answer.text), *sentences]))
    chunks = chunks_of(turn.id, _split(bridge, text, len(media_ids)), media_ids)
    now = bridge.clock.now()
    stored = bridge.turns.release(
        turn,
        TurnState.GENERATED,
        next_attempt_at=now,
        ring_at=bridge.clock.after(bridge.settings.sweep.ring_again_seconds),
        question=turn.question,
        answer=text,
        engine_call=call.model_dump(),
        chunks=[chunk.model_dump() for chunk in chunks],
        error=None,
        **{f"times.{TurnState.GENERATED.value}": now},
    )
    if stored:
        turn.state = TurnState.GENERATED
        log.info(
            "answer_stored", turn_id=turn.id, chunks=len(chunks), elapsed_ms=call.elapsed_ms, trace_id=turn.trace_id
        )
        ring_turn(bridge, turn)
    return Done()


def skip(bridge: Bridge, turn: Turn, reason: str) -> Outcome:
    """End a claimed turn that has nothing to send. Raises LedgerUnavailable."""
    if bridge.turns.finish(turn, TurnState.SKIPPED, bridge.clock.now(), {"error": reason}):
        turn.state, turn.error = TurnState.SKIPPED, reason
        log.info("turn_skipped", turn_id=turn.id, reason=reason, trace_id=turn.trace_id)
        close_turn(bridge, turn)
    return Done()


def _split(bridge: Bridge, text: str, files: int) -> list[str]:
    """Cut the text so that the files behind it fit into the send budget, too."""
    if not text.strip():
        return []
    reply = bridge.settings.reply
    return split(for_wechat(text), reply.chunk_characters, reply.chunk_bytes, max(1, reply.sends_per_message - files))
