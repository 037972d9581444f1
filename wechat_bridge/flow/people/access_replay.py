"""Whether a turn that was given up is of somebody who may still be answered."""

from __future__ import annotations

from wechat_bridge.errors import ReplayRefused
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.access import Person, Reason, refusal
from wechat_bridge.model.turn import Lane, Turn

WAYS = {
    Reason.DISABLED: "wechat-bridge access policy {share_id} POLICY",
    Reason.DENIED: "wechat-bridge access allow {share_id} {user_id}",
    Reason.NOT_LISTED: "wechat-bridge access allow {share_id} {user_id}",
    Reason.NOT_PAIRED: "wechat-bridge access allow {share_id} {user_id}",
    Reason.MUTED: "wechat-bridge access unmute {share_id} {user_id}",
    Reason.HUMAN: "wechat-bridge access bot {share_id} {user_id}",
}
"""What ends each reason for which a person is not answered at all."""


def check_still_answered(bridge: Bridge, turn: Turn) -> None:
    """Raise ReplayRefused when the person of a turn has been refused since, LedgerUnavailable when nobody can tell.

    What the bridge or an operator says by themselves (lane of notices) is nobody's question.
    """
    reason = _reason(bridge, turn)
    if reason is not None:
        way = WAYS[reason].format(share_id=turn.share_id, user_id=turn.user_id)
        raise ReplayRefused(
            f"{turn.id}: {turn.user_id} is not answered any more ({reason.value}). "
            f"To answer them again: {way}; to answer this one all the same: wechat-bridge dead replay {turn.id} --force"
        )


def _reason(bridge: Bridge, turn: Turn) -> Reason | None:
    gate = bridge.access.gate(turn.share_id) if turn.lane is not Lane.NOTICE else None
    if gate is None:
        return None
    conversation = bridge.conversations.get(turn.chat_id)
    person = conversation.access if conversation else Person()
    reason = refusal(gate.rules, gate.owner_user_id == turn.user_id, person, bridge.clock.now())
    return None if reason is Reason.HUMAN and turn.lane is Lane.COMMAND else reason
