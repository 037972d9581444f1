"""Record what was given up, tell the person once, and end the turn."""

from __future__ import annotations

from typing import Any

from wechat_bridge.errors import (
    AppHeld,
    BridgeError,
    ContentRefused,
    RecipientRefused,
    SendBudgetExhausted,
    SendRefused,
    SessionExpired,
    TransientError,
)
from wechat_bridge.flow.channel.accounts import opened
from wechat_bridge.flow.close import close_turn
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.dead_letters.letters import fit_to_keep, keep
from wechat_bridge.flow.pace import NotYet, wait_for_slot
from wechat_bridge.flow.wecom.held import begin_hold, check_held, end_hold
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.message import InboxRow, Item, type_of
from wechat_bridge.model.platform import platform_of
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.observe.logging import logger

log = logger(__name__)

REFUSALS = frozenset(
    each.__name__ for each in (SendRefused, SendBudgetExhausted, SessionExpired, RecipientRefused, ContentRefused)
)


def record_dead_letter(bridge: Bridge, turn_id: str) -> None:
    """Keep a given-up turn as a dead letter, apologise to the person, close it. Idempotent."""
    turn = bridge.turns.get(turn_id)
    if turn is None or turn.state is not TurnState.DEAD or not turn.open:
        return
    rows = bridge.inbox.claim(turn.message_ids, turn.id)
    if not keep(bridge, letter_of(bridge, turn, rows)):
        return  # the turn stays open, and the sweep rings for it again
    _apologise(bridge, turn)
    close_turn(bridge, turn)


def letter_of(bridge: Bridge, turn: Turn, rows: list[InboxRow]) -> DeadLetter:
    """Return the letter of a given-up turn and its rows."""
    now = bridge.clock.now()
    return DeadLetter(
        id=turn.id,
        share_id=turn.share_id,
        chat_id=turn.chat_id,
        stage=turn.failed_stage or "reply",
        event_type=type_of(item for row in rows for item in row.items),
        error_class=turn.error_class or "",
        error=fit_to_keep(turn.error or ""),
        traceback=fit_to_keep(turn.traceback or ""),
        attempts=turn.generate_attempts + turn.deliver_attempts,
        original=[{"id": row.id, "raw": fit_to_keep(row.raw), "items": list(map(_plain, row.items))} for row in rows],
        trace_id=turn.trace_id,
        first_failure_at=turn.times.get(TurnState.GENERATING.value, now),
        last_failure_at=turn.times.get(TurnState.DEAD.value, now),
    )


def _plain(item: Item) -> dict[str, Any]:
    texts: dict[str, Any] = {"text": fit_to_keep(item.text), "label": fit_to_keep(item.label)}
    if item.quote is not None and item.quote.text:
        texts["quote"] = item.quote.model_copy(update={"text": fit_to_keep(item.quote.text)})
    return item.model_copy(update=texts).model_dump(mode="json")


def _apologise(bridge: Bridge, turn: Turn) -> None:
    """Send the fixed apology, at most once; not when a refusal of WeChat is the reason: it would be refused, too."""
    if turn.apologized or turn.error_class in REFUSALS or not bridge.settings.reply.apology:
        return
    channel = bridge.channels.get(turn.share_id)
    conversation = bridge.conversations.get(turn.chat_id)
    if channel is None or channel.sealed_account is None or conversation is None:
        return
    if not bridge.turns.mark_apologized(turn.id):
        return
    try:
        _send_apology(bridge, turn, channel, conversation)
    except (TransientError, NotYet) as error:
        log.warning("apology_failed", turn_id=turn.id, error=str(error))
    except BridgeError as error:
        if isinstance(error, AppHeld):
            begin_hold(bridge, channel, error)
        log.warning("apology_refused", turn_id=turn.id, error=str(error))


def _send_apology(bridge: Bridge, turn: Turn, channel: Channel, conversation: Conversation) -> None:
    """Send it if what a person may get is not used up. Raises NotYet, StillHeld and what the door raises."""
    account = opened(bridge, channel)
    bridge.alive.check()
    platform = platform_of(channel)
    check_held(bridge, channel, turn.id)
    if platform.is_answering and not bridge.conversations.take_send(turn.chat_id, conversation.context_token):
        return
    if platform.is_paced_per_person:
        wait_for_slot(bridge, channel, turn.user_id)
    token = conversation.context_token if conversation.context_epoch == channel.epoch else ""
    client_id = keys.client_id(turn.id, -1)
    bridge.doors[channel.kind].send_text(account, turn.user_id, bridge.settings.reply.apology, client_id, token)
    end_hold(bridge, channel)
