"""Store the answer of a turn as chunks, before anything is sent."""

from __future__ import annotations

from typing import Any

from wechat_bridge.engines.base import Answer
from wechat_bridge.flow.close import close_turn
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.media.files import keep_files
from wechat_bridge.flow.outgoing import REFUSED, cut
from wechat_bridge.flow.parts import platform_for
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model.characters import without_lone_surrogates
from wechat_bridge.model.outcome import Done, Outcome
from wechat_bridge.model.outgoing import OutgoingRules, Said, by_words
from wechat_bridge.model.turn import EngineCall, Lane, Turn, TurnState, chunks_of
from wechat_bridge.observe.logging import logger

log = logger(__name__)

UNRESTRICTED = OutgoingRules()
"""For answers that no engine gave."""

TOLD = "done; WeCom was to say so"
"""Of a command after which only the company's people may write to the person."""


def store(bridge: Bridge, turn: Turn, answer: Answer, call: EngineCall) -> Outcome:
    """Store an answer under this claim and ring its delivery. Raises LedgerUnavailable."""
    if not answer.text.strip() and not answer.files:
        nothing = TOLD if turn.lane is Lane.COMMAND else "the engine answered nothing"
        return skip(bridge, turn, nothing)
    read = platform_for(bridge, turn).read
    said = by_words(turn.outgoing or UNRESTRICTED, without_lone_surrogates(answer.text), read)
    if said.is_refused and not said.text:
        record = said.record.model_dump() if said.record else None
        return skip(bridge, turn, REFUSED, question=turn.question, check=record, engine_call=call.model_dump())
    kept = _kept(bridge, turn, answer, said)
    now = bridge.clock.now()
    stored = bridge.turns.release(
        turn,
        TurnState.GENERATED,
        next_attempt_at=now,
        ring_at=bridge.clock.after(bridge.settings.sweep.ring_again_seconds),
        question=turn.question,
        engine_call=call.model_dump(),
        error=None,
        **{f"times.{TurnState.GENERATED.value}": now},
        **kept,
    )
    if stored:
        turn.state = TurnState.GENERATED
        log.info("answer_stored", turn_id=turn.id, chunks=len(kept["chunks"]), elapsed_ms=call.elapsed_ms,
                 trace_id=turn.trace_id)  # fmt: skip
        ring_turn(bridge, turn)
    return Done()


def _kept(bridge: Bridge, turn: Turn, answer: Answer, said: Said) -> dict[str, Any]:
    """Return what is written of an answer. One that a webhook has yet to check has chunks for its files only."""
    media_ids, sentences = keep_files(bridge, turn, () if said.is_refused else answer.files)
    if turn.outgoing and turn.outgoing.check_url and answer.text.strip() and not said.is_refused:
        text = "\n".join([without_lone_surrogates(answer.text), *sentences])
        chunks = chunks_of(turn.id, [], media_ids)
        return {"answer": text, "unchecked": True, "chunks": [chunk.model_dump() for chunk in chunks]}
    text = "\n".join(filter(None, [said.text, *sentences]))
    label = said.label if answer.text.strip() else ""
    chunks = cut(bridge, turn, said.model_copy(update={"text": text, "label": label}), media_ids)
    record = {"check": said.record.model_dump()} if said.record else {}
    return {"answer": text, "chunks": [chunk.model_dump() for chunk in chunks]} | record


def skip(bridge: Bridge, turn: Turn, reason: str, **changes: Any) -> Outcome:
    """End a claimed turn that has nothing to send. Raises LedgerUnavailable."""
    if bridge.turns.finish(turn, TurnState.SKIPPED, bridge.clock.now(), {"error": reason} | changes):
        turn.state, turn.error = TurnState.SKIPPED, reason
        log.info("turn_skipped", turn_id=turn.id, reason=reason, trace_id=turn.trace_id)
        close_turn(bridge, turn)
    return Done()
