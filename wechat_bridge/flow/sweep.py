"""The safety net under the doorbells: ring again whatever is overdue, take over from dead owners."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from datetime import timedelta

from wechat_bridge.flow import spill
from wechat_bridge.flow.clock_back import ClockBack
from wechat_bridge.flow.close import close_turn
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.dead_letters import letters
from wechat_bridge.flow.dead_letters.letter_watch import LetterWatch
from wechat_bridge.flow.engine_watch import EngineWatch, spared
from wechat_bridge.flow.failure import STAGES, give_up, retry_budget
from wechat_bridge.flow.intake import ring_flush
from wechat_bridge.flow.login.session import remind
from wechat_bridge.flow.login.step import ring_overdue_logins
from wechat_bridge.flow.retention import Retention
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.flow.stuck_rows import StuckRows
from wechat_bridge.flow.wecom.held import HeldApps
from wechat_bridge.model.turn import TERMINAL, Turn, TurnState
from wechat_bridge.observe.logging import logger

log = logger(__name__)

FORGET_AFTER = timedelta(hours=1)
"""A process not seen for so long owns nothing any more: its links and turns were taken over long ago."""


class Sweeper:
    """One per process; its parts remember how far they have looked. Several at once are harmless."""

    def __init__(self) -> None:
        self._stuck_rows = StuckRows()
        self._retention = Retention()
        self._clock_back = ClockBack()
        self._letter_watch = LetterWatch()
        self._engine_watch = EngineWatch()
        self._held_apps = HeldApps()
        self._running = threading.Lock()

    def sweep(self, bridge: Bridge) -> None:
        """Do one pass, bounded, oldest first. A pass that finds another one running in this process leaves it to it."""
        if not self._running.acquire(blocking=False):
            return
        try:
            if self._clock_back.look(bridge):
                self._stuck_rows.begin_anew()
            spill.drain(bridge)
            letters.drain(bridge)
            dead = bridge.alive.dead_owners()
            shut = self._engine_watch.look(bridge, dead, _room(bridge, "reply"))
            _turns(bridge, dead, shut)
            self._held_apps.look(bridge, _room(bridge, "deliver"))
            _conversations(bridge)
            self._stuck_rows.look(bridge)
            ring_overdue_logins(bridge)
            remind(bridge)
            bridge.workers.forget(bridge.clock.now() - FORGET_AFTER)
            self._letter_watch.look(bridge)
            self._retention.go_on(bridge)
        finally:
            self._running.release()


def _turns(bridge: Bridge, dead: Sequence[str], shut: Collection[str]) -> None:
    room = min(_room(bridge, queue) for queue in ("reply", "deliver"))
    if room <= 0:
        return
    for turn in spared(bridge, bridge.turns.overdue(bridge.clock.now(), dead, room), shut):
        if turn.state in TERMINAL:
            _finish_terminal(bridge, turn)
        elif turn.state in STAGES:
            _take_over(bridge, turn)
        elif turn.state is not TurnState.PARKED:
            _ring_again(bridge, turn)


def _finish_terminal(bridge: Bridge, turn: Turn) -> None:
    """A dead turn is recorded before it is closed; sent and skipped ones only lack the closing."""
    if turn.state is TurnState.DEAD:
        _ring_again(bridge, turn)
    else:
        close_turn(bridge, turn)


def _take_over(bridge: Bridge, turn: Turn) -> None:
    """The owner of a claim is dead or its lease has run out: the turn is due again, unless it was the last attempt."""
    attempts = turn.generate_attempts if turn.state is TurnState.GENERATING else turn.deliver_attempts
    log.warning("turn_taken_over", turn_id=turn.id, state=turn.state.value, owner=turn.owner, trace_id=turn.trace_id)
    if attempts > retry_budget(bridge).max_retries:
        if give_up(bridge, turn, f"worker lost in attempt {attempts}"):
            turn.state = TurnState.DEAD
            ring_turn(bridge, turn)
        return
    back = TurnState.QUEUED if turn.state is TurnState.GENERATING else TurnState.GENERATED
    now = bridge.clock.now()
    if bridge.turns.release(turn, back, now, bridge.clock.after(bridge.settings.sweep.ring_again_seconds)):
        turn.state = back
        ring_turn(bridge, turn)


def _ring_again(bridge: Bridge, turn: Turn) -> None:
    bridge.turns.rang(turn, bridge.clock.after(bridge.settings.sweep.again_seconds(turn.rings)))
    ring_turn(bridge, turn)


def _conversations(bridge: Bridge) -> None:
    for row in bridge.conversations.overdue(bridge.clock.now(), _room(bridge, "inbox")):
        bridge.conversations.rang(
            row["_id"], bridge.clock.after(bridge.settings.sweep.again_seconds(row.get("rings") or 0))
        )
        ring_flush(bridge, row["_id"], 0.0)


def _room(bridge: Bridge, queue: str) -> int:
    return max(0, bridge.settings.sweep.ceiling - bridge.doorbells.waiting(queue))
