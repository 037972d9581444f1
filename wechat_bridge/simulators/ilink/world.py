"""Everything the simulated server knows: bots, users, logins, media, and the record of what happened."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from wechat_bridge.simulators.ilink.bot import Bot
from wechat_bridge.simulators.ilink.identifiers import message_ids, new_bot_id, new_bot_token, new_user_id
from wechat_bridge.simulators.ilink.login import Login
from wechat_bridge.simulators.ilink.media_store import MediaStore
from wechat_bridge.simulators.ilink.options import IlinkOptions
from wechat_bridge.simulators.ilink.polls import OpenPolls
from wechat_bridge.simulators.ilink.script import Script
from wechat_bridge.simulators.ilink.send_log import SendLog
from wechat_bridge.simulators.wakeup import Wakeup


class World:
    """The state of one simulated server. `base_url` is where it listens, known once it does."""

    def __init__(self, options: IlinkOptions) -> None:
        self.base_url = ""
        self._first_options = options
        self.reset()

    def reset(self) -> None:
        """Forget everything and go back to the switches the server was started with."""
        self.options = self._first_options
        self.ids = message_ids(self.options.first_message_id)
        self.clock_offset_seconds = 0.0
        self.bots: dict[str, Bot] = {}
        self.tokens: dict[str, Bot] = {}
        self.logins: dict[str, Login] = {}
        self.logins_changed = Wakeup()
        self.open_polls = OpenPolls()
        self.script = Script()
        self.sends = SendLog()
        self.media = MediaStore()
        self.requests: Counter[str] = Counter()
        self.departures: Counter[str] = Counter()

    def now(self) -> float:
        """Virtual time in Unix seconds; `advance_clock` moves it ahead of the real one."""
        return time.time() + self.clock_offset_seconds

    def set_options(self, changes: dict[str, Any]) -> None:
        """Change switches of the server, under those a bot has of its own."""
        self.options = self.options.changed(changes)
        if "first_message_id" in changes:
            self.ids = message_ids(self.options.first_message_id)
        for bot in self.tokens.values():
            bot.use_options(self.options)

    def create_bot(self, user_id: str = "", bot_id: str = "", token: str = "") -> Bot:
        """Bind a bot to a WeChat user, as a confirmed login does; the user's older bots go stale."""
        user_id, bot_id = user_id or new_user_id(), bot_id or new_bot_id()
        for older in [bot for bot in self.bots.values() if user_id == bot.user_id or bot_id == bot.bot_id]:
            if self.options.rebind_invalidates:
                self.invalidate(older, self.options.rebind_ends_open_poll)
        token = token or new_bot_token(bot_id)
        bot = Bot(len(self.tokens) + 1, bot_id, token, user_id, self.options, self.open_polls)
        bot.created_at = bot.used_at = self.now()
        self.bots[bot_id] = self.tokens[token] = bot
        return bot

    def invalidate(self, bot: Bot, end_open_poll: bool) -> None:
        """Make a bot's token stale; its open poll is answered -14 now, or ends by itself."""
        bot.token_valid = False
        for poll in bot.polls.open if end_open_poll else ():
            poll.expelled = True
        bot.polls.wake()

    def authenticate(self, token: str) -> tuple[Bot | None, bool]:
        """The bot of a token, and whether the token is good now."""
        bot = self.tokens.get(token)
        if bot is None:
            return None, False
        now, options = self.now(), bot.options
        too_old = exceeds(now - bot.created_at, options.bot_token_lifetime_seconds)
        if too_old or exceeds(now - bot.used_at, options.bot_token_idle_seconds):
            bot.token_valid = False
        bot.used_at = now
        return bot, bot.token_valid


def exceeds(age_seconds: float, limit_seconds: float | None) -> bool:
    """Whether an age is above its limit; without a limit never."""
    return limit_seconds is not None and age_seconds > limit_seconds
