"""Who may ask an engine now; the others wait in the ledger until it can take them, and no thread waits with them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta

from wechat_bridge.engines.base import Answer, Engine, Question
from wechat_bridge.errors import (
    BrokerUnavailable,
    ConversationBusy,
    DocumentInvalid,
    EngineRefused,
    EngineUnavailable,
)
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.engine import TAKEN, BreakerSettings
from wechat_bridge.model.turn import Lane, Turn, TurnState
from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger
from wechat_bridge.observe.secrets import masked_text
from wechat_bridge.store.engine_gates import Left, Place, Verdict

log = logger(__name__)


class Entry:
    """One try to answer a turn: its channel as it was read, and its place at the engine where it needs one.

    ``is_given_back`` tells that the engine is down, so that the attempt is not the turn's.
    """

    def __init__(self, bridge: Bridge, channel: Channel | None, place: Place | None = None) -> None:
        self.channel = channel
        self.is_given_back = False
        self._bridge = bridge
        self._place = place

    def ask(self, turn: Turn, engine: Engine, question: Question) -> tuple[Answer, float]:
        """Return the answer and the seconds it took; the place is free then. Raises what the engine raises."""
        started = time.monotonic()
        try:
            answer = engine.answer(question)
        except ConversationBusy:
            self.leave()
            raise
        except EngineUnavailable as error:
            self._failed(turn, error)
            raise
        except EngineRefused:
            self.leave(Verdict.ANSWERED)
            raise
        elapsed = time.monotonic() - started
        metrics.engine_seconds.labels(engine.name).observe(elapsed)
        metrics.stage_seconds.labels("engine").observe(elapsed)
        self.leave(Verdict.ANSWERED)
        return answer, elapsed

    def leave(
        self, verdict: Verdict = Verdict.NOTHING, error: EngineUnavailable | None = None, *, may_wait: bool = False
    ) -> Left | None:
        """Give the place back, if it is still held, and ring who is next. Raises nothing."""
        place, self._place = self._place, None
        return _leave(self._bridge, place, verdict, error, may_wait=may_wait) if place is not None else None

    def _failed(self, turn: Turn, error: EngineUnavailable) -> None:
        may_wait = is_worth_waiting(self._bridge, turn)
        left = self.leave(Verdict.FAILED, error, may_wait=may_wait)
        self.is_given_back = may_wait and left is not None and left.is_open and not left.is_guilty


def enter(bridge: Bridge, turn_id: str, lease_seconds: float) -> Entry | None:
    """Let a turn in, or return None: it stays queued, and whoever makes room rings for it. Raises LedgerUnavailable.

    Commands need no engine, and the echo no gate. Without Redis everything is let in.
    """
    channel = _channel_of(bridge, turn_id)
    name = channel.engine if channel else TAKEN
    if name == TAKEN or name not in bridge.engines:
        return Entry(bridge, channel)
    holder = f"{bridge.owner}|{keys.new_token()}"
    try:
        place = bridge.gates.admit(name, limit_of(bridge, name), turn_id, holder, lease_seconds)
        if place is None and _is_in_line(bridge, name, turn_id):
            return None
    except BrokerUnavailable as error:
        log.warning("engine_not_guarded", engine=name, error=str(error))
        place = None
    return Entry(bridge, channel, place)


def limit_of(bridge: Bridge, engine: str) -> int:
    """Return how many calls of an engine may be open at once, 0: any number. Those of packages have no limit."""
    described = bridge.settings.engines.get(engine)
    return described.max_concurrency if described else 0


def limits(bridge: Bridge) -> dict[str, int]:
    """Return the limit of every engine that has a gate."""
    return {name: limit_of(bridge, name) for name in sorted(bridge.engines) if name != TAKEN}


def share_id_of(turn_id: str) -> str:
    """Return the channel of a turn that asks an engine."""
    return turn_id.removeprefix(keys.TURN_PREFIX).partition(":")[0]


def is_worth_waiting(bridge: Bridge, turn: Turn) -> bool:
    """Whether WeChat would still take an answer to this turn."""
    began = turn.times.get(TurnState.QUEUED.value)
    lifetime = timedelta(seconds=bridge.settings.reply.context_lifetime_seconds)
    return began is not None and bridge.clock.now() - began < lifetime


def ring_waiting(bridge: Bridge, turn_ids: Sequence[str], delay_seconds: float = 0.0) -> None:
    """Ring turns that an engine can take. A lost doorbell costs seconds: the sweep looks at every line."""
    try:
        for turn_id in turn_ids:
            bridge.doorbells.ring_reply(turn_id, delay_seconds)
    except BrokerUnavailable as error:
        log.warning("ring_failed", turns=len(turn_ids), error=str(error))


def _channel_of(bridge: Bridge, turn_id: str) -> Channel | None:
    try:
        return bridge.channels.get(share_id_of(turn_id))
    except DocumentInvalid:
        return None  # met again, and reported, once the turn is claimed


def _is_in_line(bridge: Bridge, engine: str, turn_id: str) -> bool:
    """Whether a turn that was not let in waits for the engine: not a command, and none that has moved on."""
    turn = bridge.turns.get(turn_id)
    if turn is None or turn.lane is Lane.COMMAND or turn.state is not TurnState.QUEUED:
        bridge.gates.forget(engine, turn_id)
        return False
    log.info("turn_waits_for_engine", turn_id=turn_id, engine=engine, trace_id=turn.trace_id)
    return True


def _leave(
    bridge: Bridge, place: Place, verdict: Verdict, error: EngineUnavailable | None = None, *, may_wait: bool = False
) -> Left | None:
    """Leave; None when Redis refused: then this process does it as soon as it can."""
    reason = masked_text(str(error)) if error else ""
    hold_seconds = (error.retry_after_seconds or 0.0) if error else 0.0

    def step() -> Left:
        left = bridge.gates.leave(
            place, verdict, _rules(bridge), reason=reason, hold_seconds=hold_seconds, may_wait=may_wait
        )
        _follow(bridge, place, left, reason)
        return left

    try:
        return step()
    except BrokerUnavailable as refused:
        log.warning("engine_not_left", engine=place.engine, error=str(refused))
        bridge.unfinished.add(f"leave {place.holder}", step)
        return None


def _follow(bridge: Bridge, place: Place, left: Left, reason: str) -> None:
    if left.change == "opened":
        log.warning("engine_opened", engine=place.engine, reason=reason)
    elif left.change == "closed":
        log.warning("engine_closed", engine=place.engine)
    ring_waiting(bridge, left.next_turns, left.delay_seconds)


def _rules(bridge: Bridge) -> BreakerSettings:
    """A lone turn fails with its last attempt at most: the outage is known before it is given up."""
    rules, attempts = bridge.settings.breaker, bridge.settings.reply.max_retries + 1
    return rules.model_copy(update={"failures": min(rules.failures, attempts)})
