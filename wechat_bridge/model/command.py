"""Chat commands: whole messages by which a person steers the bridge instead of asking the engine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from wechat_bridge.model.message import Item, ItemKind


class Command(StrEnum):
    """What a person may ask of the bridge itself."""

    HELP = "help"  # what the commands are
    CLEAR = "clear"  # forget the conversation so far
    STOP = "stop"  # drop the reply in work and the messages that wait
    HUMAN = "human"  # let a human answer from now on
    BOT = "bot"  # let the engine answer again
    STATUS = "status"  # whether a reply is in work, and how many messages wait


WORDS = {
    "/help": Command.HELP,
    "/帮助": Command.HELP,
    "/clear": Command.CLEAR,
    "/new": Command.CLEAR,
    "/reset": Command.CLEAR,
    "/清空": Command.CLEAR,
    "清空": Command.CLEAR,
    "/stop": Command.STOP,
    "/停止": Command.STOP,
    "停止": Command.STOP,
    "/human": Command.HUMAN,
    "/人工": Command.HUMAN,
    "转人工": Command.HUMAN,
    "/bot": Command.BOT,
    "/机器人": Command.BOT,
    "/status": Command.STATUS,
    "/状态": Command.STATUS,
}
"""Words without a slash are commands only where nobody would ask an engine just that."""


def command_of(items: Sequence[Item]) -> Command | None:
    """Return the command that a message is, or None: it must be one text of nothing else, quoting nothing."""
    if len(items) != 1 or items[0].kind is not ItemKind.TEXT or items[0].quote is not None:
        return None
    return WORDS.get(items[0].text.strip().lower())
