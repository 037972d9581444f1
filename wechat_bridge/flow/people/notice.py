"""Send a person something that nobody asked for, within what WeChat allows.

A notice is a turn of a lane of its own, its text stored before it is sent: it is paced, retried, parked and given up
like a reply. WeChat lets a bot write only to who wrote to it within a day, and few such messages a day; an app of WeCom
may write to everybody within its visible range.
"""

from __future__ import annotations

from datetime import timedelta

from wechat_bridge.errors import ChannelUnknown, NoticeRefused, NoticeWaits
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.parts import parts_of, platform_for
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model import keys
from wechat_bridge.model.characters import without_lone_surrogates
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.platform import platform_of
from wechat_bridge.model.turn import Lane, Turn, TurnState, chunks_of
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.turns import Opening

log = logger(__name__)

DAY = timedelta(hours=24)


def send_notice(
    bridge: Bridge, share_id: str, user_id: str, text: str, notice_id: str, trace_id: str | None = None
) -> str:
    """Store a notice and ring its delivery; return its turn id. The same ``notice_id`` again changes nothing.

    While a human answers in place of the engine, it is an answer and no notice: it counts for none, and the human goes
    on answering for as long again. It may belong to a trace that has begun elsewhere. Raises ChannelUnknown,
    NoticeRefused (saying why and what to do; NoticeWaits where that passes by itself) and LedgerUnavailable.
    """
    by_hand, unasked = keys.hand_id(share_id, notice_id), keys.notice_id(share_id, notice_id)
    for known in (by_hand, unasked):
        if bridge.turns.get(known) is not None:
            return known
    conversation, is_answer = _checked(bridge, share_id, user_id, text)
    turn_id = by_hand if is_answer else unasked
    if say(bridge, turn_id, conversation, text, trace_id) is Opening.BUSY:
        raise NoticeWaits(
            f"a notice to {user_id} waits already: it is being sent, or goes out when that person writes again"
        )
    if is_answer:
        bridge.access.keep_human(conversation.id, bridge.clock.after(bridge.settings.reply.human_seconds))
    return turn_id


def say(bridge: Bridge, turn_id: str, conversation: Conversation, text: str, trace_id: str | None = None) -> Opening:
    """Store a text as a turn of the lane of notices, and ring its delivery if it was not there."""
    turn = _turn(bridge, turn_id, conversation, without_lone_surrogates(text), trace_id or keys.new_trace_id())
    opening = bridge.turns.open(turn)
    if opening is Opening.OPENED:
        log.info("notice_opened", turn_id=turn_id, share_id=turn.share_id, trace_id=turn.trace_id)
        ring_turn(bridge, turn)
    return opening


def _checked(bridge: Bridge, share_id: str, user_id: str, text: str) -> tuple[Conversation, bool]:
    """Return the conversation, and whether a human answers in it. Raises ChannelUnknown and NoticeRefused."""
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise ChannelUnknown(f"there is no channel {share_id}; `wechat-bridge channel list` shows those there are")
    if not channel.may_send:
        raise NoticeRefused(f"channel {share_id} is not logged in; run: wechat-bridge channel login {share_id}")
    if not text.strip():
        raise NoticeRefused("the notice has no text")
    chat_id = keys.chat_id(share_id, user_id)
    conversation = bridge.conversations.get(chat_id)
    is_answering = platform_of(channel).is_answering
    if is_answering and (conversation is None or conversation.rev == 0):
        raise NoticeRefused(f"{user_id} has never written to channel {share_id}: WeChat bots cannot begin")
    conversation = conversation or Conversation(id=chat_id, share_id=share_id, user_id=user_id)
    if conversation.access.is_with_human(bridge.clock.now()):
        return conversation, True
    if is_answering:
        _check_count(bridge, share_id)
    return conversation, False


def _check_count(bridge: Bridge, share_id: str) -> None:
    most = bridge.settings.reply.notices_per_day
    if bridge.turns.count_notices(share_id, bridge.clock.now() - DAY) >= most:
        raise NoticeRefused(
            f"channel {share_id} has sent {most} notices within a day; more would get the account restricted "
            "(WECHAT_BRIDGE_REPLY__NOTICES_PER_DAY)"
        )


def _turn(bridge: Bridge, turn_id: str, conversation: Conversation, text: str, trace_id: str) -> Turn:
    now = bridge.clock.now()
    turn = Turn(
        id=turn_id,
        share_id=conversation.share_id,
        chat_id=conversation.id,
        user_id=conversation.user_id,
        lane=Lane.NOTICE,
        message_ids=(),
        state=TurnState.GENERATED,
        next_attempt_at=now,
        ring_at=bridge.clock.after(bridge.settings.sweep.ring_again_seconds),
        answer=text,
        trace_id=trace_id,
        times={TurnState.GENERATED.value: now},
    )
    turn.chunks = chunks_of(turn_id, parts_of(bridge, platform_for(bridge, turn), text))
    return turn
