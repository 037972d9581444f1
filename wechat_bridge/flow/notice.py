"""Send a person something that nobody asked for, within what WeChat allows.

A notice is a turn of a lane of its own, its text stored before it is sent: it is paced, retried, parked and given up
like a reply. WeChat lets a bot write only to who wrote to it within a day, and few such messages a day.
"""

from __future__ import annotations

from datetime import timedelta

from wechat_bridge.errors import ChannelUnknown, NoticeRefused
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model import keys
from wechat_bridge.model.characters import without_lone_surrogates
from wechat_bridge.model.chunks import split
from wechat_bridge.model.markdown import for_wechat
from wechat_bridge.model.turn import Lane, Turn, TurnState, chunks_of
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.turns import Opening

log = logger(__name__)

DAY = timedelta(hours=24)


def send_notice(bridge: Bridge, share_id: str, user_id: str, text: str, notice_id: str) -> str:
    """Store a notice and ring its delivery; return its turn id. The same ``notice_id`` again changes nothing.

    Raises ChannelUnknown, NoticeRefused (saying why and what to do) and LedgerUnavailable.
    """
    turn_id = keys.notice_id(share_id, notice_id)
    if bridge.turns.get(turn_id) is not None:
        return turn_id
    _check(bridge, share_id, user_id, text)
    turn = _turn(bridge, turn_id, share_id, user_id, without_lone_surrogates(text))
    if bridge.turns.open(turn) is Opening.BUSY:
        raise NoticeRefused(f"a notice to {user_id} waits already: it goes out when that person writes again")
    log.info("notice_opened", turn_id=turn_id, share_id=share_id, trace_id=turn.trace_id)
    ring_turn(bridge, turn)
    return turn_id


def _check(bridge: Bridge, share_id: str, user_id: str, text: str) -> None:
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise ChannelUnknown(f"there is no channel {share_id}; `wechat-bridge channel list` shows those there are")
    if not channel.may_send:
        raise NoticeRefused(f"channel {share_id} is not logged in; run: wechat-bridge channel login {share_id}")
    if not text.strip():
        raise NoticeRefused("the notice has no text")
    if bridge.conversations.get(keys.chat_id(share_id, user_id)) is None:
        raise NoticeRefused(f"{user_id} has never written to channel {share_id}: WeChat bots cannot begin")
    most = bridge.settings.reply.notices_per_day
    if bridge.turns.count_notices(share_id, bridge.clock.now() - DAY) >= most:
        raise NoticeRefused(
            f"channel {share_id} has sent {most} notices within a day; more would get the account restricted "
            "(WECHAT_BRIDGE_REPLY__NOTICES_PER_DAY)"
        )


def _turn(bridge: Bridge, turn_id: str, share_id: str, user_id: str, text: str) -> Turn:
    reply, now = bridge.settings.reply, bridge.clock.now()
    pieces = split(for_wechat(text), reply.chunk_characters, reply.chunk_bytes, reply.sends_per_message)
    return Turn(
        id=turn_id,
        share_id=share_id,
        chat_id=keys.chat_id(share_id, user_id),
        user_id=user_id,
        lane=Lane.NOTICE,
        message_ids=(),
        state=TurnState.GENERATED,
        next_attempt_at=now,
        ring_at=bridge.clock.after(bridge.settings.sweep.ring_again_seconds),
        answer=text,
        chunks=chunks_of(turn_id, pieces),
        trace_id=keys.new_trace_id(),
        times={TurnState.GENERATED.value: now},
    )
