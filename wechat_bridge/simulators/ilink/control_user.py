"""Control commands of a WeChat user: write to a bot, see what comes back, put and get media."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Literal

from pydantic import NonNegativeFloat, NonNegativeInt

from wechat_bridge.simulators.control_errors import ControlError
from wechat_bridge.simulators.ilink import inbound
from wechat_bridge.simulators.ilink.bot import Bot, message_id
from wechat_bridge.simulators.ilink.media_store import decrypt, encrypt, media_reference, new_key
from wechat_bridge.simulators.ilink.send_log import Send
from wechat_bridge.simulators.ilink.world import World
from wechat_bridge.simulators.json_types import Json


def bot_of(world: World, bot_id: str) -> Bot:
    """The bot of an id.

    Raises:
        ControlError: there is none.
    """
    if bot_id not in world.bots:
        raise ControlError(f"there is no bot {bot_id!r}; make one with create_bot or confirm a QR code")
    return world.bots[bot_id]


def write(world: World, bot_id: str, messages: list[Json]) -> list[str]:
    """Send messages to a bot as one batch; each is `{"text"|"item_list", "from_user_id", ...}`. Returns their ids."""
    bot = bot_of(world, bot_id)
    built = [inbound.build_message(world, bot, fields) for fields in messages]
    inbound.write_with_duplicates(world, bot, built)
    return [message_id(message) for message in built]


def write_raw(world: World, bot_id: str, messages: list[Any]) -> int:
    """Send JSON values to a bot as they are, as one batch. Returns how many."""
    inbound.write(world, bot_of(world, bot_id), messages)
    return len(messages)


def redeliver(world: World, bot_id: str, message_id: str) -> bool:
    """Deliver a message of this bot a second time, with another context token."""
    bot = bot_of(world, bot_id)
    message = inbound.find_message(bot, message_id)
    if message is None:
        raise ControlError(f"bot {bot_id} never got a message {message_id}")
    inbound.write_again(world, bot, [message])
    return True


async def deliveries(
    world: World,
    user_id: str,
    after: NonNegativeInt = 0,
    count: NonNegativeInt = 0,
    timeout_seconds: NonNegativeFloat = 0.0,
) -> list[Json]:
    """What the user saw beyond the first `after`; waits until there are `count` of them or the time is up."""
    delivered = world.sends.delivered

    await world.sends.changed.wait_until(lambda: len(delivered(user_id)) >= after + count, timeout_seconds)
    return as_rows(delivered(user_id)[after:])


async def sends(
    world: World,
    bot_id: str = "",
    after: NonNegativeInt = 0,
    count: NonNegativeInt = 0,
    timeout_seconds: NonNegativeFloat = 0.0,
) -> list[Json]:
    """All sends of a bot (or, without id, of every bot), refused ones too, beyond the first `after`; may wait."""

    def rows() -> list[Send]:
        return [send for send in world.sends.sends if bot_id in {"", send.bot_id}][after:]

    await world.sends.changed.wait_until(lambda: len(rows()) >= count, timeout_seconds)
    return as_rows(rows())


def as_rows(found: list[Send]) -> list[Json]:
    """Sends as JSON."""
    return [send.as_json() for send in found]


def typing(world: World, bot_id: str) -> list[Json]:
    """Every typing status of a bot: at, user_id, status, ticket_known."""
    return bot_of(world, bot_id).typing


def notifications(world: World, bot_id: str) -> list[Json]:
    """Every notifystart and notifystop of a bot: at, name."""
    return bot_of(world, bot_id).notifications


def put_media(world: World, data_base64: str, key_spelling: Literal["raw", "hex"] = "raw") -> Json:
    """Put a file on the CDN as a phone does. Returns `{"aeskey", "size", "media"}`, to be placed in an item."""
    try:
        plain = base64.b64decode(data_base64, validate=True)
    except binascii.Error as error:
        raise ControlError(f"data_base64 is not base64: {error}") from error
    key = new_key()
    ciphertext = encrypt(plain, key)
    parameter = world.media.keep(ciphertext, key)
    media = media_reference(world.base_url, parameter, key, key_spelling)
    return {"aeskey": key.hex(), "size": len(ciphertext), "media": media}


def get_media(world: World, encrypt_query_param: str) -> str:
    """The plaintext of a file on the CDN, as base64."""
    file = world.media.stored(encrypt_query_param)
    if file is None:
        raise ControlError(f"there is no file {encrypt_query_param!r} on the CDN")
    return base64.b64encode(decrypt(file.ciphertext, file.aes_key) or b"").decode("ascii")


COMMANDS = (write, write_raw, redeliver, deliveries, sends, typing, notifications, put_media, get_media)
