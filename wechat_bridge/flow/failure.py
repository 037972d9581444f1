"""What an error does to a claimed turn: try again, park, or give up."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from wechat_bridge.errors import BridgeError, LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.park import release_parked, waits_for_operator
from wechat_bridge.model.outcome import Done, GiveUp, Outcome, Park, RetryBudget, RetryIn, decide
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.observe.logging import logger

log = logger(__name__)

STAGES = {TurnState.GENERATING: "reply", TurnState.DELIVERING: "deliver"}


def failed(bridge: Bridge, turn: Turn, error: BridgeError) -> Outcome:
    """Write what an error of this claim leads to, and return it. Done when the claim is not ours any more."""
    attempt = turn.generate_attempts if turn.state is TurnState.GENERATING else turn.deliver_attempts
    outcome = decide(error, attempt, retry_budget(bridge))
    if isinstance(outcome, Park) and _was_released_enough(bridge, turn, outcome):
        outcome = GiveUp(f"{outcome.reason}: refused again after {turn.releases} releases")
    log.warning("turn_failed", turn_id=turn.id, stage=STAGES[turn.state], attempt=attempt, error=str(error),
                outcome=type(outcome).__name__, trace_id=turn.trace_id)  # fmt: skip
    return or_later(bridge, f"failure {turn.id}", partial(_settle, bridge, turn, error, outcome))


def or_later(bridge: Bridge, name: str, step: Callable[[], Outcome]) -> Outcome:
    """Take a step that follows from a claim; if the ledger refuses, this process takes it as soon as it can.

    Otherwise the turn would be held, by a living process that does nothing, until its lease has run out, and what is
    known (an answer, an accepted chunk) would be forgotten. Raises LedgerUnavailable when it is for later.
    """
    try:
        return step()
    except LedgerUnavailable:
        bridge.unfinished.add(name, step)
        raise


def _settle(bridge: Bridge, turn: Turn, error: BridgeError, outcome: Outcome) -> Outcome:
    if not _write(bridge, turn, error, outcome):
        return Done()
    if isinstance(outcome, Park):
        _look_again(bridge, turn)
    return outcome


def _was_released_enough(bridge: Bridge, turn: Turn, outcome: Park) -> bool:
    """An operator is waited for without end; a message that helps is not."""
    return not waits_for_operator(outcome.reason) and turn.releases >= bridge.settings.reply.most_releases


def _look_again(bridge: Bridge, turn: Turn) -> None:
    """What the turn waits for may have come between the refusal and the parking."""
    parked = bridge.turns.get(turn.id)
    if parked is not None and parked.state is TurnState.PARKED:
        release_parked(bridge, parked)


def retry_budget(bridge: Bridge) -> RetryBudget:
    """Return the retry settings as the outcome function takes them."""
    reply = bridge.settings.reply
    return RetryBudget(reply.max_retries, reply.retry_base_seconds)


def give_up(bridge: Bridge, turn: Turn, reason: str, error: BaseException | None = None) -> bool:
    """Write that a claimed turn is given up; False when the claim is not ours any more."""
    changes = _known(turn) | {
        "error": reason,
        "failed_stage": "check" if turn.unchecked else STAGES.get(turn.state, STAGES[TurnState.GENERATING]),
        "error_class": type(error).__name__ if error else "WorkerLost",
        "traceback": "".join(traceback.format_exception(error)) if error else "",
    }
    return bridge.turns.finish(turn, TurnState.DEAD, bridge.clock.now(), changes)


def postpone(bridge: Bridge, turn: Turn, seconds: float) -> Outcome:
    """Give a delivery back that is not allowed yet; no attempt is counted."""
    due = bridge.clock.after(seconds)
    ring_at = bridge.clock.after(seconds + _ring_again(bridge))
    attempts = turn.deliver_attempts - 1
    released = bridge.turns.release(turn, TurnState.GENERATED, due, ring_at, deliver_attempts=attempts)
    return RetryIn(seconds) if released else Done()


def given_back(bridge: Bridge, turn: Turn, error: BridgeError) -> Outcome:
    """Give an attempt back that failed because the engine is down: no attempt is counted, and the turn waits in the
    engine's line. Raises LedgerUnavailable."""
    log.info("turn_given_back", turn_id=turn.id, error=str(error), trace_id=turn.trace_id)

    def release() -> Outcome:
        ring_at = bridge.clock.after(bridge.settings.sweep.ring_most_seconds)  # the line rings, long before
        attempts = turn.generate_attempts - 1
        changes = {"error": str(error), "generate_attempts": attempts}
        bridge.turns.release(turn, TurnState.QUEUED, bridge.clock.now(), ring_at, **changes)
        return Done()

    return or_later(bridge, f"failure {turn.id}", release)


def _write(bridge: Bridge, turn: Turn, error: BridgeError, outcome: Outcome) -> bool:
    if isinstance(outcome, GiveUp):
        return give_up(bridge, turn, outcome.reason, error)
    if isinstance(outcome, Park):
        changes = _known(turn) | {"park_reason": outcome.reason, "error": str(error), "seen_rev": turn.seen_rev}
        return bridge.turns.finish(turn, TurnState.PARKED, bridge.clock.now(), changes)
    assert isinstance(outcome, RetryIn)
    back = TurnState.QUEUED if turn.state is TurnState.GENERATING else TurnState.GENERATED
    due, ring_at = bridge.clock.after(outcome.seconds), bridge.clock.after(outcome.seconds + _ring_again(bridge))
    return bridge.turns.release(turn, back, due, ring_at, error=str(error), **_known(turn))


def _ring_again(bridge: Bridge) -> float:
    return bridge.settings.sweep.ring_again_seconds


def _known(turn: Turn) -> dict[str, Any]:
    """What this claim knows of its chunks: writing that one was accepted may be the very thing that failed."""
    return {"chunks": [chunk.model_dump() for chunk in turn.chunks]} if turn.state is TurnState.DELIVERING else {}
