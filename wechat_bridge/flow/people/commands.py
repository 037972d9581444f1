"""Do what a person tells the bridge itself: help, clear, stop, human, bot, status. Nothing here asks an engine.

A command is a turn of a lane of its own, so it does not wait behind the reply that it may be about. It may be done
again after its worker died, so each is idempotent and reaches back no further than the moment it was given.
"""

from __future__ import annotations

from datetime import datetime

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.customer_service.session import Words
from wechat_bridge.flow.people.takeover import hand_back, want_human
from wechat_bridge.flow.stop import stop_turn
from wechat_bridge.model import keys
from wechat_bridge.model.command import Command, command_of
from wechat_bridge.model.message import InboxRow
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.observe.logging import logger

log = logger(__name__)

STOPPED = "stopped by the person"
HELP_TEXT = (
    "可用命令：\n/help 帮助\n/clear 清空对话（/new、/reset、清空）\n/stop 停止当前回复\n/human 转人工\n"
    "/bot 让机器人继续回复\n/status 查看状态\n\n"
    "Commands: /help, /clear (also /new, /reset), /stop, /human, /bot, /status"
)
CLEARED_TEXT = "已清空，我们重新开始。\nCleared, let us start anew."
STOPPED_TEXT = "已停止。\nStopped."
HUMAN_TEXT = (
    "已转人工，机器人暂停回复；发送 /bot 可让机器人继续。\n"
    "A human answers from now on, the bot is silent; send /bot to have it back."
)
BOT_TEXT = "机器人继续为您服务。\nThe bot answers again."
NOTHING_TO_STOP_TEXT = "没有正在进行的回复。\nThere was nothing to stop."


def run_command(bridge: Bridge, turn: Turn, rows: list[InboxRow]) -> str:
    """Do what the one row of a command turn says; return the text that answers it, "" where it is said.

    Raises LedgerUnavailable.
    """
    command = command_of(rows[0].items)
    given_at = turn.times.get(TurnState.QUEUED.value, bridge.clock.now())
    log.info("command_given", command=command, turn_id=turn.id, trace_id=turn.trace_id)
    if command is Command.CLEAR:
        bridge.conversations.forget_before(turn.chat_id, given_at)
        return CLEARED_TEXT
    if command is Command.STOP:
        return _stop(bridge, turn.chat_id, given_at)
    if command is Command.HUMAN:
        words = Words(HUMAN_TEXT, keys.client_id(turn.id, 0))
        return words.text if want_human(bridge, turn.share_id, turn.user_id, given_at, words) else ""
    if command is Command.BOT:
        words = Words(BOT_TEXT, keys.client_id(turn.id, 0))
        return words.text if hand_back(bridge, turn.share_id, turn.user_id, "the person", words) else ""
    if command is Command.STATUS:
        return _status(bridge, turn.chat_id)
    return HELP_TEXT


def _stop(bridge: Bridge, chat_id: str, given_at: datetime) -> str:
    waiting = [row.id for row in _waiting(bridge, chat_id) if row.received_at <= given_at]
    stopped = stop_turn(bridge, chat_id, given_at, STOPPED)
    skipped = bridge.inbox.skip(waiting, STOPPED) if waiting else 0
    return STOPPED_TEXT if stopped or skipped else NOTHING_TO_STOP_TEXT


def _status(bridge: Bridge, chat_id: str) -> str:
    conversation = bridge.conversations.get(chat_id)
    if conversation is not None and conversation.access.is_with_human(bridge.clock.now()):
        return "人工服务中；发送 /bot 可让机器人继续。\nA human answers; send /bot to have the bot back."
    turn, waiting = bridge.turns.open_of(chat_id), len(_waiting(bridge, chat_id))
    if turn is None and waiting == 0:
        return "空闲，可以直接提问。\nIdle."
    if turn is not None and turn.state is TurnState.PARKED:
        return f"有一条回复等待发送，另有 {waiting} 条消息在等。\nA reply waits to be sent; {waiting} messages wait."
    return f"正在处理，另有 {waiting} 条消息在等。\nAt work; {waiting} messages wait."


def _waiting(bridge: Bridge, chat_id: str) -> list[InboxRow]:
    """Return the messages that wait for the engine and belong to no turn yet."""
    turn = bridge.turns.open_of(chat_id)
    owned = set(turn.message_ids) if turn else set()
    return [row for row in bridge.inbox.pending(chat_id) if row.id not in owned and command_of(row.items) is None]
