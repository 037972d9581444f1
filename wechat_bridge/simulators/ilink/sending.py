"""sendmessage: what is refused, with which code, and what the WeChat user gets to see."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wechat_bridge.simulators.ilink.bot import Bot, ContextToken
from wechat_bridge.simulators.ilink.call import Answer, Call, error_answer, json_answer
from wechat_bridge.simulators.ilink.options import IlinkOptions
from wechat_bridge.simulators.ilink.send_log import Send, text_of
from wechat_bridge.simulators.ilink.world import exceeds
from wechat_bridge.simulators.json_types import Json

if TYPE_CHECKING:
    from wechat_bridge.simulators.ilink.world import World

REFUSED = -2
INVALID_ARGUMENTS = "invalid arguments"
VOICE_ITEM = 3


async def send_message(world: World, call: Call) -> Answer:
    """Accept a message for a WeChat user, or refuse it under HTTP 200."""
    bot, send = call.account, read_send(world, call)
    reason = refusal_reason(world, bot, call.body.get("msg"), send)
    if reason:
        send.refused = reason
        world.sends.add(send)
        return refusal(bot.options, reason)
    return accept(world, bot, send)


def record_scripted(world: World, call: Call) -> None:
    """Note a send whose answer was scripted instead of being worked out."""
    send = read_send(world, call)
    send.refused = "scripted"
    world.sends.add(send)


def read_send(world: World, call: Call) -> Send:
    """The row for the send log; whatever is missing is empty."""
    msg = call.body.get("msg")
    fields: Json = msg if isinstance(msg, dict) else {}
    items = fields.get("item_list")
    item = items[0] if isinstance(items, list) and items else {}
    client_id = str(fields.get("client_id") or "")
    return Send(
        at=time.time(),
        bot_id=call.account.bot_id,
        user_id=str(fields.get("to_user_id") or ""),
        client_id=client_id,
        context_token=str(fields.get("context_token") or ""),
        run_id=str(fields.get("run_id") or ""),
        item=item,
        text=text_of(item),
        repeat=client_id in call.account.client_ids,
        media_readable=world.media.readable(item),
    )


def refusal_reason(world: World, bot: Bot, msg: object, send: Send) -> str:
    """Why a send is refused; empty when it is not. A repeat that is deduplicated is never refused."""
    if not is_well_formed(msg, send):
        return "invalid"
    if bot.options.dedupe_client_id and send.repeat:
        return ""
    if is_throttled(bot, world.now()):
        return "burst"
    if len(send.text.encode("utf-8", "surrogatepass")) > bot.options.text_limit_bytes:
        return "text_limit"
    return context_reason(world, bot, send)


def is_well_formed(msg: object, send: Send) -> bool:
    """Whether there is a recipient and exactly one item."""
    items = msg.get("item_list") if isinstance(msg, dict) else None
    return bool(send.user_id) and isinstance(items, list) and len(items) == 1 and isinstance(items[0], dict)


def is_throttled(bot: Bot, now: float) -> bool:
    """Count this send against the burst window; a burst starts a penalty that further sends may prolong."""
    options = bot.options
    if options.burst_limit is None:
        return False
    if now < bot.blocked_until:
        bot.blocked_until += options.burst_penalty_seconds if options.burst_penalty_grows else 0.0
        return True
    while bot.sent_at and now - bot.sent_at[0] >= options.burst_window_seconds:
        bot.sent_at.popleft()
    if len(bot.sent_at) >= options.burst_limit:
        bot.blocked_until = now + options.burst_penalty_seconds
        return True
    bot.sent_at.append(now)
    return False


def context_reason(world: World, bot: Bot, send: Send) -> str:
    """Why the conversation does not allow this send; empty when it does, and then the quota is used."""
    token = token_of(bot, send)
    if token is None:
        return "context_token" if bot.options.check_context_token else ""
    if exceeds(world.now() - token.issued_at, bot.options.context_token_lifetime_seconds):
        return "context_token"
    if bot.options.after_window == "refuse" and not in_reply_window(world, bot, send.user_id):
        return "reply_window"
    if bot.options.sends_per_token is not None and token.sends >= bot.options.sends_per_token:
        return "quota"
    token.sends += 1
    return ""


def token_of(bot: Bot, send: Send) -> ContextToken | None:
    """The context token that a send counts against: its own, or, unchecked, the newest of its user."""
    token = bot.context_tokens.get(send.context_token)
    if token is not None and token.user_id == send.user_id:
        return token
    newest = "" if bot.options.check_context_token else bot.newest_token.get(send.user_id, "")
    return bot.context_tokens.get(newest)


def in_reply_window(world: World, bot: Bot, user_id: str) -> bool:
    """Whether the user wrote to this bot recently enough; a user who never did has no window that could be over."""
    wrote_at = bot.user_wrote_at.get(user_id)
    return wrote_at is None or world.now() - wrote_at <= bot.options.reply_window_seconds


def accept(world: World, bot: Bot, send: Send) -> Answer:
    """Record an accepted send, show it to the user where WeChat would, and answer."""
    first_id = bot.client_ids.get(send.client_id)
    deduplicated = send.repeat and bot.options.dedupe_client_id
    send.message_id = first_id if deduplicated and first_id else str(next(world.ids))
    if send.client_id:
        bot.client_ids.setdefault(send.client_id, send.message_id)
    send.shown = not deduplicated and is_shown(world, bot, send)
    world.sends.add(send)
    return json_answer(success_body(bot.options, send.message_id))


def is_shown(world: World, bot: Bot, send: Send) -> bool:
    """Whether the user sees an accepted send. Voice bubbles of bots stay invisible on the phone."""
    is_voice = send.item.get("type") == VOICE_ITEM
    return bot.options.deliver_sends and not is_voice and in_reply_window(world, bot, send.user_id)


def success_body(options: IlinkOptions, message_id: str) -> Json:
    """The body of success in the configured shape."""
    number: int | str = int(message_id) if options.ids_as == "number" else message_id
    shapes: dict[str, Json] = {
        "message_id": {"message_id": number},
        "ret_message_id": {"ret": 0, "message_id": number},
        "ret": {"ret": 0},
        "empty": {},
    }
    return shapes[options.send_answer]


def refusal(options: IlinkOptions, reason: str) -> Answer:
    """The body of a refusal; one code and text stand for many reasons, as on the real server."""
    if reason == "burst":
        errmsg = "rate limited" if options.burst_code != REFUSED else options.refusal_errmsg
        return error_answer(options.burst_code, errmsg, options.refusal_field)
    errmsg = INVALID_ARGUMENTS if reason == "invalid" else options.refusal_errmsg
    return error_answer(REFUSED, errmsg, options.refusal_field)
