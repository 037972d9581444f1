"""An error nobody expected, in the middle of work on a turn."""

from __future__ import annotations

from wechat_bridge.errors import BridgeError, EngineUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.failure import STAGES, failed
from wechat_bridge.model.outcome import Done, Outcome


def crashed(bridge: Bridge, turn_id: str, error: Exception) -> Outcome:
    """Count the crash against the turn if this process holds it: it is tried again, and given up in the end."""
    turn = bridge.turns.get(turn_id)
    if turn is None or turn.state not in STAGES or turn.owner != bridge.owner:
        return Done()
    return failed(bridge, turn, _named(error))


def _named(error: Exception) -> BridgeError:
    if isinstance(error, BridgeError):
        return error
    named = EngineUnavailable(f"{type(error).__name__} in the bridge itself; see the log of this turn")
    named.__cause__ = error
    return named
