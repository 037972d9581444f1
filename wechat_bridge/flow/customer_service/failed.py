"""A message of ours that WeCom accepted and did not show: its reply was not sent after all, and somebody is told."""

from __future__ import annotations

from typing import Any

from wechat_bridge.errors import SendRefused
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.dead_letters.dead import letter_of
from wechat_bridge.flow.dead_letters.letters import keep
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model import keys
from wechat_bridge.model.turn import ChunkState, Turn, TurnState
from wechat_bridge.model.wecom_kf import msgid_of
from wechat_bridge.observe.logging import logger

log = logger(__name__)

REASONS = {
    0: "for a reason that it does not say",
    1: "the customer service account was deleted",
    2: "the app is disabled",
    4: "the customer's last message is more than 48 hours old",
    5: "the session has ended",
    6: "more than five messages since the customer's last one",
    8: "the company is not verified",
    10: "the customer refuses messages",
    11: "the company's administrator has not logged in",
    12: "messages of this type are forbidden for it",
}
"""By ``fail_type`` (facts, 8)."""

RACES = 5
"""A turn that is being sent moves on; each move is one more try."""


def not_shown(bridge: Bridge, share_id: str, user_id: str, msgid: str, fail_type: int | None) -> None:
    """Give up the reply of which a message was not shown: a dead letter, whose replay sends what was not seen.

    Raises LedgerUnavailable.
    """
    chat_id = keys.chat_id(share_id, user_id)
    reason = REASONS.get(fail_type or 0, f"fail_type {fail_type}")
    for _ in range(RACES):
        turn = _turn_of(bridge, chat_id, msgid)
        if turn is None:
            log.warning("unknown_message_not_shown", chat_id=chat_id, msgid=msgid, reason=reason)
            return
        if turn.state is TurnState.DEAD or _given_up(bridge, turn, msgid, reason):
            return


def _turn_of(bridge: Bridge, chat_id: str, msgid: str) -> Turn | None:
    """Return the turn that sent a message; one that is just being sent does not know what became of it yet."""
    if turn := bridge.turns.sent_as(chat_id, msgid):
        return turn
    turn = bridge.turns.open_of(chat_id)
    return turn if turn and any(msgid_of(chunk.client_id) == msgid for chunk in turn.chunks) else None


def _given_up(bridge: Bridge, turn: Turn, msgid: str, reason: str) -> bool:
    """Write it; False when the turn has moved on since it was read."""
    number = next(at for at, chunk in enumerate(turn.chunks) if msgid_of(chunk.client_id) == msgid)
    chunk = turn.chunks[number]
    refused = chunk.refusals + 1
    # Under its old id WeCom would take it for a repeat, and never show it.
    again = {"client_id": f"{chunk.client_id}~{refused}", "refusals": refused, "message_id": None, "at": None}
    turn.chunks[number] = chunk.model_copy(update=again | {"state": ChunkState.WAITING})
    changes: dict[str, Any] = {
        f"chunks.{number}": turn.chunks[number].model_dump(),
        "error": f"WeCom accepted message {number + 1} of this reply and did not show it: {reason}",
        "failed_stage": "deliver",
        "error_class": SendRefused.__name__,
        "traceback": "",
    }
    after = turn.model_copy(update={name: changes[name] for name in ("error", "failed_stage", "error_class")})
    after.state = TurnState.DEAD
    if not turn.open:
        keep(bridge, letter_of(bridge, after, bridge.inbox.of_turn(turn.id)))
    if not bridge.turns.undo(turn, bridge.clock.now(), changes):
        return False
    log.warning("message_not_shown", turn_id=turn.id, number=number, reason=reason, trace_id=turn.trace_id)
    if turn.open:
        ring_turn(bridge, after)
    return True
