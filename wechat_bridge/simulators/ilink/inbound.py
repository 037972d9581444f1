"""What a WeChat user sends to a bot: messages in the shape of the protocol, and messages written by hand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from wechat_bridge.simulators.ilink.bot import Bot, message_id
from wechat_bridge.simulators.ilink.identifiers import opaque
from wechat_bridge.simulators.json_types import Json

if TYPE_CHECKING:
    from wechat_bridge.simulators.ilink.world import World

FROM_USER, FINISHED = 1, 2


def text_item(text: str, at_ms: int) -> Json:
    """A TEXT item as the phone sends it."""
    return {
        "type": 1,
        "create_time_ms": at_ms,
        "update_time_ms": at_ms,
        "is_completed": True,
        "text_item": {"text": text},
    }


def build_message(world: World, bot: Bot, fields: Json) -> Json:
    """A complete message from the fields given; the rest is filled in. `text` stands for a single TEXT item.

    A field named in `omit` is left out.
    """
    at_ms, number = int(world.now() * 1000), next(world.ids)
    bot.seq += 1
    message: Json = {
        "seq": bot.seq,
        "message_id": number if bot.options.ids_as == "number" else str(number),
        "from_user_id": bot.user_id,
        "to_user_id": bot.bot_id,
        "client_id": f"wx-{number}",
        "create_time_ms": at_ms,
        "update_time_ms": at_ms,
        "session_id": f"s-{bot.bot_id}",
        "message_type": FROM_USER,
        "message_state": FINISHED,
        "item_list": [text_item(str(fields.get("text", "")), at_ms)],
        "context_token": opaque(),
    }
    message |= {name: value for name, value in fields.items() if name not in {"text", "omit"}}
    return {name: value for name, value in message.items() if name not in fields.get("omit", ())}


def write(world: World, bot: Bot, messages: list[Any]) -> None:
    """Hand messages to the bot as one batch and wake its polls."""
    for message in messages:
        if isinstance(message, dict) and isinstance(message.get("context_token"), str):
            bot.issue_context_token(message["context_token"], str(message.get("from_user_id")), world.now())
    bot.messages.extend(messages)
    bot.polls.wake()


def write_with_duplicates(world: World, bot: Bot, messages: list[Json]) -> None:
    """Like `write`; where the switch is on, everything comes a second time later."""
    write(world, bot, messages)
    if bot.options.duplicate_after_seconds is not None:
        loop = asyncio.get_running_loop()
        loop.call_later(bot.options.duplicate_after_seconds, write_again, world, bot, messages)


def write_again(world: World, bot: Bot, messages: list[Json]) -> None:
    """Deliver the same messages once more, each with a new context token, as the real server does at times."""
    write(world, bot, [{**message, "context_token": opaque()} for message in messages])


def find_message(bot: Bot, wanted_id: str) -> Json | None:
    """The latest copy of a message of this bot."""
    found = (message for message in reversed(bot.messages) if message_id(message) == wanted_id)
    return next(found, None)
