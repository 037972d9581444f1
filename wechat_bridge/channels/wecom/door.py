"""The door to people of a company: texts from an app of WeCom to one member at a time."""

from __future__ import annotations

from wechat_bridge.channels.base import SendLimits
from wechat_bridge.channels.wecom.api import WecomApi, wecom
from wechat_bridge.channels.wecom.sending import MOST_TEXT_BYTES, check_size, send
from wechat_bridge.model.channel import Account
from wechat_bridge.model.characters import without_lone_surrogates


class WecomDoor:
    """Sends for any app, from any thread.

    To one person one message after another: WeCom shows what is sent at the same time in any order (trap 8). Sending
    raises, besides what SendingDoor says, BrokerUnavailable where Redis is away and no good access token is known.
    """

    limits = SendLimits(text_bytes=MOST_TEXT_BYTES, per_minute=30, per_hour=1_000)

    def __init__(self, api: WecomApi) -> None:
        self._api = api

    def send_text(self, account: Account, user_id: str, text: str, client_id: str, context_token: str) -> str | None:
        """Send one text of at most ``limits.text_bytes``; see SendingDoor. ``context_token`` means nothing here."""
        return self._send(account, user_id, "text", text, client_id)

    def send_markdown(self, account: Account, user_id: str, text: str, client_id: str) -> str | None:
        """Send one piece of WeCom's markdown like a text. In WeChat itself (微工作台) it is not shown."""
        return self._send(account, user_id, "markdown", text, client_id)

    def set_typing(self, account: Account, user_id: str, *, is_typing: bool) -> None:
        """Do nothing: WeCom shows people no sign that an answer is being worked on."""

    def _send(self, account: Account, user_id: str, msgtype: str, text: str, client_id: str) -> str | None:
        content = without_lone_surrogates(text)
        check_size(content)
        return send(self._api, wecom(account), user_id, msgtype, {"content": content}, client_id)
