"""A message of ours that WeCom accepted and did not show: its reply was not sent after all.

It waits for the customer where their next message helps; else somebody is told.
"""

from __future__ import annotations

from typing import Any

from wechat_bridge.errors import SendBudgetExhausted, SendRefused
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.dead_letters.dead import letter_of
from wechat_bridge.flow.dead_letters.letters import keep
from wechat_bridge.flow.park import release_parked
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model import keys
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.turn import Chunk, ChunkState, Turn, TurnState
from wechat_bridge.model.wecom_kf import msgid_of
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.turns import Opening

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

HELPED = frozenset({4, 6})
"""What the customer's next message helps against. WeCom counts five from when something was said, the bridge from when
it was read: what was sent in between counts there alone."""

RACES = 5
"""A turn that is being sent moves on; each move is one more try."""


def not_shown(bridge: Bridge, share_id: str, user_id: str, msgid: str, fail_type: int | None) -> None:
    """Let the reply of which a message was not shown wait for the customer, or give it up.

    One that is given up is a dead letter, whose replay sends what was not seen. Raises LedgerUnavailable.
    """
    chat_id = keys.chat_id(share_id, user_id)
    reason = REASONS.get(fail_type or 0, f"fail_type {fail_type}")
    for _ in range(RACES):
        turn = _turn_of(bridge, chat_id, msgid)
        if turn is None:
            log.warning("unknown_message_not_shown", chat_id=chat_id, msgid=msgid, reason=reason)
            return
        may_wait = fail_type in HELPED and _may_wait(bridge, turn)
        opening = _parked(bridge, turn, msgid, reason) if may_wait else Opening.BUSY
        if opening is Opening.OPENED or (opening is Opening.BUSY and _given_up(bridge, turn, msgid, reason)):
            return


def _turn_of(bridge: Bridge, chat_id: str, msgid: str) -> Turn | None:
    """Return the turn that sent a message; one that is just being sent does not know what became of it yet."""
    if turn := bridge.turns.sent_as(chat_id, msgid):
        return turn
    turn = bridge.turns.open_of(chat_id)
    return turn if turn and any(msgid_of(chunk.client_id) == msgid for chunk in turn.chunks) else None


def _may_wait(bridge: Bridge, turn: Turn) -> bool:
    has_ended = turn.state in (TurnState.DEAD, TurnState.SKIPPED)
    return not has_ended and turn.releases < bridge.settings.reply.most_releases


def _parked(bridge: Bridge, turn: Turn, msgid: str, reason: str) -> Opening:
    """Let it wait for the customer's next message; BUSY while another turn is open, EXISTS when it has moved on."""
    number, chunk = _again(turn, msgid)
    conversation = bridge.conversations.get(turn.chat_id)
    rev = conversation.rev if conversation else 0
    has_said_more = conversation is not None and _has_said_more(conversation, turn.chunks[number])
    if not has_said_more:
        bridge.conversations.exhaust(turn.chat_id, rev)
    changes = {
        f"chunks.{number}": chunk.model_dump(),
        "error": _error(number, reason),
        "park_reason": SendBudgetExhausted.reason,
        "seen_rev": rev - has_said_more,
    }
    opening = bridge.turns.park_again(turn, bridge.clock.now(), changes)
    if opening is Opening.OPENED:
        log.warning("message_not_shown", turn_id=turn.id, number=number, reason=reason, trace_id=turn.trace_id)
        if parked := bridge.turns.get(turn.id):  # what it waits for may have come meanwhile
            release_parked(bridge, parked)
    return opening


def _has_said_more(conversation: Conversation, chunk: Chunk) -> bool:
    """Whether the customer has written, as far as is known, since a message was sent that they did not see."""
    said_at = conversation.context_sent_at
    return chunk.at is not None and said_at is not None and said_at > chunk.at


def _again(turn: Turn, msgid: str) -> tuple[int, Chunk]:
    """Return the chunk that was not shown, as it waits again, and its number.

    Under its old id WeCom would take it for a repeat, and never show it.
    """
    number = next(at for at, chunk in enumerate(turn.chunks) if msgid_of(chunk.client_id) == msgid)
    chunk = turn.chunks[number]
    refused = chunk.refusals + 1
    again = {"client_id": f"{chunk.client_id}~{refused}", "refusals": refused, "message_id": None, "at": None}
    return number, chunk.model_copy(update=again | {"state": ChunkState.WAITING})


def _error(number: int, reason: str) -> str:
    return f"WeCom accepted message {number + 1} of this reply and did not show it: {reason}"


def _given_up(bridge: Bridge, turn: Turn, msgid: str, reason: str) -> bool:
    """Write it; False when the turn has moved on since it was read."""
    number, chunk = _again(turn, msgid)
    turn.chunks[number] = chunk
    put_back = {f"chunks.{number}": chunk.model_dump()}
    if turn.state is TurnState.DEAD:  # its letter is written, or about to be: the replay sends this one, too
        return bridge.turns.undo(turn, bridge.clock.now(), put_back)
    changes: dict[str, Any] = put_back | {
        "error": _error(number, reason),
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
