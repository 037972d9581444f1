"""One self-built application of one corp: its credentials, its callback URL and who may see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.crypto import CallbackCrypto


@dataclass
class App:
    """An application. None for `visible_users` or `trusted_ips` means everybody and everywhere."""

    corp_id: str
    agent_id: int
    secret: str = field(repr=False)
    token: str = field(repr=False)
    encoding_aes_key: str = field(repr=False)
    callback_url: str = ""
    visible_users: list[str] | None = None
    trusted_ips: list[str] | None = None
    enabled: bool = True
    may_use_kf: bool = True
    access_token: str = field(default="", repr=False)

    @property
    def key(self) -> str:
        """How control commands name the app."""
        return f"{self.corp_id}:{self.agent_id}"

    @property
    def crypto(self) -> CallbackCrypto:
        """The crypto of its callbacks."""
        return CallbackCrypto(self.token, self.encoding_aes_key, self.corp_id)

    def sees(self, user_id: str) -> bool:
        """Whether a member is in the visible range; user ids are compared without case."""
        return self.visible_users is None or user_id.lower() in lowered(self.visible_users)

    def as_json(self) -> Json:
        """What an operator copies from the console, and what was set there."""
        return {
            "app": self.key,
            "corp_id": self.corp_id,
            "agent_id": str(self.agent_id),
            "secret": self.secret,
            "token": self.token,
            "encoding_aes_key": self.encoding_aes_key,
            "callback_url": self.callback_url,
            "visible_users": self.visible_users,
            "trusted_ips": self.trusted_ips,
            "enabled": self.enabled,
        }


def lowered(user_ids: Iterable[str]) -> set[str]:
    """User ids as they are compared."""
    return {user_id.lower() for user_id in user_ids}
