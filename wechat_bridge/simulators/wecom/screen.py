"""What people really see, as opposed to what was accepted from an app."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wakeup import Wakeup


@dataclass
class Shown:
    """One message on one person's screen. `source` is ``send``, ``passive`` or ``kf``; `at` in Unix seconds."""

    at: float
    app: str
    user_id: str
    source: str
    msgtype: str
    text: str
    content: Json
    msgid: str
    recalled: bool = False

    def as_json(self) -> Json:
        """All of it."""
        return dict(vars(self))


class Screen:
    """Everything shown so far, oldest first; recalled messages are no longer seen."""

    def __init__(self) -> None:
        self._shown: list[Shown] = []
        # Beside the whole list, because one person's is asked for again and again while thousands are shown.
        self._by_user: dict[str, list[Shown]] = {}
        self.changed = Wakeup()

    def show(self, shown: Shown) -> None:
        """Put a message on a person's screen."""
        self._shown.append(shown)
        self._by_user.setdefault(shown.user_id.lower(), []).append(shown)
        self.changed.notify()

    def recall(self, msgid: str) -> None:
        """Take a message off every screen."""
        for shown in self._shown:
            if shown.msgid == msgid:
                shown.recalled = True
        self.changed.notify()

    def seen(self, user_id: str = "", app: str = "") -> list[Shown]:
        """What a person (everyone without id) sees of an app (of all without key)."""
        found = self._by_user.get(user_id.lower(), []) if user_id else self._shown
        return [shown for shown in found if not shown.recalled and app in {"", shown.app}]
