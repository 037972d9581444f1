"""How people write, on each platform; what is said comes back as the driver notes it."""

from __future__ import annotations

import time
from typing import Any

from tests.soak.record import Said
from tests.support.customer_world import CustomerWorld
from tests.support.wecom_world import WecomWorld
from tests.support.world import World
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.simulators.ilink import IlinkControl
from wechat_bridge.simulators.wecom import WecomControl

APART_MS = 10
"""Between two messages that arrive in the wrong order."""

KNOBS: dict[str, dict[str, Any]] = {
    "callback repeated": {"duplicates": 2, "at_once": True},
    "callback lost": {"drop": 1},
}
"""What becomes of one callback, by the wish for it."""


class Voices:
    """The hands of all users, for one thread at a time."""

    def __init__(self, ilink: IlinkControl, wecom: WecomControl) -> None:
        self.ilink = ilink
        self.wecom = wecom

    def say(self, world: World, name: str, text: str, wish: str = "plain") -> Said:
        """Write one message."""
        if isinstance(world, CustomerWorld):
            [msgid] = self.wecom.kf_say(world.open_kfid, world.user(name), text)
            return Said(text, msgid, world.share_id, world.bot_id, world.user(name), ChannelKind.WECOM_KF)
        if isinstance(world, WecomWorld):
            messages = [{"MsgType": "text", "Content": text}]
            [row] = self.wecom.write(world.bot_id, world.user(name), messages, knobs=KNOBS.get(wish))
            return _said_to_app(world, world.user(name), text, row)
        [message_id] = self.ilink.say(world.bot_id, world.user(name), text)
        return Said(text, message_id, world.share_id, world.bot_id, world.user(name))

    def say_reversed(self, world: World, name: str, texts: tuple[str, str]) -> list[Said]:
        """Write two messages, of which the later one arrives first; at WeChat in one batch, at WeCom one by one."""
        if isinstance(world, WecomWorld):
            messages = [{"MsgType": "text", "Content": text} for text in texts]
            rows = self.wecom.write(world.bot_id, world.user(name), messages, order="reversed")
            return [_said_to_app(world, world.user(name), text, row) for text, row in zip(texts, rows, strict=True)]
        now_ms = int(time.time() * 1000)
        later, earlier = (
            {"from_user_id": world.user(name), "text": texts[number], "create_time_ms": now_ms + number * APART_MS}
            for number in (1, 0)
        )
        time.sleep(2 * APART_MS / 1000)  # nothing is received before it was said
        ids = self.ilink.write(world.bot_id, [later, earlier])
        return [
            Said(text, message_id, world.share_id, world.bot_id, world.user(name))
            for text, message_id in zip(texts, reversed(ids), strict=True)
        ]


def _said_to_app(world: WecomWorld, user_id: str, text: str, row: dict[str, Any]) -> Said:
    message_id = f"{user_id}:{row['msg_id']}"  # two people's messages have had the same MsgId (field report 35)
    return Said(text, message_id, world.share_id, world.bot_id, user_id, ChannelKind.WECOM, str(row["callback_id"]))
