"""Everything the simulated server knows: corps and their apps, tokens, media, conversations, and what happened."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wakeup import Wakeup
from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.callback import Callback
from wechat_bridge.simulators.wecom.identifiers import FIRST_AGENT_ID, FIRST_MESSAGE_ID, numbers
from wechat_bridge.simulators.wecom.kf_account import KfAccount
from wechat_bridge.simulators.wecom.limits import Limits
from wechat_bridge.simulators.wecom.media_store import MediaStore
from wechat_bridge.simulators.wecom.options import WecomOptions
from wechat_bridge.simulators.wecom.screen import Screen
from wechat_bridge.simulators.wecom.script import Script
from wechat_bridge.simulators.wecom.sent import SentMessages
from wechat_bridge.simulators.wecom.tokens import Tokens


class World:
    """The state of one simulated server. `base_url` is where it listens, known once it does."""

    def __init__(self, options: WecomOptions) -> None:
        self.base_url = ""
        self._first_options = options
        self.reset()

    def reset(self) -> None:
        """Forget everything and go back to the switches the server was started with."""
        self.options = self._first_options
        self.clock_offset_seconds = 0.0
        self.agent_ids = numbers(FIRST_AGENT_ID)
        self.message_ids = numbers(FIRST_MESSAGE_ID)
        self.apps: dict[str, App] = {}
        self.tokens = Tokens()
        self.limits = Limits()
        self.open_calls: Counter[tuple[str, str]] = Counter()
        self.script = Script()
        self.screen = Screen()
        self.sent = SentMessages()
        self.media = MediaStore()
        self.kf_accounts: dict[str, KfAccount] = {}
        self.callbacks: list[Callback] = []
        self.callbacks_changed = Wakeup()
        self.calls: list[Json] = []
        self.calls_changed = Wakeup()

    def now(self) -> float:
        """Virtual time in Unix seconds; `advance_clock` moves it ahead of the real one."""
        return time.time() + self.clock_offset_seconds

    def set_options(self, changes: dict[str, Any]) -> None:
        """Change switches of the server."""
        self.options = self.options.changed(changes)

    def record_call(self, row: Json) -> None:
        """Note a call that is over."""
        self.calls.append(row)
        self.calls_changed.notify()

    def apps_of(self, corp_id: str) -> list[App]:
        """The apps of one corp; a corp without apps does not exist."""
        return [app for app in self.apps.values() if app.corp_id == corp_id]
