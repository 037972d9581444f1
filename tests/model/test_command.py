"""What counts as a chat command."""

from __future__ import annotations

import pytest

from wechat_bridge.model.command import Command, command_of
from wechat_bridge.model.message import Item, ItemKind, Quote


def text(words: str, **fields: object) -> Item:
    return Item(kind=ItemKind.TEXT, text=words, **fields)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("/help", Command.HELP), ("/HELP ", Command.HELP), ("/帮助", Command.HELP),
        ("/clear", Command.CLEAR), ("/new", Command.CLEAR), ("/reset", Command.CLEAR), (" 清空\n", Command.CLEAR),
        ("/stop", Command.STOP), ("停止", Command.STOP), ("/status", Command.STATUS), ("/状态", Command.STATUS),
        ("help", None), ("帮助", None), ("/help me", None), ("请清空", None), ("/unknown", None), ("", None),
    ],
)  # fmt: skip
def test_a_command_is_a_whole_message(words: str, command: Command | None) -> None:
    assert command_of((text(words),)) is command


def test_what_is_more_than_one_text_is_a_question() -> None:
    assert command_of(()) is None
    assert command_of((text("/stop"), text("and answer"))) is None
    assert command_of((text("/stop", quote=Quote(text="the other one")),)) is None
    assert command_of((Item(kind=ItemKind.VOICE, text="/stop"),)) is None
