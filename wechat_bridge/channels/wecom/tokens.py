"""Access tokens: how one is asked for, and what is expected of whoever keeps them for all processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol
from urllib.parse import urlencode

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom.answers import answer_of
from wechat_bridge.channels.wecom.codes import error_of
from wechat_bridge.errors import PlatformUnavailable
from wechat_bridge.model.wecom import AccessToken, WecomAccount

CALL = "gettoken"
CONNECT_SECONDS = 4.0
USUAL_SECONDS = 7_200
LONGEST_SECONDS = 86_400
ASK_SECONDS = 8.0
"""What a question may take in all; less than the lease under which it is asked."""


class AccessTokens(Protocol):
    """Keeps the access token of every app for all processes."""

    def get(self, corp_id: str, agent_id: str, mark: str, ask: Callable[[], AccessToken], refused: str = "") -> str:
        """Return the token of an app; ``ask`` fetches one, which one caller at a time does for all.

        ``mark`` tells the secrets of an app apart. ``refused`` is a token that WeCom has just refused: it is not
        returned again unless WeCom itself gives it again. Raises what ``ask`` raises, also for a while after it did,
        without asking; and BrokerUnavailable.
        """
        ...


def url_of(account: WecomAccount, call: str, query: Mapping[str, str]) -> str:
    """Return the address of a call; what stands in its query is secret."""
    return f"{account.base_url.rstrip('/')}/cgi-bin/{call}?{urlencode(query)}"


def ask_token(http: HttpClient, account: WecomAccount) -> AccessToken:
    """Ask WeCom for a token. Raises AppHeld (a wrong secret among it), PlatformBusy and PlatformUnavailable."""
    query = {"corpid": account.corp_id, "corpsecret": account.token}
    answer = answer_of(
        http.through(account.proxy).get(
            url_of(account, CALL, query),
            {},
            connect_seconds=CONNECT_SECONDS,
            read_seconds=ASK_SECONDS,
            total_seconds=ASK_SECONDS,
        ),
        CALL,
        account.secrets,
    )
    if answer.code:
        raise error_of(answer.code, answer.errmsg, CALL)
    token = answer.text("access_token")
    if not token:
        raise PlatformUnavailable("WeCom answered gettoken without an access_token; it is tried again")
    return AccessToken(token, _lifetime(answer.fields.get("expires_in")))


def _lifetime(value: object) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return min(max(1, value), LONGEST_SECONDS) if is_number and isinstance(value, int) else USUAL_SECONDS
