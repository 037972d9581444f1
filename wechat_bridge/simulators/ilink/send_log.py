"""Every sendmessage, accepted or refused, and what the WeChat users got to see of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wakeup import Wakeup


@dataclass(slots=True)
class Send:
    """One sendmessage. `at` is in Unix seconds; `shown` says whether the user sees it.

    `refused` is empty for an accepted send, else the simulator's own reason, which the wire does not tell: `burst`,
    `quota`, `reply_window`, `context_token`, `text_limit`, `invalid` or `scripted`. `repeat` marks a client_id the
    bot has used before. `media_readable` tells whether the media of the item can be fetched and decrypted with the key
    sent along; null without media.
    """

    at: float
    bot_id: str
    user_id: str
    client_id: str
    context_token: str
    run_id: str
    item: Json
    text: str
    repeat: bool
    message_id: str = ""
    shown: bool = False
    refused: str = ""
    media_readable: bool | None = None

    def as_json(self) -> Json:
        """The row as the control API gives it out."""
        return asdict(self)


class SendLog:
    """All sends in order, and per user those they saw. `changed` is notified at each new one."""

    def __init__(self) -> None:
        self.sends: list[Send] = []
        self.changed = Wakeup()
        self._delivered: dict[str, list[Send]] = {}

    def add(self, send: Send) -> None:
        """Append a send; a shown one is delivered to its user."""
        self.sends.append(send)
        if send.shown:
            self._delivered.setdefault(send.user_id, []).append(send)
        self.changed.notify()

    def delivered(self, user_id: str) -> list[Send]:
        """What this user saw, oldest first."""
        return self._delivered.get(user_id, [])


def text_of(item: Any) -> str:
    """The text of a message item, empty for any other item."""
    text_item = item.get("text_item") if isinstance(item, dict) else None
    text = text_item.get("text") if isinstance(text_item, dict) else None
    return text if isinstance(text, str) else ""
