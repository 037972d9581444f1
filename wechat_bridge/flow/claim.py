"""Take a turn, and do not keep it by accident."""

from __future__ import annotations

from functools import partial

from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model import keys
from wechat_bridge.model.turn import Turn, TurnState


def claim_turn(
    bridge: Bridge, turn_id: str, waiting: TurnState, working: TurnState, lease_seconds: float
) -> Turn | None:
    """Claim a turn that waits and is due; None when it is not to be had. Raises LedgerUnavailable.

    A ledger that does not answer in time may make the claim all the same, a moment later. Nobody would know, and the
    turn would be held by a living process that does nothing until the lease has run out: the claim is taken back.
    """
    claim, now = keys.new_token(), bridge.clock.now()
    lease_until = bridge.clock.after(lease_seconds)
    try:
        return bridge.turns.claim(turn_id, waiting, working, bridge.owner, now, lease_until, claim)
    except LedgerUnavailable:
        bridge.unfinished.add(f"claim {claim}", partial(bridge.turns.unclaim, turn_id, claim, waiting, working, now))
        raise
