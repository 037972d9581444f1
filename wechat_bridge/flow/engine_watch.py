"""The sweep's part in front of the engines: ring who waits and can be let in, spare who cannot, tell the operator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from wechat_bridge.errors import EngineUnavailable
from wechat_bridge.flow.admission import is_worth_waiting, limits, ring_waiting
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.failure import give_up
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model.turn import Lane, Turn, TurnState
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.engine_gates import GateState

log = logger(__name__)

DOWN = "engine_down"
ALERT_AFTER_SECONDS = 15.0
"""A pause that an engine asks for, or one bad moment, is no alarm."""

MOST_RUNG = 50
"""Turns of one line that a pass rings: each that is answered rings two more."""


class EngineWatch:
    """One per sweeping process; remembers whom it has told about."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def look(self, bridge: Bridge, dead_owners: Sequence[str], room: int) -> set[str]:
        """Free what dead processes held, ring who can be let in, at most ``room`` turns; return the engines that can
        take nobody. Raises BrokerUnavailable."""
        gates = limits(bridge)
        for name, limit in gates.items():
            rung = bridge.gates.wake(name, limit, max(0, min(room, MOST_RUNG)), dead_owners)
            ring_waiting(bridge, rung)
            room -= len(rung)
        found = bridge.gates.look(gates)
        self._tell(found)
        return {gate.engine for gate in found if gate.is_shut}

    def _tell(self, gates: Iterable[GateState]) -> None:
        now = datetime.now(UTC)
        down = {gate.engine: gate for gate in gates if gate.open_since is not None}
        for name in self._told - down.keys():
            alerts.clear(DOWN, name)
        long_enough = {name for name, gate in down.items() if _seconds(gate, now) >= ALERT_AFTER_SECONDS}
        for name in long_enough:
            alerts.raise_(DOWN, name, f"{down[name].reason}; {down[name].waiting} turns wait until it answers again")
        self._told = (self._told & down.keys()) | long_enough


def spared(bridge: Bridge, turns: Sequence[Turn], shut: Collection[str]) -> list[Turn]:
    """Return the turns that are worth a ring. Those whose engine can take nobody wait in its line, and are passed over
    for as long as rings are ever apart; one to which WeChat takes no answer any more is given up."""
    queued = [turn for turn in turns if turn.state is TurnState.QUEUED and turn.lane is Lane.TALK] if shut else []
    engines = bridge.channels.engines_of({turn.share_id for turn in queued}) if queued else {}
    held: dict[str, list[Turn]] = defaultdict(list)
    for turn in queued:
        if engines.get(turn.share_id) in shut:
            held[engines[turn.share_id]].append(turn)
    for engine, waiting in held.items():
        _hold(bridge, engine, waiting)
    quiet = {turn.id for waiting in held.values() for turn in waiting}
    return [turn for turn in turns if turn.id not in quiet]


def _hold(bridge: Bridge, engine: str, turns: Sequence[Turn]) -> None:
    young, late = list[str](), list[Turn]()
    for turn in turns:
        if is_worth_waiting(bridge, turn):
            young.append(turn.id)
        else:
            late.append(turn)
    bridge.gates.line_up(engine, young)
    bridge.turns.keep_quiet(young, bridge.clock.after(bridge.settings.sweep.ring_most_seconds))
    for turn in late:
        _too_late(bridge, engine, turn)


def _too_late(bridge: Bridge, engine: str, turn: Turn) -> None:
    hours = bridge.settings.reply.context_lifetime_seconds / 3600
    reason = f"engine {engine} could not take it for {hours:g} h, after which WeChat takes no answer"
    if give_up(bridge, turn, reason, EngineUnavailable(reason)):
        log.warning("turn_waited_too_long", turn_id=turn.id, engine=engine, trace_id=turn.trace_id)
        turn.state = TurnState.DEAD
        ring_turn(bridge, turn)


def _seconds(gate: GateState, now: datetime) -> float:
    return (now - (gate.open_since or now)).total_seconds()
