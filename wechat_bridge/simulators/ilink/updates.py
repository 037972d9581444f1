"""getupdates: hold the poll, answer at once when there is something, hand every message out as the cursor mode says."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from wechat_bridge.simulators.ilink.bot import Bot
from wechat_bridge.simulators.ilink.call import Answer, Call, error_answer, json_answer
from wechat_bridge.simulators.ilink.connection import peer_has_left
from wechat_bridge.simulators.ilink.polls import Poll
from wechat_bridge.simulators.json_types import Json

if TYPE_CHECKING:
    from wechat_bridge.simulators.ilink.world import World

STALE_TOKEN = -14
STALE_TOKEN_ERRMSG = "session timeout"


def open_poll(call: Call) -> Poll:
    """Record the arrival of a getupdates and what its cursor acknowledges."""
    bot, cursor = call.account, call.body.get("get_updates_buf")
    if bot.options.second_poller == "end_first":
        for other in bot.polls.open:
            other.superseded = True
        bot.polls.wake()
    cursor = cursor if isinstance(cursor, str) else ""
    bot.acknowledge(bot.position(cursor))
    return bot.polls.begin(cursor, call.request.transport, call.wakeup)


async def get_updates(world: World, call: Call) -> Answer | None:
    """Hold until there is an answer; None when a scripted answer turned up meanwhile."""
    bot, poll = call.account, call.poll
    if poll is None:
        raise LookupError("getupdates was served without being opened as a poll")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + bot.options.hold_seconds
    while True:
        if not call.scripted and world.script.pending(call.endpoint, bot):
            return None
        remaining_seconds = deadline - loop.time()
        if call.client_closed and bot.options.notice_disconnect:
            return empty_answer(bot)
        answer = answer_for(bot, poll, remaining_seconds <= 0)
        if answer is not None:
            return answer
        await call.wakeup.sleep(remaining_seconds)


def answer_for(bot: Bot, poll: Poll, time_is_up: bool) -> Answer | None:
    """What a poll is answered now; None while it has to go on waiting."""
    if poll.expelled:
        poll.outcome = "stale_token"
        return stale_answer(bot.options.stale_token_shape)
    if poll.superseded:
        poll.outcome = "superseded"
        return empty_answer(bot)
    start = next_position(bot, poll)
    if start < len(bot.messages):
        left = bot.options.notice_disconnect and peer_has_left(poll.transport)
        return empty_answer(bot) if left else messages_answer(bot, poll, start)
    if time_is_up:
        poll.outcome = "empty"
        return empty_answer(bot)
    return None


def next_position(bot: Bot, poll: Poll) -> int:
    """Where in the bot's messages an answer to this poll starts."""
    asked = bot.position(poll.cursor) if bot.options.cursor == "redeliver" else None
    return bot.handed_out if asked is None else asked


def messages_answer(bot: Bot, poll: Poll, start: int) -> Answer:
    """Hand out the messages from `start` on."""
    messages, batch = bot.hand_out(start)
    poll.outcome, poll.messages = "messages", len(messages)
    answer = json_answer(body_of(bot, messages, batch.end))
    answer.batch = batch
    return answer


def empty_answer(bot: Bot) -> Answer:
    """The answer to a poll that nothing came for."""
    return json_answer(body_of(bot, [], bot.handed_out))


def body_of(bot: Bot, messages: list[Json], position: int) -> Json:
    """The getupdates body; the cursor field may be made empty or left out."""
    body: Json = {"ret": 0, "msgs": messages, "sync_buf": ""}
    if bot.options.cursor_field != "absent":
        body["get_updates_buf"] = bot.cursor(position) if bot.options.cursor_field == "present" else ""
    return {**body, "longpolling_timeout_ms": bot.options.longpolling_timeout_ms}


def stale_answer(shape: str) -> Answer:
    """-14 in the given shape: `errcode` alone, `ret` alone, or both."""
    return error_answer(STALE_TOKEN, STALE_TOKEN_ERRMSG, shape)
