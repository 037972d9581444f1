"""The door to people of a company: texts from an app of WeCom to one member at a time."""

from __future__ import annotations

from wechat_bridge.channels.wecom.api import WecomApi, wecom
from wechat_bridge.channels.wecom.sending import check_size, send
from wechat_bridge.model.channel import Account
from wechat_bridge.model.characters import without_lone_surrogates


class WecomDoor:
    """Sends for any app, from any thread.

    To one person one message after another: WeCom shows what is sent at the same time in any order (trap 8). Sending
    raises, besides what SendingDoor says, BrokerUnavailable where Redis is away and no good access token is known.
    """

    def __init__(self, api: WecomApi) -> None:
        self._api = api

    def send_text(self, account: Account, user_id: str, text: str, client_id: str, context_token: str) -> str | None:
        """Send one text of at most 2,048 bytes, or WeCom's markdown where the account says so; see SendingDoor.

        ``context_token`` means nothing here.
        """
        app, content = wecom(account), without_lone_surrogates(text)
        check_size(content)
        msgtype = "markdown" if app.markdown else "text"
        return send(self._api, app, user_id, msgtype, {"content": content}, client_id)

    def set_typing(self, account: Account, user_id: str, *, is_typing: bool) -> None:
        """Do nothing: WeCom shows people no sign that an answer is being worked on."""
