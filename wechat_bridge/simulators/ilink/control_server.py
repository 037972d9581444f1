"""Control commands of the person behind the server: bots, switches, scripts, faults, clock and figures."""

from __future__ import annotations

from typing import Any

from pydantic import NonNegativeFloat, NonNegativeInt

from wechat_bridge.simulators.control_errors import ControlError
from wechat_bridge.simulators.ilink.bot import Bot
from wechat_bridge.simulators.ilink.control_user import bot_of
from wechat_bridge.simulators.ilink.endpoints import ENDPOINT_NAMES
from wechat_bridge.simulators.ilink.polls import Poll
from wechat_bridge.simulators.ilink.script import ScriptedAnswer
from wechat_bridge.simulators.ilink.world import World
from wechat_bridge.simulators.json_types import Json


def create_bot(world: World, user_id: str = "", bot_id: str = "", token: str = "") -> Json:
    """Make a bot without a QR login; what is not given is made up. Returns bot_id, token, base_url and user_id."""
    if token in world.tokens:
        raise ControlError("there is a bot with this token already; leave the token out to get a new one")
    return credentials(world, world.create_bot(user_id, bot_id, token))


def bots(world: World) -> list[Json]:
    """The credentials of every bot whose token is valid."""
    return [credentials(world, bot) for bot in world.bots.values() if bot.token_valid]


def credentials(world: World, bot: Bot) -> Json:
    """What a client needs to be this bot."""
    return {"bot_id": bot.bot_id, "token": bot.token, "base_url": world.base_url, "user_id": bot.user_id}


def expire_token(world: World, bot_id: str, end_open_poll: bool = True) -> bool:
    """Make a bot's token stale, as if it had been replaced by a new login elsewhere."""
    world.invalidate(bot_of(world, bot_id), end_open_poll)
    return True


def options(world: World, bot_id: str = "") -> Json:
    """The switches in force for the server or for one bot."""
    return (bot_of(world, bot_id).options if bot_id else world.options).model_dump()


def set_options(world: World, changes: dict[str, Any], bot_id: str = "") -> Json:
    """Change switches of the server, or of one bot only. Returns those in force then."""
    if bot_id:
        bot = bot_of(world, bot_id)
        world.options.changed(changes)
        bot.overrides |= changes
        bot.use_options(world.options)
    else:
        world.set_options(changes)
    return options(world, bot_id)


def script(world: World, endpoint: str, entry: ScriptedAnswer, bot_id: str = "") -> bool:
    """Script what the next requests to an endpoint get, for one bot or for any; an open poll takes it at once."""
    if endpoint not in ENDPOINT_NAMES:
        raise ControlError(f"there is no endpoint {endpoint!r}; there are: {', '.join(ENDPOINT_NAMES)}")
    bot = bot_of(world, bot_id) if bot_id else None
    world.script.add(endpoint, bot, entry)
    for each in [bot] if bot else world.bots.values():
        each.polls.wake()
    return True


def clear_script(world: World) -> bool:
    """Forget everything scripted."""
    world.script.clear()
    return True


def break_connections(world: World, bot_id: str = "") -> int:
    """Reset the connections of the open polls of one bot, or of all. Returns how many."""
    broken = open_polls(world, bot_id)
    for poll in broken:
        if poll.transport is not None and hasattr(poll.transport, "abort"):
            poll.transport.abort()
    return len(broken)


def open_polls(world: World, bot_id: str) -> list[Poll]:
    """The polls that are open now, of one bot or of all."""
    chosen = [bot_of(world, bot_id)] if bot_id else list(world.tokens.values())
    return [poll for bot in chosen for poll in bot.polls.open]


async def wait_for_open_polls(
    world: World, count: NonNegativeInt, bot_id: str = "", timeout_seconds: NonNegativeFloat = 10.0
) -> int:
    """Wait until exactly `count` polls are open, of one bot or of all. Returns how many are."""

    def open_now() -> int:
        return len(bot_of(world, bot_id).polls.open) if bot_id else world.open_polls.count

    await world.open_polls.changed.wait_until(lambda: open_now() == count, timeout_seconds)
    return open_now()


def advance_clock(world: World, seconds: NonNegativeFloat) -> float:
    """Move the virtual clock ahead: windows, lifetimes and penalties. Returns how far ahead it is."""
    world.clock_offset_seconds += seconds
    for login in world.logins.values():
        login.expire_if_due(world.now())
    return world.clock_offset_seconds


def polls(world: World, bot_id: str) -> list[Json]:
    """The remembered polls of a bot, oldest first: started_at, ended_at, outcome, messages, cursor, peer."""
    return bot_of(world, bot_id).polls.as_json()


def stats(world: World, bot_id: str = "") -> Json:
    """Figures of the server or of one bot; those of a bot list its overlaps and batches instead of counting them."""
    if bot_id:
        return bot_stats(bot_of(world, bot_id))
    everyone = list(world.tokens.values())
    return {
        "bots": len(world.bots),
        "open_polls": world.open_polls.count,
        "max_open_polls": world.open_polls.max_count,
        "overlaps": sum(bot.polls.overlap_count for bot in everyone),
        "lost_batches": sum(len(bot.lost_batches) for bot in everyone),
        "unacknowledged_batches": sum(len(bot.unacknowledged_batches) for bot in everyone),
        "foreign_cursors": sum(bot.foreign_cursors for bot in everyone),
        "messages_written": sum(len(bot.messages) for bot in everyone),
        "messages_handed_out": sum(bot.handed_out for bot in everyone),
        "sends": len(world.sends.sends),
        "requests": dict(world.requests),
        "departures": dict(world.departures),
    }


def bot_stats(bot: Bot) -> Json:
    """Figures of one bot."""
    return {
        "token_valid": bot.token_valid,
        "open_polls": len(bot.polls.open),
        "max_open_polls": bot.polls.max_open,
        "overlap_count": bot.polls.overlap_count,
        "overlaps": list(bot.polls.overlaps),
        "lost_batches": [batch.as_json() for batch in bot.lost_batches],
        "unacknowledged_batches": [batch.as_json() for batch in bot.unacknowledged_batches],
        "foreign_cursors": bot.foreign_cursors,
        "messages_written": len(bot.messages),
        "messages_handed_out": bot.handed_out,
    }


def reset(world: World) -> bool:
    """Reset every connection that polls and forget everything, switches included."""
    break_connections(world)
    world.reset()
    return True


COMMANDS = (
    create_bot,
    bots,
    expire_token,
    options,
    set_options,
    script,
    clear_script,
    break_connections,
    wait_for_open_polls,
    advance_clock,
    polls,
    stats,
    reset,
)
